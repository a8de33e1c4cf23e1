"""The volumes of the shared tier: one for each namespace of a tenant."""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import PersistentVolume

from components.component import Component
from components.storage.source import VolumeSource
from components.storage.volume import volume
from model import names
from model.environment import Environment
from model.storage import claims
from model.storage.names import CLAIM
from model.tenants import by_namespace


@pulumi.type_token("gangline:index:SharedVolumes")
class SharedVolumes(Component):
    """The volumes, which are made before the namespaces of their claims.

    A volume that is deleted waits for its claim, and a claim for its pods, which all go with the namespace: the other
    way round they would wait for each other.

    Attributes:
        volumes: By namespace.
    """

    volumes: Mapping[str, PersistentVolume]

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        sources: Mapping[str, VolumeSource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Args: name: logical name; environment: the document; sources: file systems by namespace; opts: options."""
        super().__init__(name, {"namespaces": list(sources)}, opts)
        owners = by_namespace(environment)
        self.volumes = {
            namespace: volume(
                f"{name}-{namespace}",
                # Volumes have no namespace, so it is in the name.
                names.fit(f"{namespace}-{CLAIM}", names.LABEL),
                namespace,
                CLAIM,
                claims.size(environment, owners[namespace]).text,
                source,
                pulumi.ResourceOptions(parent=self),
            )
            for namespace, source in sources.items()
        }
        self.register_outputs({})
