"""The tiers of storage that are made on AWS."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.storage.archive import Archive
from components.aws.storage.efs import Efs
from components.aws.storage.key import data_key
from components.aws.storage.lustre import LustreFileSystem
from components.storage.source import Bucket, SharedSource
from model.aws import permissions, storage
from model.environment import Environment
from model.tenants import by_namespace


@dataclass(frozen=True)
class Stored:
    """What was made.

    Attributes:
        shared: The shared tier; None where none is made.
        bucket: The archive; None where none is made.
        made: What volumes and jobs in the cluster come after, and go before.
    """

    shared: SharedSource | None = None
    bucket: Bucket | None = None
    made: tuple[pulumi.Resource, ...] = ()


def stored(
    name: str,
    environment: Environment,
    *,
    network: Network,
    cluster: Cluster,
    fabrics: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> Stored:
    """Make the tiers that are made on AWS, under one key.

    Args:
        name: What their names begin with.
        environment: The document.
        network: The network.
        cluster: The cluster.
        fabrics: Security groups of EFA interfaces by pool.
        opts: Options, with the AWS provider.
    """
    lustre, efs = storage.lustre(environment), storage.efs(environment)
    keeps = storage.archive(environment) is not None
    if not (lustre or efs or keeps):
        return Stored()
    namespaces = tuple(by_namespace(environment))
    scope = cluster.arn.apply(permissions.scope)
    key = data_key(f"{name}-data-key", environment, scope, opts)
    archive = shared = None
    if keeps:
        archive = Archive(
            f"{name}-archive",
            environment=environment,
            scope=scope,
            key=key,
            cluster=cluster.name,
            namespaces=namespaces,
            opts=opts,
        )
    if lustre:
        shared = LustreFileSystem(
            f"{name}-lustre",
            environment=environment,
            declared=lustre,
            network=network,
            cluster=cluster,
            fabrics=fabrics,
            key=key,
            bucket=archive.name if archive else None,
            namespaces=namespaces,
            opts=opts,
        )
    elif efs:
        shared = Efs(
            f"{name}-efs",
            environment=environment,
            network=network,
            cluster=cluster,
            key=key,
            namespaces=namespaces,
            opts=opts,
        )
    return Stored(
        shared.source if shared else None,
        archive.bucket if archive else None,
        tuple(each for each in (archive, shared) if each is not None),
    )
