"""Pools: what their nodes are, how many, what marks them."""

import pytest

from model import nodes
from model.pools import Pool
from tests.model.documents import add, drop, environment, errors, only, put, rename, warnings


def test_exactly_one_of_server_and_shape_says_what_the_nodes_are():
    path, problem = only(errors(drop("pools.train.server")))
    assert (path, problem.allowed) == ("pools.train.server", "one of server, shape, instance")
    path, problem = only(errors(put("pools.train.shape", {"cpu": 1, "memory": "8Gi"})))
    assert (path, problem.allowed) == ("pools.train.shape", "one of server, shape, instance")


@pytest.mark.parametrize(
    ("server", "nearest"),
    [("dgx-h10", "dgx-h100"), ("DGX_H100", "dgx-h100"), ("hgx-b20", "hgx-b200"), ("something-else", None)],
)
def test_an_unknown_server_is_told_with_the_nearest(server: str, nearest: str | None):
    path, problem = only(errors(put("pools.train.server", server)))
    assert (path, problem.value, problem.fix) == ("pools.train.server", server, nearest)
    assert "dgx-b200" in (problem.allowed or "")


@pytest.mark.parametrize(("path", "value"), [("pools.system.shape.cpu", "7500m"), ("pools.train.host.cpu", 1.5)])
def test_machines_have_whole_cores(path: str, value: object):
    assert list(errors(put(path, value))) == [path]


def test_an_unknown_gpu_is_told_with_the_nearest():
    path, problem = only(errors(put("pools.serve.shape.gpu.model", "a100-sxm-80")))
    assert (path, problem.fix) == ("pools.serve.shape.gpu.model", "a100-sxm-80gb")


@pytest.mark.parametrize("count", [0, -1])
def test_a_shape_with_gpus_has_some(count: int):
    assert list(errors(put("pools.serve.shape.gpu.count", count))) == ["pools.serve.shape.gpu.count"]


@pytest.mark.parametrize(
    ("size", "path"),
    [
        (-1, "size"),
        ({"min": -1, "max": 8}, "size.min"),
        ({"min": 3, "max": 2}, "size.min"),
        ({"min": 1, "max": 8, "desired": 0}, "size.desired"),
        ({"min": 1, "max": 8, "desired": 9}, "size.desired"),
        ({"min": 1}, "size.max"),
        ({"max": 8}, "size.min"),
        ("3", "size"),
        (3.0, "size"),
        (True, "size"),
        ([1, 8], "size"),
        (None, "size"),
    ],
)
def test_sizes_that_make_no_sense(size: object, path: str):
    assert list(errors(put("pools.serve.size", size))) == [f"pools.serve.{path}"]


def test_a_size_begins_at_desired_or_at_its_lower_end():
    assert Pool.model_validate({"server": "dgx-h100", "size": {"min": 1, "max": 8, "desired": 3}}).initial == 3
    assert Pool.model_validate({"server": "dgx-h100", "size": {"min": 1, "max": 8}}).initial == 1
    assert Pool.model_validate({"server": "dgx-h100", "size": 5}).most == 5


@pytest.mark.parametrize("replicas", [1, 0, -1])
def test_sharing_begins_at_two_replicas(replicas: int):
    path, problem = only(errors(put("pools.serve.sharing.timeSlicing.replicas", replicas)))
    assert path == "pools.serve.sharing.timeSlicing.replicas"
    assert problem.fix == "sharing: none"


@pytest.mark.parametrize("replicas", ["4", 4.0, True, None])
def test_replicas_are_a_whole_number(replicas: object):
    path = "pools.serve.sharing.timeSlicing.replicas"
    assert list(errors(put(path, replicas))) == [path]


@pytest.mark.parametrize("word", ["mps", "timeSlicing", "", "None"])
def test_a_word_that_is_no_sharing(word: str):
    path, problem = only(errors(put("pools.serve.sharing", word)))
    assert path == "pools.serve.sharing"
    assert "none" in (problem.allowed or "")


def test_a_pool_without_gpus_shares_none():
    path, problem = only(errors(put("pools.system.sharing", {"timeSlicing": {"replicas": 4}})))
    assert (path, problem.fix) == ("pools.system.sharing", "sharing: none")


