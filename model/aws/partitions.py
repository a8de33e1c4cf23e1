"""Partitions of AWS: what is called otherwise in China, for governments and in the European Sovereign Cloud.

Regions, names and domains are those of botocore's `partitions.json`
(https://github.com/boto/botocore/blob/develop/botocore/data/partitions.json).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: ARNs of one are unknown in all others.

    Attributes:
        name: What ARNs have after `arn:`.
        domain: Domain of its services.
        regions: What names of its regions begin with.
    """

    name: str
    domain: str
    regions: str

    @property
    def instances(self) -> str:
        """EC2 as roles of nodes trust it.

        EKS wants it by its domain in China, whereas other services have one name everywhere
        (https://github.com/awslabs/cdk-eks-blueprints/issues/558).
        """
        return f"ec2.{self.domain}" if self.name == "aws-cn" else "ec2.amazonaws.com"

    def policy(self, name: str) -> str:
        """The ARN of one of AWS's own policies, such as `AmazonEKSWorkerNodePolicy`."""
        return f"arn:{self.name}:iam::aws:policy/{name}"

    def access(self, name: str) -> str:
        """The ARN of one of EKS's own policies of access, such as `AmazonEKSViewPolicy`."""
        return f"arn:{self.name}:eks::aws:cluster-access-policy/{name}"

    def endpoint(self, region: str, service: str) -> str:
        """The name of a service's end point in a VPC.

        In China most have the country before their name (https://github.com/aws/aws-cdk/issues/25329).

        Args:
            region: The region.
            service: Such as `ecr.api`.
        """
        country = "cn." if self.name == "aws-cn" and service not in _EVERYWHERE else ""
        return f"{country}com.amazonaws.{region}.{service}"


_EVERYWHERE = frozenset({"s3", "ssm"})
"""Services whose end points are called in China as they are elsewhere (same page)."""
_COMMON = Partition("aws", "amazonaws.com", "")
_OTHERS = (
    Partition("aws-cn", "amazonaws.com.cn", "cn-"),
    Partition("aws-us-gov", "amazonaws.com", "us-gov-"),
    Partition("aws-eusc", "amazonaws.eu", "eusc-"),
    Partition("aws-iso", "c2s.ic.gov", "us-iso-"),
    Partition("aws-iso-b", "sc2s.sgov.gov", "us-isob-"),
    Partition("aws-iso-e", "cloud.adc-e.uk", "eu-isoe-"),
    Partition("aws-iso-f", "csp.hci.ic.gov", "us-isof-"),
)


def partition(region: str) -> Partition:
    """The partition of a region."""
    return next((each for each in _OTHERS if region.startswith(each.regions)), _COMMON)
