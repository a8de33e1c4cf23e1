"""What stands below the platform on AWS: network, control plane, nodes, add-ons."""

import pulumi

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.node_pool import NodePool
from components.aws.provider import provider
from model import aws
from model.environment import Environment


class Foundation:
    """A cluster on AWS, as far as its control plane; its nodes come once its API is proven to be reached.

    A cluster whose API cannot be reached from where the engine runs would stand there with nodes that cost and nothing
    on them. So something is made through the API first.

    Attributes:
        kubeconfig: How the cluster is reached; secret.
    """

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

    def _inside(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self._parent, providers=[self._aws], depends_on=list(depends_on))

    def nodes(self, proof: pulumi.Resource) -> list[pulumi.Resource]:
        """Make the nodes.

        Args:
            proof: What was made through the API.

        Returns:
            What everything in the cluster waits for.
        """
        return [
            NodePool(
                f"{self._name}-pool-{pool}",
                environment=self._environment,
                pool=pool,
                network=self._network,
                cluster=self._cluster,
                opts=self._inside(proof),
            )
            for pool in aws.managed(self._environment)
        ]
