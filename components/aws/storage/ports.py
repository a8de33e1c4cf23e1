"""Who reaches a file system: the nodes of the cluster, on its ports."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

_RULES = {"in": aws.vpc.SecurityGroupIngressRule, "out": aws.vpc.SecurityGroupEgressRule}


def opened(
    name: str,
    group: pulumi.Input[str],
    others: Mapping[str, pulumi.Input[str]],
    ports: Sequence[tuple[int, int]],
    ways: Sequence[str],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Let a security group and others talk over TCP, or over everything.

    Args:
        name: What the names of the rules begin with.
        group: The group whose rules these are.
        others: The other groups, by what they are called in names.
        ports: First and last port of each range; none for all traffic, which EFA wants.
        ways: `in`, `out` or both.
        opts: Options.
    """
    return [
        _RULES[way](
            "-".join([name, other, way, *([str(first)] if ports else [])]),
            security_group_id=group,
            referenced_security_group_id=other_group,
            ip_protocol="tcp" if ports else "-1",
            from_port=first if ports else None,
            to_port=last if ports else None,
            opts=opts,
        )
        for other, other_group in others.items()
        for way in ways
        for first, last in ports or [(0, 0)]
    ]
