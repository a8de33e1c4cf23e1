"""A cluster on AWS: its zones, its network and who may enter."""

from typing import Any

import pytest

from model import document
from model.problems import spoken
from tests.model.aws.documents import found, made
from tests.model.documents import Change, drop, put, small

VPC = {
    "vpc": "vpc-0a1b2c3d4e5f67890",
    "subnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67890", "us-east-2b": "subnet-0a1b2c3d4e5f67891"},
}


@pytest.mark.parametrize(
    ("zones", "place"),
    [
        ([], "zones"),
        (["us-east-2a"], "zones"),
        (["us-east-2a", "us-east-2b", "us-east-2c", "us-east-2d", "us-east-2e"], "zones"),
        (["us-east-2a", "us-east-2a"], "zones[1]"),
        (["us-east-2a", "us-west-2b"], "zones[1]"),
        (["us-east-2a", "us-east-2"], "zones[1]"),
        (["us-east-2a", "use2-az2"], "zones[1]"),
        (["us-east-2a", "us-east-1-bos-1a"], "zones[1]"),
        (["us-east-2a", "US-EAST-2B"], "zones[1]"),
        ([3, "us-east-2a"], "zones[0]"),
    ],
)
def test_zones(zones: list[Any], place: str) -> None:
    assert list(found(put("cluster.zones", zones))) == [f"cluster.{place}"]


@pytest.mark.parametrize(
    ("network", "place"),
    [
        ({"cidr": "10.0.0.0/15"}, "cidr"),
        ({"cidr": "10.0.0.0/24"}, "cidr"),
        ({"cidr": "10.0.0.1/16"}, "cidr"),
        ({"cidr": "10.0.0.0"}, "cidr"),
        ({"cidr": "fd00::/16"}, "cidr"),
        ({"cidr": "8.8.0.0/16"}, "cidr"),
        ({"cidr": ""}, "cidr"),
        ({"nat": "none"}, "nat"),
        ({"nat": "both"}, "nat"),
        ({"subnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67890"}}, "subnets"),
        ({**VPC, "cidr": "10.0.0.0/16"}, "cidr"),
        ({**VPC, "nat": "single"}, "nat"),
        ({**VPC, "endpoints": True}, "endpoints"),
        ({**VPC, "vpc": "vpc-1"}, "vpc"),
        ({**VPC, "subnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67890"}}, "subnets"),
        ({**VPC, "gpuSubnets": {"us-east-2c": "subnet-0a1b2c3d4e5f67890"}}, "gpuSubnets.us-east-2c"),
        ({**VPC, "gpuSubnets": {"us-east-2a": "subnet"}}, "gpuSubnets.us-east-2a"),
        ({**VPC, "gpuSubnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67891"}}, "gpuSubnets.us-east-2a"),
    ],
)
def test_networks(network: dict[str, Any], place: str) -> None:
    assert list(found(put("cluster.network", network))) == [f"cluster.network.{place}"]


@pytest.mark.parametrize(
    "network",
    [
        {"cidr": "172.16.0.0/16"},
        {"cidr": "100.64.0.0/16"},
        {"cidr": "198.19.0.0/16"},
        {"nat": "zonal"},
        {"nat": "none", "endpoints": True},
        VPC,
        {**VPC, "gpuSubnets": {"us-east-2a": "subnet-0a1b2c3d4e5f67890"}},
    ],
)
def test_networks_that_can_be(network: dict[str, Any]) -> None:
    assert found(put("cluster.network", network)) == {}


@pytest.mark.parametrize(
    "cidr",
    [
        "0.0.0.0/0",
        "0.0.0.0/1",
        "10.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "203.0.113.5/24",
        "203.0.113.5",
        "203.0.113.0/255.255.255.0",
        "everybody",
    ],
)
def test_the_api_is_not_for_everybody(cidr: str) -> None:
    assert list(found(put("cluster.publicAccessCidrs", [cidr]))) == ["cluster.publicAccessCidrs[0]"]


def test_a_network_is_named_by_its_length() -> None:
    (problem,) = found(put("cluster.publicAccessCidrs", ["203.0.113.5"])).values()
    assert problem.fix == "203.0.113.5/32"


def test_the_api_is_for_forty_networks_each_once() -> None:
    networks = [f"198.51.{each}.0/24" for each in range(40)]
    assert found(put("cluster.publicAccessCidrs", networks)) == {}
    assert list(found(put("cluster.publicAccessCidrs", [*networks, "203.0.113.0/24"]))) == ["cluster.publicAccessCidrs"]
    assert list(found(put("cluster.publicAccessCidrs", networks[:1] * 2))) == ["cluster.publicAccessCidrs[1]"]


def test_the_api_is_for_some_networks() -> None:
    assert found(put("cluster.publicAccessCidrs", ["203.0.113.0/24", "198.51.100.7/32"])) == {}


ROLE = "arn:aws:iam::123456789012:role/platform"


