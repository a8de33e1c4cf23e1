"""Images by way of a cache in the account's own registry.

ECR fetches an image from its registry when a node first asks for it, and keeps it: a thousand nodes that start at once
do not run into the limits of a public registry.

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.problems import Problem, answered, known

from . import here, region
from .partitions import partition
from .permissions import Scope

if TYPE_CHECKING:
    from model.environment import Environment


@dataclass(frozen=True)
class Upstream:
    """A registry that ECR can cache.

    Attributes:
        name: Its name in images and documents.
        url: Where ECR fetches from.
        short: What stands for it in names of repositories.
        open: Whether it lets anybody fetch.
    """

    name: str
    url: str
    short: str
    open: bool


UPSTREAMS: Mapping[str, Upstream] = {
    each.name: each
    for each in (
        Upstream("public.ecr.aws", "public.ecr.aws", "ecr-public", open=True),
        Upstream("quay.io", "quay.io", "quay", open=True),
        Upstream("registry.k8s.io", "registry.k8s.io", "kubernetes", open=True),
        Upstream("docker.io", "registry-1.docker.io", "docker-hub", open=False),
        Upstream("ghcr.io", "ghcr.io", "github", open=False),
    )
}
"""The registries by name (API_CreatePullThroughCacheRule of ECR, upstreamRegistryUrl). nvcr.io is none of them."""

LONGEST = 30
"""Characters of a prefix (the same page, ecrRepositoryPrefix)."""


@dataclass(frozen=True)
class Rule:
    """A rule of the cache.

    Attributes:
        upstream: The registry.
        prefix: What names of its repositories in the account begin with.
        secret: ARN of the secret with its credentials; None where it is open.
    """

    upstream: Upstream
    prefix: str
    secret: str | None


def rules(env: "Environment") -> tuple[Rule, ...]:
    """The rules of an environment. They are the account's and its region's: prefixes begin with the cluster's name."""
    registry = env.cluster.registry
    return tuple(
        Rule(UPSTREAMS[name], f"{env.cluster.name}/{UPSTREAMS[name].short}", registry.credentials.get(name))
        for name in registry.cache
    )


def address(at: Scope, rule: Rule) -> str:
    """What stands for a registry's name in an image that comes by way of the cache.

    `quay.io/kuberay/operator:v1.6.2` is then `<address>/kuberay/operator:v1.6.2`; an official image of Docker Hub has
    `library/` before its name.
    """
    return f"{at.account}.dkr.ecr.{at.region}.{partition(at.region).domain}/{rule.prefix}"


def references(env: "Environment") -> Iterator[Problem]:
    """What the cluster's name and region do not let be cached."""
    if here(env):
        yield from answered(_prefixes, env)
        yield from answered(_secrets, env)


def _prefixes(env: "Environment") -> Iterator[Problem]:
    long = [rule for rule in rules(env) if len(rule.prefix) > LONGEST]
    if long:
        most = LONGEST - 1 - max(len(rule.upstream.short) for rule in rules(env))
        message = (
            f"names of cached images begin with the cluster's, and {long[0].prefix} has more than {LONGEST} characters"
        )
        at = ("cluster", "registry", "cache")
        yield Problem(at, list(env.cluster.registry.cache), message, f"with a cluster's name of {most} characters")


def _secrets(env: "Environment") -> Iterator[Problem]:
    for name, secret in env.cluster.registry.credentials.items():
        at, parts = ("cluster", "registry", "credentials", name), known(secret).split(":")
        place = region(env)
        if parts[3] != place:
            message = f"is in {parts[3]}, and the cache in {place}"
            yield Problem(at, secret, message, f"a secret in {place}")
        elif parts[1] != partition(place).name:
            message = f"is in partition {parts[1]}, and {place} is in {partition(place).name}"
            yield Problem(at, secret, message, f"arn:{partition(place).name}:secretsmanager:…")
