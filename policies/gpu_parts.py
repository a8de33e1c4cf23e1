"""Laws about parts of GPUs: how many a container asks for, and what it leaves to the MPS server."""

from collections.abc import Iterator

from model import gpu_requests, laws
from policies.fields import Field, absent
from policies.pods import Pod
from policies.rules import PodRule, Report, Resource, Stack, StackRule, rule


@rule(PodRule, laws.GPU_PARTS)
def gpu_parts(pod: Pod, report: Report) -> None:
    """Judge the limits of each container; requests equal them."""
    for container in pod.containers:
        with report.reading():
            for name, field in container.at("resources", "limits").members().items():
                if gpu_requests.is_gpu(name):
                    with report.reading():
                        _part(name, field, report)


def _part(name: str, field: Field, report: Report) -> None:
    amount = field.quantity()
    if amount is None or amount.value % 1:
        return  # a fraction is for `gpu-limits` to tell
    if why := gpu_requests.fault(name, amount.value):
        report.violation(field, f"asks for {field}: {why}")


@rule(StackRule, laws.MPS_PODS)
def mps_pods(stack: Stack, report: Report) -> None:
    """Judge the pods that are meant for the document's MPS pools."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            sharing = [container for container in pod.containers if _shares(container)]
            if stack.document is None or not sharing:
                continue
            with report.reading(resource.urn):
                if _on_mps_pool(pod, stack.document):
                    for container in sharing:
                        with report.reading(resource.urn):
                            _mps_container(pod, container, resource, report)


def _shares(container: Field) -> bool:
    """Whether a container asks for a shared GPU, as far as is known: the laws about amounts tell what is not."""
    with Report().reading():
        return any(name.endswith(gpu_requests.SHARED) for name in container.at("resources", "limits").members())
    return False


def _on_mps_pool(pod: Pod, document: Field) -> bool:
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.nodes import POOL_LABEL

    name = pod.spec["nodeSelector"][POOL_LABEL].text()
    sharing = document.at("pools", name, "sharing") if name else absent("sharing")
    return not isinstance(sharing.value, str) and bool(sharing["mps"].members())


def _mps_container(pod: Pod, container: Field, resource: Resource, report: Report) -> None:
    places: dict[str, Field] = {}
    mounts = [*_read(container["volumeMounts"], "mountPath", places)]
    variables = [*_read(container["env"], "name", places)]
    host_ipc = pod.spec["hostIPC"]
    for what, why in gpu_requests.mps_faults(mounts, variables, host_ipc=bool(host_ipc.boolean())):
        report.violation(places.get(what, host_ipc), why, resource.urn)


def _read(items: Field, key: str, places: dict[str, Field]) -> Iterator[str]:
    for item in items.items():
        text = item[key].text()
        if text is not None:
            places[text.rstrip("/") or text] = item[key]
            yield text


RULES = (
    gpu_parts,
    mps_pods,
)
