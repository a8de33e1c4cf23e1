"""Configuration files of node agents."""

import hashlib
from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, ConfigMapVolumeSourceArgs, VolumeArgs
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from model.namespaces import AGENTS


def configuration(
    name: str, stem: str, file: str, text: str, opts: pulumi.ResourceOptions, *, more: Mapping[str, str] | None = None
) -> ConfigMap:
    """Make the ConfigMap of a file that agents read once.

    Its name changes with its content, so that a change rolls the DaemonSets that mount it.

    Args:
        name: Logical name.
        stem: What the ConfigMap's name begins with.
        file: Name of the file.
        text: What stands in it.
        opts: Options.
        more: Further files, by name.
    """
    content = text + "".join(f"{key}={value}\n" for key, value in sorted((more or {}).items()))
    return ConfigMap(
        name,
        metadata=ObjectMetaArgs(name=f"{stem}-{hashlib.sha256(content.encode()).hexdigest()[:8]}", namespace=AGENTS),
        immutable=True,
        data={file: text, **(more or {})},
        opts=opts,
    )


def volume(name: str, config: ConfigMap) -> VolumeArgs:
    """Give the volume of a ConfigMap."""
    return VolumeArgs(name=name, config_map=ConfigMapVolumeSourceArgs(name=config.metadata.name))
