"""Where pods are in the objects that make them, by kind. Apart from what they mean, since policies need no more.

Sources: k8s.io/api; ray-operator/apis/ray/v1; volcano.sh/apis/pkg/apis/{batch,flow}/v1alpha1; JobSet,
api/jobset/v1alpha2.
"""

from collections.abc import Mapping
from types import MappingProxyType

EACH = "*"
"""Stands in a path for every item of a list."""

Path = tuple[str, ...]

_TEMPLATE = ("spec", "template")
_VOLCANO = ("spec", "tasks", EACH, "template")
RAY_HEAD = ("headGroupSpec", "template")
RAY_CLUSTERS: tuple[Path, ...] = (
    # Where Ray's objects describe a cluster, whichever of them it is.
    ("spec",),
    ("spec", "rayClusterSpec"),
    ("spec", "rayClusterConfig"),
    ("spec", "jobTemplate", "rayClusterSpec"),
)
RAY_AUTOSCALER = "autoscalerOptions"
"""Beside the head's template: image, resources and security context of a container that Ray adds to that pod."""
_RAY = (RAY_HEAD, ("workerGroupSpecs", EACH, "template"))
_RAY_JOB = (*(("rayClusterSpec", *path) for path in _RAY), ("submitterPodTemplate",))

CORE = "core"
"""Stands for the API group without a name."""

TEMPLATES: Mapping[tuple[str, str], tuple[Path, ...]] = MappingProxyType(
    {
        # Where pod templates are, by API group and kind.
        (CORE, "Pod"): ((),),
        (CORE, "PodTemplate"): (("template",),),
        (CORE, "ReplicationController"): (_TEMPLATE,),
        ("apps", "ReplicaSet"): (_TEMPLATE,),
        ("apps", "Deployment"): (_TEMPLATE,),
        ("apps", "DaemonSet"): (_TEMPLATE,),
        ("apps", "StatefulSet"): (_TEMPLATE,),
        ("batch", "Job"): (_TEMPLATE,),
        ("batch", "CronJob"): (("spec", "jobTemplate", *_TEMPLATE),),
        ("batch.volcano.sh", "Job"): (_VOLCANO,),
        ("batch.volcano.sh", "CronJob"): (("spec", "jobTemplate", *_VOLCANO),),
        ("flow.volcano.sh", "JobTemplate"): (_VOLCANO,),
        ("jobset.x-k8s.io", "JobSet"): (("spec", "replicatedJobs", EACH, "template", *_TEMPLATE),),
        ("ray.io", "RayCluster"): tuple(("spec", *path) for path in _RAY),
        ("ray.io", "RayJob"): tuple(("spec", *path) for path in _RAY_JOB),
        ("ray.io", "RayService"): tuple(("spec", "rayClusterConfig", *path) for path in _RAY),
        ("ray.io", "RayCronJob"): tuple(("spec", "jobTemplate", *path) for path in _RAY_JOB),
    }
)

VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        # The version of each of these groups that clusters serve today.
        CORE: "v1",
        "apps": "v1",
        "batch": "v1",
        "batch.volcano.sh": "v1alpha1",
        "flow.volcano.sh": "v1alpha1",
        "jobset.x-k8s.io": "v1alpha2",
        "ray.io": "v1",
    }
)


def plural(kind: str) -> str:
    """The name of a kind in URLs and rules. All of these are regular."""
    return f"{kind.lower()}s"
