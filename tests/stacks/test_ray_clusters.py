"""Ray clusters as KubeRay and Volcano want them."""

from collections.abc import Callable, Mapping
from typing import Any

from model import document, gangs
from twin.rehearsal import Rehearsal

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]


def cluster(rehearsal: Rehearsal, name: str = "tuning") -> Mapping[str, Any]:
    return rehearsal.named(f"platform-ray-{name}-cluster").inputs


def change(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda value: value["ray"]["clusters"]["tuning"].update(fields)


def containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    pods = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    return [group["template"]["spec"]["containers"][0] for group in pods]


def test_gang_is_named_by_labels(rehearsed: Rehearse) -> None:
    labels = cluster(rehearsed(lambda _: None))["metadata"]["labels"]
    assert labels == {
        "volcano.sh/queue-name": "research.llm",
        "volcano.sh/network-topology-mode": "hard",
        # tier 1 is the closest: the rack
        "volcano.sh/network-topology-highest-tier-allowed": "1",
    }


def test_wider_level_is_a_higher_tier(rehearsed: Rehearse) -> None:
    labels = cluster(rehearsed(change(within={"level": "spine", "mode": "soft"})))["metadata"]["labels"]
    assert labels["volcano.sh/network-topology-mode"] == "soft"
    assert labels["volcano.sh/network-topology-highest-tier-allowed"] == "2"


def test_changed_labels_replace_the_cluster(rehearsed: Rehearse) -> None:
    resource = rehearsed(lambda _: None).named("platform-ray-tuning-cluster")
    assert resource.replace_on_changes == ("metadata.labels",)
    assert resource.delete_before_replace


def test_up_waits_until_the_cluster_has_run(rehearsed: Rehearse) -> None:
    annotations = cluster(rehearsed(lambda _: None))["metadata"]["annotations"]
    assert annotations == {"pulumi.com/waitFor": "condition=RayClusterProvisioned"}


def test_requests_equal_limits_and_the_head_asks_for_no_gpu(rehearsed: Rehearse) -> None:
    head, worker = containers(cluster(rehearsed(lambda _: None))["spec"])
    assert head["resources"]["limits"] == {"cpu": "8", "memory": "32Gi"}
    assert worker["resources"]["limits"] == {
        "cpu": "96",
        "memory": "1Ti",
        "nvidia.com/gpu": "8",
        "rdma/shared_ib": "1",
    }
    for container in (head, worker):
        assert container["resources"]["requests"] == container["resources"]["limits"]


def test_container_without_gpus_sees_none(rehearsed: Rehearse) -> None:
    head, worker = containers(cluster(rehearsed(lambda _: None))["spec"])
    assert head["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    assert "NVIDIA_VISIBLE_DEVICES" not in {variable["name"] for variable in worker["env"]}
    _, plain = containers(cluster(rehearsed(change(workers={"count": 2, "cpu": 4, "memory": "8Gi"})))["spec"])
    assert plain["env"] == head["env"]


def test_shared_gpus_are_asked_for_by_their_name(rehearsed: Rehearse) -> None:
    def shared(value: dict[str, Any]) -> None:
        value["pools"]["train"]["sharing"] = {"timeSlicing": {"replicas": 4}}
        value["ray"]["clusters"]["tuning"]["workers"]["gpus"] = 1
        for queue in value["queues"]:
            value["queues"][queue] = {}
        value["ray"]["clusters"]["tuning"]["queue"] = "research"
        value["tenants"]["research"]["defaultQueue"] = "research"
        value["tenants"]["production"].pop("quota")

    _, worker = containers(cluster(rehearsed(shared))["spec"])
    assert worker["resources"]["limits"]["nvidia.com/gpu.shared"] == "1"


def test_fixed_number_of_workers_is_written_three_times(rehearsed: Rehearse) -> None:
    spec = cluster(rehearsed(lambda _: None))["spec"]
    group = spec["workerGroupSpecs"][0]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (4, 4, 4)
    assert "enableInTreeAutoscaling" not in spec


def test_number_under_an_autoscaler_is_not_ours(rehearsed: Rehearse) -> None:
    workers = {"count": {"min": 1, "max": 4}, "gpus": 8, "cpu": 96, "memory": "1Ti"}
    spec = cluster(rehearsed(change(workers=workers)))["spec"]
    group = spec["workerGroupSpecs"][0]
    assert spec["enableInTreeAutoscaling"] is True
    assert "replicas" not in group
    assert (group["minReplicas"], group["maxReplicas"]) == (1, 4)
    # Ray's second autoscaler refuses any other policy.
    for part in (spec["headGroupSpec"], group):
        assert part["template"]["spec"]["restartPolicy"] == "Never"


def test_head_has_no_replicas_and_runs_no_work(rehearsed: Rehearse) -> None:
    head = cluster(rehearsed(lambda _: None))["spec"]["headGroupSpec"]
    assert "replicas" not in head
    assert head["rayStartParams"]["num-cpus"] == "0"


def test_ray_is_told_how_many_gpus_a_worker_has(rehearsed: Rehearse) -> None:
    group = cluster(rehearsed(lambda _: None))["spec"]["workerGroupSpecs"][0]
    assert group["rayStartParams"]["num-gpus"] == "8"
    plain = cluster(rehearsed(change(workers={"count": 4, "cpu": 96, "memory": "1Ti"})))["spec"]["workerGroupSpecs"][0]
    assert "num-gpus" not in plain["rayStartParams"]


def _shared(plan: dict[str, Any], resource: str, **workers: Any) -> Callable[[dict[str, Any]], Any]:
    """The one Ray cluster on a pool of its own that shares its GPUs."""

    def apply(value: dict[str, Any]) -> None:
        value["pools"]["parts"] = {"server": "dgx-h100", "size": 4, "sharing": plan}
        value["queues"]["research"]["capability"][resource] = 8
        tuning = value["ray"]["clusters"]["tuning"]
        tuning.pop("within")
        tuning["pool"] = "parts"
        tuning["workers"] = {"count": 4, "cpu": 8, "memory": "64Gi", "gpus": 1, **workers}

    return apply


def test_a_worker_asks_for_the_part_that_it_names_and_ray_counts_it(rehearsed: Rehearse) -> None:
    plan = {"mig": {"profiles": {"1g.10gb": 4, "3g.40gb": 1}}, "timeSlicing": {"replicas": 2}}
    resource = "nvidia.com/mig-3g.40gb.shared"
    spec = cluster(rehearsed(_shared(plan, resource, profile="3g.40gb")))["spec"]
    _, worker = containers(spec)
    assert worker["resources"]["limits"] == {"cpu": "8", "memory": "64Gi", resource: "1"}
    assert spec["workerGroupSpecs"][0]["rayStartParams"] == {"num-gpus": "1"}


def test_under_mps_ray_keeps_its_objects_beside_the_servers_memory(rehearsed: Rehearse) -> None:
    spec = cluster(rehearsed(_shared({"mps": {"replicas": 8}}, "nvidia.com/gpu.shared")))["spec"]
    group = spec["workerGroupSpecs"][0]
    assert group["rayStartParams"] == {"num-gpus": "1", "plasma-directory": "/var/shared-memory"}
    (mount,) = group["template"]["spec"]["containers"][0]["volumeMounts"]
    (volume,) = group["template"]["spec"]["volumes"]
    assert (mount["mountPath"], mount["name"]) == ("/var/shared-memory", volume["name"])
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "32Gi"}


def test_elsewhere_it_is_at_its_usual_place(rehearsed: Rehearse) -> None:
    for plan in ({"timeSlicing": {"replicas": 4}}, {"mps": {"replicas": 8}}):
        gpus = 0 if "mps" in plan else 1
        group = cluster(rehearsed(_shared(plan, "nvidia.com/gpu.shared", gpus=gpus)))["spec"]["workerGroupSpecs"][0]
        assert "plasma-directory" not in group["rayStartParams"]
        (mount,) = group["template"]["spec"]["containers"][0]["volumeMounts"]
        assert mount["mountPath"] == "/dev/shm"


def test_priority_reaches_group_and_pods(rehearsed: Rehearse) -> None:
    made = cluster(rehearsed(change(priority="high")))
    assert made["metadata"]["labels"]["ray.io/priority-class-name"] == "high"
    for group in (made["spec"]["headGroupSpec"], *made["spec"]["workerGroupSpecs"]):
        assert group["template"]["spec"]["priorityClassName"] == "high"


def test_pods_add_up_to_the_gang_that_the_model_counts(rehearsed: Rehearse, twin_value: dict[str, Any]) -> None:
    spec = cluster(rehearsed(lambda _: None))["spec"]
    gang = gangs.gang(document.load(twin_value), ("ray", "clusters", "tuning"))
    assert gang.pods == 1 + spec["workerGroupSpecs"][0]["replicas"]
