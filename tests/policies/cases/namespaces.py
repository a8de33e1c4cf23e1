"""Namespaces and what their pods may do."""

from typing import Any

from tests.policies.cases.team_queues import SYSTEM
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

LABEL = "pod-security.kubernetes.io/enforce"


def namespace(name: Any, labels: Any = None, kind: str = "Namespace") -> Resource:
    return Resource(f"kubernetes:core/v1:{kind}", {"metadata": {"name": name, "labels": labels}})


BREAKS: Breaks = {
    "pod-security": [
        (namespace("research", {LABEL: "privileged"}), f'metadata.labels["{LABEL}"]: its pods may do all'),
        (namespace("rook-ceph", {LABEL: "privileged"}), "its pods may do all"),
        (
            Resource("kubernetes:core/v1:NamespaceList", {"items": [namespace("a", {LABEL: "privileged"}).inputs]}),
            f'items[0].metadata.labels["{LABEL}"]',
        ),
        (namespace("research", {LABEL: "strict"}), "strict is no level: privileged, baseline, restricted"),
        (namespace("gangline-system"), "says nothing"),
        (namespace("research", {LABEL: "privileged"}, "NamespacePatch"), "its pods may do all"),
    ],
}

PASSES: Passes = {
    "pod-security": [
        namespace("research"),
        namespace("research", {LABEL: "baseline"}),
        namespace("gangline-system", {LABEL: "privileged"}),
        namespace("kube-system", {LABEL: "privileged"}),
        namespace("kube-flannel", {LABEL: "privileged"}),
        [SYSTEM, namespace("rook-ceph", {LABEL: "privileged"})],
    ],
}

UNKNOWNS: Unknowns = {
    "pod-security": [
        (namespace("research", {LABEL: UNKNOWN}), f'metadata.labels["{LABEL}"]'),
        (namespace(UNKNOWN, {LABEL: "privileged"}), "metadata.name"),
    ],
}
