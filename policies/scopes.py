"""Whose pods they are: the system's or a team's, and whether they use GPUs."""

from model import gpu_requests, namespaces, pod_security
from policies.fields import Field
from policies.pods import Pod

_DEFAULT = "default"


def namespace(field: Field) -> str:
    """Give the namespace of an object by its metadata; `default` where it names none.

    Raises:
        UnreadableError: It is not known yet.
    """
    return field["namespace"].text() or _DEFAULT


def of_system(pod: Pod) -> bool:
    """Whether a pod belongs to the cluster itself or to what this project installs: no team has those namespaces.

    Raises:
        UnreadableError: Its namespace is not known yet.
    """
    found = namespace(pod.object["metadata"])
    return found in namespaces.OURS or found in pod_security.SYSTEM


def gpu_amounts(container: Field) -> dict[str, Field]:
    """Give what a container asks for of NVIDIA's GPUs or of parts of them, by resource.

    Raises:
        UnreadableError: Its resources are not known yet.
    """
    found = container.at("resources", "limits").members()
    return {name: field for name, field in found.items() if gpu_requests.is_gpu(name)}
