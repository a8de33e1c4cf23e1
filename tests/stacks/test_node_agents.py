"""Where pods run: node agents reach every node they are meant for, whatever its taints, and nothing strays."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from model.environment import Environment
from policies.privileges import NODE_AGENTS
from twin.rehearsal import Rehearsal

POOL = "gangline.dev/pool"
PAUSED = "paused-for-mig-change"
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
    """The declared pools whose nodes a pod may run on, by node selector and affinity.

    An agent may stay away from nodes that say that their GPUs are being cut; that is for a while, and no pool says so.
    """
    chosen = set(pools)
    if POOL in spec.get("nodeSelector", {}):
        chosen &= {spec["nodeSelector"][POOL]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for term in spec.get("affinity", {}).get("nodeAffinity", {}).get(required, {}).get("nodeSelectorTerms", ()):
        for expression in term["matchExpressions"]:
            if expression["values"] == [PAUSED]:
                assert (expression["key"].startswith("nvidia.com/gpu.deploy."), expression["operator"]) == (
                    True,
                    "NotIn",
                )
                continue
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


def test_node_agents_run_where_they_are_needed_and_nowhere_else(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        server = {"server": "dgx-h100", "size": 1}
        value["pools"] |= {
            "serve": {**server, "sharing": {"timeSlicing": {"replicas": 4}}},
            "together": {**server, "sharing": {"mps": {"replicas": 8}}},
            "more-together": {**server, "sharing": {"mps": {"replicas": 4}}},
            "cut": {**server, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}},
            "cut-and-shared": {
                **server,
                "sharing": {"mig": {"profiles": {"3g.40gb": 2}}, "timeSlicing": {"replicas": 2}},
            },
        }

    reached: dict[str, list[str]] = {}
    selectors = []
    for daemon_set in rehearsed(change).of_kind("DaemonSet"):
        selector = daemon_set.inputs["spec"]["selector"]["matchLabels"]
        assert selector.items() <= daemon_set.inputs["spec"]["template"]["metadata"]["labels"].items()
        selectors.append(selector)
        component = daemon_set.name.removeprefix("platform-")
        agent = next(name for name in AGENTS if component.startswith(name))
        spec = daemon_set.inputs["spec"]["template"]["spec"]
        reached.setdefault(agent, []).extend(selected(spec, dict.fromkeys(POOLS)))
    # An agent's selector takes no other agent's pods.
    for number, one in enumerate(selectors):
        assert not any(one.items() <= other.items() for other in selectors[:number] + selectors[number + 1 :])
    assert {agent: sorted(pools) for agent, pools in reached.items()} == {
        agent: sorted(pools) for agent, pools in AGENTS.items()
    }


POOLS = ("system", "train", "serve", "together", "more-together", "cut", "cut-and-shared")
AGENTS = {
    # By component: the pools whose nodes need it, each once.
    "node-features-worker": POOLS[1:],
    "device-plugin": POOLS[1:],
    "feature-discovery": POOLS[2:],
    "mps-daemon": ("together", "more-together"),
    "mig-manager": ("cut", "cut-and-shared"),
    "fabric-rdma-shared": ("train",),
    "dcgm-exporter": POOLS[1:],
}


def test_agents_that_hold_gpus_open_give_way_to_the_mig_manager(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        value["pools"]["cut"] = {"server": "dgx-h100", "size": 1, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}}

    rehearsal = rehearsed(change)
    found = {}
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        template = daemon_set.inputs["spec"]["template"]
        (term,) = template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        keys = {expression["key"] for expression in term["matchExpressions"]} - {POOL}
        if keys or "app" in template["metadata"]["labels"]:
            found[daemon_set.name] = (*keys, template["metadata"]["labels"]["app"])
    # Names that mig-parted v0.15.0 uses, pkg/mig/reconfigure/reconfigure.go.
    assert found == {
        "platform-device-plugin-cut": (
            "nvidia.com/gpu.deploy.device-plugin",
            "nvidia-device-plugin-daemonset",
        ),
        "platform-feature-discovery-cut": (
            "nvidia.com/gpu.deploy.gpu-feature-discovery",
            "gpu-feature-discovery",
        ),
        "platform-dcgm-exporter-mig": ("nvidia.com/gpu.deploy.dcgm-exporter", "nvidia-dcgm-exporter"),
    }


def test_agents_of_a_plan_read_the_same_file(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        value["pools"]["together"] = {"server": "dgx-h100", "size": 1, "sharing": {"mps": {"replicas": 8}}}

    rehearsal = rehearsed(change)
    files = set()
    for agent in ("device-plugin", "feature-discovery", "mps-daemon"):
        spec = rehearsal.named(f"platform-{agent}-together").inputs["spec"]["template"]["spec"]
        (config,) = [each["configMap"]["name"] for each in spec["volumes"] if "configMap" in each]
        (container,) = spec["containers"]
        mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        variables = {each["name"]: each["value"] for each in container["env"]}
        files.add(config)
        assert variables["CONFIG_FILE"] == f"{mounted['config']}/config.yaml"
        # Variables win over the file: none may say what the file says.
        assert not {"MIG_STRATEGY", "MPS_ROOT", "FAIL_ON_INIT_ERROR", "DEVICE_LIST_STRATEGY"} & set(variables)
    assert len(files) == 1


def test_the_mps_daemon_prepares_the_memory_that_the_plugin_sees(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        value["pools"]["together"] = {"server": "dgx-h100", "size": 1, "sharing": {"mps": {"replicas": 8}}}

    rehearsal = rehearsed(change)
    daemon = rehearsal.named("platform-mps-daemon-together").inputs["spec"]["template"]["spec"]
    plugin = rehearsal.named("platform-device-plugin-together").inputs["spec"]["template"]["spec"]
    whole = rehearsal.named("platform-device-plugin-train").inputs["spec"]["template"]["spec"]
    paths = {"/mps": "/run/nvidia/mps", "/dev/shm": "/run/nvidia/mps/shm"}
    for spec in (daemon, plugin):
        hosts = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
        seen = {mount["mountPath"]: hosts.get(mount["name"]) for mount in spec["containers"][0]["volumeMounts"]}
        assert paths.items() <= seen.items()
    assert not any("mps" in volume["name"] for volume in whole["volumes"])
    (first,) = daemon["initContainers"]
    assert first["command"] == ["mps-control-daemon", "mount-shm"]
    assert first["volumeMounts"] == [{"name": "mps-root", "mountPath": "/mps", "mountPropagation": "Bidirectional"}]
    assert daemon["hostPID"] is True


def test_nodes_are_labelled_as_the_plan_needs_by_their_own_workers(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        value["pools"]["cut"] = {"server": "dgx-h100", "size": 1, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}}

    rehearsal = rehearsed(change)
    text = rehearsal.named("platform-node-features-worker-cut-config").inputs["data"]["nfd-worker.conf"]
    (rule,) = yaml.safe_load(text)["sources"]["custom"]
    assert rule["labels"]["nvidia.com/mig.config"] == "7x1g.10gb"
    layouts = rehearsal.named("platform-mig-manager-layouts").inputs["data"]["config.yaml"]
    assert rule["labels"]["nvidia.com/mig.config"] in yaml.safe_load(layouts)["mig-configs"]
    other = rehearsal.named("platform-node-features-worker-train-config").inputs["data"]["nfd-worker.conf"]
    assert "mig" not in other


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


def test_pools_with_one_plan_share_its_file(rehearsed: Rehearse) -> None:
    def shared(value: dict[str, Any]) -> None:
        value["pools"]["serve"] = {"server": "dgx-h100", "size": 2, "sharing": {"timeSlicing": {"replicas": 4}}}
        value["pools"]["debug"] = {"server": "dgx-h100", "size": 1}

    rehearsal = rehearsed(shared)
    files = {pool: file_of(rehearsal, f"platform-device-plugin-{pool}") for pool in ("train", "debug", "serve")}
    assert files["train"] == files["debug"] != files["serve"]
    text = rehearsal.named("platform-device-plugin-time-slicing-4-config").inputs["data"]["config.yaml"]
    assert "renameByDefault: true" in text


def file_of(rehearsal: Rehearsal, daemon_set: str) -> str:
    """The name of the one ConfigMap that a DaemonSet mounts."""
    volumes = rehearsal.named(daemon_set).inputs["spec"]["template"]["spec"]["volumes"]
    (name,) = (volume["configMap"]["name"] for volume in volumes if "configMap" in volume)
    return name


def test_another_plan_rolls_the_same_agents(rehearsed: Rehearse) -> None:
    def under(sharing: dict[str, Any]) -> Rehearsal:
        def shared(value: dict[str, Any]) -> None:
            value["pools"]["serve"] = {"server": "dgx-h100", "size": 2, "sharing": sharing}

        return rehearsed(shared)

    before, after = under({"timeSlicing": {"replicas": 4}}), under({"mps": {"replicas": 8}})
    for agent in ("device-plugin", "feature-discovery", "node-features-worker"):
        one, other = (each.named(f"platform-{agent}-serve") for each in (before, after))
        # Two plugins on one node would take each other's socket.
        assert one.urn == other.urn
        assert one.inputs["metadata"]["name"] == other.inputs["metadata"]["name"]
        assert one.inputs["spec"]["selector"] == other.inputs["spec"]["selector"]
        assert file_of(before, one.name) != file_of(after, other.name)


def test_node_agents_have_the_least_privilege(shipped: tuple[str, Environment], rehearsal: Rehearsal) -> None:
    pools = shipped[1].pools.items()
    cutting = {f"platform-device-plugin-{name}" for name, pool in pools if pool.plan and pool.plan.mig}
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        spec = daemon_set.inputs["spec"]["template"]["spec"]
        assert spec["priorityClassName"] == "system-node-critical"
        agent = next(name for name in PRIVILEGES if daemon_set.inputs["metadata"]["name"].startswith(name))
        shares, added, token = PRIVILEGES[agent]
        assert {"hostNetwork", "hostPID", "hostIPC"} & set(spec) == shares
        assert spec["automountServiceAccountToken"] is token
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            assert not container["image"].endswith(":latest")
            context = container["securityContext"]
            if added == "privileged":
                assert context == {"privileged": True}
                continue
            assert "privileged" not in context
            assert context.get("readOnlyRootFilesystem", False) is not agent.startswith("dcgm-exporter")
            allowed = added if agent != "nvidia-device-plugin" or daemon_set.name in cutting else []
            assert context["capabilities"] == {"drop": ["ALL"]} | ({"add": allowed} if allowed else {})
            # Kubernetes counts SYS_ADMIN as escalation.
            assert (context.get("allowPrivilegeEscalation") is False) == ("SYS_ADMIN" not in allowed)


PRIVILEGES: dict[str, tuple[set[str], Any, bool]] = {
    # By the beginning of the name: namespaces of the node that it shares, what it may beyond a plain container (the
    # device plugin only where GPUs are cut), and whether it has a token for the API server.
    "nfd-worker": (set(), [], True),
    "nvidia-device-plugin": (set(), ["SYS_ADMIN"], False),
    "gpu-feature-discovery": (set(), ["SYS_ADMIN"], False),
    "nvidia-mps-control-daemon": ({"hostPID"}, "privileged", False),
    "dcgm-exporter-time-slicing": ({"hostPID"}, ["SYS_ADMIN"], True),
    "dcgm-exporter-mig-time-slicing": ({"hostPID"}, ["SYS_ADMIN"], True),
    "dcgm-exporter": (set(), ["SYS_ADMIN"], True),
    "nvidia-mig-manager": ({"hostPID", "hostIPC"}, "privileged", True),
    # They find network interfaces of the node and bring them up.
    "rdma-shared-device-plugin": ({"hostNetwork"}, ["NET_ADMIN"], False),
    "sriov-device-plugin": ({"hostNetwork"}, ["NET_ADMIN"], False),
    "efa-device-plugin": ({"hostNetwork"}, [], False),
}


def test_the_policy_names_the_privileged_agents_and_no_others(
    shipped: tuple[str, Environment], rehearsal: Rehearsal
) -> None:
    for daemon_set in rehearsal.of_kind("DaemonSet"):
        metadata, spec = daemon_set.inputs["metadata"], daemon_set.inputs["spec"]["template"]["spec"]
        named = NODE_AGENTS[metadata["namespace"]].fullmatch(metadata["name"]) is not None
        assert named == any(container["securityContext"].get("privileged") for container in spec["containers"])
