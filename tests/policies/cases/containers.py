"""What containers of workloads may do."""

from typing import Any

from tests.policies.cases.team_queues import SYSTEM
from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    pod,
    template,
    workload,
)


def secured(**context: Any) -> dict[str, Any]:
    return container(securityContext=context)


def adding(*names: Any) -> dict[str, Any]:
    return secured(capabilities={"add": list(names)})


def agent(namespace: Any, *containers: Any) -> Resource:
    inputs = {"metadata": {"namespace": namespace, "name": "a"}, "spec": {"template": template(*containers)}}
    return Resource("kubernetes:apps/v1:DaemonSet", inputs)


CLOSED = {"allowPrivilegeEscalation": False}

BREAKS: Breaks = {
    "capabilities": [
        (pod(adding("SYS_ADMIN")), "spec.containers[0].securityContext.capabilities.add[0]: SYS_ADMIN is more"),
        (pod(adding("IPC_LOCK", "CAP_SYS_PTRACE")), "capabilities.add[1]: CAP_SYS_PTRACE"),
        (pod(adding("ALL")), "add[0]: ALL"),
        (pod(initContainers=[adding("net_admin")]), "spec.initContainers[0]"),
        (agent("rook-ceph", adding("SYS_ADMIN")), "add[0]"),
        (agent("research", adding("SYS_ADMIN")), "spec.template.spec.containers[0]"),
        (workload("RayCluster", template(adding("SYS_ADMIN"))), "spec.workerGroupSpecs[0].template"),
    ],
    "privilege-escalation": [
        (pod(secured()), "spec.containers[0].securityContext.allowPrivilegeEscalation: says nothing"),
        (pod(container(securityContext=None)), "spec.containers[0].securityContext.allowPrivilegeEscalation"),
        (pod(secured(allowPrivilegeEscalation=True)), "may gain privileges"),
        (pod(secured(**CLOSED), initContainers=[secured()]), "spec.initContainers[0]"),
    ],
    "root-user": [
        (pod(secured(runAsUser=0)), "spec.containers[0].securityContext.capabilities.drop: root keeps"),
        (pod(secured(capabilities={"drop": ["NET_RAW"]}), securityContext={"runAsUser": 0}), "root keeps"),
        (pod(secured(runAsUser=0), secured(runAsUser=1000)), "spec.containers[0]"),
    ],
}

PASSES: Passes = {
    "capabilities": [
        pod(adding("IPC_LOCK", "DAC_OVERRIDE")),
        pod(adding("CAP_IPC_LOCK")),
        pod(secured(capabilities={"drop": ["ALL"]})),
        agent("gangline-system", adding("SYS_ADMIN")),
        agent("kube-system", adding("NET_ADMIN")),
        agent("kube-flannel", adding("NET_ADMIN")),
        [SYSTEM, agent("rook-ceph", adding("SYS_ADMIN"))],
    ],
    "privilege-escalation": [
        pod(secured(**CLOSED)),
        pod(secured(privileged=True)),
        agent("gangline-system", secured()),
        workload("DaemonSetPatch", {"spec": {"containers": [secured()]}}),
    ],
    "root-user": [
        pod(secured(runAsUser=0, capabilities={"drop": ["ALL"], "add": ["IPC_LOCK"]})),
        pod(secured(runAsUser=1000), securityContext={"runAsUser": 0}),
        pod(container()),
        agent("gangline-system", secured(runAsUser=0)),
    ],
}

UNKNOWNS: Unknowns = {
    "capabilities": [
        (pod(adding(UNKNOWN)), "spec.containers[0].securityContext.capabilities.add[0]"),
        (agent(UNKNOWN, adding("SYS_ADMIN")), "metadata.namespace"),
    ],
    "privilege-escalation": [
        (pod(secured(allowPrivilegeEscalation=UNKNOWN)), "spec.containers[0].securityContext.allowPrivilegeEscalation"),
        (agent(UNKNOWN, secured()), "metadata.namespace"),
    ],
    "root-user": [
        (pod(secured(runAsUser=UNKNOWN)), "spec.containers[0].securityContext.runAsUser"),
        (
            pod(secured(runAsUser=0, capabilities={"drop": UNKNOWN})),
            "spec.containers[0].securityContext.capabilities.drop",
        ),
    ],
}
