"""What is called otherwise in some regions."""

import pytest

from model.aws.partitions import partition


@pytest.mark.parametrize(
    ("region", "name", "domain"),
    [
        ("us-east-2", "aws", "amazonaws.com"),
        ("eu-central-1", "aws", "amazonaws.com"),
        ("cn-northwest-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
        ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
        ("us-isob-east-1", "aws-iso-b", "sc2s.sgov.gov"),
        ("us-iso-east-1", "aws-iso", "c2s.ic.gov"),
    ],
)
def test_a_region_is_in_one_partition(region: str, name: str, domain: str) -> None:
    assert (partition(region).name, partition(region).domain) == (name, domain)


def test_china_has_other_names() -> None:
    china, common = partition("cn-north-1"), partition("us-east-2")
    assert (china.instances, common.instances) == ("ec2.amazonaws.com.cn", "ec2.amazonaws.com")
    assert china.endpoint("cn-north-1", "ecr.api") == "cn.com.amazonaws.cn-north-1.ecr.api"
    assert china.endpoint("cn-north-1", "s3") == "com.amazonaws.cn-north-1.s3"
    assert china.policy("AmazonEKSClusterPolicy") == "arn:aws-cn:iam::aws:policy/AmazonEKSClusterPolicy"
    assert common.endpoint("us-east-2", "ecr.api") == "com.amazonaws.us-east-2.ecr.api"
