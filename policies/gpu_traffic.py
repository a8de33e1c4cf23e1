"""Laws about what pods need for their GPUs to reach each other: shared memory, locked memory, NICs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model import gpu_requests, pod_security
from policies import placement
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, Resource, Severity, Stack, StackRule, rule
from policies.scopes import EFA, RDMA, gpu_amounts, secured

if TYPE_CHECKING:
    from model.environment import Environment

_HUGE_PAGES = "hugepages-2Mi"
_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"


@rule(
    PodRule,
    id="shared-memory",
    severity=Severity.MEDIUM,
    what="A container with several GPUs has a `/dev/shm` of its own.",
    why=(
        "A container runtime gives 64 MiB. NCCL moves data between the GPUs of a node through it, and loaders of "
        "data their batches: the job ends with `No space left on device` or a bus error, minutes after its start."
    ),
    fix="Mount an `emptyDir` of `medium: Memory` at `/dev/shm`, with a `sizeLimit`.",
    link=_NCCL,
)
def shared_memory(pod: Pod, report: Report) -> None:
    """Judge containers with whole GPUs. Ray's pods get theirs from KubeRay (common/pod.go there, addEmptyDir)."""
    if pod.group == "ray.io" or pod.partial:
        return
    for container in pod.containers:
        with report.reading():
            field = gpu_amounts(container).get(gpu_requests.GPU)
            amount = field.quantity() if field is not None else None
            if amount is None or amount.value < 2 or pod.spec["hostIPC"].boolean():
                continue
            mounts = container["volumeMounts"]
            paths = [mount["mountPath"].text() or "" for mount in mounts.items()]
            if all(path.rstrip("/") != gpu_requests.SHARED_MEMORY for path in paths):
                report.violation(mounts, f"nothing is mounted at {gpu_requests.SHARED_MEMORY}, for {field} GPUs")


@rule(
    PodRule,
    id="sharing-fabric",
    severity=Severity.HIGH,
    what="A container with a part of a GPU asks for no NIC of the fabric.",
    why=(
        "NCCL refuses two ranks on one GPU, and instances of MIG reach no other GPU directly. The NIC is taken from "
        "jobs that can use it."
    ),
    fix="Leave out the NIC, or take whole GPUs: a pool without `sharing`.",
    link="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
)
def sharing_fabric(pod: Pod, report: Report) -> None:
    """Judge what each container asks for beside its GPUs."""
    for container in pod.containers:
        with report.reading():
            part = next((name for name in gpu_amounts(container) if name != gpu_requests.GPU), None)
            for name, field in _nics(container) if part else ():
                with report.reading():
                    amount = field.quantity()
                    if amount is not None and amount.value:
                        report.violation(field, f"asks for {name} beside {part}")


@rule(
    PodRule,
    id="huge-pages",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="A container that asks for EFA devices asks for huge pages, too.",
    why=(
        "A container may use none that it did not ask for. libfabric then takes small pages for its buffers, and each "
        "message costs more."
    ),
    fix="Ask for `hugepages-2Mi`: 5120Mi with all EFA devices of a node.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
)
def huge_pages(pod: Pod, report: Report) -> None:
    """Judge the limits of each container with EFA."""
    for container in pod.containers:
        with report.reading():
            limits = container.at("resources", "limits")
            amount = limits[EFA].quantity()
            if amount is not None and amount.value and limits[_HUGE_PAGES].value is None and not _small(container):
                report.violation(limits[_HUGE_PAGES], f"asks for none, and for {limits[EFA]} EFA devices")


def _small(container: Field) -> bool:
    """Whether libfabric is told to use small pages."""
    return any(
        variable["name"].text() == "FI_EFA_USE_HUGE_PAGE" and variable["value"].text() in ("0", "false", "no", "off")
        for variable in container["env"].items()
    )


