"""Names by which documents call queues and what they hold: reserved ones, misspelt ones, and those of no leaf."""

from typing import Any

import pytest

from tests.model.documents import Change, drop, errors, only, problems, put, warnings

LIMIT = {"gpu": 128, "nvidia.com/gpu.shared": 128}
NONE = {"gpu": 0, "nvidia.com/gpu.shared": 0}


def alone(tree: dict[str, Any]) -> list[Change]:
    """A document whose only workloads are queues."""
    return [put("queues", tree), put("tenants", {}), put("ray", {})]


RESERVED: list[tuple[str, list[Change], str | None, str]] = [
    ("root", alone({"root": {"capability": LIMIT}}), "queues.root", "a root queue of its own"),
    ("root without limits", alone({"root": {}}), "queues.root", "a root queue of its own"),
    ("root with parts", alone({"root": {"queues": {"a": {}}}}), "queues.root", "a root queue of its own"),
    ("root beside default", alone({"root": {}, "default": {"capability": LIMIT}}), "queues.root", "a root queue"),
    ("root further down", alone({"a": {"capability": LIMIT, "queues": {"root": {}}}}), None, ""),
    ("default", alone({"default": {"capability": LIMIT}}), None, ""),
    ("default without GPUs", alone({"default": {"capability": NONE}}), None, ""),
    ("default with a share", alone({"default": {"capability": LIMIT, "deserved": {"gpu": 8}}}), None, ""),
    ("default further down", alone({"a": {"capability": LIMIT, "queues": {"default": {}}}}), None, ""),
    (
        "default with parts",
        alone({"default": {"capability": LIMIT, "queues": {"a": {}}}}),
        "queues.default.queues",
        "it must stay a leaf",
    ),
    (
        "default that contradicts itself",
        alone({"default": {"capability": {**LIMIT, "gpu": 4}, "deserved": {"gpu": 8}}}),
        "queues.default.deserved.gpu",
        "deserved 8 is more than capability 4",
    ),
    ("default in capitals", alone({"Default": {"capability": LIMIT}}), "queues.Default", "'D' (character 1)"),
    (
        "default that nobody declared, as a team's queue",
        [put("tenants.research.queues", ["research", "default"])],
        "tenants.research.queues[1]",
        "only when it is declared",
    ),
    (
        "default that nobody declared, as a team's default",
        [put("tenants.research.defaultQueue", "default")],
        "tenants.research.defaultQueue",
        "only when it is declared",
    ),
    (
        "root as a team's queue",
        [put("tenants.research.queues", ["root"]), put("ray", {}), drop("tenants.research.defaultQueue")],
        "tenants.research.queues[0]",
        "below the root",
    ),
    (
        "root as a team's default",
        [put("tenants.research.defaultQueue", "root")],
        "tenants.research.defaultQueue",
        "below the root",
    ),
]


@pytest.mark.parametrize(
    ("changes", "path", "says"), [case[1:] for case in RESERVED], ids=[case[0] for case in RESERVED]
)
def test_the_schedulers_own_queues(changes: list[Change], path: str | None, says: str) -> None:
    if path is None:
        assert not problems(*changes)
        return
    found, problem = only(errors(*changes))
    assert (found, says in problem.message) == (path, True), problem.message


RESOURCES: list[tuple[str, object, str | None]] = [
    ("mem", "400Gi", "memory"),
    ("Memory", "400Gi", "memory"),
    ("memroy", "400Gi", "memory"),
    ("cpus", 8, "cpu"),
    ("CPU", 8, "cpu"),
    ("gpus", 8, "gpu"),
    ("GPU", 8, "gpu"),
    ("gpu ", 8, "gpu"),
    ("pod", 8, None),
    ("storage", "8Gi", "ephemeral-storage"),
    ("nvidia.com/gpus", 8, "nvidia.com/gpu"),
    ("nvidia.com/GPU", 8, "nvidia.com/gpu"),
    ("nvidia/gpu", 8, "nvidia.com/gpu"),
    ("nvidia.com/gpu.shard", 8, "nvidia.com/gpu.shared"),
    ("requests.cpu", 8, "cpu"),
    ("limits.memory", "8Gi", "memory"),
    ("requests.nvidia.com/gpu", 8, "nvidia.com/gpu"),
    ("rdma/hca", 8, None),
    ("vpc.amazonaws.com/efa", 8, None),
    ("hugepages-2Mi", "8Gi", None),
    ("count/pods", 8, None),
    ("", 8, None),
]


_OF_TEAMS = [
    (name, amount, "pods" if name == "pod" else meant) for name, amount, meant in RESOURCES if name != "storage"
]
"""A team's quota counts pods, and Volcano's queues do not."""


@pytest.mark.parametrize("at", ["capability", "deserved", "guarantee"])
@pytest.mark.parametrize(("name", "amount", "meant"), RESOURCES)
def test_a_resource_that_nothing_offers(at: str, name: str, amount: object, meant: str | None) -> None:
    quotas = {"capability": LIMIT, at: {**(LIMIT if at == "capability" else {}), name: amount}}
    _, problem = only(errors(*alone({"a": quotas})))
    assert (problem.path, problem.value, problem.fix) == (("queues", "a", at, name), name, meant)
    assert "nvidia.com/gpu.shared" in (problem.allowed or "")


