"""The Xid errors of NVIDIA's driver, by what has to be done first."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

_FILE = Path(__file__).with_name("xids.yaml")


@cache
def xids() -> Mapping[str, Mapping[int, str]]:
    """What each Xid says, by its number, under its kind: fatal, reset, nvlink, application and ignored."""
    read = yaml.safe_load(_FILE.read_text("utf-8"))
    return MappingProxyType({kind: MappingProxyType(named) for kind, named in read.items()})
