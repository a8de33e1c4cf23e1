"""What KWOK does in place of kubelets, as Stage objects (https://kwok.sigs.k8s.io/docs/user/stages-configuration).

KWOK's own stages complete the pods of every owner of kind `Job`, Volcano's too (kwok issue 762), and report any image
as running. These do neither.
"""

import json
from typing import Any

import yaml

from twin import images

NODE_SELECTOR = "kwok.x-k8s.io/node=fake"
RUNS_FOR = "twin.gangline.dev/runs-for"
"""Annotation of a pod: how long its work takes, such as `90s` (https://pkg.go.dev/time#ParseDuration). It completes
after that, whatever its image is; without it only the pods of Kubernetes' own Jobs complete, those of
JobSets left out."""

_IMAGES = '(.spec.containers + (.spec.initContainers // []))[].image // ""'
_CONDITIONS = """\
{{ $now := Now }}
{{ $lastTransitionTime := or .metadata.creationTimestamp $now }}
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $lastTransitionTime | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""
_RUNNING = """\
{{ $now := Now }}
conditions:
{{ range tuple "Initialized" "ContainersReady" "Ready" }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ . | Quote }}
{{ end }}
{{ range .spec.readinessGates }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ .conditionType | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
{{ if eq .restartPolicy "Always" }}
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ else }}
  state:
    terminated:
      exitCode: 0
      finishedAt: {{ $now | Quote }}
      reason: Completed
      startedAt: {{ $now | Quote }}
{{ end }}
{{ end }}
{{ with NodeIPWith .spec.nodeName }}
hostIP: {{ . | Quote }}
{{ end }}
{{ $host := or .spec.hostNetwork false }}
{{ with PodIPWith .spec.nodeName $host ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ . | Quote }}
podIPs:
- ip: {{ . | Quote }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
"""
_COMPLETED = """\
{{ $now := Now }}
{{ $started := or .status.startTime $now }}
conditions:
{{ range tuple "ContainersReady" "Ready" }}
- lastTransitionTime: {{ $now | Quote }}
  reason: PodCompleted
  status: "False"
  type: {{ . | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      finishedAt: {{ $now | Quote }}
      reason: Completed
      startedAt: {{ $started | Quote }}
{{ end }}
phase: Succeeded
"""


def _require(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


def _stage(
    name: str,
    kind: str,
    expressions: list[dict[str, Any]],
    follows: dict[str, Any],
    delay: dict[str, Any] | None = None,
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": expressions},
        "next": follows,
    }
    if delay:
        spec["delay"] = delay
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def stages() -> list[dict[str, Any]]:
    """Give all stages: those of nodes, and those of pods whose images are known."""
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    alive = _require(".metadata.deletionTimestamp", "DoesNotExist")
    # jq reports an error as "no value", which counts as a match here: the expression must not fail.
    timed = f".metadata.annotations[{json.dumps(RUNS_FOR)}]"
    untimed = f"select({timed} == null) | {_IMAGES}"
    only_simulated = _require(f"{untimed} | select(test({json.dumps(images.SIMULATED_PATTERN)}) | not)", "DoesNotExist")
    alive_and_lent = f'select(.status.phase | IN("Succeeded", "Failed") | not) | {_IMAGES}'
    not_lent = _require(f"{alive_and_lent} | select(test({json.dumps(images.LENT_PATTERN)}))", "DoesNotExist")
    deleted = _require(".metadata.deletionTimestamp", "Exists")
    gang = 'select(.spec.schedulerName == "volcano" and .status.phase == "Running") | .spec.schedulerName'
    running = _require(".status.phase", "In", "Running")
    kubernetes_job = _require(
        '.metadata.ownerReferences[]? | select(.kind == "Job" and .apiVersion == "batch/v1") | .kind', "Exists"
    )
    # A training job is a JobSet there, and does not complete at once either.
    alone = _require('.metadata.labels["jobset.sigs.k8s.io/jobset-name"]', "DoesNotExist")
    return [
        _stage("node-initialize", "Node", [_require(ready, "NotIn", "True")], {"statusTemplate": _CONDITIONS}),
        _stage(
            "node-heartbeat",
            "Node",
            [_require(ready, "In", "True")],
            {"statusTemplate": _CONDITIONS},
            # Leases keep nodes alive; this only keeps the shown times from looking dead. It is spread widely: when a
            # thousand nodes were made together, KWOK and the API server were busy with it for 20 s every 10 minutes.
            {"durationMilliseconds": 600_000, "jitterDurationMilliseconds": 3_600_000},
        ),
        _stage(
            "pod-ready",
            "Pod",
            [alive, _require(".status.phase", "In", "Pending"), _require(ready, "NotIn", "True"), only_simulated],
            {"statusTemplate": _RUNNING},
        ),
        _stage(
            "pod-complete",
            "Pod",
            [alive, running, kubernetes_job, alone, _require(timed, "DoesNotExist"), only_simulated],
            {"statusTemplate": _COMPLETED},
        ),
        _stage(
            "pod-complete-in-time",
            "Pod",
            [alive, running, _require(timed, "Exists")],
            {"statusTemplate": _COMPLETED},
            {"durationFrom": {"expressionFrom": timed}},
        ),
        # Lent pods are deleted by the lender, once their process has ended.
        _stage("pod-delete", "Pod", [deleted, not_lent, _require(gang, "DoesNotExist")], {"delete": True}),
        # Containers take a moment to end. Volcano's controller counts on that: of a gang that it restarts whose pods
        # are gone before its old PodGroup is, it never makes another one.
        _stage(
            "pod-delete-gang",
            "Pod",
            [deleted, _require(gang, "Exists")],
            {"delete": True},
            {"durationMilliseconds": 1000},
        ),
    ]


def document() -> str:
    """Give the configuration file of KWOK."""
    return yaml.safe_dump_all(stages(), sort_keys=False)
