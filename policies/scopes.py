"""Whose pods they are: the system's or a team's, and whether they use GPUs."""

from model import gpu_requests, namespaces
from model.pod_templates import RAY_CLUSTERS
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Report

EFA, RDMA = "vpc.amazonaws.com/efa", "rdma/"
"""How resources that are NICs of a fabric are called, or begin."""
_DEFAULT = "default"


def namespace(field: Field) -> str:
    """Give the namespace of an object by its metadata; `default` where it names none.

    Raises:
        UnreadableError: It is not known yet.
    """
    return field["namespace"].text() or _DEFAULT


def of_system(pod: Pod, report: Report) -> bool:
    """Whether a pod belongs to the cluster itself or to the platform: no team has those namespaces.

    Raises:
        UnreadableError: Its namespace is not known yet.
    """
    return namespaces.of_system(namespace(pod.object["metadata"]), report.system)


def secured(pod: Pod, container: Field, key: str) -> Field:
    """Give a field of a container's security context, or the pod's where the container says nothing.

    Raises:
        UnreadableError: One of them is not known yet.
    """
    own = container.at("securityContext", key)
    return own if own.value is not None else pod.spec.at("securityContext", key)


def ray_clusters(it: Field) -> list[Field]:
    """Give the descriptions of clusters in an object of Ray's.

    Raises:
        UnreadableError: What would hold them is not known yet.
    """
    return [place for path in RAY_CLUSTERS if (place := it.at(*path)).value is not None]


def gpu_amounts(container: Field) -> dict[str, Field]:
    """Give what a container asks for of NVIDIA's GPUs or of parts of them, by resource.

    Raises:
        UnreadableError: Its resources are not known yet.
    """
    found = container.at("resources", "limits").members()
    return {name: field for name, field in found.items() if gpu_requests.is_gpu(name)}
