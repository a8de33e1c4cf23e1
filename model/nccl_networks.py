"""Which network NCCL is told to use, by the names that networks give themselves.

NCCL compares the whole value of NCCL_NET, whatever its case, and fails where no network is called so: "Failed to
initialize any NET plugin" (https://github.com/NVIDIA/nccl, src/plugin/net.cc).
"""

import re

from .problems import Path, Problem

_OF_PLUGINS = re.compile(r"ibext(_v[0-9]+)?|(aws )?libfabric")
"""Names that plugins are known to have (https://github.com/Mellanox/nccl-rdma-sharp-plugins,
https://github.com/aws/aws-ofi-nccl)."""
_SYNONYMS = ("infiniband", "roce", "rocev2", "rdma", "verbs", "ibverbs")
_FAILS = "and NCCL fails to start"
_ALLOWED = "IB, Socket, or the name of a plugin"


def net(at: Path, value: str, kind: str | None, pool: str) -> Problem | None:
    """What is wrong with NCCL_NET.

    Args:
        at: Where it stands.
        value: Its value.
        kind: The fabric that the pod uses; None where that is not known.
        pool: The pool that has it.
    """
    plain = value.strip().lower()
    without = kind in ("efa", "tcp")
    if without and plain in ("ib", *_SYNONYMS):
        message = f"there is no InfiniBand on {kind}, and NCCL takes no other network: it fails to start"
        return Problem(at, value, message, fix="leave it out")
    if plain == "socket" and kind not in (None, "tcp"):
        allowed = "the name of a plugin" if without else "IB, or the name of a plugin"
        return Problem(at, value, f"that is TCP, and pool {pool} has {kind}", allowed, "leave it out")
    if fault := _fault(value, plain):
        fix = value.strip() if plain in ("ib", "socket") else "leave it out" if without or not plain else "IB"
        return Problem(at, value, f"{fault}, {_FAILS}", _ALLOWED, fix)
    if plain in ("ib", "socket") or _OF_PLUGINS.fullmatch(plain):
        return None
    message = "NCCL has no network of this name: unless a plugin in the image is called so, NCCL fails to start"
    return Problem(at, value, message, _ALLOWED, severity="warning")


def _fault(value: str, plain: str) -> str | None:
    if not plain:
        return "is empty, no network is called so"
    if re.search(r"[,;]", value):
        return "is a list, NCCL_NET is one name"
    if "/" in value or plain.endswith(".so"):
        return "is a file, which NCCL_NET_PLUGIN names; NCCL_NET is what the plugin in it calls itself"
    if value != value.strip():
        return "has blanks around it, no network is called so"
    return "NCCL calls it IB" if plain in _SYNONYMS else None


def turns_off_efa(name: str, value: str) -> bool:
    """Whether a variable takes away the plugin for libfabric, or libfabric's provider for EFA."""
    plain = value.strip().lower()
    if name == "NCCL_NET_PLUGIN":
        return plain in ("", "none")
    if name != "FI_PROVIDER" or not plain:
        return False
    names = re.split(r"[,;]", plain.removeprefix("^"))
    return ("efa" in names) == plain.startswith("^")
