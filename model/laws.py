"""Laws about workloads that hold twice: for what a stack makes, and for what people submit to the cluster themselves.

What a law says stands here once. A rule of the policy pack judges by it before an `up`, an expression in
`model.admission` when an object reaches the API server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from model import queue_labels
from model.gpu_requests import VISIBLE


class Severity(Enum):
    """How bad it is where a law is broken."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, kw_only=True)
class Law:
    """What must hold.

    Attributes:
        id: Its name in configuration and messages.
        severity: How bad it is where it is broken.
        what: What must hold, one sentence.
        why: What happens otherwise.
        fix: What to do where it is broken.
        link: A public page with the fact behind it.
    """

    id: str
    severity: Severity
    what: str
    why: str
    fix: str
    link: str


GPU_LIMITS = Law(
    id="gpu-limits",
    severity=Severity.HIGH,
    what="GPUs are asked for as limits, in whole numbers, and requests equal limits.",
    why=(
        "GPUs cannot be overcommitted, and the API server refuses pods that try. It sees the pods of a RayCluster only "
        "when the operator makes them: `up` has succeeded by then, and no pod ever appears."
    ),
    fix="Set `limits` to a whole number and leave `requests` out. Parts of a GPU come from pools with `sharing`.",
    link="https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/",
)

GPU_PARTS = Law(
    id="gpu-parts",
    severity=Severity.HIGH,
    what="A container asks for one part of a GPU at most.",
    why=(
        "Two slices may be of the same GPU: that is no more memory and no more time. Of two MIG instances a process "
        "sees one. The kubelet refuses slices only when the pod is on its node (`UnexpectedAdmissionError`), and the "
        "workload makes the next pod."
    ),
    fix="Ask for 1, and use more pods; what needs several GPUs belongs on a pool that does not share them.",
    link="https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus",
)

GPU_QUEUE = Law(
    id="gpu-queue",
    severity=Severity.HIGH,
    what="Pods that use GPUs name the queue that pays for them.",
    why=(
        "Without a name Volcano takes the queue `default`, and without a scheduler of queues the pods take GPUs that "
        "no queue accounts for: quotas and gangs of everybody else stop holding."
    ),
    fix=(
        f"With Volcano: RayCluster, RayJob, RayService: label `{queue_labels.VOLCANO}`. Volcano Job: `spec.queue`. "
        f"Other pods: `schedulerName: {queue_labels.VOLCANO_SCHEDULER}` and the annotation "
        f"`{queue_labels.ANNOTATION}` on the pod or its template. With Kueue: label `{queue_labels.KUEUE}` on a Job, "
        f"JobSet, RayCluster, RayJob or RayService. With KAI: label `{queue_labels.KAI}` on the object, and "
        f"`schedulerName: {queue_labels.KAI_SCHEDULER}`."
    ),
    link="https://volcano.sh/en/docs/queue/",
)

GPU_NODE = Law(
    id="gpu-node",
    severity=Severity.HIGH,
    what="Pods that use GPUs leave it to the scheduler on which node they run.",
    why=(
        "A pod with `nodeName` is bound when it is made: no scheduler sees it, so no quota, gang or taint that keeps "
        "pods off holds for it, whatever queue it names. It takes GPUs that were kept for others, or fails at the "
        "kubelet."
    ),
    fix="Remove `nodeName`. A node selector by `kubernetes.io/hostname` asks for a node and is still scheduled.",
    link="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
)

QUEUE_ALLOWED = Law(
    id="queue-allowed",
    severity=Severity.HIGH,
    what="A workload names a queue that the team of its namespace may use.",
    why=(
        "Schedulers ask nobody whether a namespace may use a queue: whoever names that of another team takes what the "
        "other team deserves."
    ),
    fix="Name a queue of the team's own, or give the team this one in `tenants` of the document.",
    link="https://volcano.sh/en/docs/queue/",
)

GPU_VISIBILITY = Law(
    id="gpu-visibility",
    severity=Severity.HIGH,
    what=f"No workload names GPUs in `{VISIBLE}`.",
    why=(
        "Where NVIDIA's runtime is the default one, the variable alone hands GPUs over: the pod uses GPUs of its node "
        "that the scheduler has given to somebody else, and no queue accounts for them."
    ),
    fix=f"Remove the variable and ask for GPUs by `limits`. `{VISIBLE}: void` is right for pods without any.",
    link="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html",
)

MPS_PODS = Law(
    id="mps-pods",
    severity=Severity.HIGH,
    what="Containers that share a GPU by MPS leave `/dev/shm`, the pipes and the IPC namespace to the MPS server.",
    why=(
        "The device plugin mounts the server's memory and pipes into the container. With its own in their place the "
        "container starts, waits for the server, and finds no GPU."
    ),
    fix=(
        "Leave out the volume at `/dev/shm`, `hostIPC` and `CUDA_MPS_PIPE_DIRECTORY`. Ray keeps its objects elsewhere "
        "with `plasma-directory`."
    ),
    link="https://github.com/NVIDIA/k8s-device-plugin#with-cuda-mps",
)

IMAGE_VERSION = Law(
    id="image-version",
    severity=Severity.MEDIUM,
    what="Images name a version: a tag other than `latest`, or a digest.",
    why=(
        "`latest`, which is also meant when no tag is written, is another image tomorrow: nodes of one gang run "
        "different code, and nothing can be rolled back."
    ),
    fix="Write the tag of a release, or better its digest (`image@sha256:...`).",
    link="https://kubernetes.io/docs/concepts/containers/images/",
)

PRIVILEGED = Law(
    id="privileged",
    severity=Severity.CRITICAL,
    what="No pod is privileged except agents of nodes in namespaces of the system.",
    why=(
        "A privileged container is root on its node: it reads the data of every other team there and sees every "
        "GPU, whichever it was given."
    ),
    fix=(
        "Remove `privileged` and add the single capability that is needed (RDMA: `IPC_LOCK`). What manages nodes "
        "belongs in a namespace that stands in `policies.systemNamespaces` of the document."
    ),
    link="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
)

HOST_ACCESS = Law(
    id="host-access",
    severity=Severity.HIGH,
    what="Workloads of teams stay off their node: its network, processes, memory, folders and ports.",
    why=(
        "From the node's network a pod passes all network policies, among its processes it reads the secrets of every "
        "other team, and through its folders it becomes root there."
    ),
    fix=(
        "Take files from the tiers of storage, and the network of the pod. Where a pool's fabric is used in the "
        "network of the node (`fabric: {mode: host}`), select that pool by `gangline.dev/pool`. What manages nodes "
        "belongs in a namespace that stands in `policies.systemNamespaces` of the document."
    ),
    link="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
)

OF_NODE: Mapping[str, str] = MappingProxyType(
    {
        "hostPID": "sees all processes of the node",
        "hostIPC": "shares memory with all processes of the node",
    }
)
"""What a pod does that says so of itself."""

BY_ID: Mapping[str, Law] = MappingProxyType(
    {
        law.id: law
        for law in (
            GPU_LIMITS,
            GPU_PARTS,
            GPU_QUEUE,
            GPU_NODE,
            QUEUE_ALLOWED,
            GPU_VISIBILITY,
            MPS_PODS,
            IMAGE_VERSION,
            PRIVILEGED,
            HOST_ACCESS,
        )
    }
)
"""All of them, by id."""
