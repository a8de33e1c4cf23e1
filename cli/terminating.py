"""What a `destroy` waited for in vain: objects that are being deleted, and that finalizers keep.

A finalizer is cleared by the program that set it. Where that program is gone, or was never this stack's, its objects
stay for ever, and with them their namespace.
"""

import json
from collections.abc import Iterator
from typing import Any

from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Namespace

from . import seeing
from .seeing import Job, RayCluster

_KINDS: dict[str, Any] = {
    "Job": Job,
    "RayCluster": RayCluster,
    "RayJob": create_namespaced_resource("ray.io", "v1", "RayJob", "rayjobs"),
    "RayService": create_namespaced_resource("ray.io", "v1", "RayService", "rayservices"),
}
"""Workloads by kind: what operators set finalizers on."""
_REMAINS = ("NamespaceContentRemaining", "NamespaceFinalizersRemaining", "NamespaceDeletionContentFailure")
"""Conditions by which a namespace says what is still in it (https://kubernetes.io/docs/reference/
kubernetes-api/cluster-resources/namespace-v1/#NamespaceStatus)."""


def remaining(client: Client, exported: str) -> Iterator[str]:
    """Give a line for each object that is being deleted and does not go.

    Args:
        client: A client of the cluster.
        exported: The state of the stack before it was taken down, as the engine exports it: what is in other
            namespaces than its own is none of its business.
    """
    ours = _namespaces(exported)
    for kind, resource in _KINDS.items():
        for found in seeing.everywhere(client, resource):
            metadata = found["metadata"]
            if metadata["namespace"] in ours and metadata.get("deletionTimestamp") and metadata.get("finalizers"):
                kept = ", ".join(metadata["finalizers"])
                yield f"{kind} {metadata['namespace']}/{metadata['name']} keeps {kept}"
    for found in seeing.objects(client, Namespace):
        if found["metadata"]["name"] in ours and found["metadata"].get("deletionTimestamp"):
            conditions = (found.get("status") or {}).get("conditions") or []
            said = [each["message"] for each in conditions if each["type"] in _REMAINS and each["status"] == "True"]
            yield f"Namespace {found['metadata']['name']}: {'; '.join(said) or 'it says nothing of what is left in it'}"


def _namespaces(exported: str) -> set[str]:
    state: dict[str, Any] = json.loads(exported)
    return {
        (resource.get("outputs") or resource["inputs"])["metadata"]["name"]
        for resource in (state.get("deployment") or {}).get("resources") or ()
        if resource["type"] == "kubernetes:core/v1:Namespace"
    }