@pytest.mark.parametrize(
    ("value", "fix"), [(True, 'write "true"'), (7, 'write "7"'), (None, 'write ""'), (1.5, 'write "1.5"')]
)
def test_label_values_are_text(value: object, fix: str):
    path, problem = only(errors(put("pools.train.labels.gpu", value)))
    assert (path, problem.fix, problem.allowed) == ("pools.train.labels.gpu", fix, "text")


@pytest.mark.parametrize(
    ("key", "value"), [("Bad key", "x"), ("a/b/c", "x"), ("ok", "not ok"), ("ok", "x" * 64), ("ok", "-x"), ("", "x")]
)
def test_bad_labels_are_refused(key: str, value: str):
    assert len(errors(put(("pools", "train", "labels", key), value))) == 1


@pytest.mark.parametrize(
    "key", ["gangline.dev/pool", "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os"]
)
def test_labels_that_follow_from_the_rest_cannot_be_set(key: str):
    path, problem = only(errors(put(("pools", "train", "labels", key), "x")))
    assert path == f'pools.train.labels["{key}"]'
    assert problem.fix == "leave it out"


def test_a_topology_label_is_said_once():
    change = put(("pools", "train", "labels", "topology.example.com/rack"), "r1")
    assert list(errors(change)) == ['pools.train.labels["topology.example.com/rack"]']


@pytest.mark.parametrize(
    ("written", "effect"),
    [
        ("NoSchedule", "NoSchedule"),
        ("NO_SCHEDULE", "NoSchedule"),
        ("PREFER_NO_SCHEDULE", "PreferNoSchedule"),
        ("NoExecute", "NoExecute"),
    ],
)
def test_taint_effects_are_read_in_both_spellings(written: str, effect: str):
    assert environment(put("pools.train.taints.0.effect", written)).pools["train"].taints[0].effect == effect


@pytest.mark.parametrize(
    ("written", "nearest"),
    [("NoSchedul", "NoSchedule"), ("noschedule", "NoSchedule"), ("NO_EXECUT", "NoExecute"), ("", None)],
)
def test_a_wrong_taint_effect_is_told_with_the_nearest(written: str, nearest: str | None):
    path, problem = only(errors(put("pools.train.taints.0.effect", written)))
    assert (path, problem.fix) == ("pools.train.taints[0].effect", nearest)
    assert problem.allowed == "NoSchedule, PreferNoSchedule, NoExecute"


def test_a_taint_is_there_once_per_key_and_effect():
    same = {"key": "nvidia.com/gpu", "value": "other", "effect": "NO_SCHEDULE"}
    assert list(errors(add("pools.train.taints", same))) == ["pools.train.taints[1]"]
    environment(add("pools.train.taints", {"key": "nvidia.com/gpu", "effect": "NoExecute"}))


@pytest.mark.parametrize(("part", "value"), [("key", "a b"), ("key", ""), ("value", "a b"), ("value", True)])
def test_bad_taints_are_refused(part: str, value: object):
    assert list(errors(put(f"pools.train.taints.0.{part}", value))) == [f"pools.train.taints[0].{part}"]


@pytest.mark.parametrize(
    ("domains", "path"),
    [
        ({"spine": 3, "rack": 4}, "rack"),
        ({"spine": 2, "rack": 0}, "rack"),
        ({"spine": 0, "rack": 4}, "spine"),
        ({"spine": 2, "rack": 18}, "rack"),
        ({"spine": 2, "row": 4}, "row"),
    ],
)
def test_domains_nest_and_hold_nodes(domains: dict[str, int], path: str):
    assert f"pools.train.domains.{path}" in errors(put("pools.train.domains", domains))


def test_there_is_at_least_one_pool():
    found = errors(put("pools", {}), put("ray", {}), put("queues", {}), put("tenants", {}))
    assert list(found) == ["pools"]


@pytest.mark.parametrize("key", ["nodes", "count", "replicas", "sise"])
def test_keys_of_other_tools_are_told_with_ours(key: str):
    path, problem = only(errors(rename("pools.system.size", key)))
    assert path == f"pools.system.{key}"
    assert "did you mean size?" in problem.message


