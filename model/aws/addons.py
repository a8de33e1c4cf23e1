"""Add-ons of EKS: which a cluster gets, at which version, told what."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog import reader as catalog
from model import agents
from model.nodes import POOL_LABEL
from model.problems import NOTHING, Problem, answered, known, lost, nearest
from model.storage.shared import Efs, Lustre

from . import here

if TYPE_CHECKING:
    from model.environment import Environment

_EXACT = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+")
_BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""A node is not ready without the first, and pods on it have no permissions without the last. The others have pods that
wait for a node: made before, they would be reported as degraded."""
_OF_FILE_SYSTEMS = {"aws-fsx-csi-driver": Lustre, "aws-efs-csi-driver": Efs}
"""What a cluster has only for a shared tier of that kind. Their node pods tolerate all taints by themselves
(node.tolerateAllTaints in charts/aws-fsx-csi-driver/values.yaml, node.tolerations in that of aws-efs-csi-driver)."""

_APART = {
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
                    "topologyKey": "kubernetes.io/hostname",
                },
            }
        ]
    }
}
"""Keeps the replicas of DNS on different nodes: the add-on's own rule, which a rule about nodes would replace."""


@dataclass(frozen=True)
class Addon:
    """An add-on as a cluster gets it.

    Attributes:
        name: Its name in EKS.
        version: Exact version.
        values: What it is told, by the keys of its configuration schema; empty where its defaults are right.
        account: The service account, in kube-system, whose pods need permissions in AWS; None where none do.
    """

    name: str
    version: str
    values: Mapping[str, Any]
    account: str | None

    @property
    def configuration(self) -> str | None:
        """The values as EKS wants them: JSON, or nothing."""
        return json.dumps(self.values, sort_keys=True) if self.values else None


def before_nodes(env: "Environment") -> tuple[Addon, ...]:
    """The add-ons that must be there before the first node."""
    return tuple(_addon(env, name) for name in _BEFORE_NODES)


def after_nodes(env: "Environment") -> tuple[Addon, ...]:
    """The add-ons that need nodes to run on."""
    return tuple(_addon(env, name) for name in wanted(env) if name not in _BEFORE_NODES)


def wanted(env: "Environment") -> tuple[str, ...]:
    """The add-ons that a cluster gets, in the order in which they are made."""
    shared = known(known(env.storage).shared)
    return tuple(name for name in catalog.addons() if isinstance(shared, _OF_FILE_SYSTEMS.get(name, object)))


def version(env: "Environment", name: str) -> str:
    """The exact version of an add-on: the document's, or the catalogue's for the cluster's Kubernetes.

    Raises:
        KeyError: The catalogue has none for that Kubernetes.
    """
    return env.cluster.addons.get(name) or catalog.addons()[name].versions[env.cluster.kubernetes]


def _addon(env: "Environment", name: str) -> Addon:
    return Addon(name, version(env, name), _values(env, name), catalog.addons()[name].account)


def _values(env: "Environment", name: str) -> dict[str, Any]:
    """What an add-on is told, where its own defaults are not right."""
    place = placement(env)
    match name:
        case "vpc-cni":
            # A node with EFA has few interfaces for pods; with a /28 per address they are no limit any more
            # (https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses.html).
            return {"env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}}
        case "coredns":
            return place | {"affinity": place.get("affinity", {}) | _APART}
        case "aws-ebs-csi-driver":
            # charts/aws-ebs-csi-driver/values.yaml of https://github.com/kubernetes-sigs/aws-ebs-csi-driver
            driver: dict[str, Any] = {"node": {"tolerateAllTaints": True}}
            return driver | ({"controller": place} if place else {})
        case "eks-node-monitoring-agent":
            # The agent tolerates all taints by itself, its DCGM server none: GPUs of tainted nodes, which is all of
            # them, would never be looked at (https://github.com/aws/containers-roadmap/issues/2567;
            # charts/eks-node-monitoring-agent/values.yaml of https://github.com/aws/eks-node-monitoring-agent).
            return {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
        case _:
            return {}


def placement(env: "Environment") -> dict[str, Any]:
    """Where pods run that serve the cluster as a whole: off GPU nodes, and tolerating the taints of the others."""
    gpus = agents.gpu_pools(env)
    others = [name for name in env.pools if name not in gpus]
    tolerations = [
        {"key": each.key, "operator": "Exists", "effect": each.effect} for each in agents.tolerations(env, others)
    ]
    made: dict[str, Any] = {"tolerations": tolerations} if tolerations else {}
    if gpus and others:
        away = {"key": POOL_LABEL, "operator": "NotIn", "values": list(gpus)}
        required = {"nodeSelectorTerms": [{"matchExpressions": [away]}]}
        made["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return made


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the versions that the document names."""
    if here(env):
        yield from answered(_named, env)


def references(env: "Environment") -> Iterator[Problem]:
    """Add-ons that nobody knows a version of for this Kubernetes, and versions of those that it does not get."""
    if here(env):
        yield from answered(_unversioned, env)
        yield from answered(_unwanted, env)


def _named(env: "Environment") -> Iterator[Problem]:
    for name, written in env.cluster.addons.items():
        at = ("cluster", "addons", name)
        if name not in catalog.addons():
            allowed = ", ".join(catalog.addons())
            yield Problem(at, name, "is no add-on that this project installs", allowed, nearest(name, catalog.addons()))
        elif not lost(written) and not _EXACT.fullmatch(written):
            message = "must be one exact version, as `aws eks describe-addon-versions` names it"
            yield Problem(at, written, message, f"such as {next(iter(catalog.addons()[name].versions.values()))}")


def _unversioned(env: "Environment") -> Iterator[Problem]:
    minor = known(env.cluster.kubernetes)
    missing = [
        name for name in wanted(env) if name not in env.cluster.addons and minor not in catalog.addons()[name].versions
    ]
    if missing:
        first = catalog.addons()[missing[0]]
        names = ", ".join(missing)
        message = f"the catalogue has no versions of add-ons for it ({names})"
        fix = f"cluster.addons: {{{', '.join(f'{name}: v…' for name in missing)}}}"
        yield Problem(("cluster", "kubernetes"), minor, message, ", ".join(first.versions), fix)


def _unwanted(env: "Environment") -> Iterator[Problem]:
    for name, kind in _OF_FILE_SYSTEMS.items():
        if name in env.cluster.addons and name not in wanted(env):
            message = f"is installed for a shared tier of kind {kind.__name__.lower()} only"
            yield Problem(("cluster", "addons", name), name, message, ", ".join(wanted(env)), spoils=NOTHING)
