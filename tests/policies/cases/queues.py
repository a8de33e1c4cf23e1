"""Queues among themselves, and workloads that name them. Further cases: test_queues.py."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, gpus, platform, pod

GPU = "nvidia.com/gpu"
TWIN = document("twin")
"""64 nodes of 8 GPUs."""


def queue(name: Any, parent: Any = "root", **quotas: Any) -> Resource:
    """Give a Queue object; a number stands for so many GPUs."""
    spec: dict[str, Any] = {"parent": parent}
    for kind, amounts in quotas.items():
        resources = {GPU: amounts} if isinstance(amounts, int) else amounts
        spec[kind] = {"resource": resources} if kind == "guarantee" and isinstance(resources, dict) else resources
    return Resource(
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue", {"metadata": {"name": name}, "spec": spec}, str(name)
    )


TREE = [queue("research"), queue("research.llm", "research")]

MIXED = {GPU: 8, "cpu": 96, "memory": "1Ti"}
"""What can be above its share in one and within in another."""

BREAKS: Breaks = {
    "queue-claims": [
        ([queue("a", deserved=MIXED)], "spec.deserved: cpu, memory beside nvidia.com/gpu: each decides"),
        ([queue("a", deserved={"cpu": 8, "memory": "1Ti"})], "spec.deserved: memory beside cpu"),
        ([queue("a", deserved=MIXED, guarantee={"memory": "1Gi"})], "cpu beside memory, nvidia.com/gpu"),
        ([*TREE, queue("research.vision", "research", deserved=MIXED)], "cpu, memory beside", "research.vision"),
        ([platform(TWIN), queue("a", deserved=MIXED)], "cpu, memory beside", "a"),
    ],
    "queue-sums": [
        ([queue("a", deserved=8, capability=4)], 'spec.deserved["nvidia.com/gpu"]: '),
        ([queue("a", guarantee=64, deserved=32)], "spec.guarantee.resource"),
        ([queue("a", capability=8), queue("a.b", "a", capability=16)], "spec.capability"),
        ([platform(TWIN), queue("a", deserved=600)], "deserved 600 of nvidia.com/gpu in sum", ""),
    ],
    "queue-exists": [
        ([*TREE, pod(gpus(8), queue="nope")], "nope is no queue of this stack"),
        ([*TREE, pod(gpus(8), queue="research")], "research has parts"),
        ([*TREE, pod(queue="root")], "root has parts"),
    ],
}

PASSES: Passes = {
    "queue-claims": [
        [],
        [queue("a", deserved=8)],
        [queue("a", deserved={GPU: 8, "nvidia.com/mig-1g.10gb": 2})],
        [queue("a", deserved={"cpu": 8})],
        [queue("a", capability=MIXED)],
        [queue("a", deserved={GPU: 8, "memory": "1Gi"}, guarantee={"memory": "1Gi"})],
        [queue("research", deserved=MIXED), queue("research.llm", "research", deserved=8)],
    ],
    "queue-sums": [
        [],
        [queue("a", guarantee=8, deserved=8, capability=8)],
        [queue("part", "made-elsewhere", deserved=5), queue("other", "made-elsewhere", deserved=5)],
        [platform(TWIN), queue("a", deserved=256), queue("b", deserved=256)],
    ],
    "queue-exists": [
        [*TREE, pod(gpus(8), queue="research.llm")],
        [*TREE, pod(gpus(1), queue="default")],
        pod(gpus(1), queue="made-elsewhere"),
    ],
}

UNKNOWNS: Unknowns = {
    "queue-claims": [
        ([queue("a", deserved=UNKNOWN)], "spec.deserved"),
        ([queue("a", deserved=MIXED, guarantee=UNKNOWN)], "spec.guarantee"),
        ([queue("a", deserved=MIXED), queue("b", UNKNOWN)], "spec.parent", "b"),
    ],
    "queue-sums": [
        (queue("a", deserved={GPU: UNKNOWN}, capability=4), 'spec.deserved["nvidia.com/gpu"]'),
        (queue("a", UNKNOWN), "spec.parent"),
        ([platform(UNKNOWN), queue("a", deserved=600)], "environment", ""),
    ],
    "queue-exists": [
        ([*TREE, pod(gpus(1), queue=UNKNOWN)], 'metadata.annotations["scheduling.volcano.sh/queue-name"]'),
        (
            [*TREE, queue(UNKNOWN), pod(gpus(1), queue="later")],
            'metadata.annotations["scheduling.volcano.sh/queue-name"]',
        ),
    ],
}