BEYOND = [
    ("pools.train.size", 100_001, "0 to 100000"),
    ("pools.train.size", 10_000_000, "0 to 100000"),
    ("pools.serve.size.max", 10**20, "0 to 100000"),
    ("pools.train.maxPods", 2501, "1 to 2500"),
    ("pools.train.maxPods", 10**9, "1 to 2500"),
    ("pools.train.maxPods", 10**30, "1 to 2500"),
    ("pools.serve.shape.gpu.count", 65, "1 to 64"),
    ("pools.serve.shape.gpu.count", 10**40, "1 to 64"),
    ("pools.serve.sharing.timeSlicing.replicas", 2501, "2 to 2500"),
    ("pools.serve.sharing.timeSlicing.replicas", 10**40, "2 to 2500"),
    ("ray.clusters.tuning.workers.count", 2**31 - 1, "0 to 2147483646"),
    ("ray.clusters.tuning.workers.count", 10**20, "0 to 2147483646"),
    ("ray.clusters.tuning.workers.gpus", 10**40, "0 to 8"),
    ("ray.clusters.tuning.workers.gpus", -1, "0 to 8"),
]


@pytest.mark.parametrize(("path", "number", "allowed"), BEYOND)
def test_numbers_have_bounds(path: str, number: int, allowed: str):
    found, problem = only(errors(put(path, number)))
    assert (found, problem.value, problem.allowed) == (path, number, allowed)


@pytest.mark.parametrize("number", [2**31, 10**20])
def test_a_range_of_workers_has_bounds_at_its_ends(number: int):
    change = put("ray.clusters.tuning.workers.count", {"min": 1, "max": number})
    assert list(errors(change)) == ["ray.clusters.tuning.workers.count.max"]


@pytest.mark.parametrize("level", ["spine", "rack"])
def test_no_number_of_domains_is_too_large_to_judge(level: str):
    assert errors(put(f"pools.train.domains.{level}", 10**40))


def test_the_largest_pool_is_judged():
    environment(put("pools.train.size", 100_000), put("pools.train.maxPods", 2500))


@pytest.mark.parametrize(("pods", "most"), [(1000, 340), (341, 340)])
def test_memory_for_too_many_pods_is_told_at_their_number(pods: int, most: int):
    change = put("pools.system.shape.memory", "4096Mi"), put("pools.system.maxPods", pods)
    path, problem = only(errors(*change))
    assert (path, problem.value, problem.allowed) == ("pools.system.maxPods", pods, f"at most {most}")
    environment(change[0], put("pools.system.maxPods", most))


def test_a_machine_too_small_for_any_pod_is_told_at_its_memory():
    change = put("pools.system.shape.memory", "256Mi"), put("pools.system.maxPods", 200)
    assert list(errors(*change)) == ["pools.system.shape.memory"]


@pytest.mark.parametrize("size", [0, {"min": 0, "max": 3}])
def test_operators_need_a_node_without_gpus(size: object):
    path, problem = only(warnings(put("pools.system.size", size)))
    assert (path, problem.value) == ("pools.system.size", 0)


def test_operators_find_a_place_elsewhere():
    other = put("pools.other", {"shape": {"cpu": 8, "memory": "32Gi"}, "size": 1})
    assert not warnings(put("pools.system.size", 0), other)
    assert not warnings(drop("pools.system"))


@pytest.mark.parametrize("gpu", ["gh200-96gb", "gb200-186gb"])
def test_gpus_on_one_module_with_a_cpu_have_its_architecture(gpu: str):
    model, at = put("pools.serve.shape.gpu.model", gpu), "pools.serve.shape.architecture"
    for changes in ([model], [model, put(at, "arm64")]):
        assert nodes.machine(environment(*changes).pools["serve"]).architecture == "arm64"
    path, problem = only(errors(model, put(at, "amd64")))
    assert (path, problem.value, problem.allowed) == (at, "amd64", "arm64")


@pytest.mark.parametrize(("said", "is_one"), [(None, "amd64"), ("amd64", "amd64"), ("arm64", "arm64")])
def test_other_gpus_are_in_machines_of_any_architecture(said: str | None, is_one: str):
    changes = [put("pools.serve.shape.architecture", said)] if said else []
    assert nodes.machine(environment(*changes).pools["serve"]).architecture == is_one
