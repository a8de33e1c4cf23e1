"""A program of one resource of each kind that a stack without storage makes at AWS, 30 of its 33.

Storage is taken down with a whole stack, in tests/end_to_end/test_aws.py. Left out is what lies within another resource
and goes with it, and has a sibling here: the rule for outgoing traffic, the policy of a queue, the policy of an access
entry. It is the `__main__.py` of a project of its own.
"""

import json

import pulumi
import pulumi_aws as aws

NAME, REGION = "reduced", "us-east-2"
TAGS = {"Name": NAME}


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def allow(action: str) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]})


def after(*resources: pulumi.Resource) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(provider=provider, depends_on=list(resources))


provider = aws.Provider("aws", region=REGION)

vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, tags=TAGS, opts=after())
subnet = aws.ec2.Subnet(
    "subnet", vpc_id=vpc.id, cidr_block="10.0.0.0/24", availability_zone=f"{REGION}a", tags=TAGS, opts=after()
)
internet = aws.ec2.InternetGateway("internet", vpc_id=vpc.id, tags=TAGS, opts=after())
address = aws.ec2.Eip("address", domain="vpc", tags=TAGS, opts=after(internet))
nat = aws.ec2.NatGateway("nat", allocation_id=address.id, subnet_id=subnet.id, tags=TAGS, opts=after())
table = aws.ec2.RouteTable("table", vpc_id=vpc.id, tags=TAGS, opts=after())
out = aws.ec2.Route(
    "out", route_table_id=table.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id, opts=after()
)
aws.ec2.RouteTableAssociation("routed", route_table_id=table.id, subnet_id=subnet.id, opts=after())
group = aws.ec2.SecurityGroup("fabric", vpc_id=vpc.id, description="EFA", tags=TAGS, opts=after())
aws.vpc.SecurityGroupIngressRule(
    "fabric-in",
    security_group_id=group.id,
    ip_protocol="-1",
    referenced_security_group_id=group.id,
    opts=after(),
)
aws.ec2.VpcEndpoint(
    "endpoint",
    vpc_id=vpc.id,
    service_name=f"com.amazonaws.{REGION}.ecr.api",
    vpc_endpoint_type="Interface",
    subnet_ids=[subnet.id],
    security_group_ids=[group.id],
    private_dns_enabled=True,
    tags=TAGS,
    opts=after(),
)

role = aws.iam.Role("role", assume_role_policy=trust("eks.amazonaws.com"), tags=TAGS, opts=after())
attached = aws.iam.RolePolicyAttachment(
    "attached", role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy", opts=after()
)
inline = aws.iam.RolePolicy("inline", role=role.name, policy=allow("ec2:DescribeInstances"), opts=after())
aws.iam.InstanceProfile("profile", role=role.name, tags=TAGS, opts=after())

key = aws.kms.Key("key", enable_key_rotation=True, deletion_window_in_days=7, tags=TAGS, opts=after())
aws.kms.Alias("alias", name=f"alias/{NAME}", target_key_id=key.key_id, opts=after())
logs = aws.cloudwatch.LogGroup("logs", name=f"/aws/eks/{NAME}/cluster", retention_in_days=90, tags=TAGS, opts=after())
cluster = aws.eks.Cluster(
    "cluster",
    name=NAME,
    version="1.35",
    role_arn=role.arn,
    access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": True},
    bootstrap_self_managed_addons=False,
    vpc_config={"subnet_ids": [subnet.id], "endpoint_private_access": True, "endpoint_public_access": False},
    encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
    enabled_cluster_log_types=["audit", "authenticator"],
    tags=TAGS,
    opts=after(attached, logs, out),
)
aws.eks.AccessEntry(
    "entry",
    cluster_name=cluster.name,
    principal_arn="arn:aws:iam::123456789012:role/platform",
    kubernetes_groups=["platform"],
    type="STANDARD",
    tags=TAGS,
    opts=after(),
)
aws.eks.PodIdentityAssociation(
    "pods",
    cluster_name=cluster.name,
    namespace="kube-system",
    service_account="aws-node",
    role_arn=role.arn,
    tags=TAGS,
    opts=after(inline),
)
addon = aws.eks.Addon("addon", cluster_name=cluster.name, addon_name="vpc-cni", tags=TAGS, opts=after())

placement = aws.ec2.PlacementGroup("placement", strategy="cluster", tags=TAGS, opts=after())
template = aws.ec2.LaunchTemplate(
    "template",
    placement={"group_name": placement.name},
    network_interfaces=[{"device_index": 0, "interface_type": "interface", "security_groups": [group.id]}],
    metadata_options={"http_tokens": "required"},
    tags=TAGS,
    opts=after(),
)
nodes = aws.eks.NodeGroup(
    "nodes",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=[subnet.id],
    instance_types=["p5.48xlarge"],
    scaling_config={"min_size": 0, "max_size": 4, "desired_size": 2},
    labels={"gangline.dev/pool": "train"},
    taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    tags=TAGS,
    opts=after(addon),
)
aws.autoscaling.Tag(
    "hint",
    autoscaling_group_name=nodes.resources[0].autoscaling_groups[0].name,
    tag={"key": "k8s.io/cluster-autoscaler/node-template/label/pool", "value": "train", "propagate_at_launch": False},
    opts=after(),
)

queue = aws.sqs.Queue("queue", name=NAME, message_retention_seconds=300, tags=TAGS, opts=after())
rule = aws.cloudwatch.EventRule(
    "rule",
    event_pattern=json.dumps({"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]}),
    tags=TAGS,
    opts=after(),
)
aws.cloudwatch.EventTarget("target", rule=rule.name, arn=queue.arn, target_id=NAME, opts=after())
aws.ecr.PullThroughCacheRule("cache", ecr_repository_prefix=NAME, upstream_registry_url="registry.k8s.io", opts=after())
