"""File systems that are there already: where each namespace's folder is, and what a document may say of them."""

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from model import aws, images, names, tenants
from model.problems import ABSENT, NOTHING, Path, Problem, answered, known

from . import drivers
from .shared import Beegfs, Lustre

if TYPE_CHECKING:
    from model.environment import Environment

DRIVERS = {"lustre": drivers.LUSTRE, "beegfs": drivers.BEEGFS}
"""The CSI drivers that mount them."""

_AT: Path = ("storage", "shared")
_NID = r"[A-Za-z0-9][A-Za-z0-9.-]*(?:@[a-z0-9]*[a-z][0-9]{0,4})?"
_LUSTRE = re.compile(rf"{_NID}(?:[,:]{_NID})*:/[A-Za-z0-9_-]{{1,8}}((?:/[^/\s]+)*)")
"""mount.lustre(8): the NIDs of the MGS, those of one node by commas, of its substitutes by colons; then the name of the
file system, at most 8 characters, and a folder in it."""
_FOLDER = re.compile(r"/|(?:/[^/\s]+)+")
_LONGEST = 128
"""Bytes of a volume's handle (https://github.com/container-storage-interface/spec, spec.md, "Size Limits")."""


def kind(env: "Environment") -> Literal["lustre", "beegfs"] | None:
    """The kind of the existing file system that the shared tier is; None where it is something else."""
    shared = known(env.storage.shared)
    if isinstance(shared, Beegfs):
        return "beegfs"
    if isinstance(shared, Lustre) and (known(shared.mount) is not None or not aws.here(env)):
        return "lustre"
    return None


def root(env: "Environment") -> str:
    """The handle of the file system, or of the folder of it that holds those of the namespaces."""
    shared = known(env.storage.shared)
    if isinstance(shared, Beegfs):
        return f"beegfs://{known(shared.management)}{known(shared.path)}"
    if isinstance(shared, Lustre):
        return known(shared.mount) or ""
    raise ValueError("there is no such file system")


def handle(env: "Environment", namespace: str) -> str:
    """The handle of the volume of a namespace: a folder of the namespace's own name.

    So tenants see nothing of each other's, and no two volumes have the same handle.
    """
    return f"{root(env).removesuffix('/')}/{namespace}"


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with how an existing file system is described."""
    shared = known(env.storage.shared)
    if isinstance(shared, Lustre):
        yield from answered(_lustre, env, shared)
    if isinstance(shared, Beegfs):
        yield from answered(_management, known(shared.management))
        yield from answered(_path, known(shared.path))


def _lustre(env: "Environment", shared: Lustre) -> Iterator[Problem]:
    mount, at = known(shared.mount), (*_AT, "mount")
    if mount is None:
        if not aws.here(env):
            yield Problem(at, ABSENT, "this cluster is not on AWS, so it must be there already", _MOUNTS, spoils=(_AT,))
        return
    if not (found := _LUSTRE.fullmatch(mount)) or {"..", "."} & set(found[1].split("/")):
        plain = mount.rstrip("/")
        meant = plain if plain != mount and _LUSTRE.fullmatch(plain) else None
        yield Problem(at, mount, "is no place that Lustre is mounted from", _MOUNTS, meant)


_MOUNTS = "<nid>[:<nid>]:/<file system>[/<folder>], such as 10.0.0.5@o2ib:10.0.0.6@o2ib:/scratch/tenants"


def _management(host: str) -> Iterator[Problem]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if fault := names.subdomain_fault(host):
            yield Problem((*_AT, "management"), host, fault, "a host name or an IP address")


def _path(path: str) -> Iterator[Problem]:
    if not _FOLDER.fullmatch(path) or {"..", "."} & set(path.split("/")):
        yield Problem((*_AT, "path"), path, "must be an absolute path of a folder", "such as /k8s", _absolute(path))


def _absolute(path: str) -> str | None:
    parts = [part for part in path.split("/") if part]
    meant = "/" + "/".join(parts)
    return meant if _FOLDER.fullmatch(meant) and not {"..", "."} & set(parts) else None


def references(env: "Environment") -> Iterator[Problem]:
    """Nodes that cannot mount it, and places whose names get too long."""
    yield from answered(_bottlerocket, env)
    yield from answered(_length, env)


def _bottlerocket(env: "Environment") -> Iterator[Problem]:
    found = kind(env)
    if found is None or not aws.here(env):
        return
    for name in env.pools:
        if images.of(env, name).startswith("bottlerocket"):
            message = f"Bottlerocket takes no client of {found}, and pods of this pool could not mount the shared tier"
            yield Problem(("pools", name, "image"), images.of(env, name), message, "another image", spoils=NOTHING)


def _length(env: "Environment") -> Iterator[Problem]:
    found = kind(env)
    for namespace in tenants.by_namespace(env) if found else ():
        if len(text := handle(env, namespace)) > _LONGEST:
            key = "mount" if found == "lustre" else "path"
            message = f"the volume of namespace {namespace} would have a handle of {len(text)} characters"
            yield Problem((*_AT, key), getattr(env.storage.shared, key), message, f"at most {_LONGEST}")
            return
