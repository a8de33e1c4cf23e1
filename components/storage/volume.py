"""A volume that is made beforehand, and the one claim that may have it."""

import pulumi
from pulumi_kubernetes.core.v1 import (
    CSIPersistentVolumeSourceArgs,
    ObjectReferenceArgs,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeSpecArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.storage.source import VolumeSource
from model.storage import claims

_MODES = ["ReadWriteMany"]


def volume(
    name: str,
    called: str,
    namespace: str,
    claimed_by: str,
    size: str,
    source: VolumeSource,
    opts: pulumi.ResourceOptions,
) -> PersistentVolume:
    """Make a volume for a claim.

    Args:
        name: Logical name.
        called: Its name in the cluster: volumes have no namespace.
        namespace: The namespace of the claim.
        claimed_by: The claim's name.
        size: What it holds, as a quantity.
        source: What stands behind it.
        opts: Options.
    """
    return PersistentVolume(
        name,
        metadata=ObjectMetaArgs(name=called),
        spec=PersistentVolumeSpecArgs(
            capacity={"storage": size},
            access_modes=_MODES,
            # Nobody's mistake in a namespace may cost the data.
            persistent_volume_reclaim_policy="Retain",
            storage_class_name=claims.CLASS,
            # So that no other claim takes it.
            claim_ref=ObjectReferenceArgs(
                api_version="v1", kind="PersistentVolumeClaim", namespace=namespace, name=claimed_by
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
        opts=pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(replace_on_changes=["spec"], delete_before_replace=True)
        ),
    )


def claim(
    name: str,
    called: str,
    namespace: pulumi.Input[str],
    size: str,
    storage_class: str,
    of: PersistentVolume | None,
    opts: pulumi.ResourceOptions,
) -> PersistentVolumeClaim:
    """Make a claim.

    Args:
        name: Logical name.
        called: Its name in the cluster.
        namespace: Its namespace.
        size: What it asks for, as a quantity.
        storage_class: Its class.
        of: The volume that is made for it; None where the class makes one.
        opts: Options.
    """
    # The size of a claim of a given volume cannot be changed; it is a new claim of the same place.
    changed = pulumi.ResourceOptions(replace_on_changes=["spec.resources"] if of else None, delete_before_replace=True)
    return PersistentVolumeClaim(
        name,
        metadata=ObjectMetaArgs(name=called, namespace=namespace),
        spec=PersistentVolumeClaimSpecArgs(
            access_modes=_MODES,
            storage_class_name=storage_class,
            volume_name=of.metadata["name"] if of else None,
            resources=VolumeResourceRequirementsArgs(requests={"storage": size}),
        ),
        opts=pulumi.ResourceOptions.merge(opts, changed),
    )
