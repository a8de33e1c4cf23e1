"""The typed reader of the catalogue: each file once, as frozen values."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import yaml

from catalog.kinds import (
    Addon,
    Card,
    Fabric,
    Gpu,
    Image,
    Instance,
    Levels,
    MigProfile,
    Nccl,
    Nic,
    Nics,
    Release,
    Server,
)

T = TypeVar("T")

_HERE = Path(__file__).parent
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _entries(file: str) -> dict[str, dict[str, Any]]:
    return yaml.load((_HERE / file).read_text("utf-8"), Loader=_Loader)  # noqa: S506


def _read(file: str, kind: type[T], **parts: type[Any]) -> Mapping[str, T]:
    entries = _entries(file)
    return MappingProxyType({name: kind(**{"name": name, **_typed(entry, parts)}) for name, entry in entries.items()})


def _typed(entry: dict[str, Any], parts: Mapping[str, type[Any]]) -> dict[str, Any]:
    """The fields of an entry: lists as tuples, and the named parts as what they are."""
    lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
    return entry | lists | {key: kind(**entry[key]) for key, kind in parts.items() if key in entry}


@cache
def gpus() -> Mapping[str, Gpu]:
    """All GPU models by name."""
    geometries = _entries("mig.yaml")
    return MappingProxyType({name: _gpu(name, entry, geometries) for name, entry in _entries("gpus.yaml").items()})


def _gpu(name: str, entry: dict[str, Any], geometries: Mapping[str, Any]) -> Gpu:
    major, minor = entry["compute"].split(".")
    profiles: dict[str, MigProfile] = {}
    if mig := entry.get("mig"):
        kinds = geometries[mig["geometry"]]["kinds"]
        for profile, kind in mig["profiles"].items():
            profiles[profile] = MigProfile(profile, **_typed(kinds[kind], {}))
    return Gpu(**{**entry, "name": name, "compute": (int(major), int(minor)), "mig": MappingProxyType(profiles)})


@cache
def nics() -> Mapping[str, Nic]:
    """All NICs by name."""
    return _read("nics.yaml", Nic)


@cache
def nccl() -> Nccl:
    """The variables of NCCL."""
    entry: dict[str, Any] = yaml.load((_HERE / "nccl.yaml").read_text("utf-8"), Loader=_Loader)  # noqa: S506
    return Nccl(**_typed(entry | {"levels": _typed(entry["levels"], {})}, {"levels": Levels}))


@cache
def fabrics() -> Mapping[str, Fabric]:
    """All fabrics by name."""
    return _read("fabrics.yaml", Fabric)


@cache
def servers() -> Mapping[str, Server]:
    """All servers by name."""
    return _read("servers.yaml", Server, nics=Nics, others=Nics)


@cache
def instances() -> Mapping[str, Instance]:
    """All instance types by name."""
    return MappingProxyType({name: _instance(name, entry) for name, entry in _entries("instances.yaml").items()})


def _instance(name: str, entry: dict[str, Any]) -> Instance:
    cards = tuple(Card(run["interfaces"], run.get("efa", False)) for run in entry["cards"] for _ in range(run["count"]))
    return Instance(**{**entry, "name": name, "cards": cards})


@cache
def images() -> Mapping[str, Image]:
    """All families of node images by name."""
    return _read("images.yaml", Image)


@cache
def releases() -> Mapping[str, Release]:
    """All upstream products by name."""
    return _read("releases.yaml", Release)


@cache
def addons() -> Mapping[str, Addon]:
    """All add-ons of EKS that clusters get, by name, in the order in which they are made."""
    return _read("addons.yaml", Addon)
