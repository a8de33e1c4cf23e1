"""Functions of the SDK."""

import json
from typing import Any

import pytest
from place import Place
from provider_client import ACCOUNT, REGION, Engine

from twin.aws import sdk
from twin.aws.functions import FUNCTIONS


def named(name: str) -> str:
    [token] = [token for token in FUNCTIONS if token.endswith(f":{name}")]
    return token


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "getAvailabilityZones": (
        {"state": "available", "excludeNames": [f"{REGION}c"]},
        {"names": [f"{REGION}a", f"{REGION}b"], "zoneIds": ["use2-az1", "use2-az2"]},
    ),
    "getCallerIdentity": ({}, {"accountId": ACCOUNT}),
    "getRegion": ({}, {"name": REGION}),
    "getPartition": ({}, {"partition": "aws", "dnsSuffix": "amazonaws.com"}),
    "getParameter": (
        {"name": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"},
        {"type": "String"},
    ),
    "getAmi": (
        {"owners": ["amazon"], "mostRecent": True, "filters": [{"name": "architecture", "values": ["arm64"]}]},
        {"architecture": "arm64"},
    ),
    "getInstanceTypeOfferings": (
        {"locationType": "availability-zone", "filters": [{"name": "instance-type", "values": ["p5.48xlarge"]}]},
        {"instanceTypes": ["p5.48xlarge"] * 3},
    ),
    "getVpc": ({"filters": [{"name": "cidr", "values": ["10.9.0.0/16"]}]}, {"cidrBlock": "10.9.0.0/16"}),
    "getSubnet": ({"filters": [{"name": "cidr-block", "values": ["10.0.1.0/24"]}]}, {"availabilityZone": f"{REGION}b"}),
    "getSubnets": ({"filters": [{"name": "cidr-block", "values": ["10.0.1.0/24"]}]}, {}),
    "getCluster": ({"name": "place"}, {"version": "1.34", "status": "ACTIVE"}),
    "getCapacityBlockOffering": (
        {"instanceType": "p5.48xlarge", "instanceCount": 4, "capacityDurationHours": 24},
        {"instanceCount": 4, "availabilityZone": f"{REGION}a"},
    ),
    "getPolicyDocument": ({"statements": [{"actions": ["s3:GetObject"], "resources": ["*"]}]}, {}),
}


@pytest.mark.parametrize("token", sorted(FUNCTIONS))
def test_a_function_answers_what_the_sdk_says(token: str, engine: Engine, place: Place) -> None:
    given, wanted = CASES[token.rpartition(":")[2]]
    answer = engine.invoke(token, given)
    assert {name: answer[name] for name in wanted} == wanted
    kinds = sdk.function(token)["outputs"]
    assert "id" in answer or "id" not in kinds
    assert [each for name, value in answer.items() for each in sdk.mistakes(value, kinds[name], name)] == []
    assert FUNCTIONS[token][1] <= set(sdk.function(token)["inputs"])


def test_images_of_eks_have_parameters(engine: Engine) -> None:
    name = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/image_id"
    answer = engine.invoke(named("getParameter"), {"name": name})
    assert answer["value"].startswith("ami-")
    assert answer == engine.invoke(named("getParameter"), {"name": name})


def test_a_policy_document_is_in_the_language_of_policies(engine: Engine) -> None:
    answer = engine.invoke(
        named("getPolicyDocument"),
        {
            "statements": [
                {
                    "sid": "Pods",
                    "actions": ["sts:TagSession", "sts:AssumeRole"],
                    "principals": [{"type": "Service", "identifiers": ["pods.eks.amazonaws.com"]}],
                    "conditions": [{"test": "StringEquals", "variable": "aws:SourceAccount", "values": [ACCOUNT]}],
                },
                {
                    "effect": "Deny",
                    "actions": ["s3:*"],
                    "resources": ["*"],
                    "principals": [{"type": "*", "identifiers": ["*"]}],
                },
            ]
        },
    )
    assert json.loads(answer["json"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Sid": "Pods",
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}},
            },
            {"Effect": "Deny", "Action": "s3:*", "Resource": "*", "Principal": "*"},
        ],
    }
