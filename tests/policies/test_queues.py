"""The laws about queues: objects among themselves, against the document's pools, and the workloads that name them."""

from typing import Any

import pytest

from tests.policies import checks
from tests.policies.cases.queues import GPU, TREE, TWIN, queue
from tests.policies.objects import UNKNOWN, Resource, gpus, platform, pod, secret, template, workload
from twin.policy_pack import PolicyPack, Verdict


def judged(pack: PolicyPack, *resources: Resource) -> list[Verdict]:
    """What the laws about queues say of a stack."""
    verdicts = checks.judged(pack, list(resources))
    return [each for each in verdicts if each.policy in ("queue-sums", "queue-exists", "unjudged")]


BREAKS = {
    "guarantee over deserved": ([queue("a", guarantee=64, deserved=32)], "a", "spec.guarantee.resource", ("64", "32")),
    "guarantee without deserved": ([queue("a", guarantee=64)], "a", "spec.guarantee.resource", ("deserved",)),
    "deserved over capability": ([queue("a", deserved=8, capability=4)], "a", "spec.deserved", ("8", "4")),
    "part over the capability above": (
        [queue("a", capability=8), queue("a.b", "a", capability=16)],
        "a.b",
        "spec.capability",
        ("16", "8"),
    ),
    "part over a capability further above": (
        [queue("a", capability=8), queue("a.b", "a"), queue("a.b.c", "a.b", capability=16)],
        "a.b.c",
        "spec.capability",
        ("16", "8"),
    ),
    "sum of deserved over the whole": (
        [queue("a", deserved=8), queue("a.b", "a", deserved=5), queue("a.c", "a", deserved=5)],
        "a",
        "spec.deserved",
        ("10", "8"),
    ),
    "deserved in a whole that has none": (
        [queue("a"), queue("a.b", "a", deserved=5)],
        "a",
        "spec.deserved",
        ("5", "none"),
    ),
    "sum of guarantees over the whole": (
        [
            queue("a", deserved=16, guarantee=8),
            queue("a.b", "a", deserved=8, guarantee=5),
            queue("a.c", "a", deserved=8, guarantee=5),
        ],
        "a",
        "spec.guarantee.resource",
        ("10", "8"),
    ),
    "names that do not follow the tree": (
        [queue("top", deserved=8), queue("x", "top", deserved=5), queue("y", "top", deserved=5)],
        "top",
        "spec.deserved",
        ("10", "8"),
    ),
    "a part of itself": ([queue("a", "b"), queue("b", "a")], "a", "spec.parent", ("is one of its own parts",)),
    "the whole of itself": ([queue("a", "a")], "a", "spec.parent", ("is one of its own parts",)),
    "Volcano's own": ([queue("root")], "root", "metadata.name", ("Volcano has a root queue of its own",)),
    "more than the pools": ([platform(TWIN), queue("a", deserved=600)], "", "queues", ("600", "512")),
    "more than the pools together": (
        [platform(TWIN), queue("a", deserved=400), queue("b", deserved=200)],
        "",
        "queues",
        ("600", "512"),
    ),
}


@pytest.mark.parametrize("case", BREAKS)
def test_queues_that_cannot_keep_their_promise(pack: PolicyPack, case: str) -> None:
    resources, name, place, words = BREAKS[case]
    verdicts = [each for each in judged(pack, *resources) if each.policy == "queue-sums" and each.urn.endswith(name)]
    assert [verdict.level for verdict in verdicts] == ["mandatory"]
    assert place in verdicts[0].message.splitlines()[1]
    for word in words:
        assert word in verdicts[0].message.splitlines()[1]


@pytest.mark.parametrize(
    "resources",
    [
        [],
        [queue("a", guarantee=8, deserved=8, capability=8)],
        # Parts may be capped above what the whole may use together: only deserved and guarantee are summed.
        [queue("a", capability=8), queue("a.b", "a", capability=8), queue("a.c", "a", capability=8)],
        [queue("a", deserved=8), queue("a.b", "a", deserved=4), queue("a.c", "a", deserved=4)],
        [
            queue("a"),
            queue("b", deserved={"cpu": "1500m", "memory": "1.5Gi"}, capability={"cpu": 2, "memory": "1536Mi"}),
        ],
        [queue("part", "made-elsewhere", deserved=5), queue("other", "made-elsewhere", deserved=5)],
        [platform(TWIN), queue("a", deserved=256), queue("b", deserved=256)],
        [platform(TWIN), queue("a", capability=10_000)],
        [queue("a", deserved={GPU: secret(8)}, capability=8)],
    ],
)
def test_queues_that_keep_it(pack: PolicyPack, resources: list[Resource]) -> None:
    assert judged(pack, *resources) == []


