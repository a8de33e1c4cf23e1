"""Ray clusters as gangs."""

from collections.abc import Mapping
from decimal import Decimal

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    ContainerPortArgs,
    EmptyDirVolumeSourceArgs,
    EnvVarArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ResourceRequirementsArgs,
    SeccompProfileArgs,
    SecurityContextArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.kubernetes.client import Reach
from components.placement import tolerations
from components.scheduling.known_topology import known_topology
from components.storage import jobs
from model import dataloader, nodes, pod_patch, ray, topology
from model.counts import Size
from model.environment import Environment
from model.gpu_requests import SHARED_MEMORY
from model.nodes import POOL_LABEL
from model.pod_patch import Patch
from model.ray import RayCluster as Declared
from model.storage import mounts
from model.storage.mounts import Mounts
from model.topology import Level
from model.workloads import Within, Workers

WORKERS = "workers"
"""Name of the one worker group."""

_VOLUME = "shared-mem"
# The image says "all", so a container that asked for no GPU would see every GPU of its node.
_NO_GPUS = [EnvVarArgs(name="NVIDIA_VISIBLE_DEVICES", value="void")]


@pulumi.type_token("gangline:index:RayCluster")
class RayCluster(Component):
    """A Ray cluster that is placed as a whole or not at all.

    Queue, priority and topology are labels, which KubeRay copies to the gang's PodGroup when it makes it and never
    again: so a change of labels replaces the cluster. `up` waits until all pods have been ready once. KubeRay accepts
    any specification and complains in events; the engine shows those while it waits.
    """

    pod_group: str
    """Name of the gang's PodGroup."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cluster: str,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": cluster}, opts)
        declared = environment.ray.clusters[cluster]
        self.pod_group = f"ray-{cluster}-pg"
        CustomResource(
            f"{name}-cluster",
            api_version="ray.io/v1",
            kind="RayCluster",
            metadata=ObjectMetaArgs(
                name=cluster,
                namespace=declared.namespace,
                labels=_labels(environment, declared),
                annotations={"pulumi.com/waitFor": "condition=RayClusterProvisioned"},
            ),
            spec=_spec(environment, declared),
            opts=pulumi.ResourceOptions(
                parent=self,
                hooks=_hooks(name, environment, reach, declared),
                replace_on_changes=["metadata.labels"],
                # The name is given, so the new cluster cannot stand beside the old one.
                delete_before_replace=True,
                # Images of 10 GB and more are pulled on every node.
                custom_timeouts=pulumi.CustomTimeouts(create="20m", update="20m", delete="5m"),
            ),
        )
        self.register_outputs({"pod_group": self.pod_group})


def _hooks(name: str, environment: Environment, reach: Reach, cluster: Declared) -> pulumi.ResourceHookBinding | None:
    if cluster.within is None:
        return None
    return pulumi.ResourceHookBinding(
        before_create=[known_topology(name, environment, reach, _level(environment, cluster.within))]
    )


def _level(environment: Environment, within: Within) -> Level:
    return next(level for level in topology.levels(environment) if level.name == within.level)


def _labels(environment: Environment, cluster: Declared) -> dict[str, str]:
    labels = {"volcano.sh/queue-name": cluster.queue}
    if cluster.priority:
        labels["ray.io/priority-class-name"] = cluster.priority
    if cluster.within:
        level = _level(environment, cluster.within)
        labels["volcano.sh/network-topology-mode"] = cluster.within.mode
        labels["volcano.sh/network-topology-highest-tier-allowed"] = str(level.tier)
    return labels


def _spec(environment: Environment, cluster: Declared) -> dict[str, object]:
    autoscaled = isinstance(cluster.workers.count, Size)
    workers = cluster.workers
    patch = pod_patch.patch(environment, cluster.pool, gpus=workers.gpus, memory=workers.memory, rdma=workers.rdma)
    tiers = mounts.of(environment, cluster)
    return {
        "rayVersion": cluster.ray,
        **({"enableInTreeAutoscaling": True} if autoscaled else {}),
        # Otherwise a changed pod template changes nothing until somebody deletes the pods.
        "upgradeStrategy": {"type": "Recreate"},
        "headGroupSpec": {
            # The head only leads: work on it would be work without GPUs.
            "rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"},  # noqa: S104 -- within the pod network
            "template": _pod(environment, cluster, _head(environment, cluster), Patch(), None),
        },
        "workerGroupSpecs": [
            {
                "groupName": WORKERS,
                "rayStartParams": _start(workers, patch),
                **_replicas(workers.count),
                "template": _pod(environment, cluster, _worker(environment, cluster, patch, tiers), patch, tiers),
            }
        ],
    }


def _start(workers: Workers, patch: Patch) -> dict[str, str]:
    # KubeRay knows GPUs by names that end with `gpu` or a MIG profile. Shared ones do not, and Ray would see none.
    start = {"num-gpus": str(workers.gpus)} if workers.gpus else {}
    if patch.shared_memory_at != SHARED_MEMORY:
        # Otherwise KubeRay mounts a /dev/shm, over that of the MPS server.
        start["plasma-directory"] = patch.shared_memory_at
    return start


def _replicas(count: int | Size) -> dict[str, int]:
    if isinstance(count, Size):
        # No `replicas`: the number belongs to Ray's autoscaler, and each `up` would set it back.
        return {"minReplicas": count.min, "maxReplicas": count.max}
    # All three: what is left out counts as 0 in the gang's resources.
    return {"replicas": count, "minReplicas": count, "maxReplicas": count}


def _pod(
    environment: Environment, cluster: Declared, container: ContainerArgs, patch: Patch, tiers: Mounts | None
) -> PodTemplateSpecArgs:
    shared_memory = [_shared_memory(patch)] if patch.shared_memory else []
    return PodTemplateSpecArgs(
        metadata=ObjectMetaArgs(annotations=dict(patch.annotations)) if patch.annotations else None,
        spec=PodSpecArgs(
            node_selector={POOL_LABEL: cluster.pool},
            tolerations=tolerations(environment, [cluster.pool]),
            # KubeRay's label alone reaches the PodGroup but not the pods.
            priority_class_name=cluster.priority,
            # Ray's second autoscaler, the default since Ray 2.47, makes new pods itself and refuses any other policy.
            restart_policy="Never" if isinstance(cluster.workers.count, Size) else None,
            host_network=True if patch.host_network else None,
            dns_policy="ClusterFirstWithHostNet" if patch.host_network else None,
            service_account_name=tiers.account if tiers else None,
            termination_grace_period_seconds=tiers.grace if tiers else None,
            init_containers=[jobs.uploader(tiers)] if tiers else None,
            containers=[container],
            volumes=[*shared_memory, *(jobs.volumes(tiers) if tiers else [])] or None,
        ),
    )


def _shared_memory(patch: Patch) -> VolumeArgs:
    size = str(patch.shared_memory)
    return VolumeArgs(name=_VOLUME, empty_dir=EmptyDirVolumeSourceArgs(medium="Memory", size_limit=size))


def _head(environment: Environment, cluster: Declared) -> ContainerArgs:
    return _container(
        "ray-head",
        environment,
        cluster,
        {"cpu": str(cluster.head.cpu), "memory": str(cluster.head.memory)},
        env=_NO_GPUS,
        ports=[
            ContainerPortArgs(name="gcs", container_port=6379),
            ContainerPortArgs(name="dashboard", container_port=8265),
            ContainerPortArgs(name="client", container_port=10001),
        ],
    )


def _worker(environment: Environment, cluster: Declared, patch: Patch, tiers: Mounts | None) -> ContainerArgs:
    amounts = {"cpu": str(cluster.workers.cpu), "memory": str(cluster.workers.memory)}
    amounts |= {name: str(amount) for name, amount in patch.resources.items()}
    workers = cluster.workers
    resource = nodes.gpu_resource(environment.pools[cluster.pool], workers.profile) if workers.gpus else None
    if resource is not None:
        amounts[resource] = str(workers.gpus)
    half = patch.shared_memory.value if patch.shared_memory else Decimal(0)
    loading = dataloader.variables(cpu=workers.cpu.value, shared_memory=half, gpus=workers.gpus)
    env = [] if resource else _NO_GPUS
    return _container("ray-worker", environment, cluster, amounts, env=env, patch=patch, tiers=tiers, more=loading)


def _container(
    name: str,
    environment: Environment,
    cluster: Declared,
    amounts: dict[str, str],
    *,
    env: list[EnvVarArgs],
    ports: list[ContainerPortArgs] | None = None,
    patch: Patch | None = None,
    tiers: Mounts | None = None,
    more: Mapping[str, str] | None = None,
) -> ContainerArgs:
    patch = patch or Patch()
    variables = {**patch.environment, **(more or {}), **(tiers.environment if tiers else {}), **cluster.env}
    mounted = [VolumeMountArgs(name=_VOLUME, mount_path=patch.shared_memory_at)] if patch.shared_memory else []
    mounted += jobs.volume_mounts(tiers) if tiers else []
    return ContainerArgs(
        name=name,
        image=ray.image(environment, cluster),
        image_pull_policy="IfNotPresent",
        env=[*env, *(EnvVarArgs(name=key, value=value) for key, value in sorted(variables.items()))] or None,
        ports=ports,
        # Requests equal limits: queue and gang are counted in requests, and a node's cores are promised once.
        resources=ResourceRequirementsArgs(requests=amounts, limits=amounts),
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=CapabilitiesArgs(drop=["ALL"], add=list(patch.capabilities) or None),
            run_as_user=patch.user,
            seccomp_profile=SeccompProfileArgs(type="RuntimeDefault"),
        ),
        volume_mounts=mounted or None,
    )
