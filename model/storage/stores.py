"""Object stores that are there already: what a document may say of them."""

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from model import aws, names
from model.problems import ABSENT, Path, Problem, answered, known

from .archive import S3, Archive, Oss

if TYPE_CHECKING:
    from model.environment import Environment

_AT: Path = ("storage", "archive")
_URL = "https://<host>[:<port>]"
_BUCKET = re.compile(r"(?!.*(?:\.\.|\.-|-\.))[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; OSS allows no dots
(https://www.alibabacloud.com/help/en/oss/user-guide/bucket-naming-conventions)."""


def exists(env: "Environment") -> bool:
    """Whether the archive is a store that is there already, and not a bucket that is made on AWS."""
    archive = known(env.storage.archive)
    return archive is not None and (isinstance(archive, Oss) or known(archive.endpoint) is not None)


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with how an existing store is described."""
    archive = known(env.storage.archive)
    if archive is None:
        return
    if isinstance(archive, S3) and known(archive.endpoint) is None:
        if not aws.here(env):
            message = "this cluster is not on AWS, so the store must be there already"
            yield Problem((*_AT, "endpoint"), ABSENT, message, _URL)
        return
    for rule in (_endpoint, _bucket, _secret):
        yield from answered(rule, archive)


def _endpoint(archive: Archive) -> Iterator[Problem]:
    url, at = known(archive.endpoint) or "", (*_AT, "endpoint")
    parts = _split(url)
    if "@" in url:
        yield Problem(at, "…@…", "keys stand in the Secret, not in the URL", _URL)
    elif parts is None or parts.scheme not in ("https", "http"):
        meant = None if url.startswith("s3://") else f"https://{(url.partition('://')[2] or url).rstrip('/')}"
        yield Problem(at, url, "must be the URL of a store", _URL, meant if meant and _split(meant) else None)
    elif parts.path.strip("/") or parts.query or parts.fragment:
        yield Problem(
            at, url, "the bucket and a place in it are no part of it", _URL, f"{parts.scheme}://{parts.netloc}"
        )
    elif parts.scheme == "http" and not _loopback(parts.hostname or ""):
        yield Problem(at, url, "keys and data would go over the network in the clear", _URL, f"https://{parts.netloc}")
    elif isinstance(archive, Oss) and (parts.hostname or "").startswith(f"{archive.bucket}."):
        host = parts.netloc.removeprefix(f"{archive.bucket}.")
        yield Problem(at, url, "is that of the bucket; the region's is meant", _URL, f"https://{host}")


def _split(url: str) -> SplitResult | None:
    """The parts of a URL that has a host; None of anything else."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""  # a port that is none is told only then
    except ValueError:
        return None
    named = _address(host) or names.subdomain_fault(host) is None
    return parts if named and port != 0 and not parts.netloc.endswith(":") else None


def _address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback if _address(host) else host == "localhost"


def _bucket(archive: Archive) -> Iterator[Problem]:
    bucket, at = known(archive.bucket), (*_AT, "bucket")
    if bucket is None:
        yield Problem(at, ABSENT, "the store is there already, and so is its bucket: which one is it?", "its name")
    elif not _BUCKET.fullmatch(bucket) or (isinstance(archive, Oss) and "." in bucket):
        dots = "" if isinstance(archive, Oss) else " ."
        allowed = f"3 to 63 of lower-case letters, digits and -{dots}; a letter or digit at both ends"
        yield Problem(at, bucket, "is no name of a bucket", allowed)


def _secret(archive: Archive) -> Iterator[Problem]:
    secret, at = known(archive.secret), (*_AT, "secret")
    if secret is None:
        message = "its keys are read from a Secret in each tenant's namespaces"
        yield Problem(at, ABSENT, message, "the name of a Secret with access-key and secret-key")
    elif fault := names.subdomain_fault(secret):
        yield Problem(at, secret, fault, names.DNS_SUBDOMAIN.allowed)
