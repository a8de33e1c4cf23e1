"""What stands below the platform on AWS: network, control plane, nodes, add-ons."""

from collections.abc import Callable, Iterable, Mapping

import pulumi

from components.aws.addons import Addons
from components.aws.autoscaler import Autoscaler
from components.aws.cluster import Cluster
from components.aws.karpenter import Karpenter
from components.aws.network import Network
from components.aws.node_pool import NodePool
from components.aws.provider import provider
from components.aws.registry import Registry
from components.sources import Sources
from model import aws
from model.aws import addons, node_pools
from model.environment import Environment
from model.releases import upstream
from stacks.aws_storage import Stored, stored


class Foundation:
    """A cluster on AWS, as far as its control plane; its nodes come once its API is proven to be reached.

    A cluster whose API cannot be reached from where the engine runs would stand there with nodes that cost and nothing
    on them. So something is made through the API first.

    Attributes:
        kubeconfig: How the cluster is reached; secret.
        images: By name of a cached registry, what stands for it in images.
    """

    images: pulumi.Output[Mapping[str, str]] | None = None

    def __init__(self, name: str, environment: Environment, parent: pulumi.Resource) -> None:
        """Make network and control plane.

        Args:
            name: What their names begin with.
            environment: The document.
            parent: The component that they are part of.
        """
        self._name = name
        self._environment = environment
        self._parent = parent
        self._aws = provider(f"{name}-aws", environment, pulumi.ResourceOptions(parent=parent))
        self._network = Network(f"{name}-network", environment=environment, opts=self._inside())
        self._cluster = Cluster(
            f"{name}-cluster", environment=environment, network=self._network, opts=self._inside(self._network)
        )
        self.kubeconfig = self._cluster.kubeconfig
        self._fabrics: dict[str, pulumi.Input[str]] = {}

    def _inside(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self._parent, providers=[self._aws], depends_on=list(depends_on))

    def nodes(self, proof: pulumi.Resource) -> list[pulumi.Resource]:
        """Make the nodes, and EKS's own add-ons around them: what they need before, what needs them after.

        Args:
            proof: What was made through the API.

        Returns:
            What everything in the cluster waits for.
        """
        first = self._addons("node-addons", addons.before_nodes(self._environment))
        pools = {
            pool: NodePool(
                f"{self._name}-pool-{pool}",
                environment=self._environment,
                pool=pool,
                network=self._network,
                cluster=self._cluster,
                opts=self._inside(proof, first),
            )
            for pool in aws.managed(self._environment)
        }
        self._fabrics = {pool: made.fabric for pool, made in pools.items() if made.fabric is not None}
        homes = [pools[pool] for pool in node_pools.homes(self._environment)]
        # Made before there is a node for their pods, they would be reported as degraded.
        second = self._addons("addons", addons.after_nodes(self._environment), *homes)
        return [*pools.values(), second]

    def storage(self) -> Stored:
        """Make the tiers of storage. What they take the most time for goes on beside the nodes."""
        return stored(
            self._name,
            self._environment,
            network=self._network,
            cluster=self._cluster,
            fabrics=self._fabrics,
            # A file system stands in a subnet, and goes before what its routes lead through.
            opts=self._inside(self._network),
        )

    def _addons(self, called: str, wave: Iterable[addons.Addon], *depends_on: pulumi.Resource) -> Addons:
        return Addons(
            f"{self._name}-{called}",
            environment=self._environment,
            wave=wave,
            cluster=self._cluster.name,
            arn=self._cluster.arn,
            vpc=self._network.vpc_id,
            opts=self._inside(*depends_on),
        )

    def makers(
        self,
        nodes: list[pulumi.Resource],
        *,
        kubernetes: pulumi.ProviderResource,
        definitions: Callable[[str, str], pulumi.Resource],
        sources: Sources,
    ) -> list[pulumi.Resource]:
        """Make what makes nodes when pods wait for them, and the cache of images.

        Args:
            nodes: What `nodes` gave.
            kubernetes: The provider of the cluster.
            definitions: What makes the definitions of a product, under a name.
            sources: Where charts are.

        Returns:
            What everything else in the cluster waits for, so that it goes before them: nobody else drains their nodes.
        """
        environment, made = self._environment, list[pulumi.Resource]()
        roles: dict[str, pulumi.Input[str]] = {"managed": self._cluster.node_role.name}

        def inside(*depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
            return pulumi.ResourceOptions(
                parent=self._parent, providers=[self._aws, kubernetes], depends_on=[*nodes, *depends_on]
            )

        if aws.autoscaled(environment):
            scaler = Autoscaler(
                f"{self._name}-autoscaler",
                environment=environment,
                cluster=self._cluster.name,
                arn=self._cluster.arn,
                upstream=upstream(environment, "cluster-autoscaler"),
                opts=inside(),
            )
            made.append(scaler)
        if aws.karpenter(environment):
            karpenter = Karpenter(
                f"{self._name}-karpenter",
                environment=environment,
                cluster=self._cluster.name,
                arn=self._cluster.arn,
                endpoint=self._cluster.endpoint,
                security_groups=[self._cluster.security_group_id],
                private=self._network.private,
                gpu=self._network.gpu,
                upstream=upstream(environment, "karpenter"),
                sources=sources,
                opts=inside(definitions("karpenter", "karpenter-definitions")),
            )
            roles["karpenter"] = karpenter.node_role.name
            made.append(karpenter)
        if environment.cluster.registry.cache:
            registry = Registry(
                f"{self._name}-registry",
                environment=environment,
                arn=self._cluster.arn,
                roles=roles,
                opts=self._inside(),
            )
            self.images = registry.addresses
        return made
