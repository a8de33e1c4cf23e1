"""The fields of NVIDIA's Data Center GPU Manager (DCGM) that its exporter can make metrics of."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import yaml

_FILE = Path(__file__).with_name("dcgm.yaml")
_PROFILING = range(1000, 1100)
"""Numbers of profiling fields (https://github.com/NVIDIA/dcgm-exporter, internal/pkg/counters/const.go)."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field.

    Attributes:
        name: Its name, which is also the name of the metric.
        id: DCGM's number for it; the exporter's own metrics have numbers of the exporter.
        type: What it is in a counters file; a label stands on all other metrics.
        unit: What it is counted in.
        help: What it says.
    """

    name: str
    id: int
    type: Literal["gauge", "counter", "label"]
    unit: str
    help: str


@cache
def _catalogue() -> Mapping[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(_FILE.read_text("utf-8"), Loader=loader)  # noqa: S506


@cache
def fields() -> Mapping[str, Field]:
    """All fields that are described, and the exporter's own metrics, by name."""
    described = {**_catalogue()["fields"], **_catalogue()["exporter"]}
    return MappingProxyType({name: Field(name, **entry) for name, entry in described.items()})


@cache
def numbers() -> Mapping[str, int]:
    """The number of each name that the exporter accepts, described or not."""
    return MappingProxyType({**{name: field.id for name, field in fields().items()}, **_catalogue()["others"]})


def is_profiling(name: str) -> bool:
    """Whether a field is a profiling counter of the hardware.

    Only datacentre GPUs have them, only one program on a node can read them at a time, and reading them takes the
    capability SYS_ADMIN (https://github.com/NVIDIA/dcgm-exporter, docker/Dockerfile, "Security Note").
    """
    return numbers().get(name) in _PROFILING
