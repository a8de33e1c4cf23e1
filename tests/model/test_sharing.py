"""What may be shared, how far, and what is refused with which reason."""

from typing import Any

import pytest

from tests.model.documents import Change, drop, errors, only, problems, put, warnings

SHARED = "nvidia.com/gpu.shared"
NO_SHARED_QUOTAS: list[Change] = [
    *(
        drop(("queues", queue, kind, SHARED))
        for queue, kind in (("research", "capability"), ("production", "deserved"), ("production", "capability"))
    ),
    drop("ray.clusters.answers"),
]
MPS, SLICED, CUT = {"replicas": 8}, {"replicas": 4}, {"profiles": {"1g.10gb": 7}}


def sharing(**plan: object) -> Change:
    return put("pools.serve.sharing", plan)


def gpu(model: str) -> Change:
    return put("pools.serve.shape.gpu.model", model)


def refused(*changes: Change) -> tuple[str, Any]:
    """The one error, its path without that of the pool's sharing."""
    path, problem = only(errors(*NO_SHARED_QUOTAS, *changes))
    return path.removeprefix("pools.serve.sharing").removeprefix("."), problem


@pytest.mark.parametrize(
    "plan",
    [
        {"timeSlicing": SLICED},
        {"mps": MPS},
        {"mps": {"replicas": 48}},
        {"mps": {"replicas": 2, "floor": "40Gi"}},
        {"mig": CUT},
        {"mig": {**CUT, "strategy": "single"}},
        {"mig": {"profiles": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}}},
        {"mig": {"profiles": {"1g.10gb": 6, "1g.10gb+me": 1}, "strategy": "mixed"}},
        {"mig": CUT, "timeSlicing": SLICED},
        {"mig": {**CUT, "strategy": "single"}, "timeSlicing": {"replicas": 2}},
    ],
)
def test_plans_that_a_100_nodes_can_follow(plan: dict[str, Any]):
    assert not errors(*NO_SHARED_QUOTAS, sharing(**plan))


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"mig": CUT}, "the device plugin fails where they are cut"),
        ({"mig": {**CUT, "strategy": "single"}}, "the device plugin fails where they are cut"),
        ({"timeSlicing": SLICED}, "time slicing be ignored"),
        ({"timeSlicing": {"replicas": 8}, "mig": CUT}, "timeSlicing and mig"),
    ],
)
def test_mps_stands_alone(beside: dict[str, Any], told: str):
    path, problem = refused(sharing(mps=MPS, **beside))
    assert path == "mps"
    assert told in problem.message
    assert "one of timeSlicing, mps, mig" in problem.allowed


@pytest.mark.parametrize("kind", ["timeSlicing", "mps"])
@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_sharing_begins_at_two(kind: str, replicas: int):
    path, problem = refused(sharing(**{kind: {"replicas": replicas}}))
    assert (path, problem.value, problem.fix) == (f"{kind}.replicas", replicas, "sharing: none")
    assert problem.allowed == "2 or more"


def test_one_slice_of_an_instance_is_the_instance():
    path, problem = refused(sharing(mig=CUT, timeSlicing={"replicas": 1}))
    assert (path, problem.fix) == ("timeSlicing.replicas", "leave out timeSlicing")


@pytest.mark.parametrize("kind", ["timeSlicing", "mps"])
@pytest.mark.parametrize("replicas", ["4", 4.0, True, None, {}])
def test_replicas_are_a_whole_number(kind: str, replicas: object):
    assert refused(sharing(**{kind: {"replicas": replicas}}))[0] == f"{kind}.replicas"


@pytest.mark.parametrize("kind", ["timeSlicing", "mps"])
def test_how_many_must_be_said(kind: str):
    assert refused(sharing(**{kind: {}}))[0] == f"{kind}.replicas"


@pytest.mark.parametrize(
    ("model", "replicas", "most"),
    [
        ("a100-sxm-80gb", 49, 48),
        ("h100-sxm-80gb", 49, 48),
        ("t4", 49, 48),
        ("v100-sxm-16gb", 17, 16),
        ("v100-sxm-32gb", 48, 16),
        ("b200-sxm-180gb", 10**40, 48),
    ],
)
def test_mps_takes_so_many_clients_of_a_gpu(model: str, replicas: int, most: int):
    path, problem = refused(gpu(model), sharing(mps={"replicas": replicas}))
    assert (path, problem.allowed) == ("mps.replicas", f"2 to {most}")
    assert model in problem.message
    assert ("7.0" in problem.message) == (most == 16)


@pytest.mark.parametrize(("model", "replicas"), [("v100-sxm-16gb", 16), ("t4", 48), ("gb200-186gb", 48)])
def test_mps_takes_as_many_as_that(model: str, replicas: int):
    assert not errors(*NO_SHARED_QUOTAS, gpu(model), sharing(mps={"replicas": replicas}))


