"""What `twin/tools.yaml` says: which programs and files the twin needs, and the ways to get them."""

import platform
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import semver
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

TWIN = Path(__file__).resolve().parent.parent
PINS = TWIN / "tools.yaml"
MODULES = TWIN / "modules"

Use = Literal["twin", "kueue", "tests"]

_GO_ARCH = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def platform_name() -> str:
    """This machine's operating system and processor in Go's words, such as `linux-amd64`."""
    machine = platform.machine()
    return f"{sys.platform}-{_GO_ARCH.get(machine, machine)}"


def _regex(text: str) -> str:
    if re.compile(text).groups != 1:
        raise ValueError(f"the pattern needs one group, for the version: {text}")
    return text


def _checksum(text: str) -> str:
    if not re.fullmatch(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}", text):
        raise ValueError(f"not a checksum (sha256:... or sha512:... in hexadecimal): {text}")
    return text


class _Pin(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class Closed(_Pin):
    """A way of getting a tool that is closed, and why."""

    closed: str


class GoModule(_Pin):
    """A Go module at a version, with its checksum as in a `go.sum`."""

    module: str
    version: str = Field(pattern=r"^v\d")
    sum: str = Field(pattern=r"^h1:")


class Prepared(GoModule):
    """A file or folder of a Go module's own directory that a build needs beside its packages."""

    source: str = Field(alias="from")
    to: str
    stamp: Mapping[str, str] = {}


class Fit(_Pin):
    """Which versions fit: all of `fits` must hold."""

    fits: tuple[str, ...] = Field(min_length=1)

    def accepts(self, version: str) -> bool:
        """Whether a version as the program prints it fits; what is not a version does not."""
        try:
            found = semver.Version.parse(version, optional_minor_and_patch=True)
        except ValueError:
            return False
        return all(found.match(bound) for bound in self.fits)


class Probe(Fit):
    """How a program on PATH is asked for its version: arguments, and what to look for in the answer."""

    args: tuple[str, ...]
    pattern: Annotated[str, AfterValidator(_regex)]


class PluginProbe(Fit):
    """A provider plugin says its version over its wire alone.

    It is looked for on PATH and where the engine installs plugins of this name.
    """

    plugin: str


class Download(_Pin):
    """An official release file and the published checksum that it must have.

    Without `members` the file is the program itself; with them it is a tar archive.
    """

    url: str
    published: str
    checksums: Mapping[str, Annotated[str, AfterValidator(_checksum)]]
    members: Mapping[str, str] = {}


class Tool(_Pin):
    """One pinned tool: a release that brings one program or several."""

    name: str
    version: str
    purpose: str
    programs: Mapping[str, str] = Field(min_length=1)
    module: str
    module_version: str = ""
    ldflags: str = ""
    tags: tuple[str, ...] = ()
    prepare: tuple[Prepared, ...] = ()
    path: Probe | PluginProbe | Closed
    download: Download | Closed
    build_seconds: int = Field(gt=0)
    use: Use = "twin"
    note: str = ""

    @property
    def key(self) -> str:
        """Name and version: the tool's folder in the cache."""
        return f"{self.name}-{self.version}"

    @property
    def module_folder(self) -> Path:
        """The wrapper module that the tool is built from."""
        return MODULES / self.module

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if isinstance(self.download, Download):
            named, there = set(self.download.members), set(self.programs)
            if named and named != there:
                raise ValueError(f"download.members names {sorted(named)}, programs {sorted(there)}")
            if not named and len(there) != 1:
                raise ValueError("a download without members is one program")
        return self


class Source(GoModule):
    """Upstream files that are no programs: a folder of a Go module."""

    name: str
    path: str
    include: tuple[str, ...] = ()
    folders: dict[str, str] = Field(default_factory=dict)
    stamp: dict[str, str] = Field(default_factory=dict)
    purpose: str

    @property
    def key(self) -> str:
        """Name and version: the source's folder in the cache."""
        return f"{self.name}-{self.version.removeprefix('v')}"


@cache
def _read(path: Path) -> tuple[dict[str, Tool], dict[str, Source]]:
    document = yaml.safe_load(path.read_text())
    tools = {name: Tool(name=name, **pin) for name, pin in document["tools"].items()}
    sources = {name: Source(name=name, **pin) for name, pin in document["sources"].items()}
    return tools, sources


def load_tools(path: Path = PINS) -> dict[str, Tool]:
    """The pinned tools by name, in the order in which they are got.

    Raises:
        pydantic.ValidationError: the file is not of this form.
    """
    return dict(_read(path)[0])


def used_by(use: Use, path: Path = PINS) -> tuple[str, ...]:
    """Names of the tools that the twin runs on, or of those that a scheduler or only tests need beside.

    Raises:
        pydantic.ValidationError: the file is not of this form.
    """
    return tuple(name for name, tool in load_tools(path).items() if tool.use == use)


def load_sources(path: Path = PINS) -> dict[str, Source]:
    """The pinned upstream files by name.

    Raises:
        pydantic.ValidationError: the file is not of this form.
    """
    return dict(_read(path)[1])
