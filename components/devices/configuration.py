"""Configuration files of node agents."""

import hashlib

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, ConfigMapVolumeSourceArgs, VolumeArgs
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from model.namespaces import AGENTS


def configuration(name: str, stem: str, file: str, text: str, opts: pulumi.ResourceOptions) -> ConfigMap:
    """Make the ConfigMap of a file that agents read once.

    Its name changes with its content, so that a change rolls the DaemonSets that mount it.

    Args:
        name: Logical name.
        stem: What the ConfigMap's name begins with.
        file: Name of the file.
        text: What stands in it.
        opts: Options.
    """
    return ConfigMap(
        name,
        metadata=ObjectMetaArgs(name=f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", namespace=AGENTS),
        immutable=True,
        data={file: text},
        opts=opts,
    )


def volume(name: str, config: ConfigMap) -> VolumeArgs:
    """Give the volume of a ConfigMap."""
    return VolumeArgs(name=name, config_map=ConfigMapVolumeSourceArgs(name=config.metadata.name))