def test_memory_below_the_floor_is_a_warning_with_both_numbers():
    found = [
        problem
        for problem in problems(gpu("t4"), sharing(mps={"replicas": 8, "floor": "2Gi"}))
        if problem.path[-1] == "replicas"
    ]
    assert [(problem.severity, problem.allowed) for problem in found] == [("warning", "replicas: at most 7")]
    assert "1.8Gi of the memory of t4, less than the floor 2Gi" in found[0].message.replace("1920Mi", "1.8Gi")


@pytest.mark.parametrize(("replicas", "floor"), [(8, "10Gi"), (7, "11Gi"), (2, "40Gi"), (48, "1Gi")])
def test_memory_at_the_floor_is_enough(replicas: int, floor: str):
    found = warnings(sharing(mps={"replicas": replicas, "floor": floor}))
    assert "pools.serve.sharing.mps.replicas" not in found


def test_a_floor_above_the_whole_gpu_asks_for_another_gpu():
    found = warnings(sharing(mps={"replicas": 2, "floor": "100Gi"}))
    assert found["pools.serve.sharing.mps.replicas"].allowed == "a GPU with more memory"


@pytest.mark.parametrize("floor", ["512m", "4GB", 4.5, ""])
def test_a_floor_is_an_amount_of_memory(floor: object):
    assert refused(sharing(mps={"replicas": 2, "floor": floor}))[0] == "mps.floor"


@pytest.mark.parametrize("model", ["t4", "l4", "l40s", "a10g", "v100-sxm-16gb", "v100-sxm-32gb"])
def test_gpus_that_cannot_be_cut(model: str):
    path, problem = refused(gpu(model), sharing(mig=CUT))
    assert path == "mig"
    assert f"{model} cannot be cut" in problem.message
    assert problem.allowed.startswith("timeSlicing, mps; mig on a30, a100")


@pytest.mark.parametrize(
    ("model", "profile", "meant"),
    [
        ("a100-sxm-80gb", "1g.5gb", "1g.10gb"),
        ("a100-sxm-40gb", "1g.20gb", "1g.10gb"),
        ("h100-sxm-80gb", "7g.180gb", "7g.80gb"),
        ("a100-sxm-80gb", "1g.10g", "1g.10gb"),
        ("a100-sxm-80gb", "1G.10GB", "1g.10gb"),
        ("a100-sxm-80gb", "3g.40Gi", "3g.40gb"),
        ("a100-sxm-40gb", "3g.40gb", "3g.20gb"),
        ("h200-sxm-141gb", "3g.72gb", "3g.71gb"),
        ("a30", "7g.24gb", "4g.24gb"),
        ("a30", "7g.80gb", None),
        ("a100-sxm-80gb", "mig-1g.10gb", "1g.10gb"),
        ("a100-sxm-80gb", "whole", None),
    ],
)
def test_profiles_that_the_gpu_does_not_have(model: str, profile: str, meant: str | None):
    path, problem = refused(gpu(model), sharing(mig={"profiles": {profile: 1}}))
    assert (path, problem.value) == (f'mig.profiles["{profile}"]', profile) if "." in profile else True
    assert f"{model} has no such profile" in problem.message
    assert problem.fix == meant
    assert (meant or "2g") in problem.allowed


@pytest.mark.parametrize(
    ("profiles", "why", "allowed"),
    [
        ({"1g.10gb": 8}, "not all find one that is free", "at most 7 of 1g.10gb"),
        ({"1g.10gb": 9}, "they take 9 slices of its memory, it has 8", "at most 7 of 1g.10gb"),
        ({"2g.20gb": 4}, "not all find one that is free", "at most 3 of 2g.20gb"),
        ({"1g.10gb+me": 2}, "its media engines go to one instance", "at most 1 of 1g.10gb+me"),
        ({"4g.40gb": 1, "2g.20gb": 2}, "not all find", "at most 1 of 2g.20gb beside the others"),
        ({"3g.40gb": 2, "1g.10gb": 1}, "9 slices", "at most 1 of 3g.40gb beside the others"),
        ({"7g.80gb": 1, "1g.10gb": 1}, "9 slices", "at most 0 of 1g.10gb beside the others"),
        ({"1g.10gb": 10**9}, "1000000000 slices", "at most 7 of 1g.10gb"),
        ({"7g.80gb": 2, "4g.40gb": 2, "3g.40gb": 9}, "60 slices", "fewer instances"),
    ],
)
def test_layouts_that_do_not_fit(profiles: dict[str, int], why: str, allowed: str):
    path, problem = refused(sharing(mig={"profiles": profiles}))
    assert path == "mig.profiles"
    assert why in problem.message
    assert allowed in problem.allowed


@pytest.mark.parametrize("count", [0, -1, "7", 1.5, None])
def test_instances_are_counted_from_one(count: object):
    assert refused(sharing(mig={"profiles": {"1g.10gb": count}}))[0] == 'mig.profiles["1g.10gb"]'


def test_each_wrong_count_is_told():
    found = errors(*NO_SHARED_QUOTAS, sharing(mig={"profiles": {"1g.10gb": "x", "2g.20gb": 0, "3g.40gb": -1}}))
    assert len(found) == 3


@pytest.mark.parametrize("profiles", [{}, None, [], "1g.10gb"])
def test_a_layout_names_instances(profiles: object):
    assert refused(sharing(mig={"profiles": profiles}))[0] == "mig.profiles"


