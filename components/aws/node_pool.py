"""A managed pool: its launch template, its node group, and what its fabric needs around them."""

import base64

import pulumi
import pulumi_aws as aws

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.component import Component
from model.aws import tags
from model.aws.node_groups import NodeGroup, autoscaler_tags, node_group
from model.environment import Environment

_CREATE = "60m"
"""EKS itself gives a node group so long to come up."""


@pulumi.type_token("gangline:index:NodePool")
class NodePool(Component):
    """Nodes of one kind, by a managed node group of EKS.

    Attributes:
        group: The node group.
        fabric: The security group of its EFA interfaces; None where it has none.
    """

    fabric: pulumi.Output[str] | None = None

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        pool: str,
        network: Network,
        cluster: Cluster,
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Args: name: logical name; environment: the document; pool: the pool's name; opts: with the AWS provider."""
        declared = environment.pools[pool]
        super().__init__(name, {"pool": declared.model_dump(mode="json", by_alias=True, exclude_unset=True)}, opts)
        self._name = name
        self._environment = environment
        self._cluster = cluster
        self._network = network
        self._tags = tags(environment, f"{environment.cluster.name}-{pool}")
        wanted = node_group(environment, pool)
        template = self._template(wanted)
        self.group = self._group(wanted, template)
        if wanted.autoscaled:
            self._hints(autoscaler_tags(environment, pool))
        self.register_outputs({"group": self.group.node_group_name})

    def _inside(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self)

    def _template(self, wanted: NodeGroup) -> aws.ec2.LaunchTemplate:
        block = wanted.capacity == "CAPACITY_BLOCK"
        target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
            capacity_reservation_id=wanted.reservation
        )
        return aws.ec2.LaunchTemplate(
            f"{self._name}-template",
            # A block wants the type in the template; elsewhere the group says it. EKS takes it from one of them only.
            instance_type=wanted.instance if block else None,
            instance_market_options=aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")
            if block
            else None,
            capacity_reservation_specification=aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
                capacity_reservation_target=target
            )
            if wanted.reservation
            else None,
            placement=self._placement(wanted),
            network_interfaces=self._interfaces(wanted) or None,
            block_device_mappings=[
                aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                    device_name=wanted.root_device,
                    ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                        volume_type="gp3",
                        volume_size=wanted.root_volume,
                        encrypted="true",
                        delete_on_termination="true",
                    ),
                )
            ],
            # One hop: pods get their rights by Pod Identity, and never those of the node.
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
            ),
            user_data=base64.b64encode(wanted.user_data.encode()).decode(),
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=self._tags)
                for kind in ("instance", "volume", "network-interface")
            ],
            tags=self._tags,
            opts=self._inside(),
        )

    def _placement(self, wanted: NodeGroup) -> aws.ec2.LaunchTemplatePlacementArgs | None:
        if wanted.placement_group:
            return aws.ec2.LaunchTemplatePlacementArgs(group_name=wanted.placement_group)
        if not wanted.placement:
            return None
        group = aws.ec2.PlacementGroup(
            f"{self._name}-placement", strategy="cluster", tags=self._tags, opts=self._inside()
        )
        return aws.ec2.LaunchTemplatePlacementArgs(group_name=group.name)

    def _interfaces(self, wanted: NodeGroup) -> list[aws.ec2.LaunchTemplateNetworkInterfaceArgs]:
        if not wanted.interfaces:
            return []
        fabric = aws.ec2.SecurityGroup(
            f"{self._name}-fabric",
            vpc_id=self._network.vpc_id,
            description="EFA between the nodes of a pool",
            tags=self._tags,
            opts=self._inside(),
        )
        # EFA wants both ways by reference: a rule for all addresses does not count
        # (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html).
        for way, rule in (("in", aws.vpc.SecurityGroupIngressRule), ("out", aws.vpc.SecurityGroupEgressRule)):
            rule(
                f"{self._name}-fabric-{way}",
                security_group_id=fabric.id,
                ip_protocol="-1",
                referenced_security_group_id=fabric.id,
                description="EFA",
                opts=self._inside(),
            )
        self.fabric = fabric.id
        groups = {"interface": self._cluster.security_group_id, "efa-only": fabric.id}
        return [
            aws.ec2.LaunchTemplateNetworkInterfaceArgs(
                network_card_index=interface.card,
                device_index=interface.device,
                interface_type=interface.kind,
                security_groups=[groups[interface.kind]],
                delete_on_termination="true",
            )
            for interface in wanted.interfaces
        ]

    def _group(self, wanted: NodeGroup, template: aws.ec2.LaunchTemplate) -> aws.eks.NodeGroup:
        subnets = self._network.gpu if wanted.gpu else self._network.private
        return aws.eks.NodeGroup(
            f"{self._name}-group",
            cluster_name=self._cluster.name,
            node_role_arn=self._cluster.node_role.arn,
            version=self._environment.cluster.kubernetes,
            ami_type=wanted.ami_type,
            release_version=wanted.ami_release,
            capacity_type=wanted.capacity,
            instance_types=None if wanted.capacity == "CAPACITY_BLOCK" else [wanted.instance],
            subnet_ids=[subnets[zone] for zone in wanted.zones],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                # A number, since `$Latest` would be a change at every run.
                id=template.id,
                version=template.latest_version.apply(str),
            ),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=wanted.fewest, max_size=wanted.most, desired_size=wanted.initial
            ),
            labels=dict(wanted.labels),
            taints=[
                aws.eks.NodeGroupTaintArgs(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in wanted.taints
            ],
            update_config=aws.eks.NodeGroupUpdateConfigArgs(
                max_unavailable=1, update_strategy="MINIMAL" if wanted.replaces_first else "DEFAULT"
            ),
            node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            tags=self._tags,
            opts=pulumi.ResourceOptions(
                parent=self,
                ignore_changes=["scalingConfig.desiredSize"] if wanted.autoscaled else None,
                # A reservation holds no second set of machines for the new group.
                delete_before_replace=wanted.replaces_first or None,
                custom_timeouts=pulumi.CustomTimeouts(create=_CREATE, update=_CREATE, delete=_CREATE),
            ),
        )

    def _hints(self, wanted: dict[str, str]) -> None:
        """Tell the autoscaler what nodes of the group would be like, while it has none to look at."""
        group = self.group.resources[0].autoscaling_groups[0].name
        for key, value in wanted.items():
            # With its slashes: `a/b` and `a-b` are two labels.
            short = key.removeprefix("k8s.io/cluster-autoscaler/node-template/")
            aws.autoscaling.Tag(
                f"{self._name}-hint-{short}",
                autoscaling_group_name=group,
                tag=aws.autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=self._inside(),
            )
