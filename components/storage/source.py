"""What a cluster's volumes and its archive are made from, whoever made the file system and the bucket."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi


@dataclass(frozen=True)
class VolumeSource:
    """A file system, or a folder of one, as a PersistentVolume of a CSI driver names it.

    Attributes:
        driver: Name of the CSI driver.
        handle: What the driver knows the volume by. No two volumes have the same: the kubelet would take them for one
            (https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/persistent-volume-v1/).
        attributes: What else the driver wants to be told.
        mount_options: Options of the mount.
        fs_type: The type of the file system, where the driver asks for it.
    """

    driver: str
    handle: pulumi.Input[str]
    attributes: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    mount_options: tuple[str, ...] = ()
    fs_type: str | None = None


@dataclass(frozen=True)
class SharedSource:
    """The shared tier: a folder for each namespace that tenants have.

    Attributes:
        namespaces: The volume of each namespace.
        root: The file system as a whole, where the folders must be made by somebody before they can be mounted; None
            where a folder is made by its first mount.
    """

    namespaces: Mapping[str, VolumeSource]
    root: VolumeSource | None = None


@dataclass(frozen=True)
class Bucket:
    """The bucket of the archive.

    Attributes:
        name: Its name.
        settings: How rclone reaches it, by the names of a remote's options (`provider`, `region`); no secrets.
    """

    name: pulumi.Input[str]
    settings: Mapping[str, pulumi.Input[str]]
