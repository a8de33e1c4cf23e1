"""Which of a document's tiers are made on AWS, and which are there already."""

from typing import TYPE_CHECKING

from model.problems import known
from model.storage.archive import S3
from model.storage.shared import Efs, Lustre

from . import here

if TYPE_CHECKING:
    from model.environment import Environment


def lustre(env: "Environment") -> Lustre | None:
    """The Lustre file system that is made, by Amazon FSx; None where there is another one or none."""
    shared = known(known(env.storage).shared)
    return shared if here(env) and isinstance(shared, Lustre) and known(shared.mount) is None else None


def efs(env: "Environment") -> Efs | None:
    """The EFS that is made; None where there is none."""
    shared = known(known(env.storage).shared)
    return shared if here(env) and isinstance(shared, Efs) else None


def archive(env: "Environment") -> S3 | None:
    """The archive whose bucket is made; None where it is there already or there is none."""
    found = known(known(env.storage).archive)
    return found if here(env) and isinstance(found, S3) and known(found.endpoint) is None else None
