"""Getting tools: PATH, then the cache, then the official download, then a build."""

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from twin.tools import recipe
from twin.tools.cache import cache_root, commit, find, locked, staging
from twin.tools.errors import ToolError, storage_errors
from twin.tools.golang import Go
from twin.tools.path import on_path
from twin.tools.pins import PINS, Closed, Tool, load_tools, platform_name
from twin.tools.progress import Progress


@dataclass(frozen=True)
class Way:
    """One way of getting a tool: open, or off for a reason."""

    name: Literal["path", "cache", "download", "build"]
    off: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it would be tried."""
        return not self.off


@dataclass(frozen=True)
class ToolStatus:
    """Where a tool is, and how it could be had.

    Attributes:
        tool: the pinned tool.
        where: `path`, `cache` or `missing`.
        programs: the programs by name; empty when missing.
        ways: all four, in the order in which they are tried.
        damage: what is wrong with the cache entry, if one is there and not taken.
    """

    tool: Tool
    where: Literal["path", "cache", "missing"]
    programs: dict[str, Path]
    ways: tuple[Way, ...]
    damage: str = ""


def cache_folder(tool: Tool) -> Path:
    """Where a tool lies in the cache."""
    return cache_root() / "tools" / tool.key


def cached(tool: Tool, *, thorough: bool = False) -> tuple[dict[str, Path] | None, str]:
    """The programs of a tool's sound cache entry by name; or nothing and the reason."""
    folder = cache_folder(tool)
    entry, reason = find(folder, recipe.digests(tool), thorough=thorough)
    if entry is None:
        return None, reason
    absent = [program for program in tool.programs if f"bin/{program}" not in entry.files]
    if absent:
        return None, f"{folder} is damaged: no {', '.join(absent)}"
    return {program: folder / "bin" / program for program in tool.programs}, ""


def status(tool: Tool, *, thorough: bool = False) -> ToolStatus:
    """Where a tool is and how it could be had. Changes nothing.

    Args:
        tool: the pinned tool.
        thorough: hash the cached programs instead of trusting size and time.
    """
    found, not_on_path = on_path(tool)
    kept, damage = cached(tool, thorough=thorough)
    _, no_build = recipe.off_reason(tool)
    ways = (
        Way("path", not_on_path),
        Way("cache", "" if kept else damage or "not there yet"),
        Way("download", _no_download(tool)),
        Way("build", no_build),
    )
    if found:
        return ToolStatus(tool, "path", found, ways, damage)
    if kept:
        return ToolStatus(tool, "cache", kept, ways)
    return ToolStatus(tool, "missing", {}, ways, damage)


def here(names: Iterable[str] | None = None, *, pins: Path = PINS) -> dict[str, Path]:
    """The programs that are here already, on PATH or in the cache, by name. Gets nothing.

    Args:
        names: of which tools; all when None.
        pins: the file that names them.

    Raises:
        KeyError: a name that the file does not have.
    """
    known = load_tools(pins)
    found = (on_path(known[name])[0] or cached(known[name])[0] for name in (known if names is None else names))
    return {program: path for programs in found if programs for program, path in programs.items()}


def ensure(
    names: Iterable[str] | None = None, progress: Progress | None = None, *, pins: Path = PINS
) -> dict[str, Path]:
    """Have tools: find each, or get it.

    Safe against other runs that get the same tools at the same time, and against being stopped anywhere.

    Args:
        names: which tools; all when None.
        progress: hears how it goes.
        pins: the file that names them.

    Returns:
        The path of each of their programs, by program name.

    Raises:
        ToolError: one cannot be had; it says which ways were tried and what to do.
        KeyError: a name that the file does not have.
    """
    known = load_tools(pins)
    progress = progress or Progress()
    wanted = [known[name] for name in (known if names is None else names)]
    programs = here([tool.name for tool in wanted], pins=pins)
    missing = [tool for tool in wanted if not programs.keys() >= tool.programs.keys()]
    if not missing:
        return programs
    _refuse_the_hopeless(missing)
    progress.plan({tool.name: tool.build_seconds for tool in missing})
    with _ended_by_sigterm():
        for tool in missing:
            programs |= _get(tool, progress)
    return programs