@rule(
    StackRule,
    id="locked-memory",
    severity=Severity.HIGH,
    what="A container that asks for a NIC of the fabric may lock memory.",
    why=(
        "Memory is registered with the NIC by locking it. Without the capability, or as another user than root, the "
        "limit is 8 MiB: NCCL falls back to TCP, ten times slower, and says so only when asked."
    ),
    fix=(
        "Add the capability `IPC_LOCK` and run as root; or let the nodes' container runtime lift the limit and say so "
        "in the document: `fabric: {memlock: unlimited}`."
    ),
    link="https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037",
)
def locked_memory(stack: Stack, report: Report) -> None:
    """Judge containers with RDMA on the pools of the document; without one nothing is known of the nodes' limits."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            for container in () if pod.partial else pod.containers:
                with report.reading(resource.urn):
                    asked = any(True for _ in _nics(container))
                    env = stack.environment if asked else None
                    if env is not None and not _unlimited(pod, env):
                        _lock(pod, container, resource, report)


def _lock(pod: Pod, container: Field, resource: Resource, report: Report) -> None:
    context = container["securityContext"]
    if context["privileged"].boolean():
        return
    added = context.at("capabilities", "add")
    names = {(each.text() or "").upper().removeprefix("CAP_") for each in added.items()}
    if not names & {pod_security.LOCKED_MEMORY, "ALL", "SYS_RESOURCE"}:
        report.violation(added, "has no IPC_LOCK", resource.urn)
        return
    user = secured(pod, container, "runAsUser")
    amount = user.quantity()
    # Images run as root unless somebody says otherwise.
    if amount.value if amount is not None else secured(pod, container, "runAsNonRoot").boolean():
        said = "is not root" if amount is None else f"is {user}"
        report.violation(user, f"the user {said}, and only root keeps a capability when a program starts", resource.urn)


def _unlimited(pod: Pod, env: "Environment") -> bool:
    """Whether all nodes that the pod may go to let containers lock any amount."""
    from model import fabric, placing

    names = placement.chosen(placement.terms(pod.spec), placing.labels(env)) or list(env.pools)
    kinds = [fabric.of(env.pools[name]) for name in names]
    with_nics = [kind for kind in kinds if fabric.resource(kind)]
    return all(kind.memlock == "unlimited" for kind in with_nics) if with_nics else True


def _nics(container: Field) -> Iterator[tuple[str, Field]]:
    for name, field in container.at("resources", "limits").members().items():
        if name == EFA or name.startswith(RDMA):
            yield name, field


@rule(
    StackRule,
    id="nccl-fabric",
    severity=Severity.HIGH,
    what="Variables of NCCL fit the fabric of the pool that the pod runs on.",
    why=(
        "What is right on InfiniBand stops NCCL on EFA, and the other way round: it finds no network, or goes over TCP "
        "without a word."
    ),
    fix="Leave the variable out: what follows from a pool's `fabric` is set by this project (docs/guides/fabric.md).",
    link="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
)
def nccl_fabric(stack: Stack, report: Report) -> None:
    """Judge the variables of containers on a pool of the document, beyond what is wrong anywhere."""
    for resource in stack.resources:
        for pod in resource.pods.pods:
            for container in pod.containers:
                with report.reading(resource.urn):
                    _variables(stack, resource, pod, container, report)


def _variables(stack: Stack, resource: Resource, pod: Pod, container: Field, report: Report) -> None:
    fields: dict[str, Field] = {}
    for variable in container["env"].items():
        with report.reading(resource.urn):
            name = variable["name"].text() or ""
            if name.startswith(("NCCL_", "FI_")) and variable["value"].text() is not None:
                fields[name] = variable["value"]
    env = stack.environment if fields else None
    if env is None:
        return
    from model import nccl, nodes
    from model.problems import Unanswerable

    pool = pod.spec["nodeSelector"][nodes.POOL_LABEL].text()
    if pool not in env.pools:
        return
    gpus = sum(int(amount.value) for field in gpu_amounts(container).values() if (amount := field.quantity()))
    nics = [amount.value for _, field in _nics(container) if (amount := field.quantity())]
    try:
        where = nccl.setting(env, pool, gpus=gpus, rdma=int(sum(nics)))
    except Unanswerable:
        return
    values = {name: field.text() or "" for name, field in fields.items()}
    anywhere = {problem.path for problem in nccl.problems((), values) if problem.severity == "error"}
    for problem in nccl.problems((), values, where):
        if problem.severity == "error" and problem.path not in anywhere:
            name = str(problem.path[-1])
            field = fields[name]
            said = "does not fit the pool" if field.secret else problem.message
            report.violation(field, f"{name} is {field}: {said}", resource.urn)


RULES = (shared_memory, sharing_fabric, huge_pages, locked_memory, nccl_fabric)
