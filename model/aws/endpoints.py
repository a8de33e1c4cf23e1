"""AWS's own services that nodes and operators call, and how they are reached from inside the network.

Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html.
"""

from typing import TYPE_CHECKING

from model.aws import autoscaled, karpenter

if TYPE_CHECKING:
    from model.environment import Environment

GATEWAYS = ("s3",)
"""Services that are reached by a route, which costs nothing: images of ECR lie in S3 too."""


def interfaces(env: "Environment") -> tuple[str, ...]:
    """The services that need an interface in a network without a way out."""
    needed = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"]
    if autoscaled(env):
        needed.append("autoscaling")
    if karpenter(env):
        needed += ["sqs", "ssm"]
    return tuple(needed)
