"""Templates of pods: where they run, what they get of fabric and tiers, and their one container."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ContainerPortArgs,
    EmptyDirVolumeSourceArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    ObjectFieldSelectorArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ResourceRequirementsArgs,
    SeccompProfileArgs,
    SecurityContextArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.placement import tolerations
from components.storage import jobs
from model import dataloader, nodes, pod_patch, submission
from model.environment import Environment
from model.nodes import POOL_LABEL
from model.pod_patch import Patch
from model.quantities import Quantity
from model.storage import mounts
from model.storage.mounts import Mounts
from model.workloads import Workload

_VOLUME = "shared-mem"
# Images with CUDA say "all", so a container that asked for no GPU would see every GPU of its node.
_NO_GPUS = (EnvVarArgs(name="NVIDIA_VISIBLE_DEVICES", value="void"),)


@dataclass(frozen=True)
class Program:
    """What a container runs.

    Attributes:
        name: Name of the container.
        image: Its image.
        command: What runs in place of the image's own entry point; None for that.
        environment: Variables beside those that follow from its pool and those of the document.
        fields: Variables whose value is a field of the pod.
        ports: Ports by name.
        capabilities: Linux capabilities that it needs by itself.
        user: The user it must run as; None where any will do.
    """

    name: str
    image: str
    command: Sequence[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    user: int | None = None


def of_workers(environment: Environment, workload: Workload) -> Patch:
    """Give what workers need for their GPUs to reach each other."""
    it = workload.workers
    return pod_patch.patch(environment, workload.pool, gpus=it.gpus, memory=it.memory, rdma=it.rdma)


def worker(
    environment: Environment, workload: Workload, program: Program, *, restart: str | None = None
) -> PodTemplateSpecArgs:
    """Give the template of a worker.

    Args:
        environment: The checked document.
        workload: The workload.
        program: What it runs.
        restart: Its `restartPolicy`.
    """
    workers, patch, tiers = workload.workers, of_workers(environment, workload), mounts.of(environment, workload)
    amounts = {"cpu": str(workers.cpu), "memory": str(workers.memory)}
    amounts |= {name: str(amount) for name, amount in patch.resources.items()}
    resource = nodes.gpu_resource(environment.pools[workload.pool], workers.profile) if workers.gpus else None
    if resource is not None:
        amounts[resource] = str(workers.gpus)
    half = patch.shared_memory.value if patch.shared_memory else Decimal(0)
    loading = dataloader.variables(cpu=workers.cpu.value, shared_memory=half, gpus=workers.gpus)
    variables = {**patch.environment, **loading, **(tiers.environment if tiers else {})}
    container = _container(workload, program, amounts, variables, patch, tiers, gpus=resource is not None)
    return _template(environment, workload, container, patch, tiers, restart)


def leader(
    environment: Environment,
    workload: Workload,
    asked: Mapping[str, Quantity],
    program: Program,
    *,
    restart: str | None = None,
    apart: bool = False,
    token: bool = False,
) -> PodTemplateSpecArgs:
    """Give the template of the pod that leads, or of another that stands beside the workers.

    Args:
        environment: The checked document.
        workload: The workload.
        asked: What it asks for, by resource.
        program: What it runs.
        restart: Its `restartPolicy`.
        apart: Whether it is no part of the gang.
        token: Whether it talks to the API server, as the service account that its operator gives it.
    """
    amounts = {name: str(amount) for name, amount in asked.items()}
    container = _container(workload, program, amounts, {}, Patch(), None, gpus=False)
    return _template(environment, workload, container, Patch(), None, restart, apart=apart, token=token)


def _template(
    environment: Environment,
    workload: Workload,
    container: ContainerArgs,
    patch: Patch,
    tiers: Mounts | None,
    restart: str | None,
    *,
    apart: bool = False,
    token: bool = False,
) -> PodTemplateSpecArgs:
    shared_memory = [_shared_memory(patch)] if patch.shared_memory else []
    sent = submission.of(environment, workload)
    annotations = {**patch.annotations, **({} if apart else sent.pods)}
    return PodTemplateSpecArgs(
        metadata=ObjectMetaArgs(labels=dict(sent.marks) or None, annotations=annotations or None)
        if annotations or sent.marks
        else None,
        spec=PodSpecArgs(
            scheduler_name=sent.scheduler,
            node_selector={POOL_LABEL: workload.pool},
            tolerations=tolerations(environment, [workload.pool]),
            priority_class_name=workload.priority,
            restart_policy=restart,
            host_network=True if patch.host_network else None,
            dns_policy="ClusterFirstWithHostNet" if patch.host_network else None,
            service_account_name=tiers.account if tiers else None,
            automount_service_account_token=None if token else False,
            termination_grace_period_seconds=tiers.grace if tiers else None,
            init_containers=[jobs.uploader(tiers)] if tiers else None,
            containers=[container],
            volumes=[*shared_memory, *(jobs.volumes(tiers) if tiers else [])] or None,
        ),
    )


def _shared_memory(patch: Patch) -> VolumeArgs:
    size = str(patch.shared_memory)
    return VolumeArgs(name=_VOLUME, empty_dir=EmptyDirVolumeSourceArgs(medium="Memory", size_limit=size))


def _container(
    workload: Workload,
    program: Program,
    amounts: Mapping[str, str],
    derived: Mapping[str, str],
    patch: Patch,
    tiers: Mounts | None,
    *,
    gpus: bool,
) -> ContainerArgs:
    variables = sorted({**derived, **program.environment, **workload.env}.items())
    env = [*(() if gpus else _NO_GPUS), *(EnvVarArgs(name=key, value=value) for key, value in variables)]
    env += [EnvVarArgs(name=key, value_from=_field(path)) for key, path in program.fields.items()]
    mounted = [VolumeMountArgs(name=_VOLUME, mount_path=patch.shared_memory_at)] if patch.shared_memory else []
    mounted += jobs.volume_mounts(tiers) if tiers else []
    added = [*patch.capabilities, *(each for each in program.capabilities if each not in patch.capabilities)]
    return ContainerArgs(
        name=program.name,
        image=program.image,
        image_pull_policy="IfNotPresent",
        command=list(program.command) if program.command else None,
        env=env or None,
        ports=[ContainerPortArgs(name=name, container_port=port) for name, port in program.ports.items()] or None,
        # Requests equal limits: queue and gang are counted in requests, and a node's cores are promised once.
        resources=ResourceRequirementsArgs(requests=dict(amounts), limits=dict(amounts)),
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=CapabilitiesArgs(drop=["ALL"], add=added or None),
            run_as_user=patch.user if program.user is None else program.user,
            seccomp_profile=SeccompProfileArgs(type="RuntimeDefault"),
        ),
        volume_mounts=mounted or None,
    )


def _field(path: str) -> EnvVarSourceArgs:
    return EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(field_path=path))
