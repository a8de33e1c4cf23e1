"""Resources to judge, written as the engine would send them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from twin.paths import CHECKOUT

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE = "4dabf18193072939515e22adb298388d"
QUEUE_LABEL = "volcano.sh/queue-name"
QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"


def secret(value: Any) -> dict[str, Any]:
    """Wrap a value as a secret, as the engine does."""
    return {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": value}


@dataclass(frozen=True)
class Resource:
    type: str
    inputs: Any
    name: str = "it"
    parent: str | None = None
    dependencies: tuple[str, ...] = ()
    protect: bool = False
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def urn(self) -> str:
        return f"urn:pulumi:test::gangline::{self.type}::{self.name}"


Subject = Resource | list[Resource]
"""What is judged: one resource, or a stack of several, in the order of their registration."""
Breaks = dict[str, list[tuple[Subject, str] | tuple[Subject, str, str]]]
"""By rule: a subject and the place (path and message) where the rule is broken, once. The fault is with the last
resource, or with the one that is named third (no name: with the stack)."""
Passes = dict[str, list[Subject]]
"""By rule: subjects that keep it."""
Unknowns = dict[str, list[tuple[Subject, str] | tuple[Subject, str, str]]]
"""By rule: a subject and the field that the rule needs and cannot read; of the last resource, or of the one named."""


def document(name: str) -> dict[str, Any]:
    """Give the document of an environment that is shipped."""
    file = CHECKOUT / "stacks" / f"Pulumi.{name}.yaml"
    written = yaml.safe_load(file.read_text())["config"]["gangline:environment"]
    # On the wire a time is text.
    return json.loads(json.dumps(written, default=lambda time: time.isoformat()))


def platform(document: Any) -> Resource:
    """Give the root component of a stack, by which the document reaches the pack."""
    return Resource("gangline:index:Platform", {"environment": document}, "platform")


def referring(resource: Resource, **targets: Resource) -> Resource:
    """Give a resource with properties that the engine knows to come from others, whatever is known of them."""
    return replace(resource, references={place: (target.urn,) for place, target in targets.items()})


def container(**fields: Any) -> dict[str, Any]:
    """Give a container that breaks no rule, and what is changed about it."""
    context = {"allowPrivilegeEscalation": False}
    return {"name": "main", "image": "example.org/train:1.2", "securityContext": context} | fields


def template(*containers: Any, queue: Any = "research.llm", **spec: Any) -> dict[str, Any]:
    """Give a pod that breaks no rule, and what is changed about it."""
    return {
        "metadata": {"annotations": {QUEUE_ANNOTATION: queue}},
        "spec": {
            "schedulerName": "volcano",
            "automountServiceAccountToken": False,
            "containers": list(containers) or [container()],
        }
        | spec,
    }


def pod(*containers: Any, name: str = "it", **fields: Any) -> Resource:
    return Resource("kubernetes:core/v1:Pod", template(*containers, **fields), name)


def gpus(limit: Any, **requests: Any) -> dict[str, Any]:
    """Give a container with a GPU limit; `requests` as keyword asks for that many as well."""
    resources: dict[str, Any] = {"limits": {"nvidia.com/gpu": limit}}
    if requests:
        resources["requests"] = {"nvidia.com/gpu": requests["requests"]}
    return container(resources=resources)


def _ray(template: Any) -> dict[str, Any]:
    return {
        "headGroupSpec": {"template": {"spec": {"containers": [container()]}}},
        "workerGroupSpecs": [{"groupName": "w", "template": template}],
    }


def _named(spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {QUEUE_LABEL: "research.llm"}}, "spec": spec}


KINDS = {
    # Every kind of workload, made around a pod template.
    "Pod": lambda t: ("core/v1:Pod", t),
    "PodList": lambda t: ("core/v1:PodList", {"items": [template(), t]}),
    "PodTemplate": lambda t: ("core/v1:PodTemplate", {"template": t}),
    "ReplicationController": lambda t: ("core/v1:ReplicationController", {"spec": {"template": t}}),
    "ReplicaSet": lambda t: ("apps/v1:ReplicaSet", {"spec": {"template": t}}),
    "Deployment": lambda t: ("apps/v1:Deployment", {"spec": {"template": t}}),
    "old Deployment": lambda t: ("extensions/v1beta1:Deployment", {"spec": {"template": t}}),
    "DeploymentList": lambda t: ("apps/v1:DeploymentList", {"items": [{"spec": {"template": t}}]}),
    "DaemonSet": lambda t: ("apps/v1:DaemonSet", {"spec": {"template": t}}),
    "DaemonSetPatch": lambda t: ("apps/v1:DaemonSetPatch", {"spec": {"template": t}}),
    "StatefulSet": lambda t: ("apps/v1:StatefulSet", {"spec": {"template": t}}),
    "Job": lambda t: ("batch/v1:Job", {"spec": {"template": t}}),
    "CronJob": lambda t: ("batch/v1:CronJob", {"spec": {"jobTemplate": {"spec": {"template": t}}}}),
    "RayCluster": lambda t: ("ray.io/v1:RayCluster", _named(_ray(t))),
    "RayJob": lambda t: ("ray.io/v1:RayJob", _named({"rayClusterSpec": _ray(t)})),
    "RayJob submitter": lambda t: ("ray.io/v1:RayJob", _named({"submitterPodTemplate": t})),
    "RayService": lambda t: ("ray.io/v1:RayService", _named({"rayClusterConfig": _ray(t)})),
    "RayCronJob": lambda t: ("ray.io/v1:RayCronJob", _named({"jobTemplate": {"rayClusterSpec": _ray(t)}})),
    "Volcano Job": lambda t: (
        "batch.volcano.sh/v1alpha1:Job",
        {"spec": {"queue": "research.llm", "tasks": [{"template": template()}, {"template": t}]}},
    ),
    "Volcano CronJob": lambda t: (
        "batch.volcano.sh/v1alpha1:CronJob",
        {"spec": {"jobTemplate": {"spec": {"queue": "research.llm", "tasks": [{"template": t}]}}}},
    ),
    "Volcano JobTemplate": lambda t: (
        "flow.volcano.sh/v1alpha1:JobTemplate",
        {"spec": {"queue": "research.llm", "tasks": [{"template": t}]}},
    ),
    "JobSet": lambda t: (
        "jobset.x-k8s.io/v1alpha2:JobSet",
        {"spec": {"replicatedJobs": [{"template": {"spec": {"template": t}}}]}},
    ),
    "PyTorchJob, which no table knows": lambda t: (
        "kubeflow.org/v1:PyTorchJob",
        {"spec": {"pytorchReplicaSpecs": {"Worker": {"template": t}}}},
    ),
}


def workload(kind: str, template: Any) -> Resource:
    token, inputs = KINDS[kind](template)
    return Resource(f"kubernetes:{token}", inputs)
