"""What `gangline doctor` shows about tools and sources, as data."""

from dataclasses import dataclass
from typing import Literal

from twin.tools.obtain import ToolStatus, Way, status
from twin.tools.pins import Use, load_sources, load_tools
from twin.tools.sources import cached_source, source_folder


@dataclass(frozen=True)
class Row:
    """One tool or source.

    Attributes:
        name: of the tool or source.
        kind: `tool` or `source`.
        purpose: what it is for.
        wanted: the pinned version.
        where: `path`, `cache` or `missing`.
        places: the programs' paths, or the source's folder; empty when missing.
        ways: how it could be had, in the order of trying (empty for a source: its Go module alone).
        seconds: estimate of a build on two cores with empty caches; 0 for what is there, and a source.
        notes: what a person should know.
        use: what needs it.
    """

    name: str
    kind: Literal["tool", "source"]
    purpose: str
    wanted: str
    where: Literal["path", "cache", "missing"]
    places: tuple[str, ...]
    ways: tuple[Way, ...]
    seconds: int
    notes: tuple[str, ...]
    use: Use = "twin"


def report() -> list[Row]:
    """The state of every tool and source. Hashes the cached files; changes nothing."""
    rows = [_tool_row(status(tool, thorough=True)) for tool in load_tools().values()]
    for source in load_sources().values():
        entry, damage = cached_source(source, thorough=True)
        rows.append(
            Row(
                name=source.name,
                kind="source",
                purpose=source.purpose,
                wanted=source.version.removeprefix("v"),
                where="cache" if entry else "missing",
                places=(str(source_folder(source)),) if entry else (),
                ways=(),
                seconds=0,
                notes=tuple(note for note in (f"from the Go module {source.module}", damage) if note),
            )
        )
    return rows


def _tool_row(state: ToolStatus) -> Row:
    tool = state.tool
    return Row(
        name=tool.name,
        kind="tool",
        purpose=tool.purpose,
        wanted=tool.version,
        where=state.where,
        places=tuple(str(path) for path in state.programs.values()),
        ways=state.ways,
        seconds=0 if state.programs else tool.build_seconds,
        notes=tuple(note for note in (tool.note, state.damage) if note),
        use=tool.use,
    )
