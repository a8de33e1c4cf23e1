"""Every rule, over the wire: what breaks it, what passes it, and what keeps it from judging."""

from typing import Any

import pytest

from policies.pack import MODULES
from policies.rules import PodRule
from tests.policies import checks
from tests.policies.cases import BREAKS, PASSES, TOPICS, UNKNOWNS
from tests.policies.objects import KINDS, UNKNOWN, Resource, Subject, container, template, workload
from twin.policy_pack import PolicyPack

LEVELS = {rule.id: rule.level.value for module in MODULES for rule in module.RULES}


def cases(table: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(rule, case, id=f"{rule}-{n}") for rule, all_ in table.items() for n, case in enumerate(all_)]


@pytest.mark.parametrize(("rule", "case"), cases(BREAKS))
def test_a_broken_rule_is_told_with_the_place_and_the_fix(pack: PolicyPack, rule: str, case: Any) -> None:
    checks.breaks(pack, rule, LEVELS[rule], case)


@pytest.mark.parametrize(("rule", "subject"), cases(PASSES))
def test_what_is_right_passes(pack: PolicyPack, rule: str, subject: Subject) -> None:
    checks.passes(pack, rule, subject)


@pytest.mark.parametrize(("rule", "case"), cases(UNKNOWNS))
def test_an_unknown_field_is_listed_in_a_preview(pack: PolicyPack, rule: str, case: Any) -> None:
    checks.waits(pack, rule, case)


@pytest.mark.parametrize(("rule", "case"), cases(UNKNOWNS))
def test_an_unknown_field_stops_an_update(updating: PolicyPack, rule: str, case: Any) -> None:
    checks.stops(updating, rule, LEVELS[rule], case)


def test_every_rule_is_tested_three_ways(pack: PolicyPack) -> None:
    assert set(LEVELS) == set(BREAKS) == set(PASSES) == set(UNKNOWNS)
    assert {module.__name__.removeprefix("policies.").replace(".", "_") for module in MODULES} == set(TOPICS)


@pytest.mark.parametrize("kind", KINDS)
def test_pods_are_found_in_every_kind_of_workload(pack: PolicyPack, kind: str) -> None:
    bad = {"spec": {"containers": [container(image="a:latest", securityContext={"privileged": True})]}}
    told = {verdict.policy for verdict in pack.analyze(workload(kind, bad))}
    assert told >= {"image-version", "privileged"}
    told = {verdict.policy for verdict in pack.analyze(workload(kind, template()))}
    assert not told & {"image-version", "privileged"}


@pytest.mark.parametrize(
    "resource",
    [
        Resource("kubernetes:core/v1:ConfigMap", {"data": {"containers": "x"}}),
        Resource("kubernetes:helm.sh/v3:Release", {"values": {"spec": {"containers": [{"image": "a:latest"}]}}}),
        Resource("aws:ec2/eip:Eip", {"containers": [{"image": "a:latest"}]}),
        Resource("gangline:index:Queues", {}),
    ],
)
def test_what_makes_no_pods_is_left_alone(pack: PolicyPack, resource: Resource) -> None:
    about_pods = {rule.id for module in MODULES for rule in module.RULES if isinstance(rule, PodRule)}
    assert not about_pods & {verdict.policy for verdict in pack.analyze(resource)}


@pytest.mark.parametrize("other", [UNKNOWN, "text", 8, [], {"template": "text"}, {"template": {"spec": [1]}}])
def test_a_bad_pod_is_found_beside_one_that_cannot_be_read(pack: PolicyPack, other: Any) -> None:
    bad = {"template": {"spec": {"containers": [container(image="a:latest"), other]}}}
    cluster = Resource("kubernetes:ray.io/v1:RayCluster", {"spec": {"workerGroupSpecs": [other, bad, other]}})
    (verdict,) = checks.of("image-version", pack.analyze(cluster))
    assert "spec.workerGroupSpecs[1].template.spec.containers[0].image: a:latest" in verdict.message
    (listed,) = pack.analyze_stack([])
    assert "workerGroupSpecs[0]" in listed.message
    assert "workerGroupSpecs[2]" in listed.message
