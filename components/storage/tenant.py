"""The storage of a team: in each of its namespaces the shared tier as one claim, and how the archive is reached."""

from collections.abc import Mapping

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace, PersistentVolume
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.storage.source import Bucket
from components.storage.volume import claim
from model.environment import Environment
from model.storage import claims, remote
from model.storage.names import CLAIM, CONFIG


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
        volumes: Mapping[str, PersistentVolume],
        bucket: Bucket | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make them.

        Args:
            name: Logical name.
            environment: The document.
            tenant: The team.
            namespaces: Its namespaces, by name.
            volumes: The volumes of claims that have one made for them, by namespace.
            bucket: The bucket of the archive.
            opts: Options.
        """
        super().__init__(name, {"tenant": tenant}, opts)
        storage_class = claims.storage_class(environment)
        kept = claims.kept(environment)
        for namespace, where in namespaces.items():
            if storage_class:
                size = claims.size(environment, tenant).text
                claim(
                    f"{name}-{namespace}-claim",
                    CLAIM,
                    where.metadata["name"],
                    size,
                    storage_class,
                    volumes.get(namespace),
                    pulumi.ResourceOptions(parent=self, deleted_with=where, retain_on_delete=kept),
                )
            if bucket:
                self._archive(f"{name}-{namespace}", namespace, bucket)
        self.register_outputs({})

    def _archive(self, name: str, namespace: str, bucket: Bucket) -> None:
        place = pulumi.Output.format("{0}:{1}/{2}", remote.REMOTE, bucket.name, namespace)
        ConfigMap(
            f"{name}-archive",
            metadata=ObjectMetaArgs(name=CONFIG, namespace=namespace),
            data={remote.PLACE: place, **remote.variables(bucket.settings)},
            opts=pulumi.ResourceOptions(parent=self),
        )
