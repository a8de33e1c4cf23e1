"""The storage of a team: in each of its namespaces the shared tier as one claim, and how the archive is reached."""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import (
    ConfigMap,
    CSIPersistentVolumeSourceArgs,
    Namespace,
    ObjectReferenceArgs,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeSpecArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.storage.source import Bucket, VolumeSource
from model import aws, names
from model.environment import Environment
from model.storage import claims, remote
from model.storage.names import CLAIM, CONFIG

_MODES = ["ReadWriteMany"]


@pulumi.type_token("gangline:index:TenantStorage")
class TenantStorage(Component):
    """The claims of a team, and the ConfigMaps by which its jobs find the archive.

    A claim goes with its namespace and is not deleted by itself, since it would wait for pods that only go then, too.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        tenant: str,
        namespaces: Mapping[str, Namespace],
        volumes: Mapping[str, VolumeSource],
        bucket: Bucket | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make them.

        Args:
            name: Logical name.
            environment: The document.
            tenant: The team.
            namespaces: Its namespaces, by name.
            volumes: What stands behind the claims that have a volume of their own, by namespace.
            bucket: The bucket of the archive.
            opts: Options.
        """
        super().__init__(name, {"tenant": tenant}, opts)
        for namespace, where in namespaces.items():
            own, volume = f"{name}-{namespace}", None
            if claims.prepared(environment):
                volume = self._volume(own, environment, tenant, namespace, volumes[namespace])
            if claims.storage_class(environment):
                self._claim(own, environment, tenant, where, volume)
            if bucket:
                self._archive(own, namespace, bucket)
        self.register_outputs({})

    def _volume(
        self, name: str, environment: Environment, tenant: str, namespace: str, source: VolumeSource
    ) -> PersistentVolume:
        return PersistentVolume(
            f"{name}-volume",
            # Volumes have no namespace.
            metadata=ObjectMetaArgs(name=names.fit(f"{namespace}-{CLAIM}", names.LABEL)),
            spec=PersistentVolumeSpecArgs(
                capacity={"storage": claims.size(environment, tenant).text},
                access_modes=_MODES,
                # Nobody's mistake in a namespace may cost the data.
                persistent_volume_reclaim_policy="Retain",
                storage_class_name=claims.CLASS,
                # So that no other claim takes it.
                claim_ref=ObjectReferenceArgs(
                    api_version="v1", kind="PersistentVolumeClaim", namespace=namespace, name=CLAIM
                ),
                mount_options=list(source.mount_options) or None,
                csi=CSIPersistentVolumeSourceArgs(
                    driver=source.driver,
                    volume_handle=source.handle,
                    volume_attributes=dict(source.attributes) or None,
                    fs_type=source.fs_type,
                ),
            ),
            # A volume that was bound once never binds to another claim, not even to one of the same name. The data is
            # elsewhere: this is only its address.
            opts=pulumi.ResourceOptions(parent=self, replace_on_changes=["spec"], delete_before_replace=True),
        )

    def _claim(
        self, name: str, environment: Environment, tenant: str, namespace: Namespace, volume: PersistentVolume | None
    ) -> None:
        kept = aws.permanent(environment) and claims.perishable(environment)
        PersistentVolumeClaim(
            f"{name}-claim",
            metadata=ObjectMetaArgs(name=CLAIM, namespace=namespace.metadata["name"]),
            spec=PersistentVolumeClaimSpecArgs(
                access_modes=_MODES,
                storage_class_name=claims.storage_class(environment),
                volume_name=volume.metadata["name"] if volume else None,
                resources=VolumeResourceRequirementsArgs(requests={"storage": claims.size(environment, tenant).text}),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                deleted_with=namespace,
                retain_on_delete=kept,
                # The size of such a claim cannot be changed; it is a new one of the same place.
                replace_on_changes=["spec.resources"] if volume else None,
                delete_before_replace=True,
            ),
        )

    def _archive(self, name: str, namespace: str, bucket: Bucket) -> None:
        place = pulumi.Output.format("{0}:{1}/{2}", remote.REMOTE, bucket.name, namespace)
        ConfigMap(
            f"{name}-archive",
            metadata=ObjectMetaArgs(name=CONFIG, namespace=namespace),
            data={remote.PLACE: place, **remote.variables(bucket.settings)},
            opts=pulumi.ResourceOptions(parent=self),
        )
