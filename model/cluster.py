"""The cluster itself: where it is and which Kubernetes it speaks."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from . import names, operators, releases
from .base import Declared
from .problems import Problem, answered, known

if TYPE_CHECKING:
    from .environment import Environment

_MINOR = re.compile(r"1\.(0|[1-9][0-9]{0,2})")


class Cluster(Declared):
    """The Kubernetes cluster that an environment describes."""

    name: str
    """Short name, a DNS label. Stays the same for the life of the cluster."""
    provider: Literal["existing"]
    """`existing`: the cluster is there already and is reached through a kubeconfig context."""
    kubernetes: str
    """Minor version, as text: "1.35"."""
    context: str
    """The kubeconfig context. Written down so that an `up` can never meet another cluster by accident."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the cluster."""
    for rule in (_name, _kubernetes, _context):
        yield from answered(rule, env)


def references(env: "Environment") -> Iterator[Problem]:
    """Products that are not made for this Kubernetes."""
    minor = int(env.cluster.kubernetes.removeprefix("1."))
    for name in releases.catalogued():
        if name in operators.PRODUCTS and name not in operators.products(env):
            continue
        newest = releases.newest_kubernetes(env, name)
        if newest is not None and minor > newest:
            message = f"{name} {releases.version(env, name)} is made for Kubernetes up to 1.{newest}"
            value = env.cluster.kubernetes
            yield Problem(("cluster", "kubernetes"), value, message, f"at most 1.{newest}", severity="warning")


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
    if not env.cluster.context.strip():
        yield Problem(("cluster", "context"), env.cluster.context, "must name a context of the kubeconfig")
