"""Workloads that reach for their node."""

from typing import Any

from tests.policies.cases.team_queues import SYSTEM, of_team
from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    document,
    platform,
    template,
)

TWIN = document("twin")
PLATFORM = platform(TWIN)
ROCE = {"kind": "roce", "mode": "host", "interfaces": ["eth1"], "socketInterface": "bond0"}
TRAIN = TWIN["pools"]["train"] | {"fabric": ROCE}
HOST = platform(TWIN | {"pools": TWIN["pools"] | {"train": TRAIN}})
"""Its pool `train` is used from the network of the node."""


def pod(*containers: Any, namespace: Any = "research", kind: str = "Pod", **spec: Any) -> Resource:
    return of_team(kind, template(*containers, **spec), namespace)


def folder(source: Any) -> list[Any]:
    return [{"name": "tmp", "emptyDir": {}}, {"name": "host"} | source]


def port(number: Any) -> dict[str, Any]:
    return container(ports=[{"containerPort": 80}, {"containerPort": 8080, "hostPort": number}])


MOUNTED = platform(TWIN | {"policies": {"options": {"host-volumes": {"folders": ["/mnt/shared/*"]}}}})


def volume(path: Any, **spec: Any) -> Resource:
    source = {"hostPath": {"path": path}} if path else {}
    return Resource("kubernetes:core/v1:PersistentVolume", {"spec": {**source, **spec}})


ON_TRAIN = {"gangline.dev/pool": "train"}

BREAKS: Breaks = {
    "host-access": [
        (pod(hostNetwork=True), "spec.hostNetwork: uses the network of the node"),
        ([PLATFORM, pod(hostNetwork=True, nodeSelector=ON_TRAIN)], "spec.hostNetwork"),
        ([HOST, pod(hostNetwork=True)], "spec.hostNetwork"),
        (pod(hostPID=True), "spec.hostPID: sees all processes"),
        (pod(hostIPC=True, kind="Deployment"), "spec.template.spec.hostIPC: shares memory"),
        (pod(volumes=folder({"hostPath": {"path": "/"}})), "spec.volumes[1].hostPath: is a folder of the node"),
        (pod(volumes=folder({"hostPath": {"path": "/dev/shm"}}), kind="RayCluster"), "workerGroupSpecs[0].template"),
        (pod(volumes=[UNKNOWN, *folder({"hostPath": {"path": "/"}})]), "spec.volumes[2].hostPath"),
        (pod(port(8080)), "spec.containers[0].ports[1].hostPort: takes port 8080 of the node"),
        (pod(hostPID=True, namespace=None), "spec.hostPID"),
        (pod(hostPID=True, namespace="monitoring"), "spec.hostPID"),
        ([SYSTEM, pod(hostPID=True)], "spec.hostPID"),
    ],
    "host-volumes": [
        (volume("/"), "spec.hostPath.path: / is a folder of the node"),
        ([MOUNTED, volume("/mnt/other")], "spec.hostPath.path"),
        ([MOUNTED, volume("/mnt/shared/../../etc")], "spec.hostPath.path"),
        (
            Resource("kubernetes:core/v1:PersistentVolumeList", {"items": [volume("/etc").inputs]}),
            "items[0].spec.hostPath.path",
        ),
    ],
}

PASSES: Passes = {
    "host-access": [
        pod(),
        [HOST, pod(port(8080), hostNetwork=True, nodeSelector=ON_TRAIN)],
        pod(port(0)),
        pod(hostNetwork=False, hostPID=False, hostIPC=None),
        pod(volumes=folder({"persistentVolumeClaim": {"claimName": "shared"}})),
        pod(hostPID=True, namespace="gangline-system"),
        pod(hostNetwork=True, namespace="kube-system", kind="DaemonSet"),
        [SYSTEM, pod(hostPID=True, hostNetwork=True, namespace="monitoring", kind="DaemonSet")],
    ],
    "host-volumes": [
        [MOUNTED, volume("/mnt/shared/research")],
        volume(None, local={"path": "/mnt/disks/0"}),
        volume(None, nfs={"server": "a", "path": "/"}),
    ],
}

UNKNOWNS: Unknowns = {
    "host-access": [
        (pod(hostPID=UNKNOWN), "spec.hostPID"),
        (pod(volumes=UNKNOWN), "spec.volumes"),
        (pod(container(ports=UNKNOWN)), "spec.containers[0].ports"),
        (pod(hostPID=True, namespace=UNKNOWN), "metadata.namespace"),
        ([HOST, pod(hostNetwork=True, nodeSelector=UNKNOWN)], "spec.nodeSelector"),
    ],
    "host-volumes": [(volume(UNKNOWN), "spec.hostPath.path")],
}
