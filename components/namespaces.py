"""Namespaces for what this project installs."""

from typing import Literal

import pulumi
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs


def namespace(
    name: str, called: str, level: Literal["baseline", "privileged"], opts: pulumi.ResourceOptions
) -> Namespace:
    """Make a namespace whose pods are held to a level of the Pod Security Standards.

    Args:
        name: Logical name.
        called: Its name in the cluster.
        level: The level. Agents of nodes mount folders of the node, which the milder levels forbid.
        opts: Options.
    """
    return Namespace(
        name,
        metadata=ObjectMetaArgs(name=called, labels={"pod-security.kubernetes.io/enforce": level}),
        opts=opts,
    )
