"""What Karpenter may do in AWS, and who may tell it of interruptions."""

from collections.abc import Sequence

from .permissions import Scope
from .statements import Statement, allow, read


def controller(
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
        allow(
            "KarpenterLaunchIn",
            "ec2",
            "CreateFleet RunInstances",
            [
                *(at.arn("ec2", f"subnet/{each}") for each in subnets),
                *(at.arn("ec2", f"security-group/{each}") for each in security_groups),
            ],
        ),
        allow(
            "KarpenterLaunchFrom",
            "ec2",
            "CreateFleet RunInstances",
            [
                at.arn("ec2", "image/*", owned=False),
                at.arn("ec2", "snapshot/*", owned=False),
                *at.ec2("capacity-reservation"),
            ],
        ),
        allow("KarpenterLaunchBy", "ec2", "CreateFleet RunInstances", at.ec2("launch-template"), made),
        allow("KarpenterLaunch", "ec2", "CreateFleet CreateLaunchTemplate RunInstances", makes, asked),
        allow(
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
        allow(
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
        allow(
            "KarpenterDelete",
            "ec2",
            "DeleteLaunchTemplate TerminateInstances",
            at.ec2("instance", "launch-template"),
            made,
        ),
        allow(
            "KarpenterPassRole",
            "iam",
            "PassRole",
            [node_role],
            {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        ),
        allow("KarpenterQueue", "sqs", "DeleteMessage GetQueueUrl ReceiveMessage", [queue]),
        allow("KarpenterCluster", "eks", "DescribeCluster", [at.arn("eks", f"cluster/{at.cluster}")]),
        allow("KarpenterImages", "ssm", "GetParameter", [at.arn("ssm", "parameter/aws/service/*", owned=False)]),
        read(
            "KarpenterRead",
            "ec2",
            "DescribeCapacityReservations DescribeImages DescribeInstances DescribeInstanceStatus "
            "DescribeInstanceTypeOfferings DescribeInstanceTypes DescribeLaunchTemplates DescribePlacementGroups "
            "DescribeSecurityGroups DescribeSpotPriceHistory DescribeSubnets",
            {"StringEquals": {"aws:RequestedRegion": at.region}},
        ),
        read("KarpenterPrices", "pricing", "GetProducts"),
        read("KarpenterProfiles", "iam", "ListInstanceProfiles"),
    ]


def interruption_queue(queue: str) -> list[Statement]:
    """Who may write to Karpenter's queue of interruptions: EventBridge, over TLS.

    Source: as of `controller`.

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
