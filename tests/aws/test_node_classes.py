"""What is said of an EC2NodeClass is what the cloud has."""

from typing import Any

import pytest
from place import Place

from twin.aws import node_classes
from twin.aws.cloud import Cloud, CloudError


@pytest.fixture
def spec(place: Place) -> dict[str, Any]:
    iam = place.client("iam")
    if "nodes" not in [each["InstanceProfileName"] for each in iam.list_instance_profiles()["InstanceProfiles"]]:
        iam.create_instance_profile(InstanceProfileName="nodes")
    return {
        "instanceProfile": "nodes",
        "subnetSelectorTerms": [{"id": place.subnets[0]}, {"id": place.subnets[1]}],
        "securityGroupSelectorTerms": [{"id": place.group}],
    }


def test_a_class_that_names_what_is_there_lacks_nothing(place: Place, spec: dict[str, Any]) -> None:
    assert node_classes.missing(place.cloud, spec) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"instanceProfile": "other"}, "instance profile other"),
        ({"subnetSelectorTerms": [{"id": "subnet-0000000000000dead"}]}, "subnet subnet-0000000000000dead"),
        ({"securityGroupSelectorTerms": [{"id": "sg-0000000000000dead"}]}, "security group sg-0000000000000dead"),
        ({"capacityReservationSelectorTerms": [{"id": "cr-0000000000000dead"}]}, "reservation cr-0000000000000dead"),
    ],
)
def test_what_is_not_there_is_named(place: Place, spec: dict[str, Any], change: dict[str, Any], said: str) -> None:
    assert node_classes.missing(place.cloud, spec | change) == [said]


def test_a_cloud_that_does_not_answer_is_no_proof(spec: dict[str, Any]) -> None:
    with pytest.raises(CloudError, match="describe_subnets"):
        node_classes.missing(Cloud("http://127.0.0.1:1", "us-east-2"), spec)
