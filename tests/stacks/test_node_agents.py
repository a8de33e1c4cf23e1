"""Where pods run: node agents reach every node they are meant for, whatever its taints, and nothing strays."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from model.environment import Environment
from twin.rehearsal import Rehearsal

POOL = "gangline.dev/pool"
Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]


def pod_specs(rehearsal: Rehearsal) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every pod specification, wherever it stands, by its place."""
    for resource in rehearsal.resources:
        for place, spec in _pod_specs(resource.inputs, ()):
            yield ".".join((resource.name, *place)), spec


def _pod_specs(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if "containers" in value:
            yield place, value
        for key, entry in value.items():
            yield from _pod_specs(entry, (*place, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _pod_specs(entry, (*place, str(index)))


def selected(spec: Mapping[str, Any], pools: Mapping[str, Any]) -> set[str]:
    """The declared pools whose nodes a pod may run on, by node selector and affinity."""
    chosen = set(pools)
    if POOL in spec.get("nodeSelector", {}):
        chosen &= {spec["nodeSelector"][POOL]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for term in spec.get("affinity", {}).get("nodeAffinity", {}).get(required, {}).get("nodeSelectorTerms", ()):
        for expression in term["matchExpressions"]:
            assert expression["key"] == POOL
            values = set(expression["values"])
            chosen = chosen & values if expression["operator"] == "In" else chosen - values
    return chosen


def tolerated(spec: Mapping[str, Any], taint: Any) -> bool:
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect} in spec.get("tolerations", [])


def test_every_pod_tolerates_the_taints_of_the_pools_it_selects(
    shipped: tuple[str, Environment], rehearsal: Rehearsal
) -> None:
    _, environment = shipped
    for place, spec in pod_specs(rehearsal):
        pools = selected(spec, environment.pools)
        assert pools, f"{place} can run on no pool"
        for pool in pools:
            for taint in environment.pools[pool].taints:
                assert tolerated(spec, taint), f"{place} does not tolerate {taint} of {pool}"


def test_node_agents_run_on_the_gpu_pools_and_nowhere_else(
    shipped: tuple[str, Environment], rehearsal: Rehearsal
) -> None:
    from model import agents

    _, environment = shipped
    reached: dict[str, set[str]] = {}
    for place, spec in pod_specs(rehearsal):
        name = place.partition(".")[0]
        if name in {each.name for each in rehearsal.of_kind("DaemonSet")}:
            reached.setdefault(name.rpartition("-")[0], set()).update(selected(spec, environment.pools))
    assert reached
    for name, pools in reached.items():
        assert pools == set(agents.gpu_pools(environment)), name


def test_operators_stay_off_gpu_nodes(shipped: tuple[str, Environment], rehearsal: Rehearsal) -> None:
    from model import agents

    _, environment = shipped
    operators = [(place, spec) for place, spec in pod_specs(rehearsal) if "containers" in spec and "operator" in place]
    values = rehearsal.named("platform-volcano-release").inputs["values"]["custom"]
    chart = {"affinity": values["default_affinity"], "tolerations": values.get("default_tolerations", [])}
    for place, spec in [*operators, ("volcano", chart)]:
        assert not selected(spec, environment.pools) & set(agents.gpu_pools(environment)), place


def test_team_taint_and_odd_value_are_tolerated(rehearsed: Rehearse) -> None:
    taints = [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "team", "value": "x", "effect": "NoExecute"},
    ]
    rehearsal = rehearsed(lambda value: value["pools"]["train"].update(taints=taints))
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        assert daemon_set.inputs["spec"]["template"]["spec"]["tolerations"] == [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "team", "operator": "Exists", "effect": "NoExecute"},
        ]


def test_one_device_plugin_per_sharing_plan(rehearsed: Rehearse) -> None:
    def shared(value: dict[str, Any]) -> None:
        value["pools"]["serve"] = {"server": "dgx-h100", "size": 2, "sharing": {"timeSlicing": {"replicas": 4}}}
        value["pools"]["debug"] = {"server": "dgx-h100", "size": 1}

    rehearsal = rehearsed(shared)
    whole = rehearsal.named("platform-device-plugin-whole").inputs["spec"]["template"]["spec"]
    sliced = rehearsal.named("platform-device-plugin-time-slicing-4").inputs["spec"]["template"]["spec"]
    pools = {"train": {}, "serve": {}, "debug": {}, "system": {}}
    assert selected(whole, pools) == {"train", "debug"}
    assert selected(sliced, pools) == {"serve"}
    text = rehearsal.named("platform-device-plugin-time-slicing-4-config").inputs["data"]["config.yaml"]
    assert "renameByDefault: true" in text


def test_changed_sharing_rolls_the_device_plugin(rehearsed: Rehearse) -> None:
    def name_of_config(replicas: int) -> str:
        def shared(value: dict[str, Any]) -> None:
            value["pools"]["serve"] = {
                "server": "dgx-h100",
                "size": 2,
                "sharing": {"timeSlicing": {"replicas": replicas}},
            }

        daemon_set = rehearsed(shared).named(f"platform-device-plugin-time-slicing-{replicas}")
        return daemon_set.inputs["spec"]["template"]["spec"]["volumes"][1]["configMap"]["name"]

    assert name_of_config(4) != name_of_config(8)


def test_node_agents_have_the_least_privilege(rehearsal: Rehearsal) -> None:
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        spec = daemon_set.inputs["spec"]["template"]["spec"]
        assert spec["priorityClassName"] == "system-node-critical"
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        for container in spec["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "privileged" not in container["securityContext"]
            assert not container["image"].endswith(":latest")
