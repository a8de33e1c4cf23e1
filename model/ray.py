"""Ray on this cluster: clusters, jobs and services."""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from . import nodes
from .base import Declared
from .durations import Duration
from .quantities import MEBIBYTE, Quantity
from .workloads import NONE, Amounts, Leader, Sidecar, Workload

if TYPE_CHECKING:
    from .environment import Environment

AUTOSCALER: Amounts = MappingProxyType({"cpu": Decimal("0.5"), "memory": 512 * MEBIBYTE})
"""The sidecar that KubeRay adds to the head pod of an autoscaled cluster
(https://github.com/ray-project/kuberay, ray-operator/controllers/ray/common/pod.go, BuildAutoscalerContainer)."""
SUBMITTER: Amounts = MappingProxyType({"cpu": Decimal("0.5"), "memory": 200 * MEBIBYTE})
"""The sidecar that KubeRay adds to the head pod to submit a job (common/job.go there)."""
SUBMITTER_POD: Mapping[str, Quantity] = MappingProxyType(
    {"cpu": Quantity.parse("500m"), "memory": Quantity.parse("1Gi")}
)
"""What the pod asks for that submits a job, and then follows its log: as much memory as that of KubeRay may use."""


class RayWorkload(Workload):
    """A head and workers: one gang."""

    leader: ClassVar[str] = "head"

    ray: str
    """Ray version, as text: "2.52.0". The image is rayproject/ray of that version unless `image` says otherwise."""
    image: str | None = None
    """Image of all its pods, with a tag or digest, where the usual one does not do."""
    head: Leader
    """The head pod."""

    def sidecars(self, part: str) -> tuple[Sidecar, ...]:
        """Ray's autoscaler stands beside the head."""
        return (Sidecar("autoscaler", AUTOSCALER),) if part == self.leader and self.elastic else ()


class RayCluster(RayWorkload):
    """A Ray cluster that stays until it is taken out of the document."""

    called: ClassVar[str] = "Ray cluster"


class RayJob(RayWorkload):
    """A Ray cluster for one program, which goes when that has ended."""

    called: ClassVar[str] = "Ray job"

    misplaced: ClassVar = {
        "restartPolicy": "how pods come back is KubeRay's affair; how often a failed program is run anew is restarts: …"
    }

    entrypoint: str
    """The command of the program, run in the image: `python train.py`."""
    submission: Literal["K8sJobMode", "SidecarMode", "HTTPMode"] = "K8sJobMode"
    """Who submits it, KubeRay's `submissionMode`: a pod of its own, a sidecar of the head, or the operator itself."""
    restarts: int = 0
    """How often a program that failed is run anew, each time on a new cluster."""
    ttl: Duration | None = None
    """How long its cluster stays after the end, to be looked at. Its GPUs stay taken."""

    def sidecars(self, part: str) -> tuple[Sidecar, ...]:
        """With SidecarMode the submitter stands beside the head, too."""
        submits = part == self.leader and self.submission == "SidecarMode"
        return (*super().sidecars(part), *((Sidecar("submitter", SUBMITTER, counted=True),) if submits else ()))

    @property
    def apart(self) -> Amounts:
        """With K8sJobMode the submitter has a pod of its own, which is in the gang's resources but not in its size."""
        submits = self.submission == "K8sJobMode"
        return {name: amount.value for name, amount in SUBMITTER_POD.items()} if submits else NONE


class RayService(RayWorkload):
    """A Ray cluster that serves models."""

    called: ClassVar[str] = "Ray service"

    serve: dict[str, Any]
    """Ray Serve's own configuration (KubeRay's `serveConfigV2`): `applications` and what goes with them."""
    upgrade: Literal["NewCluster", "Recreate"] = "NewCluster"
    """What a change of its pods does. `NewCluster`: a second cluster comes up beside the first and takes over, so for
    that time it needs all its room twice. `Recreate`: the first goes, then the second comes, and nobody is served
    meanwhile."""


class Ray(Declared):
    """Ray on this cluster."""

    clusters: dict[str, RayCluster] = Field(default_factory=dict)
    """Ray clusters by name."""
    jobs: dict[str, RayJob] = Field(default_factory=dict)
    """Ray jobs by name."""
    services: dict[str, RayService] = Field(default_factory=dict)
    """Ray services by name."""


def image(env: "Environment", workload: RayWorkload) -> str:
    """The image of its pods: the declared one, or rayproject/ray of its version.

    Tags: https://docs.ray.io/en/latest/ray-overview/installation.html#docker-source-images (`-gpu` has CUDA,
    `-aarch64` is for Arm).
    """
    if workload.image is not None:
        return workload.image
    arm = nodes.machine(env.pools[workload.pool]).architecture == "arm64"
    return f"rayproject/ray:{workload.ray}{'-gpu' if workload.workers.gpus else ''}{'-aarch64' if arm else ''}"
