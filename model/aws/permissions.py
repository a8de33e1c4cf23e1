"""What each part of a cluster may do in AWS: statements of IAM policies, only the actions that it needs.

Every statement has a Sid, by which `model.aws.wildcards` knows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .partitions import Partition
from .statements import Statement, allow, policy, read


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
        read(
            "CniRead",
            "ec2",
            "DescribeInstances DescribeInstanceTypes DescribeNetworkInterfaces DescribeSecurityGroups DescribeSubnets "
            "DescribeTags",
        ),
        # Also those that came with the instance: they are tagged when the CNI starts, and only then are its own.
        allow("CniTag", "ec2", "CreateTags", at.ec2("network-interface")),
        allow(
            "CniCreate",
            "ec2",
            "CreateNetworkInterface",
            at.ec2("network-interface"),
            {"StringEquals": {f"aws:RequestTag/{name}": at.cluster}},
        ),
        allow(
            "CniCreateWithin",
            "ec2",
            "CreateNetworkInterface",
            at.ec2("subnet", "security-group"),
            {"ArnEquals": {"ec2:Vpc": at.arn("ec2", f"vpc/{vpc}")}},
        ),
        allow(
            "CniChange",
            "ec2",
            "AssignPrivateIpAddresses AttachNetworkInterface DeleteNetworkInterface DetachNetworkInterface "
            "ModifyNetworkInterfaceAttribute UnassignPrivateIpAddresses",
            at.ec2("network-interface"),
            {"StringEquals": {f"aws:ResourceTag/{name}": at.cluster}},
        ),
        allow(
            "CniAttach",
            "ec2",
            "AttachNetworkInterface DetachNetworkInterface ModifyNetworkInterfaceAttribute",
            at.ec2("instance"),
            {"StringEquals": {f"aws:ResourceTag/{at.mark}": "owned"}},
        ),
        allow("CniGroups", "ec2", "ModifyNetworkInterfaceAttribute", at.ec2("security-group")),
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
        read(
            "EbsRead",
            "ec2",
            "DescribeAvailabilityZones DescribeInstances DescribeInstanceTypes DescribeSnapshots DescribeTags "
            "DescribeVolumes DescribeVolumesModifications DescribeVolumeStatus",
        ),
        allow(
            "EbsCreate",
            "ec2",
            "CreateSnapshot CreateVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:RequestTag/{made}": "true"}},
        ),
        # Of what a volume or a snapshot is made carries no tag of the request.
        allow(
            "EbsFrom",
            "ec2",
            "CreateSnapshot CreateVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:ResourceTag/{made}": "true"}},
        ),
        allow(
            "EbsTag",
            "ec2",
            "CreateTags",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {"ec2:CreateAction": ["CreateVolume", "CreateSnapshot"]}},
        ),
        allow(
            "EbsChange",
            "ec2",
            "DeleteSnapshot DeleteVolume ModifyVolume",
            [at.arn("ec2", "snapshot/*", owned=False), *at.ec2("volume")],
            {"StringEquals": {f"aws:ResourceTag/{made}": "true"}},
        ),
        allow(
            "EbsAttachTo",
            "ec2",
            "AttachVolume DetachVolume",
            at.ec2("instance"),
            {"StringEquals": {f"aws:ResourceTag/{at.mark}": "owned"}},
        ),
        allow("EbsAttach", "ec2", "AttachVolume DetachVolume", at.ec2("volume")),
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
        read(
            "AutoscalerRead",
            "autoscaling",
            "DescribeAutoScalingGroups DescribeAutoScalingInstances DescribeLaunchConfigurations "
            "DescribeScalingActivities DescribeTags",
        ),
        read(
            "AutoscalerReadInstances",
            "ec2",
            "DescribeImages DescribeInstanceTypes DescribeLaunchTemplateVersions "
            "GetInstanceTypesFromInstanceRequirements",
        ),
        allow(
            "AutoscalerReadGroups",
            "eks",
            "DescribeNodegroup",
            [at.arn("eks", f"nodegroup/{at.cluster}/*")],
        ),
        allow(
            "AutoscalerSize",
            "autoscaling",
            "SetDesiredCapacity TerminateInstanceInAutoScalingGroup",
            [at.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/*")],
            {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{at.cluster}": "owned"}},
        ),
    ]


def image_import(at: Scope, prefixes: Iterable[str]) -> list[Statement]:
    """What nodes need to pull an image for the first time through the cache: it makes the repository.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html.

    Args:
        at: Where.
        prefixes: Prefixes of the rules.
    """
    return [
        allow(
            "ImageImport",
            "ecr",
            "BatchImportUpstreamImage CreateRepository",
            [at.arn("ecr", f"repository/{prefix}/*") for prefix in prefixes],
        )
    ]
