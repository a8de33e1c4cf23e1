"""What an account says, asked of moto with its gaps filled."""

import datetime
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.stub import Stubber
from moto.servicequotas.models import servicequotas_backends

from cli.aws import preflight
from cli.aws.account import Account
from cli.aws.questions import ask
from cli.refusals import RefusedError
from model import document
from model.aws.account import problems
from model.aws.answers import Unknown
from model.environment import Environment
from model.problems import spoken
from twin.aws import given
from twin.aws.moto_gaps.quotas import granted

P = "L-417A185B"


def environment(*, capacity: Any = None, size: Any = 2, **cluster: Any) -> Environment:
    train = {"instance": "p5en.48xlarge", "zone": "us-east-2a", "size": size}
    here = {"name": "asked", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]}
    return document.load(
        {
            "cluster": {**here, **cluster},
            "pools": {
                "system": {"instance": "m7i.2xlarge", "size": 3},
                "train": train | ({"capacity": capacity} if capacity else {}),
            },
        }
    )


def told(account: Account, env: Environment) -> list[str]:
    return [f"{each.severity} {spoken(each.path)}" for each in problems(env, ask(account, env))]


@pytest.fixture
def block(account: Account) -> tuple[str, datetime.datetime]:
    ec2 = account.client("ec2")
    [offer] = ec2.describe_capacity_block_offerings(
        InstanceType="p5en.48xlarge", InstanceCount=2, CapacityDurationHours=24 * 90
    )["CapacityBlockOfferings"]
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    return bought["CapacityReservationId"], bought["EndDate"]


@pytest.fixture
def quota(account: Account) -> Iterator[dict[str, int]]:
    """The quotas of the region, to change."""
    found = granted(servicequotas_backends[account.identity][account.region])
    before = dict(found)
    yield found
    found.update(before)


def test_an_account_with_all_that_is_wanted_is_silent(account: Account) -> None:
    answers = ask(account, environment())
    assert answers.unknown == ()
    assert answers.account == "123456789012"
    assert "us-east-2a" in answers.offerings["p5en.48xlarge"]  # pyright: ignore[reportIndexIssue]
    assert "v1.22.4-eksbuild.3" in answers.addons["vpc-cni"]  # pyright: ignore[reportIndexIssue]
    assert list(problems(environment(), answers)) == []


def test_a_small_quota_is_found(account: Account, quota: dict[str, int]) -> None:
    quota[P] = 192
    assert told(account, environment()) == ["error environment.pools.train.size"]
    account.client("service-quotas").request_service_quota_increase(ServiceCode="ec2", QuotaCode=P, DesiredValue=384)
    assert told(account, environment()) == []


def test_a_block_is_compared_with_the_document(account: Account, block: tuple[str, datetime.datetime]) -> None:
    name, ends = block
    good = {"kind": "block", "reservation": name, "ends": ends.isoformat()}
    assert told(account, environment(capacity=good)) == []
    assert told(account, environment(capacity=good, size=3)) == ["error environment.pools.train.size"]
    late = {**good, "ends": (ends + datetime.timedelta(hours=1)).isoformat()}
    assert told(account, environment(capacity=late)) == ["error environment.pools.train.capacity.ends"]


def test_a_reservation_that_is_not_there_is_found(account: Account) -> None:
    capacity = {"kind": "reservation", "reservation": "cr-00000000000000000"}
    found = told(account, environment(capacity=capacity))
    assert found == ["error environment.pools.train.capacity.reservation"]


def test_an_open_reservation_is_told(account: Account) -> None:
    made = account.client("ec2").create_capacity_reservation(
        InstanceType="p5en.48xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-east-2a",
        InstanceCount=2,
        InstanceMatchCriteria="open",
    )["CapacityReservation"]["CapacityReservationId"]
    found = told(account, environment(capacity={"kind": "reservation", "reservation": made}))
    assert found == ["warning environment.pools.train.capacity.reservation"]
    account.client("ec2").cancel_capacity_reservation(CapacityReservationId=made)
    found = told(account, environment(capacity={"kind": "reservation", "reservation": made}))
    assert found == ["error environment.pools.train.capacity.reservation"]


def test_a_zone_that_is_not_there_is_found(account: Account) -> None:
    assert told(account, environment(zones=["us-east-2a", "us-east-2f"])) == ["error environment.cluster.zones[1]"]


def test_subnets_are_looked_at(account: Account) -> None:
    ec2 = account.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = {
        f"us-east-2{zone}": ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=f"us-east-2{zone}")["Subnet"][
            "SubnetId"
        ]
        for zone, cidr in (("a", "10.0.0.0/23"), ("b", "10.0.16.0/20"))
    }
    network = {"vpc": vpc, "subnets": subnets}
    assert told(account, environment(network=network)) == ["error environment.cluster.network.subnets.us-east-2a"]
    assert told(account, environment(network=network, size=0)) == []


def test_what_the_twin_takes_for_given_fits_its_document(account: Account) -> None:
    block = {"kind": "block", "reservation": "cr-0aaaaaaaaaaaaaaaa", "ends": "2036-05-28T11:30:00Z"}
    subnets = {"us-east-2a": "subnet-0aaaaaaaaaaaaaaaa", "us-east-2b": "subnet-0bbbbbbbbbbbbbbbb"}
    network: dict[str, Any] = {"vpc": "vpc-0aaaaaaaaaaaaaaaa", "subnets": subnets}
    own = {**network, "gpuSubnets": {"us-east-2a": "subnet-0cccccccccccccccc"}}
    addons = {"vpc-cni": "v1.22.3-eksbuild.3"}
    for env in (
        environment(capacity=block, size=100, network=network, addons=addons),
        environment(capacity={**block, "ends": "2036-06-28T11:30:00Z"}, size=50, network=own),
    ):
        given.give(str(account.endpoint), env)
        assert told(account, env) == []


def test_a_missing_permission_is_a_warning_that_names_the_action(account: Account) -> None:
    with Stubber(account.client("service-quotas")) as stub:
        for _ in range(2):
            stub.add_client_error("get_service_quota", "AccessDeniedException", "not authorized", 400)
        answers = ask(account, environment())
    [unknown] = answers.unknown
    assert unknown == Unknown("servicequotas:GetServiceQuota", "AccessDeniedException: not authorized", denied=True)
    [problem] = problems(environment(), answers)
    assert (problem.severity, problem.fix) == ("warning", "allow servicequotas:GetServiceQuota to whoever runs this")


def test_a_region_that_is_not_enabled_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    account = Account("us-east-2")
    with Stubber(account.client("sts")) as stub:
        stub.add_client_error("get_caller_identity", "InvalidClientTokenId", "The token is invalid", 403)
        with pytest.raises(RefusedError, match="region us-east-2 is not enabled in this account"):
            ask(account, environment())


def test_without_credentials_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(RefusedError, match="has no credentials"):
        ask(Account("us-east-2"), environment())


def test_a_shell_of_the_twin_is_not_taken_for_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANGLINE_TWIN_AWS", "http://127.0.0.1:1")
    with pytest.raises(RefusedError, match="this shell has the twin's settings"):
        preflight.account_of(environment())


def test_an_account_of_a_twin_without_a_cloud_is_refused() -> None:
    with pytest.raises(RefusedError, match="twin has no cloud running"):
        preflight.account_of(environment(), {})


def test_a_cloud_of_the_twin_that_has_ended_is_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        account = Account("us-east-2", f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(RefusedError, match="the twin has no cloud running"):
            ask(account, environment())