@pytest.mark.parametrize(
    ("access", "place"),
    [
        ({"principal": "platform", "policy": "view"}, ".principal"),
        ({"principal": "arn:aws:sts::123456789012:assumed-role/platform/me", "policy": "view"}, ".principal"),
        ({"principal": "arn:aws:iam::123456789012:group/platform", "policy": "view"}, ".principal"),
        ({"principal": "arn:aws:iam::123456789012:role/Züge", "policy": "view"}, ".principal"),
        ({"principal": "arn:aws:iam::123456789012:role/teams//platform", "policy": "view"}, ".principal"),
        ({"principal": f"arn:aws:iam::123456789012:role/{'a' * 65}", "policy": "view"}, ".principal"),
        ({"principal": ROLE.replace("aws", "aws-cn"), "policy": "view"}, ".principal"),
        ({"principal": ROLE}, ""),
        ({"principal": ROLE, "groups": [""]}, ".groups[0]"),
        ({"principal": ROLE, "groups": ["research", "research"]}, ".groups[1]"),
        ({"principal": ROLE, "policy": "root"}, ".policy"),
        ({"principal": ROLE, "groups": ["system:masters"]}, ".groups[0]"),
    ],
)
def test_who_may_enter(access: dict[str, Any], place: str) -> None:
    assert list(found(put("cluster.access", {"me": access}))) == [f"cluster.access.me{place}"]


@pytest.mark.parametrize(
    "principal",
    [
        "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/us-east-2/AWSReservedSSO_Admins_0123456789abcdef",
        "arn:aws:iam::123456789012:user/ann",
        f"arn:aws:iam::123456789012:role/{'a' * 64}",
    ],
)
def test_roles_and_users_may_enter(principal: str) -> None:
    assert found(put("cluster.access", {"me": {"principal": principal, "policy": "view"}})) == {}


@pytest.mark.parametrize(
    ("name", "place"), [("", '[""]'), ("a*b", '["a*b"]'), ("Me", ".Me"), ("a" * 64, f".{'a' * 64}")]
)
def test_names_of_those_who_enter_are_those_of_resources(name: str, place: str) -> None:
    errors = found(put("cluster.access", {name: {"principal": ROLE, "policy": "view"}}))
    assert list(errors) == [f"cluster.access{place}"]


@pytest.mark.parametrize(
    ("zones", "partition"),
    [
        (["cn-north-1a", "cn-north-1b"], "aws-cn"),
        (["us-gov-west-1a", "us-gov-west-1b"], "aws-us-gov"),
        (["eusc-de-east-1a", "eusc-de-east-1b"], "aws-eusc"),
    ],
)
def test_who_enters_is_of_the_cluster_s_partition(zones: list[str], partition: str) -> None:
    there = put("cluster.zones", zones), put("pools.train.zone", zones[0])
    own = {"me": {"principal": ROLE.replace("aws", partition), "policy": "view"}}
    assert found(*there, put("cluster.access", own)) == {}
    other = {"me": {"principal": ROLE, "policy": "view"}}
    assert list(found(*there, put("cluster.access", other))) == ["cluster.access.me.principal"]


def test_each_enters_once() -> None:
    both = {"a": {"principal": ROLE, "policy": "view"}, "b": {"principal": ROLE, "policy": "edit"}}
    assert list(found(put("cluster.access", both))) == ["cluster.access.b.principal"]


def test_a_cluster_on_aws_has_no_context() -> None:
    assert list(found(put("cluster.context", "atlas"))) == ["cluster.context"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("zones", ["us-east-2a", "us-east-2b"]),
        ("network", {"cidr": "10.0.0.0/16"}),
        ("publicAccessCidrs", ["203.0.113.0/24"]),
        ("access", {"me": {"principal": ROLE, "policy": "view"}}),
        ("addons", {"vpc-cni": "v1.20.4-eksbuild.2"}),
        ("registry", {"cache": ["quay.io"]}),
    ],
)
def test_an_existing_cluster_is_not_made(key: str, value: object) -> None:
    document_ = small()
    document_["cluster"][key] = value
    assert [spoken(it.path) for it in document.judge(document_).problems] == [f"environment.cluster.{key}"]


@pytest.mark.parametrize("change", [put("topology", {"source": "aws", "labels": ["example.com/rack"]})])
def test_where_nodes_stand_is_said_once(change: Change) -> None:
    assert list(found(change)) == ["topology.labels"]


def test_domains_of_aws_cannot_be_said() -> None:
    errors = found(put("topology", {"source": "aws"}), put("pools.train.domains", {"network-node-layer-3": 4}))
    assert list(errors) == ["pools.train.domains"]


def test_what_holds_work_is_kept_unless_said_otherwise() -> None:
    assert made().data == "keep"
    assert made(put("data", "delete")).data == "delete"
    assert list(found(put("data", "no"))) == ["data"]


def test_without_zones_one_mistake_is_one_problem() -> None:
    assert list(found(drop("cluster.zones"))) == ["cluster.zones"]
