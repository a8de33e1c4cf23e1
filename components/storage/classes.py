"""The storage classes of a cluster."""

import pulumi
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.storage.v1 import StorageClass

from components.component import Component
from model.environment import Environment
from model.storage import classes

_DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


@pulumi.type_token("gangline:index:StorageClasses")
class StorageClasses(Component):
    """The storage classes that the document implies."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        for made in classes.of(environment):
            StorageClass(
                f"{name}-{made.name}",
                metadata=ObjectMetaArgs(name=made.name, annotations=_DEFAULT if made.default else None),
                provisioner=made.provisioner,
                volume_binding_mode=made.binding,
                reclaim_policy=made.reclaim,
                allow_volume_expansion=made.expansion,
                parameters=dict(made.parameters) or None,
                # A class cannot be changed, and its volumes do not look at it again.
                opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
            )
        self.register_outputs({})
