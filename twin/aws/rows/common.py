"""What rows have in common."""

from twin.aws.row import Call, Tags


def words(text: str) -> frozenset[str]:
    """Give the words of a text: names of properties, codes of errors."""
    return frozenset(text.split())


def ec2_tags(kind: str) -> Tags:
    """Tags of EC2: in one call for all kinds, and with the kind at creation."""
    return Tags(
        add=Call("create_tags", {"Resources": ["$id"], "Tags": "$tags"}),
        remove=Call(
            "delete_tags", {"Resources": ["$id"], "Tags": lambda context: [{"Key": key} for key in context["keys"]]}
        ),
        create="TagSpecifications",
        specification=kind,
    )
