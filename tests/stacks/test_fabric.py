"""The fabric on the cluster: device plugins, and pods that ask for what they advertise."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from model import document, nodes
from model.environment import Environment
from twin.rehearsal import Rehearsal

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]
Change = Callable[[dict[str, Any]], Any]


def fabric(choice: Any) -> Change:
    return lambda value: value["pools"]["train"].update(fabric=choice)


def worker(rehearsal: Rehearsal) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The template and the container of the Ray workers."""
    spec = rehearsal.named("platform-ray-tuning-cluster").inputs["spec"]
    template = spec["workerGroupSpecs"][0]["template"]
    return template, template["spec"]["containers"][0]


def file(rehearsal: Rehearsal, name: str) -> dict[str, Any]:
    return json.loads(rehearsal.named(f"platform-fabric-{name}-config").inputs["data"]["config.json"])


def test_the_plugin_advertises_what_workers_ask_for(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(lambda _: None)
    (entry,) = file(rehearsal, "rdma-shared-train")["configList"]
    _, container = worker(rehearsal)
    resource = f"{entry['resourcePrefix']}/{entry['resourceName']}"
    assert container["resources"]["limits"][resource] == container["resources"]["requests"][resource] == "1"
    assert entry["rdmaHcaMax"] == 63


def test_memory_can_be_locked_by_root_alone(rehearsed: Rehearse) -> None:
    _, container = worker(rehearsed(lambda _: None))
    context = container["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"], "add": ["DAC_OVERRIDE", "IPC_LOCK"]}
    assert (context["runAsUser"], context["allowPrivilegeEscalation"]) == (0, False)
    _, container = worker(rehearsed(fabric({"kind": "infiniband", "memlock": "unlimited"})))
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "runAsUser" not in container["securityContext"]


def test_shared_memory_is_half_of_the_memory(rehearsed: Rehearse) -> None:
    template, container = worker(rehearsed(lambda _: None))
    (volume,) = template["spec"]["volumes"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "512Gi"}
    assert container["volumeMounts"] == [{"name": volume["name"], "mountPath": "/dev/shm"}]


