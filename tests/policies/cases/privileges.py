"""What pods may do to their nodes."""

from tests.policies.cases.team_queues import SYSTEM
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, container, pod, template

_CAP = {"capabilities": {"add": ["IPC_LOCK"]}}


def agent(namespace: str, name: str) -> Resource:
    privileged = container(securityContext={"privileged": True})
    return Resource(
        "kubernetes:apps/v1:DaemonSet",
        {"metadata": {"namespace": namespace, "name": name}, "spec": {"template": template(privileged)}},
    )


BREAKS: Breaks = {
    "privileged": [
        (pod(container(securityContext={"privileged": True})), "spec.containers[0].securityContext.privileged"),
        (pod(initContainers=[container(securityContext={"privileged": True})]), "spec.initContainers[0]"),
        (pod(securityContext={"windowsOptions": {"hostProcess": True}}), "spec.securityContext.windowsOptions"),
        (
            pod(container(securityContext={"windowsOptions": {"hostProcess": True}})),
            "spec.containers[0].securityContext.windowsOptions.hostProcess",
        ),
        (agent("default", "nvidia-mig-manager"), "securityContext.privileged"),
        (agent("gangline-system", "nvidia-device-plugin-whole"), "securityContext.privileged"),
        (agent("gangline-system", "nvidia-mps-control-daemon"), "securityContext.privileged"),
        (agent("gangline-system", "my-nvidia-mig-manager"), "securityContext.privileged"),
        (agent("gangline-system", "other"), "securityContext.privileged"),
        (agent("rook-ceph", "plugin"), "securityContext.privileged"),
        ([SYSTEM, agent("other", "plugin")], "securityContext.privileged"),
        ([SYSTEM, agent("gangline-system", "other")], "securityContext.privileged"),
        (agent("gangline-system", UNKNOWN), "securityContext.privileged"),
    ],
}

PASSES: Passes = {
    "privileged": [
        pod(container(securityContext={"privileged": False})),
        pod(container(securityContext=_CAP)),
        agent("gangline-system", "nvidia-mig-manager"),
        agent("gangline-system", "nvidia-mps-control-daemon-serve"),
        agent("kube-flannel", "kube-flannel-ds"),
        [SYSTEM, agent("rook-ceph", "plugin")],
    ],
}

UNKNOWNS: Unknowns = {
    "privileged": [
        (pod(container(securityContext={"privileged": UNKNOWN})), "spec.containers[0].securityContext.privileged"),
        (Resource("kubernetes:apps/v1:DaemonSet", {"spec": UNKNOWN}), "spec"),
    ],
}
