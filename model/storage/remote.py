"""How jobs reach the archive: a remote of rclone, told by variables that hold no secret."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from model.problems import known

from .archive import Oss

if TYPE_CHECKING:
    from model.environment import Environment

T = TypeVar("T")

PLACE = "archive"
"""The key under which the ConfigMap of a namespace says where its part of the archive is."""
REMOTE = "archive"
_PREFIX = f"RCLONE_CONFIG_{REMOTE.upper()}_"
"""rclone reads a remote from variables of this form (https://rclone.org/docs/#config-file)."""

SECRETS: Mapping[str, str] = MappingProxyType(
    {f"{_PREFIX}ACCESS_KEY_ID": "access-key", f"{_PREFIX}SECRET_ACCESS_KEY": "secret-key"}
)
"""Variables that come from the store's Secret, each with its key there."""


def variables(options: Mapping[str, T]) -> dict[str, T]:
    """Options of the remote as variables, such as `{provider: AWS}` (https://rclone.org/s3/)."""
    return {f"{_PREFIX}{name.upper()}": value for name, value in options.items()}


def existing(env: "Environment") -> dict[str, str] | None:
    """The options of the remote where the archive is a store that exists; None where it is not, or there is none.

    A store that is not AWS's is asked by path, as rclone does with `Other`; OSS only by the bucket's own host name, as
    it does with `Alibaba` (https://github.com/rclone/rclone, backend/s3/provider). No job may make a bucket.
    """
    archive = known(env.storage.archive)
    if archive is None or known(archive.endpoint) is None:
        return None
    provider = "Alibaba" if isinstance(archive, Oss) else "Other"
    return {"type": "s3", "provider": provider, "endpoint": archive.endpoint or "", "no_check_bucket": "true"}


def secret(env: "Environment") -> str | None:
    """The Secret, in each tenant's namespaces, with the keys of an existing store; None where there is none."""
    archive = known(env.storage.archive)
    return None if archive is None else known(archive.secret)
