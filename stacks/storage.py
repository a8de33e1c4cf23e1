"""Storage in the cluster: classes, disks of nodes, and what each tenant gets of the tiers."""

from collections.abc import Callable, Iterable, Mapping

import pulumi
from pulumi_kubernetes.core.v1 import Namespace

from components.sources import Sources
from components.storage.classes import StorageClasses
from components.storage.fluid import Datasets, Fluid
from components.storage.folders import Folders
from components.storage.jobs import Checkpoints
from components.storage.juicefs import JuiceFs
from components.storage.local_volumes import LocalVolumes
from components.storage.shared import SharedVolumes
from components.storage.source import Bucket, SharedSource
from components.storage.tenant import TenantStorage
from components.tenants.tenant import Tenant
from model.environment import Environment
from model.releases import upstream
from model.storage import claims, classes, existing
from model.storage.cache import Fluid as FluidCache
from model.storage.cache import Juicefs
from model.storage.scratch import Local

Child = Callable[..., pulumi.ResourceOptions]
"""Gives the options of a part of the platform that needs some others first."""
Definitions = Callable[[str, str], pulumi.Resource]


def has_agents(environment: Environment) -> bool:
    """Say whether something of it runs in the namespace of node agents."""
    return existing.kind(environment) is not None or isinstance(environment.storage.scratch, Local)


def volumes(
    name: str,
    environment: Environment,
    *,
    shared: SharedSource | None,
    made: Iterable[pulumi.Resource],
    child: Child,
) -> SharedVolumes | None:
    """Make the volumes of the shared tier, before the namespaces whose claims have them; None where it has none.

    Args:
        name: What their names begin with.
        environment: The document.
        shared: The shared tier, where it is a file system.
        made: What it comes from.
        child: Gives the options of a part.
    """
    if shared is None:
        return None
    return SharedVolumes(f"{name}-shared", environment=environment, sources=shared.namespaces, opts=child(*made))


def storage(
    name: str,
    environment: Environment,
    *,
    tenants: Mapping[str, Tenant],
    own: Namespace | None,
    shared: SharedSource | None,
    shared_volumes: SharedVolumes | None,
    bucket: Bucket | None,
    made: Iterable[pulumi.Resource],
    sources: Sources,
    definitions: Definitions,
    child: Child,
) -> dict[str, list[pulumi.Resource]]:
    """Make it.

    Args:
        name: What its names begin with.
        environment: The document.
        tenants: The tenants by name.
        own: The namespace of node agents.
        shared: The shared tier, where it is a file system.
        shared_volumes: Its volumes.
        bucket: The bucket of the archive.
        made: What both come from.
        sources: Where charts are.
        definitions: Makes the definitions of a product, under a name.
        child: Gives the options of a part.

    Returns:
        By tenant, what must be there before its workloads.
    """
    first: list[pulumi.Resource] = [*made]
    if classes.of(environment):
        first.append(StorageClasses(f"{name}-storage-classes", environment=environment, opts=child()))
    scratch = environment.storage.scratch
    if isinstance(scratch, Local) and own is not None:
        LocalVolumes(
            f"{name}-local-volumes",
            environment=environment,
            scratch=scratch,
            upstream=upstream(environment, "local-volume-provisioner"),
            opts=child(own, *first),
        )
    if shared is not None and shared.root is not None and environment.storage.shared is not None and own is not None:
        folders = Folders(
            f"{name}-storage-folders",
            environment=environment,
            root=shared.root,
            namespaces=shared.namespaces,
            size=environment.storage.shared.size.text,
            upstream=upstream(environment, "busybox"),
            opts=child(own, *first),
        )
        first.append(folders)
    _cache(name, environment, tenants, sources, definitions, child)
    ready: dict[str, list[pulumi.Resource]] = {}
    for called, tenant in tenants.items():
        ready[called] = [tenant]
        if claims.storage_class(environment) or bucket:
            of_tenant = TenantStorage(
                f"{name}-storage-{called}",
                environment=environment,
                tenant=called,
                namespaces=tenant.namespaces,
                volumes=shared_volumes.volumes if shared_volumes else {},
                bucket=bucket,
                opts=child(tenant, *first, adopt=claims.kept(environment)),
            )
            ready[called].append(of_tenant)
        if environment.storage.checkpoints:
            checkpoints = Checkpoints(
                f"{name}-checkpoints-{called}",
                environment=environment,
                tenant=called,
                namespaces=tenant.namespaces,
                opts=child(tenant),
            )
            ready[called].append(checkpoints)
    return ready


def _cache(
    name: str,
    environment: Environment,
    tenants: Mapping[str, Tenant],
    sources: Sources,
    definitions: Definitions,
    child: Child,
) -> None:
    cache, client = environment.storage.cache, upstream(environment, "juicefs")
    if isinstance(cache, Juicefs):
        JuiceFs(
            f"{name}-juicefs",
            environment=environment,
            upstream=upstream(environment, "juicefs-csi-driver"),
            client=client,
            sources=sources,
            opts=child(),
        )
    if isinstance(cache, FluidCache):
        fluid = Fluid(
            f"{name}-fluid",
            environment=environment,
            upstream=upstream(environment, "fluid"),
            sources=sources,
            opts=child(definitions("fluid", "fluid-definitions")),
        )
        for called, tenant in tenants.items():
            Datasets(
                f"{name}-datasets-{called}",
                environment=environment,
                cache=cache,
                namespaces=tenant.namespaces,
                client=client,
                opts=child(tenant, fluid),
            )