@pytest.mark.parametrize(("name", "amount", "meant"), _OF_TEAMS)
def test_nor_does_a_teams_quota_know_it(name: str, amount: object, meant: str | None) -> None:
    _, problem = only(errors(put(("tenants", "research", "quota", name), amount)))
    assert (problem.path, problem.fix) == (("tenants", "research", "quota", name), meant)


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage", "gpu", "nvidia.com/gpu.shared"])
def test_what_pools_offer_is_known(name: str) -> None:
    assert not problems(
        *alone({"a": {"capability": {**LIMIT, name: "64Gi" if name in ("memory", "ephemeral-storage") else 64}}})
    )


def test_a_share_of_what_nothing_offers_is_told_once() -> None:
    _, problem = only(errors(put("queues.research.capability.gpus", "50% of train")))
    assert (problem.message, problem.fix) == ("is no resource", "gpu")


LIMITED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("cores alone", {"a": {"capability": {"cpu": 8}}}, ["queues.a.capability.gpu"]),
    ("nothing", {"a": {}}, ["queues.a.capability.gpu"]),
    ("the other GPUs", {"a": {"capability": {"gpu": 8}}}, ['queues.a.capability["nvidia.com/gpu.shared"]']),
    ("above", {"a": {"capability": LIMIT, "queues": {"b": {}}}}, []),
    (
        "in one of two parts",
        {"a": {"queues": {"b": {"capability": LIMIT}, "c": {}}}},
        ["queues.a.queues.c.capability.gpu"],
    ),
    ("by its full name", {"a": {"capability": {"nvidia.com/gpu": 8, "nvidia.com/gpu.shared": 8}}}, []),
    ("nothing may be used", {"a": {"capability": NONE}}, []),
    ("misspelt", {"a": {"capability": {"gpus": 8}}}, []),  # told as such
    ("misspelt above", {"a": {"capability": {"gpus": 8}, "queues": {"b": {"capability": {"cpu": 4}}}}}, []),
    ("deserved alone", {"a": {"deserved": {"gpu": 8}}}, ["queues.a.capability.gpu"]),
]


@pytest.mark.parametrize(("tree", "first"), [case[1:] for case in LIMITED], ids=[case[0] for case in LIMITED])
def test_gpus_that_nothing_limits_are_a_warning(tree: dict[str, Any], first: list[str]) -> None:
    assert list(warnings(*alone(tree)))[:1] == first


JOB = {
    "namespace": "research",
    "pool": "train",
    "image": "registry.example.com/train:1.0",
    "command": ["train"],
    "workers": {"count": 4, "gpus": 8, "cpu": 8, "memory": "64Gi"},
}
WHERE = [
    ("nope", "there is no such queue", None),
    ("root", "queues are below the root, which takes no jobs", None),
    ("default", "only when it is declared under queues", None),
    ("research", "has parts; jobs go to leaves only", None),
    ("production", "may not use this queue", None),
    ("llm", "there is no such queue", "research.llm"),
    ("vision", "there is no such queue", "research.vision"),
    ("research.", "there is no such queue", "research.llm"),
    ("RESEARCH.llm", "there is no such queue", "research.llm"),
    ("research/llm", "there is no such queue", "research.llm"),
    (" research.llm", "there is no such queue", "research.llm"),
    ("research.llm.x", "there is no such queue", "research.llm"),
    ("", "there is no such queue", None),
    (None, "must be text", None),
    (7, "must be text", 'write "7"'),
]


@pytest.mark.parametrize("at", ["training.jobs.it", "ray.clusters.tuning"])
@pytest.mark.parametrize(("queue", "says", "meant"), WHERE)
def test_work_goes_to_a_leaf_that_is_there_and_that_its_team_may_use(
    at: str, queue: object, says: str, meant: str | None
) -> None:
    job = [put(at, JOB)] if at.startswith("training") else []
    path, problem = only(errors(*job, put(f"{at}.queue", queue)))
    assert (path, says in problem.message) == (f"{at}.queue", True), problem.message
    if meant:
        assert problem.fix == meant


MOVED: list[tuple[str, list[Change], dict[str, str]]] = [
    (
        "the leaf gets parts",
        [put("queues.research.queues.llm.queues", {"a": {}, "b": {}})],
        {"ray.clusters.tuning.queue": "has parts", "tenants.research.defaultQueue": "has parts"},
    ),
    (
        "the leaf goes",
        [drop("queues.research.queues.llm")],
        {"ray.clusters.tuning.queue": "no such queue", "tenants.research.defaultQueue": "no such queue"},
    ),
    (
        "default takes no GPUs",
        [
            put("queues.default", {"capability": NONE}),
            put("ray.clusters.tuning.queue", "default"),
            put("tenants.research.queues", ["research", "default"]),
        ],
        {"ray.clusters.tuning.workers.count": "needs 32 of nvidia.com/gpu, queue default may use 0"},
    ),
    (
        "default takes some",
        [
            put("queues.default", {"capability": {**NONE, "gpu": 32}}),
            put("ray.clusters.tuning.queue", "default"),
            put("tenants.research.queues", ["research", "default"]),
        ],
        {},
    ),
]


@pytest.mark.parametrize(("changes", "says"), [case[1:] for case in MOVED], ids=[case[0] for case in MOVED])
def test_queues_that_change_under_their_work(changes: list[Change], says: dict[str, str]) -> None:
    found = errors(*changes)
    assert list(found) == list(says)
    assert all(text in found[path].message for path, text in says.items())
