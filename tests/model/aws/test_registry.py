"""Images by way of a cache in the account's own registry."""

import copy
from typing import Any

import pytest

from model import document
from model.aws import registry
from model.aws.permissions import scope
from model.problems import spoken
from tests.model.aws.test_addons import value as cluster_value

SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:ecr-pullthroughcache/hub-AbCdEf"
AT = scope("arn:aws:eks:us-east-2:123456789012:cluster/atlas")


def value(**asked: Any) -> dict[str, Any]:
    return cluster_value(registry=copy.deepcopy(asked))


def test_a_registry_s_images_get_a_name_in_the_account() -> None:
    env = document.load(value(cache=["quay.io", "docker.io"], credentials={"docker.io": SECRET}))
    quay, hub = registry.rules(env)
    assert (quay.prefix, quay.upstream.url, quay.secret) == ("atlas/quay", "quay.io", None)
    assert (hub.prefix, hub.upstream.url, hub.secret) == ("atlas/docker-hub", "registry-1.docker.io", SECRET)
    assert registry.address(AT, quay) == "123456789012.dkr.ecr.us-east-2.amazonaws.com/atlas/quay"


def test_china_has_a_domain_of_its_own() -> None:
    (rule,) = registry.rules(document.load(value(cache=["quay.io"])))
    there = scope("arn:aws-cn:eks:cn-north-1:123456789012:cluster/atlas")
    assert registry.address(there, rule) == "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/atlas/quay"


def test_without_a_cache_there_are_no_rules() -> None:
    assert registry.rules(document.load(cluster_value())) == ()


def test_every_registry_can_be_cached() -> None:
    closed = {name: SECRET for name, each in registry.UPSTREAMS.items() if not each.open}
    env = document.load(value(cache=list(registry.UPSTREAMS), credentials=closed))
    assert len({rule.prefix for rule in registry.rules(env)}) == len(registry.UPSTREAMS)


@pytest.mark.parametrize(
    ("asked", "at", "fault"),
    [
        ({"cache": ["nvcr.io"]}, "cache[0]", "ECR keeps no cache of it"),
        ({"cache": ["quay.io", "quay.io"]}, "cache[1]", "is there twice"),
        ({"cache": ["docker.io"]}, "cache[0]", "is cached with credentials only"),
        ({"cache": ["quay.io"], "credentials": {"docker.io": SECRET}}, 'credentials["docker.io"]', "is not cached"),
        (
            {"cache": ["ghcr.io"], "credentials": {"ghcr.io": SECRET.replace("ecr-pullthroughcache/", "")}},
            'credentials["ghcr.io"]',
            "whose name begins with ecr-pullthroughcache/",
        ),
        (
            {"cache": ["docker.io"], "credentials": {"docker.io": SECRET.replace("us-east-2", "us-east-1")}},
            'credentials["docker.io"]',
            "is in us-east-1, and the cache in us-east-2",
        ),
        (
            {"cache": ["docker.io"], "credentials": {"docker.io": SECRET.replace("aws", "aws-cn", 1)}},
            'credentials["docker.io"]',
            "is in partition aws-cn, and us-east-2 is in aws",
        ),
        (
            {"cache": ["docker.io"], "credentials": {"docker.io": SECRET.replace("hub", "hüb")}},
            'credentials["docker.io"]',
            "is no ARN of a secret for ECR",
        ),
    ],
)
def test_a_mistake_is_told_once_where_it_stands(asked: dict[str, Any], at: str, fault: str) -> None:
    (problem,) = document.judge(value(**asked)).errors
    assert spoken(problem.path) == f"environment.cluster.registry.{at}"
    assert fault in problem.message


def test_a_long_name_of_a_cluster_leaves_no_room_for_prefixes() -> None:
    long = value(cache=["quay.io", "registry.k8s.io"])
    long["cluster"]["name"] = "a" * 19
    assert not document.judge(long).errors
    long["cluster"]["name"] = "a" * 20
    (problem,) = document.judge(long).errors
    assert spoken(problem.path) == "environment.cluster.registry.cache"
    assert problem.allowed == "with a cluster's name of 19 characters"
