"""What a document may say of Amazon EFS."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.problems import Problem, answered, known
from model.storage.shared import Efs

from . import here, storage

if TYPE_CHECKING:
    from model.environment import Environment


def values(env: "Environment") -> Iterator[Problem]:
    """An EFS where there is no AWS."""
    if isinstance(known(known(env.storage).shared), Efs) and not here(env):
        at, message = ("storage", "shared"), "EFS is a service of AWS, and the cluster is not made there"
        allowed = "with provider aws; lustre, beegfs, class, claims"
        yield Problem((*at, "kind"), "efs", message, allowed, spoils=(at,))


def limits(env: "Environment") -> Iterator[Problem]:
    """Checkpoints on a file system that is made for homes and code."""
    if storage.efs(env) is not None:
        yield from answered(_checkpoints, env)


def _checkpoints(env: "Environment") -> Iterator[Problem]:
    """All clients together write 1 to 5 GiB/s, by region (https://docs.aws.amazon.com/efs/latest/ug/limits.html)."""
    checkpoints = known(known(env.storage).checkpoints)
    if checkpoints is None:
        return
    for key, tier in (("write", known(checkpoints.write)), ("keep", known(checkpoints.keep))):
        if tier == "shared":
            message = "EFS is for homes and code: all nodes together write 1 GiB/s to it in most regions"
            at = ("storage", "checkpoints", key)
            yield Problem(at, tier, message, "a shared tier of kind lustre", severity="warning")
            return
