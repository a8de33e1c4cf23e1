"""Karpenter: nodes as pods need them."""

import json
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.aws.identity import PodRole
from components.charts import installed
from components.component import Component
from components.sources import Sources
from model.aws import karpenter as pools
from model.aws import karpenter_permissions, node_pools, partitions, permissions, region, subnets, tags
from model.aws.statements import policy
from model.environment import Environment
from model.releases import Upstream

NAMESPACE = "kube-system"
"""Where its API calls have a share of the API server of their own (https://karpenter.sh/docs/getting-started/)."""
RELEASE = "karpenter"
"""Name of its release, and by the chart's templates of its service account."""
# AmazonEKS_CNI_Policy is not among them: the CNI has a role of its own.
_NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore")


@pulumi.type_token("gangline:index:Karpenter")
class Karpenter(Component):
    """The controller with its permissions and its queue of interruptions, and a NodePool for each pool of its own.

    It makes no node by itself: nodes come when pods need them. What it may do ends with the cluster's own instances, in
    the subnets that are given here.
    """

    node_role: aws.iam.Role
    """Role of its nodes."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cluster: pulumi.Input[str],
        arn: pulumi.Input[str],
        endpoint: pulumi.Input[str],
        security_groups: Sequence[pulumi.Input[str]],
        private: Mapping[str, pulumi.Input[str]],
        gpu: Mapping[str, pulumi.Input[str]],
        upstream: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make it.

        Args:
            name: Logical name.
            environment: The environment.
            cluster: Name of the cluster, from the cluster itself.
            arn: ARN of the cluster.
            endpoint: Address of its API.
            security_groups: Ids of the security groups of nodes.
            private: Ids of the private subnets by zone.
            gpu: Ids of the subnets for nodes with GPUs by zone; the private ones serve a zone that has none.
            upstream: The release.
            sources: Where its chart is.
            opts: Options, with an AWS and a Kubernetes provider. The definitions are there before.
        """
        super().__init__(name, {"version": upstream.version}, opts)
        self._name, self._environment = name, environment
        self._child = pulumi.ResourceOptions(parent=self)
        self.node_role, profile, entry = self._nodes(cluster)
        queue, noted = self._queue()
        places = {pool: self._places(pool, private, gpu) for pool in pools(environment)}
        role = PodRole(
            f"{name}-controller",
            environment=environment,
            cluster=cluster,
            namespace=NAMESPACE,
            service_account=RELEASE,
            statements=pulumi.Output.all(
                arn=arn,
                node_role=self.node_role.arn,
                queue=queue.arn,
                groups=list(security_groups),
                places=[each for place in places.values() for each in place],
            ).apply(
                lambda known: karpenter_permissions.controller(
                    permissions.scope(known["arn"]),
                    node_role=known["node_role"],
                    queue=known["queue"],
                    subnets=sorted(set(known["places"])),
                    security_groups=known["groups"],
                )
            ),
            opts=self._child,
        )
        release = installed(
            f"{name}-release",
            RELEASE,
            namespace=NAMESPACE,
            upstream=upstream,
            sources=sources,
            values=node_pools.chart(environment, endpoint=endpoint, queue=queue.name),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role, entry, *noted]),
        )
        for pool, place in places.items():
            self._pool(pool, profile, place, security_groups, release)
        self.register_outputs({})

    def _nodes(self, cluster: pulumi.Input[str]) -> tuple[aws.iam.Role, aws.iam.InstanceProfile, aws.eks.AccessEntry]:
        """Make the identity of nodes, apart from that of managed groups, whose entry EKS makes by itself."""
        name, environment = self._name, self._environment
        at = partitions.partition(region(environment))
        called = tags(environment, f"{environment.cluster.name}-karpenter-node")
        role = aws.iam.Role(
            f"{name}-node-role",
            description=f"Nodes that Karpenter makes for the cluster {environment.cluster.name}",
            assume_role_policy=json.dumps(permissions.instance_trust(at)),
            tags=called,
            opts=self._child,
        )
        attached = [
            aws.iam.RolePolicyAttachment(
                f"{name}-node-{policy}",
                role=role.name,
                policy_arn=at.policy(policy),
                opts=self._child,
            )
            for policy in _NODE_POLICIES
        ]
        after = pulumi.ResourceOptions(parent=self, depends_on=attached)
        profile = aws.iam.InstanceProfile(f"{name}-node-profile", role=role.name, tags=called, opts=after)
        entry = aws.eks.AccessEntry(
            f"{name}-node-entry",
            cluster_name=cluster,
            principal_arn=role.arn,
            type="EC2_LINUX",
            tags=called,
            opts=self._child,
        )
        return role, profile, entry

    def _queue(self) -> tuple[aws.sqs.Queue, list[pulumi.Resource]]:
        """Make the queue that tells of nodes which are about to end, and what fills it."""
        name, environment = self._name, self._environment
        called = tags(environment, f"{environment.cluster.name}-karpenter")
        queue = aws.sqs.Queue(
            f"{name}-queue",
            name=f"{environment.cluster.name}-karpenter",
            # A warning that is older than the two minutes which it gives is of no use.
            message_retention_seconds=300,
            sqs_managed_sse_enabled=True,
            tags=called,
            opts=self._child,
        )
        made: list[pulumi.Resource] = [
            aws.sqs.QueuePolicy(
                f"{name}-queue-policy",
                queue_url=queue.url,
                policy=queue.arn.apply(lambda arn: json.dumps(policy(karpenter_permissions.interruption_queue(arn)))),
                opts=self._child,
            )
        ]
        for event, (source, kind) in node_pools.EVENTS.items():
            rule = aws.cloudwatch.EventRule(
                f"{name}-{event}-rule",
                description=f"{kind}, for Karpenter of the cluster {environment.cluster.name}",
                event_pattern=json.dumps({"source": [source], "detail-type": [kind]}),
                tags=called,
                opts=self._child,
            )
            target = aws.cloudwatch.EventTarget(
                f"{name}-{event}-target", rule=rule.name, arn=queue.arn, target_id="karpenter", opts=self._child
            )
            made.append(target)
        return queue, made

    def _places(
        self, pool: str, private: Mapping[str, pulumi.Input[str]], gpu: Mapping[str, pulumi.Input[str]]
    ) -> list[pulumi.Input[str]]:
        declared = self._environment.pools[pool]
        own = gpu if node_pools.has_gpus(declared) else private
        zones = subnets.zones(self._environment, declared)
        return [own.get(zone, private[zone]) for zone in zones]

    def _pool(
        self,
        pool: str,
        profile: aws.iam.InstanceProfile,
        place: list[pulumi.Input[str]],
        security_groups: Sequence[pulumi.Input[str]],
        release: pulumi.Resource,
    ) -> None:
        name, environment = f"{self._name}-{pool}", self._environment
        node_class = CustomResource(
            f"{name}-class",
            api_version=node_pools.NODE_CLASS,
            kind="EC2NodeClass",
            # It is ready when its image, subnets, security groups and profile were found.
            metadata=ObjectMetaArgs(name=pool, annotations={"pulumi.com/waitFor": "condition=Ready"}),
            spec=node_pools.node_class(
                environment, pool, profile=profile.name, subnet_ids=place, security_groups=security_groups
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[release]),
        )
        after = pulumi.ResourceOptions(parent=self, depends_on=[node_class])
        if overlay := node_pools.overlays(environment).get(pool):
            CustomResource(
                f"{name}-overlay",
                api_version=node_pools.OVERLAY,
                kind="NodeOverlay",
                metadata=ObjectMetaArgs(name=pool),
                spec=overlay,
                opts=after,
            )
        CustomResource(
            f"{name}-pool",
            api_version=node_pools.NODE_POOL,
            kind="NodePool",
            metadata=ObjectMetaArgs(name=pool),
            spec=node_pools.node_pool(environment, pool),
            opts=after,
        )
