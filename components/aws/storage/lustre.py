"""The shared tier on AWS: a Lustre file system, by Amazon FSx."""

from collections.abc import Iterable, Mapping

import pulumi
import pulumi_aws as aws

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.storage.ports import opened
from components.component import Component
from components.storage.source import SharedSource, VolumeSource
from model.aws import lustre, permanent, tags
from model.aws.lustre_types import api, persistent
from model.environment import Environment
from model.storage import drivers
from model.storage.shared import Link, Lustre

PORTS = ((988, 988), (1018, 1023))
"""https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"""
VERSION = "2.15"
"""Of Lustre: what all deployment types have, and what metadata and EFA need."""
BACKUP_DAYS = 7
"""Days for which daily backups are kept. AWS makes none of file systems that are linked with a bucket, nor of scratch
ones (https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html)."""
_EVENTS = ["NEW", "CHANGED", "DELETED"]
_HOURS = pulumi.CustomTimeouts(create="2h", update="24h", delete="2h")
"""A larger size, a faster one: AWS moves data meanwhile."""


@pulumi.type_token("gangline:index:Lustre")
class LustreFileSystem(Component):
    """A file system in the zone of the nodes that use it, which they alone reach, and its links with the archive.

    Attributes:
        source: Its volumes: a folder for each namespace.
    """

    source: SharedSource

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        declared: Lustre,
        network: Network,
        cluster: Cluster,
        fabrics: Mapping[str, pulumi.Input[str]],
        key: aws.kms.Key,
        bucket: pulumi.Input[str] | None,
        namespaces: Iterable[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The document.
            declared: What it says of the file system.
            network: The network.
            cluster: The cluster.
            fabrics: Security groups of EFA interfaces by pool.
            key: What it is encrypted under.
            bucket: Name of the archive's bucket, for links.
            namespaces: The namespaces that have a folder of it.
            opts: Options, with the AWS provider.
        """
        super().__init__(name, {"shared": declared.model_dump(mode="json", by_alias=True, exclude_unset=True)}, opts)
        self._name = name
        self._environment = environment
        self._declared = declared
        zone, keep = lustre.zone(environment), permanent(environment)
        group, rules = self._group(network, cluster, fabrics if declared.efa else {})
        lasting = persistent(declared.deployment)
        metadata = aws.fsx.LustreFileSystemMetadataConfigurationArgs
        made = aws.fsx.LustreFileSystem(
            f"{name}-files",
            deployment_type=api(declared.deployment),
            storage_type=declared.disk.upper(),
            storage_capacity=lustre.gib(environment),
            per_unit_storage_throughput=declared.throughput,
            # AWS wants to be told of disks that turn whether some of what is read is kept on faster ones.
            drive_cache_type="NONE" if declared.disk == "hdd" else None,
            efa_enabled=True if declared.efa else None,
            metadata_configuration=metadata(
                mode="USER_PROVISIONED" if declared.metadata else "AUTOMATIC", iops=declared.metadata
            )
            # Without one at the beginning there is none ever, and no more metadata than to begin with.
            if declared.deployment == "persistent-2"
            else None,
            file_system_type_version=VERSION,
            # Scratch ones are encrypted under a key of FSx's own.
            kms_key_id=key.arn if lasting else None,
            automatic_backup_retention_days=(0 if declared.links or not keep else BACKUP_DAYS) if lasting else None,
            subnet_ids=network.gpu.get(zone, network.private[zone]),
            security_group_ids=[group.id],
            tags=self._tags("shared"),
            opts=pulumi.ResourceOptions(parent=self, protect=keep, depends_on=rules, custom_timeouts=_HOURS),
        )
        for link in declared.links:
            self._link(made, link, bucket)
        self.source = SharedSource(
            {namespace: self._volume(made, namespace) for namespace in namespaces}, self._volume(made)
        )
        self.register_outputs({"id": made.id})

    def _tags(self, what: str) -> dict[str, str]:
        return tags(self._environment, f"{self._environment.cluster.name}-{what}")

    def _group(
        self, network: Network, cluster: Cluster, fabrics: Mapping[str, pulumi.Input[str]]
    ) -> tuple[aws.ec2.SecurityGroup, list[pulumi.Resource]]:
        """Make its security group. File servers also begin connections, to each other and to nodes."""
        name, inside = self._name, pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=network.vpc_id,
            description="Lustre, between file servers and nodes",
            tags=self._tags("shared"),
            opts=inside,
        )
        nodes = cluster.security_group_id
        both = ("in", "out")
        rules = opened(name, group.id, {"nodes": nodes, "servers": group.id}, PORTS, both, inside)
        # Nodes may go out anywhere already.
        rules += opened(f"{name}-nodes", nodes, {"servers": group.id}, PORTS, ("in",), inside)
        if fabrics:
            # https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html (EFA)
            rules += opened(f"{name}-efa", group.id, {"servers": group.id, **fabrics}, (), both, inside)
            for pool, fabric in fabrics.items():
                rules += opened(f"{name}-efa-{pool}", fabric, {"servers": group.id}, (), both, inside)
        return group, rules

    def _link(self, made: aws.fsx.LustreFileSystem, link: Link, bucket: pulumi.Input[str] | None) -> None:
        s3 = aws.fsx.DataRepositoryAssociationS3Args
        importing = aws.fsx.DataRepositoryAssociationS3AutoImportPolicyArgs(events=_EVENTS)
        exporting = aws.fsx.DataRepositoryAssociationS3AutoExportPolicyArgs(events=_EVENTS)
        aws.fsx.DataRepositoryAssociation(
            f"{self._name}-link-{link.path.strip('/').replace('/', '-')}",
            file_system_id=made.id,
            file_system_path=link.path,
            data_repository_path=pulumi.Output.concat("s3://", bucket or "", "/", link.prefix),
            batch_import_meta_data_on_create=True,
            s3=s3(auto_import_policy=importing, auto_export_policy=exporting if link.export else None),
            tags=self._tags("shared"),
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=_HOURS),
        )

    def _volume(self, made: aws.fsx.LustreFileSystem, folder: str | None = None) -> VolumeSource:
        """Give the whole file system, or a folder of it.

        The driver mounts `<dnsname>@tcp:/<mountname>`; a folder behind the name is all that such a mount shows
        (https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-from-fileset.html).
        """
        below = f"/{folder}" if folder else ""
        return VolumeSource(
            drivers.FSX,
            pulumi.Output.concat(made.id, below),
            {"dnsname": made.dns_name, "mountname": pulumi.Output.concat(made.mount_name, below)},
            ("flock",),
        )
