"""The platform: everything that makes a plain cluster a GPU cluster."""

import pulumi
from pulumi_kubernetes.core.v1 import Namespace

from components.component import Component
from components.crds.definitions import CustomResourceDefinitions
from components.devices.gpu_operator import GpuOperator
from components.devices.node_features import NodeFeatures
from components.fabric.device_plugins import FabricDevicePlugins
from components.fabric.network_operator import NetworkOperator
from components.kubernetes.client import Reach
from components.kubernetes.provider import provider
from components.namespaces import namespace
from components.ray.operator import RayOperator
from components.sources import SourceError, Sources
from components.storage import existing
from components.tenants.admission import Admission
from components.tenants.tenant import Tenant
from model import aws, bottlerocket, features, operators, rdma
from model.admission.policies import policies
from model.aws import blocks
from model.engine_names import ROOT_TYPE
from model.environment import Environment
from model.namespaces import AGENTS
from model.releases import upstream
from model.storage import claims
from stacks import scheduling as schedulers
from stacks import sharing
from stacks.aws import Foundation
from stacks.aws_storage import Stored
from stacks.monitoring import monitoring
from stacks.storage import has_agents, storage, volumes
from stacks.workloads import workloads


@pulumi.type_token(ROOT_TYPE)
class Platform(Component):
    """The software of a GPU cluster, from one document.

    Its own inputs are that document: there policies read what a person declared, from a preview or from a saved state.

    Order: definitions, scheduler, queues, Ray operator, namespaces, workloads; `destroy` goes the other way.
    Namespaces come after the operators so that they go before them: whatever people made in a namespace still finds
    the operator that clears its finalizers.

    Attributes:
        kubeconfig: How a cluster is reached that is made here; secret. None for one that was there.
        images: By name of a cached registry, what stands for it in images; None without a cache.
    """

    def __init__(
        self, name: str, *, environment: Environment, sources: Sources, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        document = environment.model_dump(mode="json", by_alias=True, exclude_unset=True)
        super().__init__(name, {"environment": document}, opts)
        self._name = name
        self._environment = environment
        self._sources = sources
        inside = pulumi.ResourceOptions(parent=self)
        cluster = environment.cluster
        below = Foundation(name, environment, self) if aws.here(environment) else None
        kubeconfig = below.kubeconfig if below else None
        self.kubeconfig = kubeconfig
        self._reach = Reach(cluster, kubeconfig)
        self._kubernetes = provider(f"{name}-kubernetes", cluster, kubeconfig=kubeconfig, opts=inside)
        # What a destroy leaves behind on purpose, the next `up` owns again.
        self._adopting = provider(f"{name}-adopting", cluster, kubeconfig=kubeconfig, adopt=True, opts=inside)
        own = self._agents_namespace() if below or self._has_agents() else None
        # Whatever runs in the cluster needs nodes, and goes before them.
        self._nodes = below.nodes(own) if below and own else []
        if below:
            self._nodes += below.makers(
                self._nodes, kubernetes=self._kubernetes, definitions=self._definitions, sources=sources
            )
        self.images = below.images if below else None
        self._stored = below.storage() if below else Stored()
        if own and self._has_agents():
            self._devices(own)
        scheduling = schedulers.scheduling(
            name, environment, sources=sources, reach=self._reach, definitions=self._definitions, child=self._child
        )
        operator = self._ray_operator(scheduling)
        shared = self._stored.shared or existing.shared(environment)
        given = volumes(name, environment, shared=shared, made=self._stored.made, child=self._child)
        if policies(environment):
            Admission(f"{name}-admission", environment=environment, opts=self._child())
        # Also on a `destroy` this is what a namespace needs: its pods still find their file system, and go.
        tenants = self._tenants([*scheduling, operator, *([given] if given else [])])
        scheduling += schedulers.in_namespaces(name, environment, after=scheduling, tenants=tenants, child=self._child)
        ready = storage(
            name,
            environment,
            tenants=tenants,
            own=own,
            shared=shared,
            shared_volumes=given,
            bucket=self._stored.bucket or existing.bucket(environment),
            made=self._stored.made,
            sources=sources,
            definitions=self._definitions,
            child=self._child,
        )
        workloads(name, environment, self._reach, child=self._child, after=[*scheduling, operator], tenants=ready)
        self.register_outputs({})

    def _child(self, *depends_on: pulumi.Resource, adopt: bool = False) -> pulumi.ResourceOptions:
        in_cluster = self._adopting if adopt else self._kubernetes
        return pulumi.ResourceOptions(parent=self, providers=[in_cluster], depends_on=[*self._nodes, *depends_on])

    def _definitions(self, product: str, name: str, *depends_on: pulumi.Resource) -> CustomResourceDefinitions:
        return CustomResourceDefinitions(
            f"{self._name}-{name}",
            upstream=upstream(self._environment, product),
            sources=self._sources,
            opts=pulumi.ResourceOptions(parent=self, providers=[self._adopting], depends_on=list(depends_on)),
        )

    def _has_agents(self) -> bool:
        env = self._environment
        return bool(features.pools(env) or rdma.plans(env) or has_agents(env))

    def _agents_namespace(self) -> Namespace:
        in_cluster = pulumi.ResourceOptions(parent=self, provider=self._kubernetes)
        return namespace(f"{self._name}-agents-namespace", AGENTS, "privileged", in_cluster)

    def _devices(self, own: Namespace) -> None:
        if rdma.plans(self._environment):
            FabricDevicePlugins(f"{self._name}-fabric", environment=self._environment, opts=self._child(own))
        if features.pools(self._environment):
            self._discovered(own)

    def _discovered(self, own: Namespace) -> None:
        """Make what goes by the labels of node feature discovery, and the discovery itself."""
        definitions = self._definitions("node-feature-discovery", "node-feature-definitions")
        discovery = NodeFeatures(
            f"{self._name}-node-features",
            environment=self._environment,
            upstream=upstream(self._environment, "node-feature-discovery"),
            opts=self._child(definitions, own),
        )
        sharing.agents(self._name, self._environment, self._child(own))
        if "gpu-operator" in operators.products(self._environment):
            self._gpu_operator(discovery)
        if "network-operator" in operators.products(self._environment):
            self._network_operator(discovery)
        adopting = pulumi.ResourceOptions(parent=self, providers=[self._adopting])
        monitoring(self._name, self._environment, self._sources, self._reach, self._child(own), adopting)

    def _gpu_operator(self, discovery: NodeFeatures) -> None:
        # It looks for the labels of node feature discovery: without them it deploys nothing anywhere.
        definitions = self._definitions("gpu-operator", "gpu-operator-definitions")
        GpuOperator(
            f"{self._name}-gpu-operator",
            environment=self._environment,
            upstream=upstream(self._environment, "gpu-operator"),
            sources=self._sources,
            opts=self._child(definitions, discovery),
        )

    def _network_operator(self, discovery: NodeFeatures) -> None:
        definitions = self._definitions("network-operator", "network-operator-definitions")
        NetworkOperator(
            f"{self._name}-network-operator",
            environment=self._environment,
            upstream=upstream(self._environment, "network-operator"),
            sources=self._sources,
            opts=self._child(definitions, discovery),
        )

    def _ray_operator(self, scheduling: list[pulumi.Resource]) -> RayOperator:
        # Late, since a file or bucket back end writes the whole state anew with every resource that is made, and these
        # four are four fifths of it.
        definitions = self._definitions("kuberay", "ray-definitions", *scheduling)
        return RayOperator(
            f"{self._name}-ray-operator",
            environment=self._environment,
            upstream=upstream(self._environment, "kuberay"),
            sources=self._sources,
            opts=self._child(definitions),
        )

    def _tenants(self, after: list[pulumi.Resource]) -> dict[str, Tenant]:
        return {
            tenant: Tenant(
                f"{self._name}-tenant-{tenant}",
                environment=self._environment,
                tenant=tenant,
                opts=self._child(*after, adopt=claims.kept(self._environment)),
            )
            for tenant in self._environment.tenants
        }


def deploy(environment: Environment, sources: Sources | None = None) -> Platform:
    """Make the platform of an environment, and export what people look for after an `up`."""
    try:
        platform = Platform("platform", environment=environment, sources=sources or Sources())
    except SourceError as error:
        raise pulumi.RunError(str(error)) from None
    where = {"region": aws.region(environment)} if aws.here(environment) else {"context": environment.cluster.context}
    pulumi.export("cluster", {"name": environment.cluster.name, **where})
    if aws.here(environment):
        pulumi.export("kubeconfig", platform.kubeconfig)
        pulumi.export("drains", blocks.drains(environment))
        if platform.images is not None:
            pulumi.export("registry", platform.images)
    # What no object of the cluster can say: it stands in the nodes' own user data.
    settings = {name: bottlerocket.settings(environment, name) for name in environment.pools}
    pulumi.export("nodeSettings", {name: text for name, text in settings.items() if text})
    pulumi.export(
        "rayClusters",
        {
            name: {"namespace": cluster.namespace, "queue": cluster.queue, "podGroup": f"ray-{name}-pg"}
            for name, cluster in environment.ray.clusters.items()
        },
    )
    return platform
