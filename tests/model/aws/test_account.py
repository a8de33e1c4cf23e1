"""An account against a document, with plain values for what AWS says."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog import reader
from model import document
from model.aws import account, quotas
from model.aws.answers import Answers, Reservation, Running, Subnet, Unknown, Zone
from model.environment import Environment
from model.problems import Problem, spoken

ENDS = datetime(2099, 12, 20, 11, 30, tzinfo=UTC)
BLOCK = Reservation(
    state="active",
    block=True,
    instance="p5en.48xlarge",
    zone="us-east-2a",
    total=16,
    available=16,
    targeted=True,
    platform="Linux/UNIX",
    tenancy="default",
    owner="111122223333",
    starts=datetime(2026, 11, 1, tzinfo=UTC),
    ends=ENDS,
)
ODCR = replace(BLOCK, block=False, ends=None)
CODES = {quota.code: quota for quota in quotas.QUOTAS}
P, G, STANDARD, SPOT_G = "L-417A185B", "L-DB2E81BA", "L-1216C47A", "L-3819A6DF"

TRAIN = {
    "instance": "p5en.48xlarge",
    "zone": "us-east-2a",
    "size": 16,
    "capacity": {"kind": "block", "reservation": "cr-0a1b2c3d4e5f67890", "ends": "2099-12-20T11:30:00Z"},
}
ON_DEMAND = {key: value for key, value in TRAIN.items() if key != "capacity"}


def environment(pools: dict[str, Any], **cluster: Any) -> Environment:
    return document.load(
        {
            "cluster": {
                "name": "atlas",
                "provider": "aws",
                "kubernetes": "1.35",
                "zones": ["us-east-2a", "us-east-2b"],
                **cluster,
            },
            "pools": {"system": {"instance": "m7i.2xlarge", "size": 3}, **pools},
        }
    )


def answers(**said: Any) -> Answers:
    return replace(
        Answers(
            account="111122223333",
            zones={"us-east-2a": Zone("use2-az1", usable=True), "us-east-2b": Zone("use2-az2", usable=True)},
            offerings={
                name: frozenset({"us-east-2a", "us-east-2b"})
                for name in ("m7i.2xlarge", "p5en.48xlarge", "g6e.12xlarge")
            },
            quotas=dict.fromkeys(CODES, 100_000),
            running=(),
            reservations={"cr-0a1b2c3d4e5f67890": BLOCK},
            versions={"1.34": "EXTENDED_SUPPORT", "1.35": "STANDARD_SUPPORT"},
            addons={name: frozenset({addon.versions["1.35"]}) for name, addon in reader.addons().items()},
        ),
        **said,
    )


def found(env: Environment, said: Answers) -> list[Problem]:
    return list(account.problems(env, said))


def only(env: Environment, said: Answers) -> Problem:
    [problem] = found(env, said)
    return problem


def test_an_account_that_has_all_has_no_problem() -> None:
    assert found(environment({"train": TRAIN}), answers()) == []


# Quotas


def test_a_quota_counts_the_pools_at_their_largest() -> None:
    problem = only(environment({"train": ON_DEMAND}), answers(quotas={P: 3071, STANDARD: 24}))
    assert (spoken(problem.path), problem.value, problem.severity) == ("environment.pools.train.size", 3072, "error")
    assert "train 16 × 192" in problem.message
    assert "L-417A185B" in problem.message
    assert problem.allowed == "at most 3071 vCPUs"
    assert problem.fix is not None
    assert problem.fix.endswith("--quota-code L-417A185B --desired-value 3072")
    assert found(environment({"train": ON_DEMAND}), answers(quotas={P: 3072, STANDARD: 24})) == []


def test_pools_of_one_family_are_summed() -> None:
    env = environment({"train": {**ON_DEMAND, "size": 1}, "other": {**ON_DEMAND, "size": 1}})
    problem = only(env, answers(quotas={P: 383, STANDARD: 24}))
    assert (spoken(problem.path), problem.value) == ("environment.pools", 384)


def test_blocks_count_against_no_quota() -> None:
    assert found(environment({"train": TRAIN}), answers(quotas={P: 0, STANDARD: 24})) == []


def test_reservations_count_once_and_for_on_demand_pools_too() -> None:
    reserved = {**TRAIN, "capacity": {"kind": "reservation", "reservation": "cr-0a1b2c3d4e5f67890"}}
    said = answers(reservations={"cr-0a1b2c3d4e5f67890": ODCR}, quotas={P: 3072, STANDARD: 24})
    assert found(environment({"train": reserved}), said) == []
    problem = only(environment({"train": reserved, "more": {**ON_DEMAND, "size": 1}}), said)
    assert (spoken(problem.path), problem.value) == ("environment.pools.more.size", 192)
    assert "reservations hold 3072, 3264 in all" in problem.message


def test_a_reservation_of_another_account_does_not_count() -> None:
    said = answers(reservations={"cr-1": replace(ODCR, owner="999988887777")}, quotas={P: 192, STANDARD: 24})
    assert found(environment({"more": {**ON_DEMAND, "size": 1}}), said) == []


def test_spot_has_a_quota_of_its_own() -> None:
    serve = {"instance": "g6e.12xlarge", "size": 2, "capacity": {"kind": "spot"}}
    assert found(environment({"serve": serve}), answers(quotas={G: 0, SPOT_G: 96, STANDARD: 24})) == []
    assert "L-3819A6DF" in only(environment({"serve": serve}), answers(quotas={SPOT_G: 95, STANDARD: 24})).message


@pytest.mark.parametrize(("granted", "severity"), [(47, "error"), (48, "warning"), (383, "warning"), (384, None)])
def test_a_pool_that_can_only_not_grow_to_its_end_is_a_warning(granted: int, severity: str | None) -> None:
    serve = {"instance": "g6e.12xlarge", "size": {"min": 0, "max": 8}, "capacity": {"kind": "spot"}}
    problems = found(environment({"serve": serve}), answers(quotas={SPOT_G: granted, STANDARD: 24}))
    assert [problem.severity for problem in problems] == ([severity] if severity else [])


def test_what_others_run_counts_and_what_the_cluster_runs_does_not() -> None:
    others = [
        Running("p5.48xlarge", 192),
        Running("p5.48xlarge", 192, reservation="cr-1"),
        Running("p5.48xlarge", 192, spot=True),
        Running("p5en.48xlarge", 192, cluster="atlas"),
    ]
    said = answers(running=others, quotas={P: 3072, STANDARD: 24})
    assert "other instances run with 192, 3264 in all" in only(environment({"train": ON_DEMAND}), said).message


def test_each_instance_of_the_catalogue_has_its_quotas() -> None:
    for name in reader.instances():
        assert quotas.quota(name, "on-demand") is not None, name
        assert quotas.quota(name, "spot") is not None, name


# Reservations


def reserved(said: Reservation | None, pool: dict[str, Any] | None = None) -> list[Problem]:
    known = {"cr-0a1b2c3d4e5f67890": said} if said else {}
    return found(environment({"train": {**TRAIN, **(pool or {})}}), answers(reservations=known))


@pytest.mark.parametrize(
    ("said", "path", "words", "fix"),
    [
        (None, "capacity.reservation", "no such reservation", None),
        (replace(BLOCK, state="expired"), "capacity.reservation", "it is expired", None),
        (
            replace(BLOCK, state="scheduled", starts=datetime(2099, 12, 1, 11, 30, tzinfo=UTC)),
            "capacity.reservation",
            "begins at 2099-12-01T11:30:00Z; until then none of the pool's 16 nodes",
            "size: {min: 0, max: 16} until it has begun",
        ),
        (replace(BLOCK, instance="p5.48xlarge"), "instance", "holds p5.48xlarge", "instance: p5.48xlarge"),
        (replace(BLOCK, zone="us-east-2b"), "zone", "is in us-east-2b", "zone: us-east-2b"),
        (replace(BLOCK, total=15, available=15), "size", "has 15 instances", "size: 15"),
        (
            replace(BLOCK, ends=datetime(2099, 12, 19, 11, 30, tzinfo=UTC)),
            "capacity.ends",
            "ends at 2099-12-19T11:30:00Z",
            "ends: 2099-12-19T11:30:00Z",
        ),
        (replace(BLOCK, placement_group="pg"), "capacity.placementGroup", "made in placement group pg", None),
        (replace(BLOCK, tenancy="dedicated"), "capacity.reservation", "tenancy is dedicated", None),
        (replace(BLOCK, platform="Windows"), "capacity.reservation", "for Windows", None),
        (replace(BLOCK, block=False, ends=None), "capacity.kind", "is a capacity reservation", "kind: reservation"),
    ],
)
def test_a_reservation_that_does_not_fit(said: Reservation | None, path: str, words: str, fix: str | None) -> None:
    [problem] = reserved(said)
    assert spoken(problem.path) == f"environment.pools.train.{path}"
    assert problem.severity == "error"
    assert words in problem.message
    if fix:
        assert problem.fix == fix


def test_a_pool_of_no_nodes_may_name_a_block_that_is_over() -> None:
    assert reserved(replace(BLOCK, state="expired"), {"size": 0}) == []
    assert reserved(None, {"size": 0}) == []


def test_a_pool_that_begins_with_none_waits_for_its_block() -> None:
    [problem] = reserved(replace(BLOCK, state="scheduled"), {"size": {"min": 0, "max": 16}})
    assert problem.severity == "warning"


@pytest.mark.parametrize(("size", "severity"), [(12, None), (13, "warning")])
def test_others_may_use_a_part(size: int, severity: str | None) -> None:
    problems = reserved(replace(BLOCK, available=12), {"size": size})
    assert [problem.severity for problem in problems] == ([severity] if severity else [])


def test_nodes_of_the_cluster_are_no_others() -> None:
    ours = [Running("p5en.48xlarge", 192, block=True, reservation="cr-0a1b2c3d4e5f67890", cluster="atlas")] * 16
    said = answers(reservations={"cr-0a1b2c3d4e5f67890": replace(BLOCK, available=0)}, running=ours)
    assert found(environment({"train": TRAIN}), said) == []


def test_an_open_reservation_is_a_warning() -> None:
    [problem] = reserved(replace(BLOCK, targeted=False))
    assert problem.severity == "warning"
    assert problem.allowed == "targeted"


# What the region offers


def test_zones_that_are_not_there_are_told_once() -> None:
    env = environment({}, zones=["us-east-2a", "us-east-2d"])
    problem = only(env, answers())
    assert (spoken(problem.path), problem.value) == ("environment.cluster.zones[1]", "us-east-2d")
    assert problem.allowed == "us-east-2a, us-east-2b"


@pytest.mark.parametrize("zone", [Zone("use1-az3", usable=True), Zone("use2-az1", usable=False)])
def test_zones_that_cannot_be_used(zone: Zone) -> None:
    zones = {"us-east-2a": zone, "us-east-2b": Zone("use2-az2", usable=True)}
    problem = only(environment({}), answers(zones=zones))
    assert (spoken(problem.path), problem.allowed) == ("environment.cluster.zones[0]", "us-east-2b")


def test_a_version_that_eks_does_not_offer() -> None:
    problem = only(environment({}), answers(versions={"1.34": "STANDARD_SUPPORT", "1.33": "UNSUPPORTED"}))
    assert (spoken(problem.path), problem.allowed, problem.fix) == ("environment.cluster.kubernetes", "1.34", '"1.34"')
    said = answers(versions={"1.35": "EXTENDED_SUPPORT", "1.36": "STANDARD_SUPPORT"})
    problem = only(environment({}), said)
    assert (problem.severity, problem.allowed) == ("warning", "1.36")


def test_a_version_of_an_addon_that_is_offered_no_more() -> None:
    env = environment({}, addons={"vpc-cni": "v1.22.3-eksbuild.3"})
    problem = only(env, answers())
    assert (spoken(problem.path), problem.value) == ("environment.cluster.addons.vpc-cni", "v1.22.3-eksbuild.3")
    assert problem.fix == "cluster.addons: {vpc-cni: v1.22.4-eksbuild.3}"


def test_an_instance_type_that_a_zone_does_not_have() -> None:
    offerings = {"m7i.2xlarge": frozenset({"us-east-2a", "us-east-2b"}), "p5en.48xlarge": frozenset({"us-east-2b"})}
    problem = only(environment({"train": ON_DEMAND}), answers(offerings=offerings))
    assert (spoken(problem.path), problem.value) == ("environment.pools.train.zone", "us-east-2a")
    assert problem.fix == "zone: us-east-2b"


def test_an_instance_type_that_the_region_does_not_have() -> None:
    offerings = {"m7i.2xlarge": frozenset({"us-east-2a", "us-east-2b"})}
    problem = only(environment({"train": ON_DEMAND}), answers(offerings=offerings))
    assert (spoken(problem.path), problem.value) == ("environment.pools.train.instance", "p5en.48xlarge")
    assert "nor elsewhere in us-east-2" in problem.message


# A network that is there


def imported(**subnets: Any) -> Environment:
    network = {"vpc": "vpc-0a1b2c3d4e5f67890", "subnets": {"us-east-2a": "subnet-0a", "us-east-2b": "subnet-0b"}}
    ids = {key: f"subnet-{key[-1] * 17}" for key in network["subnets"]}
    return environment({"train": ON_DEMAND}, network={**network, "subnets": ids, **subnets})


SUBNETS = {
    f"subnet-{letter * 17}": Subnet("vpc-0a1b2c3d4e5f67890", f"us-east-2{letter}", 4091, public=False)
    for letter in "ab"
}


def test_subnets_that_fit() -> None:
    assert found(imported(), answers(subnets=SUBNETS)) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (None, "has no such subnet"),
        (Subnet("vpc-other", "us-east-2a", 4091, public=False), "belongs to vpc-other"),
        (Subnet("vpc-0a1b2c3d4e5f67890", "us-east-2b", 4091, public=False), "is in us-east-2b"),
        (Subnet("vpc-0a1b2c3d4e5f67890", "us-east-2a", 4091, public=True), "gives public addresses"),
        (Subnet("vpc-0a1b2c3d4e5f67890", "us-east-2a", 100, public=False), "has 100 free addresses"),
    ],
)
def test_subnets_that_do_not_fit(said: Subnet | None, words: str) -> None:
    subnets = {**SUBNETS, "subnet-aaaaaaaaaaaaaaaaa": said} if said else dict(list(SUBNETS.items())[1:])
    problem = only(imported(), answers(subnets=subnets))
    assert spoken(problem.path) == "environment.cluster.network.subnets.us-east-2a"
    assert words in problem.message


def test_nodes_that_run_already_have_their_addresses() -> None:
    full = {name: replace(subnet, free=0) for name, subnet in SUBNETS.items()}
    running = [Running("p5en.48xlarge", 192, cluster="atlas", subnet="subnet-aaaaaaaaaaaaaaaaa")] * 16
    running += [Running("m7i.2xlarge", 8, cluster="atlas", subnet=name) for name in SUBNETS for _ in range(2)]
    assert found(imported(), answers(subnets=full, running=running)) == []


# Questions without an answer


def test_each_question_that_is_refused_is_one_warning_that_names_the_action() -> None:
    def denied(action: str) -> Unknown:
        return Unknown(action, "AccessDenied: no", denied=True)

    said = Answers(
        account="111122223333",
        zones=denied("ec2:DescribeAvailabilityZones"),
        offerings=denied("ec2:DescribeInstanceTypeOfferings"),
        quotas=dict.fromkeys(CODES, denied("servicequotas:GetServiceQuota")),
        running=denied("ec2:DescribeInstances"),
        reservations=denied("ec2:DescribeCapacityReservations"),
        versions=denied("eks:DescribeClusterVersions"),
        subnets=denied("ec2:DescribeSubnets"),
        addons=denied("eks:DescribeAddonVersions"),
    )
    problems = found(environment({"train": TRAIN}), said)
    assert len(problems) == 8
    assert {problem.severity for problem in problems} == {"warning"}
    assert "allow servicequotas:GetServiceQuota to whoever runs this" in [problem.fix for problem in problems]
