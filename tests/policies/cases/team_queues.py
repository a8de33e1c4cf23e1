"""Queues that the team of a namespace may use."""

from typing import Any

from tests.policies.objects import (
    KINDS,
    QUEUE_ANNOTATION,
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    document,
    gpus,
    platform,
    secret,
    template,
)

TWIN = document("twin")
DEFAULTING = platform(TWIN)
"""Both teams have a queue for workloads that name none."""
TENANTS = {name: tenant | {"defaultQueue": None} for name, tenant in TWIN["tenants"].items()}
PLATFORM = platform(TWIN | {"tenants": TENANTS})
"""Team `research` has the queues research.llm and research.vision, team `production` the queue production."""
KUEUE, KAI = (platform(TWIN | {"tenants": TENANTS, "scheduler": {"kind": kind}}) for kind in ("kueue", "kai"))
"""The same with another scheduler, which reads another label."""


SYSTEM = platform(TWIN | {"policies": {"systemNamespaces": ["monitoring", "rook-ceph"]}})
"""It has namespaces of the platform's own."""


def of_team(kind: str, template: Any, namespace: Any = "research", **labels: Any) -> Resource:
    """Give a workload in the namespace of a team."""
    token, inputs = KINDS[kind](template)
    metadata = inputs.get("metadata", {})
    labelled = {"labels": metadata.get("labels", {}) | labels} if labels else {}
    return Resource(f"kubernetes:{token}", inputs | {"metadata": metadata | labelled | {"namespace": namespace}})


def ray(queue: Any, *containers: Any, kind: str = "RayCluster") -> Resource:
    return of_team(kind, {"spec": {"containers": list(containers)}}, **{"volcano.sh/queue-name": queue})


def pod_group(queue: Any, namespace: Any = "research") -> Resource:
    spec = {"queue": queue, "minMember": 2}
    return Resource(
        "kubernetes:scheduling.volcano.sh/v1beta1:PodGroup", {"metadata": {"namespace": namespace}, "spec": spec}
    )


def volcano_job(queue: Any, namespace: Any = "research") -> Resource:
    made = of_team("Volcano Job", template(gpus(8)), namespace)
    return Resource(made.type, made.inputs | {"spec": made.inputs["spec"] | {"queue": queue}})


_PLACE = f'metadata.annotations["{QUEUE_ANNOTATION}"]: '

BREAKS: Breaks = {
    "queue-allowed": [
        (
            [PLATFORM, of_team("Pod", template(gpus(8), queue="production"))],
            f"{_PLACE}production is none of the team's queues (research.llm, research.vision)",
        ),
        ([PLATFORM, of_team("Pod", template(gpus(8)), "production")], f"{_PLACE}research.llm is none"),
        ([PLATFORM, of_team("Deployment", template(queue="research"))], f"spec.template.{_PLACE}research is none"),
        ([PLATFORM, of_team("Pod", template(gpus(1), queue="default"))], f"{_PLACE}default is none"),
        ([PLATFORM, of_team("Pod", template(queue=secret("production")))], f"{_PLACE}[secret] is none"),
        ([PLATFORM, ray("production", gpus(8))], 'metadata.labels["volcano.sh/queue-name"]: production is none'),
        ([PLATFORM, ray("production", gpus(8), kind="RayJob")], 'labels["volcano.sh/queue-name"]'),
        ([PLATFORM, volcano_job("production")], "spec.queue: production is none"),
        (
            [KUEUE, of_team("Job", template(), **{"kueue.x-k8s.io/queue-name": "production"})],
            'metadata.labels["kueue.x-k8s.io/queue-name"]: production is none',
        ),
        (
            [KAI, of_team("JobSet", template(), **{"kai.scheduler/queue": "production"})],
            'metadata.labels["kai.scheduler/queue"]: production is none',
        ),
        (
            # KAI reads the label of a pod where its object has none.
            [
                KAI,
                of_team("Deployment", template() | {"metadata": {"labels": {"kai.scheduler/queue": "production"}}}),
            ],
            'spec.template.metadata.labels["kai.scheduler/queue"]: production is none',
        ),
        # A good name that the scheduler does not read hides no bad one.
        (
            [
                PLATFORM,
                of_team("Pod", template(gpus(8), queue="production"), **{"kueue.x-k8s.io/queue-name": "research.llm"}),
            ],
            f"{_PLACE}production is none",
        ),
        (
            [
                PLATFORM,
                of_team(
                    "RayCluster",
                    template(gpus(8)),
                    **{"kai.scheduler/queue": "research.llm", "volcano.sh/queue-name": "production"},
                ),
            ],
            'metadata.labels["volcano.sh/queue-name"]: production is none',
        ),
        ([PLATFORM, pod_group("production")], "spec.queue: production is none"),
        ([PLATFORM, pod_group("default")], "spec.queue: default is none"),
    ],
}

PASSES: Passes = {
    "queue-allowed": [
        [PLATFORM, of_team("Pod", template(gpus(8)))],
        [PLATFORM, of_team("Pod", template(gpus(8), queue="research.vision"))],
        [PLATFORM, of_team("Pod", template(gpus(8), queue="production"), "production")],
        [PLATFORM, of_team("Pod", template(queue="default"))],
        [PLATFORM, of_team("Pod", template(queue=None))],
        [DEFAULTING, of_team("Pod", template(gpus(8), queue="default"))],
        [DEFAULTING, pod_group("default")],
        [PLATFORM, of_team("Pod", template(gpus(8), queue="production"), "elsewhere")],
        [PLATFORM, ray("research.llm", gpus(8))],
        [PLATFORM, volcano_job("research.vision")],
        [KUEUE, of_team("Job", template(queue="production"), **{"kueue.x-k8s.io/queue-name": "research.llm"})],
        [KAI, of_team("Job", template(), **{"kai.scheduler/queue": "research.llm"})],
        [KUEUE, pod_group("production")],
        [PLATFORM, pod_group("research.llm")],
        [PLATFORM, pod_group("default", "elsewhere")],
        of_team("Pod", template(gpus(8), queue="production")),  # without a document nobody has queues
    ],
}

UNKNOWNS: Unknowns = {
    "queue-allowed": [
        ([PLATFORM, of_team("Pod", template(container(), queue=UNKNOWN))], _PLACE.removesuffix(": ")),
        ([PLATFORM, of_team("Pod", template(), UNKNOWN)], "metadata.namespace"),
        ([PLATFORM, pod_group(UNKNOWN)], "spec.queue"),
    ],
}
