"""Labels by which workloads and their pods name a queue. Apart from what they mean, since policies need no more."""

VOLCANO = "volcano.sh/queue-name"
"""On Ray's objects; KubeRay and Volcano put it on pods."""
KUEUE = "kueue.x-k8s.io/queue-name"
"""On any object that Kueue watches: its local queue (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/)."""
KUEUE_POD = "kueue.x-k8s.io/cluster-queue-name"
"""On pods, by Kueue when it admits a workload (https://github.com/kubernetes-sigs/kueue v0.17.0,
pkg/constants/constants.go)."""
KAI = "kai.scheduler/queue"
"""On objects and pods (https://github.com/NVIDIA/KAI-Scheduler, docs/batch/README.md)."""
KAI_SCHEDULER = "kai-scheduler"
"""The `schedulerName` of pods that KAI shall place."""