def test_own_variables_stand_beside_those_that_follow(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        value["ray"]["clusters"]["tuning"]["env"] = {"NCCL_DEBUG": "WARN"}

    _, container = worker(rehearsed(change))
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    of_fabric = {name: value for name, value in variables.items() if name.startswith("NCCL_")}
    assert of_fabric == {"NCCL_DEBUG": "WARN", "NCCL_NET": "IB"}
    head = rehearsed(change).named("platform-ray-tuning-cluster").inputs["spec"]["headGroupSpec"]
    assert {"name": "NCCL_DEBUG", "value": "WARN"} in head["template"]["spec"]["containers"][0]["env"]


def test_rails_are_attached_to_workers_and_not_to_the_head(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(fabric({"kind": "roce", "interfaces": ["eth1"], "networks": ["rails/rail-0"]}))
    template, _ = worker(rehearsal)
    assert template["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/networks": "rails/rail-0"}
    head = rehearsal.named("platform-ray-tuning-cluster").inputs["spec"]["headGroupSpec"]["template"]
    assert "metadata" not in head


def test_pods_in_the_network_of_their_node_still_find_services(rehearsed: Rehearse) -> None:
    choice = {"kind": "roce", "mode": "host", "interfaces": ["eth1"], "socketInterface": "bond0"}
    template, _ = worker(rehearsed(fabric(choice)))
    assert (template["spec"]["hostNetwork"], template["spec"]["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


def test_virtual_functions_have_a_plugin_of_their_own(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(fabric({"kind": "infiniband", "mode": "sriov"}))
    (entry,) = file(rehearsal, "sriov-train")["resourceList"]
    _, container = worker(rehearsal)
    assert container["resources"]["limits"][f"{entry['resourcePrefix']}/{entry['resourceName']}"] == "8"
    spec = rehearsal.named("platform-fabric-sriov-train").inputs["spec"]["template"]["spec"]
    paths = [volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume]
    assert "/var/run/k8s.cni.cncf.io/devinfo/dp" in paths


def efa(value: dict[str, Any]) -> None:
    pool = value["pools"]["train"]
    pool.pop("server")
    gpu = {"model": "h100-sxm-80gb", "count": 8}
    pool["shape"] = {"cpu": 192, "memory": "2Ti", "gpu": gpu, "nics": {"model": "efa", "count": 32}}
    pool["fabric"] = "efa"


def test_efa_devices_come_with_huge_pages(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(efa)
    _, container = worker(rehearsal)
    assert container["resources"]["limits"]["vpc.amazonaws.com/efa"] == "32"
    assert container["resources"]["requests"]["hugepages-2Mi"] == container["resources"]["limits"]["hugepages-2Mi"]
    assert container["resources"]["limits"]["hugepages-2Mi"] == "5Gi"
    plugin = rehearsal.named("platform-fabric-efa-efa").inputs["spec"]["template"]["spec"]["containers"][0]
    assert plugin["image"].startswith("public.ecr.aws/eks/aws-efa-k8s-device-plugin:v")
    assert "command" not in plugin


def test_a_changed_option_rolls_the_plugin_of_one_pool(rehearsed: Rehearse) -> None:
    def slots(number: int) -> Change:
        def change(value: dict[str, Any]) -> None:
            value["pools"]["train"]["fabric"] = {"kind": "infiniband", "slots": number}
            value["pools"]["old"] = {"server": "dgx-a100", "size": 1, "fabric": "infiniband"}

        return change

    before, after = rehearsed(slots(8)), rehearsed(slots(16))
    names = [
        [it.inputs["metadata"]["name"] for it in run.of_kind("ConfigMap") if "-fabric-" in it.name]
        for run in (before, after)
    ]
    assert len(set(names[0]) & set(names[1])) == 1
    agents = [[it.name for it in run.of_kind("DaemonSet")] for run in (before, after)]
    assert agents[0] == agents[1]


def test_what_only_empty_nodes_can_change_is_an_input(rehearsed: Rehearse) -> None:
    component = rehearsed(lambda _: None).named("platform-fabric")
    assert component.inputs["drainToChange"] == {"train": {"fabric": "infiniband", "virtualFunctions": 0}}
    assert component.inputs == rehearsed(fabric({"kind": "infiniband", "slots": 8})).named("platform-fabric").inputs


def test_pools_with_rdma_and_without_gpus_have_their_plugin(rehearsed: Rehearse) -> None:
    def change(value: dict[str, Any]) -> None:
        shape = {"cpu": 64, "memory": "512Gi", "nics": {"model": "connectx-7", "count": 2}}
        value["pools"] = {
            "data": {"shape": shape, "size": 2, "fabric": "infiniband"},
            "system": value["pools"]["system"],
        }
        value["topology"], value["ray"], value["tenants"], value["queues"] = {}, {}, {}, {}

    rehearsal = rehearsed(change)
    assert [it.name for it in rehearsal.of_kind("DaemonSet")] == ["platform-fabric-rdma-shared-data"]


def test_shipped_environments_ask_for_nothing_that_no_node_offers(
    shipped: tuple[str, Environment], rehearsal: Rehearsal
) -> None:
    _, environment = shipped
    offered = {name for pool in environment.pools.values() for name in nodes.allocatable(pool)}
    for cluster in environment.ray.clusters:
        spec = rehearsal.named(f"platform-ray-{cluster}-cluster").inputs["spec"]
        for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
            for container in group["template"]["spec"]["containers"]:
                assert set(container["resources"]["limits"]) <= offered


def test_the_document_of_the_rehearsal_is_the_shipped_one(twin_value: dict[str, Any]) -> None:
    assert document.load(twin_value).pools["train"].fabric == "infiniband"