UNKNOWNS = {
    "an amount": ([queue("a", deserved={GPU: UNKNOWN}, capability=4)], 'a: spec.deserved["nvidia.com/gpu"]'),
    "a quota": ([queue("a", deserved=UNKNOWN, capability=4)], "a: spec.deserved"),
    "a parent": ([queue("a", UNKNOWN)], "a: spec.parent"),
    "the document": ([platform(UNKNOWN), queue("a", deserved=600)], "environment"),
}


@pytest.mark.parametrize("case", UNKNOWNS)
def test_an_unknown_amount_waits_for_the_update(pack: PolicyPack, case: str) -> None:
    resources, line = UNKNOWNS[case]
    (verdict,) = judged(pack, *resources)
    assert (verdict.policy, verdict.level) == ("unjudged", "advisory")
    assert line in verdict.message
    assert "queue-sums" in verdict.message


@pytest.mark.parametrize("case", UNKNOWNS)
def test_an_unknown_amount_stops_an_update(updating: PolicyPack, case: str) -> None:
    resources, _ = UNKNOWNS[case]
    assert {(each.policy, each.level) for each in judged(updating, *resources)} == {("queue-sums", "mandatory")}


def test_a_queue_that_is_wrong_is_found_beside_one_that_is_unknown(pack: PolicyPack) -> None:
    resources = [
        queue("a", deserved={GPU: UNKNOWN, "cpu": 8}, capability={GPU: 4, "cpu": 4}),
        queue("b", deserved=8, capability=4),
    ]
    found = [each for each in judged(pack, *resources) if each.level == "mandatory"]
    assert [each.urn for each in found] == [queue("a").urn, queue("b").urn]
    assert "spec.deserved.cpu" in found[0].message


def test_a_document_with_errors_is_no_reason_to_pass(pack: PolicyPack) -> None:
    (verdict,) = judged(pack, platform({"cluster": {}}), queue("a", deserved=600))
    assert "environment has errors" in verdict.message


def ray(name: Any) -> Resource:
    cluster = workload("RayCluster", template(gpus(8)))
    return Resource(cluster.type, cluster.inputs | {"metadata": {"labels": {"volcano.sh/queue-name": name}}}, "cluster")


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        (ray("research.vision"), "research.vision is no queue of this stack"),
        (ray("research"), "research has parts"),
        (pod(gpus(8), queue="nope"), "nope is no queue of this stack"),
        (pod(queue="root"), "root has parts"),
    ],
)
def test_work_for_a_queue_that_takes_none(pack: PolicyPack, resource: Resource, message: str) -> None:
    (verdict,) = [each for each in judged(pack, *TREE, resource) if each.policy == "queue-exists"]
    assert (verdict.level, verdict.urn) == ("mandatory", resource.urn)
    assert message in verdict.message


@pytest.mark.parametrize(
    "resources", [[*TREE, ray("research.llm")], [ray("made-elsewhere")], [*TREE, pod(gpus(1), queue="default")]]
)
def test_work_for_a_queue_that_takes_it(pack: PolicyPack, resources: list[Resource]) -> None:
    assert judged(pack, *resources) == []


@pytest.mark.parametrize(
    ("resources", "line"),
    [
        ([*TREE, ray(UNKNOWN)], 'cluster: metadata.labels["volcano.sh/queue-name"] is not known yet'),
        ([*TREE, queue(UNKNOWN), ray("later")], "names later, and not all queues are known yet"),
    ],
)
def test_a_queue_that_may_yet_come(pack: PolicyPack, resources: list[Resource], line: str) -> None:
    (verdict,) = judged(pack, *resources)
    assert verdict.policy == "unjudged"
    (found,) = [each for each in verdict.message.splitlines() if line in each]
    assert "queue-exists" in found


def test_what_the_model_says_is_not_said_twice(pack: PolicyPack) -> None:
    """Warnings are for the document's author; a stack that carries them is not stopped."""
    assert judged(pack, platform(TWIN), queue("a", deserved=8)) == []
