"""The storage classes of a cluster that are made here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from model import aws
from model.derived import derived
from model.problems import known

from . import claims
from .cache import Juicefs
from .scratch import Local

if TYPE_CHECKING:
    from model.environment import Environment

SCRATCH = "scratch"
"""The class of the volumes of the nodes' own disks."""
BLOCK = "gp3"
"""On AWS, the class of volumes of Amazon EBS, by the name that people look for there. It is the cluster's default."""
DATASETS = "datasets"
"""The class of volumes of datasets that nodes cache."""
STATIC = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by somebody else."""


@dataclass(frozen=True)
class Class:
    """A storage class.

    Attributes:
        name: Its name.
        provisioner: What makes its volumes.
        binding: When a claim gets one. What is of one zone or one node must wait for the pod: else it would be bound
            where the pod cannot run.
        reclaim: What becomes of a volume and its data when its claim is deleted.
        expansion: Whether claims can be made larger.
        parameters: What the provisioner is told.
        default: Whether claims that name no class are of it.
    """

    name: str
    provisioner: str
    binding: Literal["Immediate", "WaitForFirstConsumer"]
    reclaim: Literal["Retain", "Delete"]
    expansion: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)
    default: bool = False


@derived
def of(env: "Environment") -> tuple[Class, ...]:
    """The classes that are made."""
    return tuple(_classes(env))


def _classes(env: "Environment") -> Iterator[Class]:
    if aws.here(env):
        yield Class(
            BLOCK,
            "ebs.csi.aws.com",
            "WaitForFirstConsumer",
            "Retain" if aws.permanent(env) else "Delete",
            expansion=True,
            # https://github.com/kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md
            parameters={"type": "gp3", "encrypted": "true"},
            default=True,
        )
    if claims.prepared(env):
        yield Class(claims.CLASS, STATIC, "Immediate", "Retain")
    cache = known(env.storage.cache)
    if isinstance(cache, Juicefs):
        yield Class(DATASETS, "csi.juicefs.com", "Immediate", "Retain", parameters=_secrets(known(cache.secret)))
    if isinstance(known(env.storage.scratch), Local):
        # What is scratch is gone with its claim: the provisioner empties the disk for the next one.
        yield Class(SCRATCH, STATIC, "WaitForFirstConsumer", "Delete")


def _secrets(name: str) -> dict[str, str]:
    """Each namespace's own Secret: whoever has none there has no datasets (https://juicefs.com/docs/csi/guide/pv/)."""
    found: dict[str, str] = {}
    for step in ("provisioner", "node-publish"):
        found[f"csi.storage.k8s.io/{step}-secret-name"] = name
        found[f"csi.storage.k8s.io/{step}-secret-namespace"] = "${pvc.namespace}"
    return found