def _refuse_the_hopeless(missing: list[Tool]) -> None:
    """Say at once, not after half an hour, that a tool has no way open."""
    hopeless = [tool for tool in missing if _no_download(tool) and recipe.off_reason(tool)[1]]
    if hopeless:
        raise ToolError(
            "\n".join(_all_failed(tool, _no_download(tool), recipe.off_reason(tool)[1]) for tool in hopeless),
            _what_to_do(hopeless),
        )


def _all_failed(tool: Tool, downloading: str, building: str) -> str:
    _, not_on_path = on_path(tool)
    return (
        f"{tool.name} {tool.version} cannot be had\n"
        f"  on PATH: {not_on_path}\n  download: {downloading}\n  build: {building}"
    )


def _what_to_do(tools: list[Tool]) -> str:
    programs = ", ".join(program for tool in tools for program in tool.programs)
    return (
        "install Go (https://go.dev/dl/ or your system's package) and have it on PATH, "
        f"or put a fitting {programs} there"
    )


def _get(tool: Tool, progress: Progress) -> dict[str, Path]:
    with locked(tool.key, lambda: progress.note(f"{tool.name}: another run is getting it; waiting")):
        found, damage = cached(tool)
        if found:
            progress.finish(tool.name, "got by another run")
            return found
        if damage:
            progress.note(f"{damage}; getting {tool.name} anew")
        not_downloaded = _try_download(tool, progress)
        if not_downloaded:
            _build(tool, not_downloaded, progress)
    found, damage = cached(tool)
    if found is None:
        raise ToolError(damage or f"{cache_folder(tool)} vanished", "run it again; look at the disk if it comes back")
    return found


def _no_download(tool: Tool) -> str:
    """Why the official download of a tool is off here; empty when it is open."""
    if isinstance(tool.download, Closed):
        return tool.download.closed
    # Sites without a way out, and those that want each program built from verified source.
    if os.environ.get("GANGLINE_DOWNLOADS") == "off":
        return "switched off by GANGLINE_DOWNLOADS=off"
    if platform_name() not in tool.download.checksums:
        return f"no published checksum for {platform_name()}"
    return ""


def _try_download(tool: Tool, progress: Progress) -> str:
    """Get a tool as its official file. Returns why not; empty when it is there."""
    reason = _no_download(tool)
    if reason or isinstance(tool.download, Closed):
        return reason
    # Its HTTP client costs most of a second to import, and almost no run needs it.
    from twin.tools import download

    progress.begin(tool.name, "downloading")
    part = cache_root() / "downloads" / f"{tool.key}.part"
    try:
        download.fetch(tool, tool.download, part, progress)
    except download.UnavailableError as error:
        progress.note(f"{tool.name}: {error.problem}; building it instead")
        return error.problem
    with staging(tool.key) as scratch, storage_errors(cache_root()):
        download.unpack(tool, tool.download, part, scratch / "entry" / "bin")
        commit(scratch / "entry", cache_folder(tool), "download", recipe.digests(tool)["download"])
        part.unlink()
    progress.finish(tool.name, "downloaded")
    return ""


def _build(tool: Tool, not_downloaded: str, progress: Progress) -> None:
    go, reason = recipe.off_reason(tool)
    if go is None:
        raise ToolError(_all_failed(tool, not_downloaded, reason), _what_to_do([tool]))
    progress.begin(tool.name, f"building from its Go module with Go {go.version}")
    with staging(tool.key) as scratch:
        _build_in(scratch, tool, go, progress)
    progress.finish(tool.name, "built")


def _build_in(scratch: Path, tool: Tool, go: Go, progress: Progress) -> None:
    recipe.make(tool, go, scratch / "entry", scratch, progress)
    with storage_errors(cache_root()):
        commit(scratch / "entry", cache_folder(tool), "build", recipe.digests(tool)["build"])


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind like Ctrl-C, so that a running compiler is stopped and the lock freed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
