"""The cluster itself: where it is and which Kubernetes it speaks."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from . import aws, names, operators, releases
from .aws.shape import Access, Network, Registry
from .base import Declared, Listed
from .problems import ABSENT, Problem, answered, known

if TYPE_CHECKING:
    from .environment import Environment

_MINOR = re.compile(r"1\.(0|[1-9][0-9]{0,2})")


class Cluster(Declared):
    """The Kubernetes cluster that an environment describes."""

    name: str
    """Short name, a DNS label. Stays the same for the life of the cluster."""
    provider: Literal["existing", "aws"]
    """`existing`: the cluster is there already and is reached through a kubeconfig context. `aws`: it is made, by
    EKS."""
    kubernetes: str
    """Minor version, as text: "1.35"."""
    context: str | None = None
    """The kubeconfig context of an existing cluster. Written down so that an `up` can never meet another cluster by
    accident."""
    zones: Listed[str] = ()
    """On AWS, its availability zones, such as us-east-2a, two to four of one region."""
    network: Network = Network()
    """On AWS, its network."""
    public_access_cidrs: Listed[str] = ()
    """On AWS, networks from which its API is reached over the internet; none when left out: from the VPC only."""
    access: dict[str, Access] = Field(default_factory=dict)
    """On AWS, who may enter it, by a name of your own. Whoever makes it may always."""
    addons: dict[str, str] = Field(default_factory=dict)
    """On AWS, other exact versions of EKS add-ons by name, such as {vpc-cni: v1.20.4-eksbuild.2}."""
    registry: Registry = Registry()
    """On AWS, a cache of images in the account."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the cluster."""
    for rule in (_name, _kubernetes, _context):
        yield from answered(rule, env)


def references(env: "Environment") -> Iterator[Problem]:
    """Products that are not made for this Kubernetes."""
    minor = int(env.cluster.kubernetes.removeprefix("1."))
    for name in releases.catalogued():
        if not _runs(env, name):
            continue
        newest = releases.newest_kubernetes(env, name)
        if newest is not None and minor > newest:
            message = f"{name} {releases.version(env, name)} is made for Kubernetes up to 1.{newest}"
            value = env.cluster.kubernetes
            yield Problem(("cluster", "kubernetes"), value, message, f"at most 1.{newest}", severity="warning")


def _runs(env: "Environment", product: str) -> bool:
    """Whether an environment runs a product that not all run."""
    if product in operators.PRODUCTS:
        return product in operators.products(env)
    makers = {"karpenter": aws.karpenter, "cluster-autoscaler": aws.autoscaled}
    return product not in makers or (aws.here(env) and bool(makers[product](env)))


def _name(env: "Environment") -> Iterator[Problem]:
    if fault := names.DNS_LABEL.fault(env.cluster.name):
        yield Problem(("cluster", "name"), env.cluster.name, fault, names.DNS_LABEL.allowed)


def _kubernetes(env: "Environment") -> Iterator[Problem]:
    at, version = ("cluster", "kubernetes"), known(env.cluster.kubernetes)
    if not _MINOR.fullmatch(version):
        minor = re.match(r"v?(1\.(?:0|[1-9][0-9]{0,2}))(?![0-9])", version)
        fix = f'"{minor[1]}"' if minor else None
        yield Problem(at, version, "must be a minor version", 'such as "1.35"', fix)


def _context(env: "Environment") -> Iterator[Problem]:
    at, context = ("cluster", "context"), known(env.cluster.context)
    if aws.here(env):
        if context is not None:
            message = "a cluster on AWS is reached by what AWS says of it, not by a kubeconfig"
            yield Problem(at, context, message, fix="leave it out")
    elif context is None:
        message = "an existing cluster is reached by a context of the kubeconfig"
        yield Problem(at, ABSENT, message, fix="context: …, as `kubectl config get-contexts` names it")
    elif not context.strip():
        yield Problem(at, context, "must name a context of the kubeconfig")
