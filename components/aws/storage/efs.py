"""The shared tier on AWS for homes and code: Amazon EFS."""

from collections.abc import Iterable

import pulumi
import pulumi_aws as aws

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.storage.ports import opened
from components.component import Component
from components.storage.source import SharedSource, VolumeSource
from model.aws import permanent, storage_permissions, tags
from model.environment import Environment
from model.storage import drivers


@pulumi.type_token("gangline:index:Efs")
class Efs(Component):
    """A file system that nodes reach in each zone, by TLS only, and a folder of it for each namespace.

    Attributes:
        source: Its volumes.
    """

    source: SharedSource

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        network: Network,
        cluster: Cluster,
        key: aws.kms.Key,
        namespaces: Iterable[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The document.
            network: The network.
            cluster: The cluster.
            key: What it is encrypted under.
            namespaces: The namespaces that have a folder of it.
            opts: Options, with the AWS provider.
        """
        super().__init__(name, {"cluster": environment.cluster.name}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        keep, called = permanent(environment), tags(environment, f"{environment.cluster.name}-shared")
        made = aws.efs.FileSystem(
            f"{name}-files",
            encrypted=True,
            kms_key_id=key.arn,
            # Homes and code are read now and then, and all at once.
            throughput_mode="elastic",
            tags=called,
            opts=pulumi.ResourceOptions(parent=self, protect=keep),
        )
        policy = aws.efs.FileSystemPolicy(
            f"{name}-tls",
            file_system_id=made.id,
            policy=pulumi.Output.json_dumps(made.arn.apply(storage_permissions.files_policy)),
            opts=inside,
        )
        if keep:
            aws.efs.BackupPolicy(
                f"{name}-backups",
                file_system_id=made.id,
                backup_policy=aws.efs.BackupPolicyBackupPolicyArgs(status="ENABLED"),
                opts=inside,
            )
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=network.vpc_id,
            description="NFS, from nodes",
            tags=called,
            opts=inside,
        )
        nodes = {"nodes": cluster.security_group_id}
        rules = opened(name, group.id, nodes, [(2049, 2049)], ("in",), inside)
        targets = [
            aws.efs.MountTarget(
                f"{name}-{zone}",
                file_system_id=made.id,
                subnet_id=subnet,
                security_groups=[group.id],
                opts=pulumi.ResourceOptions(parent=self, depends_on=[*rules, policy]),
            )
            for zone, subnet in network.private.items()
        ]
        reached = pulumi.Output.all(made.id, *[target.id for target in targets]).apply(lambda known: str(known[0]))
        self.source = SharedSource(
            {namespace: self._volume(name, namespace, made, reached, called) for namespace in namespaces}
        )
        self.register_outputs({"id": made.id})

    def _volume(
        self,
        name: str,
        namespace: str,
        made: aws.efs.FileSystem,
        reached: pulumi.Output[str],
        called: dict[str, str],
    ) -> VolumeSource:
        """Make the access point of a namespace: it shows its folder alone, and makes it when it is mounted first."""
        point = aws.efs.AccessPoint(
            f"{name}-{namespace}",
            file_system_id=made.id,
            root_directory=aws.efs.AccessPointRootDirectoryArgs(
                path=f"/{namespace}",
                # Whoever the pods of a namespace run as.
                creation_info=aws.efs.AccessPointRootDirectoryCreationInfoArgs(
                    owner_uid=0, owner_gid=0, permissions="0777"
                ),
            ),
            tags=called,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return VolumeSource(drivers.EFS, pulumi.Output.concat("efs:", reached, "::", point.id))
