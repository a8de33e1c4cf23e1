"""What each part of a cluster may do in AWS: statements of IAM policies, only the actions that it needs.

Every statement has a Sid, by which `model.aws.wildcards` knows it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .partitions import Partition

Statement = dict[str, Any]

VERSION = "2012-10-17"
"""Version of the language of policies (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_version.html)."""


@dataclass(frozen=True)
class Scope:
    """Where permissions hold.

    Attributes:
        partition: Such as `aws` or `aws-cn`.
        region: Such as `us-east-2`.
        account: Twelve digits.
        cluster: Name of the EKS cluster.
    """

    partition: str
    region: str
    account: str
    cluster: str

    def arn(self, service: str, resource: str, *, owned: bool = True) -> str:
        """The ARN of a resource in the region.

        Args:
            service: Such as `ec2`.
            resource: Such as `volume/*`.
            owned: Whether it belongs to the account; public images and their snapshots do not.
        """
        return f"arn:{self.partition}:{service}:{self.region}:{self.account if owned else ''}:{resource}"

    def ec2(self, *kinds: str) -> list[str]:
        """The ARNs of all resources of some kinds, such as `volume`."""
        return [self.arn("ec2", f"{kind}/*") for kind in kinds]

    @property
    def mark(self) -> str:
        """The tag that instances of the cluster carry with the value `owned`."""
        return f"kubernetes.io/cluster/{self.cluster}"


def scope(cluster: str) -> Scope:
    """Where the permissions of a cluster hold.

    Args:
        cluster: ARN of the EKS cluster.

    Raises:
        ValueError: It is none.
    """
    parts = cluster.split(":")
    if len(parts) != 6 or parts[2] != "eks" or not parts[5].startswith("cluster/"):
        raise ValueError(f"{cluster} is not the ARN of an EKS cluster")
    return Scope(parts[1], parts[3], parts[4], parts[5].removeprefix("cluster/"))


def policy(statements: Iterable[Statement]) -> dict[str, Any]:
    """The policy of some statements."""
    return {"Version": VERSION, "Statement": list(statements)}


def pod_trust(cluster: str, namespace: str, account: str) -> dict[str, Any]:
    """Who may assume the role of a service account: EKS Pod Identity, for that account of that cluster only.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html; the tags are those of
    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html.

    Args:
        cluster: Name of the cluster.
        namespace: Namespace of the service account.
        account: The service account.
    """
    tags = {"eks-cluster-name": cluster, "kubernetes-namespace": namespace, "kubernetes-service-account": account}
    return policy(
        [
            {
                "Sid": "PodIdentity",
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {"StringEquals": {f"aws:RequestTag/{key}": value for key, value in tags.items()}},
            }
        ]
    )


def instance_trust(at: Partition) -> dict[str, Any]:
    """Who may assume the role of nodes: EC2, for its instances.

    Args:
        at: The partition that the nodes are in.
    """
    return policy(
        [
            {
                "Sid": "Instances",
                "Effect": "Allow",
                "Principal": {"Service": at.instances},
                "Action": ["sts:AssumeRole"],
            }
        ]
    )


def addon(at: Scope, name: str, vpc: str) -> list[Statement]:
    """What an add-on of EKS needs.

    Args:
        at: Where.
        name: Its name in EKS.
        vpc: Id of the cluster's VPC.

    Raises:
        KeyError: It needs nothing.
    """
    needs = {"vpc-cni": lambda: vpc_cni(at, vpc), "aws-ebs-csi-driver": lambda: ebs_csi(at)}
    return needs[name]()


def vpc_cni(at: Scope, vpc: str) -> list[Statement]:
    """What the VPC CNI needs: network interfaces of the cluster's own instances.

    EKS tells the add-on the cluster's name, and it tags each interface with it.

    Source: https://github.com/aws/amazon-vpc-cni-k8s, docs/iam-policy.md (scope-down policy for IPv4).

    Args:
        at: Where.
        vpc: Id of the VPC.
    """
    name = "cluster.k8s.amazonaws.com/name"
    return [
        _read(
            "CniRead",
            "ec2",
            "DescribeInstances DescribeInstanceTypes DescribeNetworkInterfaces DescribeSecurityGroups DescribeSubnets "
            "DescribeTags",
        ),
        # Also those that came with the instance: they are tagged when the CNI starts, and only then are its own.
        _allow("CniTag", "ec2", "CreateTags", at.ec2("network-interface")),
        _allow(
            "CniCreate",
            "ec2",
            "CreateNetworkInterface",
            at.ec2("network-interface"),
            {"StringEquals": {f"aws:RequestTag/{name}": at.cluster}},
        ),
        _allow(
            "CniCreateWithin",
            "ec2",
            "CreateNetworkInterface",
            at.ec2("subnet", "security-group"),
            {"ArnEquals": {"ec2:Vpc": at.arn("ec2", f"vpc/{vpc}")}},
        ),
        _allow(
            "CniChange",
            "ec2",
            "AssignPrivateIpAddresses AttachNetworkInterface DeleteNetworkInterface DetachNetworkInterface "
            "ModifyNetworkInterfaceAttribute UnassignPrivateIpAddresses",
            at.ec2("network-interface"),
            {"StringEquals": {f"aws:ResourceTag/{name}": at.cluster}},
        ),
        _allow(
            "CniAttach",
            "ec2",
            "AttachNetworkInterface DetachNetworkInterface ModifyNetworkInterfaceAttribute",
            at.ec2("instance"),
            {"StringEquals": {f"aws:ResourceTag/{at.mark}": "owned"}},
        ),
        _allow("CniGroups", "ec2", "ModifyNetworkInterfaceAttribute", at.ec2("security-group")),
    ]


def ebs_csi(at: Scope) -> list[Statement]:
    """What the controller of the EBS CSI driver needs: volumes and snapshots that it made, on the cluster's instances.

    Source: https://github.com/kubernetes-sigs/aws-ebs-csi-driver, docs/example-iam-policy.json, without what is left
    unused here (copies of volumes, fast restores, locks, removal of tags). It tags all that it makes with
    `ebs.csi.aws.com/cluster`.

    Args:
        at: Where.
    """
    made = "ebs.csi.aws.com/cluster"
    return [
        _read(
            "EbsRead",
            "ec2",
            "DescribeAvailabilityZones DescribeInstances DescribeInstanceTypes DescribeSnapshots DescribeTags "
            "DescribeVolumes DescribeVolumesModifications DescribeVolumeStatus",
        ),
        _allow(
            "EbsCreate",
            "ec2",
            "CreateSnapshot CreateVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:RequestTag/{made}": "true"}},
        ),
        # Of what a volume or a snapshot is made carries no tag of the request.
        _allow(
            "EbsFrom",
            "ec2",
            "CreateSnapshot CreateVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:ResourceTag/{made}": "true"}},
        ),
        _allow(
            "EbsTag",
            "ec2",
            "CreateTags",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {"ec2:CreateAction": ["CreateVolume", "CreateSnapshot"]}},
        ),
        _allow(
            "EbsChange",
            "ec2",
            "DeleteSnapshot DeleteVolume ModifyVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:ResourceTag/{made}": "true"}},
        ),
        _allow(
            "EbsAttachTo",
            "ec2",
            "AttachVolume DetachVolume",
            at.ec2("instance"),
            {"StringEquals": {f"aws:ResourceTag/{at.mark}": "owned"}},
        ),
        _allow("EbsAttach", "ec2", "AttachVolume DetachVolume", at.ec2("volume")),
    ]


def autoscaler(at: Scope) -> list[Statement]:
    """What the cluster autoscaler needs: the sizes of the cluster's own Auto Scaling groups.

    EKS tags the groups of managed node groups with `k8s.io/cluster-autoscaler/<cluster>`.

    Source: https://github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md;
    https://docs.aws.amazon.com/eks/latest/best-practices/cas.html (the condition).

    Args:
        at: Where.
    """
    return [
        _read(
            "AutoscalerRead",
            "autoscaling",
            "DescribeAutoScalingGroups DescribeAutoScalingInstances DescribeLaunchConfigurations "
            "DescribeScalingActivities DescribeTags",
        ),
        _read(
            "AutoscalerReadInstances",
            "ec2",
            "DescribeImages DescribeInstanceTypes DescribeLaunchTemplateVersions "
            "GetInstanceTypesFromInstanceRequirements",
        ),
        _allow(
            "AutoscalerReadGroups",
            "eks",
            "DescribeNodegroup",
            [at.arn("eks", f"nodegroup/{at.cluster}/*")],
        ),
        _allow(
            "AutoscalerSize",
            "autoscaling",
            "SetDesiredCapacity TerminateInstanceInAutoScalingGroup",
            [at.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/*")],
            {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{at.cluster}": "owned"}},
        ),
    ]


def karpenter(
    at: Scope, *, node_role: str, queue: str, subnets: Sequence[str], security_groups: Sequence[str]
) -> list[Statement]:
    """What Karpenter's controller needs: instances of the cluster, in its own subnets, with the role of its nodes.

    The instance profile is made beside it, so it may change nothing in IAM.

    Source: https://github.com/aws/karpenter-provider-aws, website/content/en/preview/getting-started/
    getting-started-with-karpenter/cloudformation.yaml as of 2026-08-21, narrowed to what is given here.

    Args:
        at: Where.
        node_role: ARN of the role of nodes.
        queue: ARN of the queue of interruptions.
        subnets: Ids of the subnets that nodes may be in.
        security_groups: Ids of the security groups of nodes.
    """
    pool = "karpenter.sh/nodepool"
    makes = at.ec2("fleet", "instance", "launch-template", "network-interface", "spot-instances-request", "volume")
    asked = {
        "StringEquals": {
            f"aws:RequestTag/{at.mark}": "owned",
            "aws:RequestTag/eks:eks-cluster-name": at.cluster,
        },
        "StringLike": {f"aws:RequestTag/{pool}": "*"},
    }
    made = {"StringEquals": {f"aws:ResourceTag/{at.mark}": "owned"}, "StringLike": {f"aws:ResourceTag/{pool}": "*"}}
    return [
        _allow(
            "KarpenterLaunchIn",
            "ec2",
            "CreateFleet RunInstances",
            [
                *(at.arn("ec2", f"subnet/{each}") for each in subnets),
                *(at.arn("ec2", f"security-group/{each}") for each in security_groups),
            ],
        ),
        _allow(
            "KarpenterLaunchFrom",
            "ec2",
            "CreateFleet RunInstances",
            [
                at.arn("ec2", "image/*", owned=False),
                at.arn("ec2", "snapshot/*", owned=False),
                *at.ec2("capacity-reservation"),
            ],
        ),
        _allow("KarpenterLaunchBy", "ec2", "CreateFleet RunInstances", at.ec2("launch-template"), made),
        _allow("KarpenterLaunch", "ec2", "CreateFleet CreateLaunchTemplate RunInstances", makes, asked),
        _allow(
            "KarpenterTagNew",
            "ec2",
            "CreateTags",
            makes,
            {
                **asked,
                "StringEquals": {
                    **asked["StringEquals"],
                    "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"],
                },
            },
        ),
        _allow(
            "KarpenterTag",
            "ec2",
            "CreateTags",
            at.ec2("instance"),
            {
                **made,
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": at.cluster},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
                },
            },
        ),
        _allow(
            "KarpenterDelete",
            "ec2",
            "DeleteLaunchTemplate TerminateInstances",
            at.ec2("instance", "launch-template"),
            made,
        ),
        _allow(
            "KarpenterPassRole",
            "iam",
            "PassRole",
            [node_role],
            {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        ),
        _allow("KarpenterQueue", "sqs", "DeleteMessage GetQueueUrl ReceiveMessage", [queue]),
        _allow("KarpenterCluster", "eks", "DescribeCluster", [at.arn("eks", f"cluster/{at.cluster}")]),
        _allow("KarpenterImages", "ssm", "GetParameter", [at.arn("ssm", "parameter/aws/service/*", owned=False)]),
        _read(
            "KarpenterRead",
            "ec2",
            "DescribeCapacityReservations DescribeImages DescribeInstances DescribeInstanceStatus "
            "DescribeInstanceTypeOfferings DescribeInstanceTypes DescribeLaunchTemplates DescribePlacementGroups "
            "DescribeSecurityGroups DescribeSpotPriceHistory DescribeSubnets",
            {"StringEquals": {"aws:RequestedRegion": at.region}},
        ),
        _read("KarpenterPrices", "pricing", "GetProducts"),
        _read("KarpenterProfiles", "iam", "ListInstanceProfiles"),
    ]


def interruption_queue(queue: str) -> list[Statement]:
    """Who may write to Karpenter's queue of interruptions: EventBridge, over TLS.

    Source: as of `karpenter`.

    Args:
        queue: ARN of the queue.
    """
    return [
        {
            "Sid": "Events",
            "Effect": "Allow",
            "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
            "Action": ["sqs:SendMessage"],
            "Resource": [queue],
        },
        {
            "Sid": "OnlyTls",
            "Effect": "Deny",
            "Principal": "*",
            "Action": ["sqs:*"],
            "Resource": [queue],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    ]


def image_import(at: Scope, prefixes: Iterable[str]) -> list[Statement]:
    """What nodes need to pull an image for the first time through the cache: it makes the repository.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html.

    Args:
        at: Where.
        prefixes: Prefixes of the rules.
    """
    return [
        _allow(
            "ImageImport",
            "ecr",
            "BatchImportUpstreamImage CreateRepository",
            [at.arn("ecr", f"repository/{prefix}/*") for prefix in prefixes],
        )
    ]


def _allow(
    sid: str, service: str, actions: str, resources: Sequence[str], condition: Mapping[str, Any] | None = None
) -> Statement:
    statement: Statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions.split()],
        "Resource": list(resources),
    }
    return statement | ({"Condition": dict(condition)} if condition else {})


def _read(sid: str, service: str, actions: str, condition: Mapping[str, Any] | None = None) -> Statement:
    """Reads that AWS knows no single resources for."""
    return _allow(sid, service, actions, ["*"], condition)