def test_single_means_one_kind_of_instance():
    path, problem = refused(sharing(mig={"profiles": {"1g.10gb": 1, "3g.40gb": 1}, "strategy": "single"}))
    assert (path, problem.fix) == ("mig.strategy", "strategy: mixed")


@pytest.mark.parametrize("strategy", ["none", "Single", "", None, True])
def test_strategies_are_single_and_mixed(strategy: object):
    path, problem = refused(sharing(mig={**CUT, "strategy": strategy}))
    assert path == "mig.strategy"
    assert "mixed" in problem.allowed


@pytest.mark.parametrize(
    ("plan", "path"),
    [
        ({}, ""),
        ({"replicas": 4}, "replicas"),
        ({"profiles": {"1g.10gb": 7}}, "profiles"),
        ({"timeSlicing": {"count": 4}}, "timeSlicing.count"),
        ({"timeSlicing": {"foo": 4}}, "timeSlicing.foo"),
        ({"timeslicing": SLICED}, "timeslicing"),
        ({"mps": {"replicas": 4, "memory": "4Gi"}}, "mps.memory"),
        ({"mig": {**CUT, "layout": "all-1g.10gb"}}, "mig.layout"),
        ({"mig": CUT, "vgpu": {}}, "vgpu"),
    ],
)
def test_plans_that_say_something_else(plan: dict[str, Any], path: str):
    assert refused(sharing(**plan))[0] == path


@pytest.mark.parametrize(
    "plan", [{"timeSlicing": SLICED}, {"mps": MPS}, {"mig": CUT}, {"mig": CUT, "timeSlicing": MPS}]
)
def test_a_pool_without_gpus_shares_none(plan: dict[str, Any]):
    path, problem = only(errors(put("pools.system.sharing", plan)))
    assert (path, problem.fix) == ("pools.system.sharing", "sharing: none")


def test_a_quota_of_a_misspelt_profile_is_no_second_mistake():
    quota = put("queues.production.capability", {"nvidia.com/mig-1g.10gb": 28})
    path, problem = only(errors(*NO_SHARED_QUOTAS, sharing(mig={"profiles": {"1g.10b": 7}}), quota))
    assert (path, problem.fix) == ('pools.serve.sharing.mig.profiles["1g.10b"]', "1g.10gb")


def test_more_parts_than_pods_is_a_warning():
    found = warnings(sharing(mps={"replicas": 28}))
    problem = found["pools.serve.sharing.mps"]
    assert "offers 112 parts of its GPUs and takes 110 pods" in problem.message
    assert problem.allowed == "fewer parts, or maxPods: 112 or more"
    assert "pools.serve.sharing.mps" not in warnings(sharing(mps={"replicas": 27}))
    pods = put("pools.serve.maxPods", 112)
    assert "pools.serve.sharing.mps" not in warnings(sharing(mps={"replicas": 28}), pods)


def test_more_parts_than_any_node_takes_pods_are_for_fewer_parts():
    problem = warnings(sharing(timeSlicing={"replicas": 2500}))["pools.serve.sharing.timeSlicing"]
    assert (problem.value, problem.allowed) == (10000, "fewer parts")


def test_an_unknown_gpu_is_one_problem_whatever_is_shared():
    for plan in ({"mps": MPS}, {"mig": CUT}, {"mig": CUT, "timeSlicing": SLICED}):
        path, _ = only(errors(*NO_SHARED_QUOTAS, gpu("a100-sxm-81gb"), sharing(**plan)))
        assert path == "pools.serve.shape.gpu.model"


@pytest.mark.parametrize("image", ["prepared", "bottlerocket-nvidia"])
@pytest.mark.parametrize("strategy", ["single", "mixed"])
@pytest.mark.parametrize("profiles", [{1: 2}, {1: 2, "1g.10gb": 1}, {True: 1}])
def test_a_profile_that_is_no_text_is_told_once(image: str, strategy: str, profiles: dict[Any, int]):
    plan = sharing(mig={"profiles": profiles, "strategy": strategy})
    named = put("ray.clusters.answers.workers.profile", "1g.10gb")
    found = errors(plan, named, put("pools.serve.image", image))
    (path,) = [path for path in found if path.startswith("pools.serve.sharing.mig.profiles")]
    assert "must be text" in found[path].message
    assert not [path for path in found if path.startswith("ray")]


@pytest.mark.parametrize(
    ("word", "fix"),
    [
        ("mps", "sharing: {mps: {replicas: 8}}"),
        ("time-slicing", "sharing: {timeSlicing: {replicas: 4}}"),
        ("MIG", "sharing: {mig: {profiles: {1g.10gb: 7}}}"),
        ("None", "none"),
        ("exclusive", None),
    ],
)
def test_a_way_of_sharing_says_how_far(word: str, fix: str | None):
    path, problem = only(errors(put("pools.serve.sharing", word)))
    assert (path, problem.value, problem.fix) == ("pools.serve.sharing", word, fix)
    assert "none" in (problem.allowed or "")
