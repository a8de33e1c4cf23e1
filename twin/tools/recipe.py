"""Building a tool from its wrapper module, and the digest of what it is made from."""

import hashlib
import json
import shutil
from pathlib import Path

from twin.tools.cache import cache_root
from twin.tools.errors import ToolError, storage_errors
from twin.tools.golang import Go, build, find_go, module_folder, too_old
from twin.tools.pins import Download, Prepared, Tool, platform_name
from twin.tools.progress import Progress

# Files in a wrapper module's folder _overlay are laid over what `prepare` copied.
_OVERLAY = "_overlay"


def off_reason(tool: Tool) -> tuple[Go | None, str]:
    """The toolchain that would build a tool; or nothing and why it cannot be built here."""
    go, reason = find_go()
    if go is None:
        return None, reason
    reason = too_old(go, tool.module_folder)
    return (None, reason) if reason else (go, "")


def digests(tool: Tool) -> dict[str, str]:
    """By way, the digest of what decides what a tool's programs are on this machine.

    For a build that is the pins and the wrapper module; for a download, the release file's checksum. Words about a
    pin do not count: nobody compiles for half an hour because of them.
    """
    counted = {"version", "programs", "ldflags", "prepare"} | ({"tags"} if tool.tags else set())
    pin = tool.model_dump(include=counted, mode="json")
    build = hashlib.sha256(json.dumps([platform_name(), pin], sort_keys=True).encode())
    for name, path in _own_files(tool):
        build.update(f"\0{name}\0".encode() + path.read_bytes())
    known = {"build": build.hexdigest()}
    if isinstance(tool.download, Download) and platform_name() in tool.download.checksums:
        known["download"] = tool.download.checksums[platform_name()]
    return known


def _own_files(tool: Tool) -> list[tuple[str, Path]]:
    """The wrapper module's files, without what an earlier build by hand may have prepared in it."""
    folder = tool.module_folder
    made = [Path(item.to) for item in tool.prepare]
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    kept = [name for name in names if not any(name.is_relative_to(target) for target in made)]
    return [(name.as_posix(), folder / name) for name in kept]


def log_file(tool: Tool) -> Path:
    """Where the compiler's words about a tool go."""
    return cache_root() / "logs" / f"{tool.key}.log"


def make(tool: Tool, go: Go, staged: Path, scratch: Path, progress: Progress) -> None:
    """Build every program of a tool into `staged/bin`.

    Args:
        tool: what to build.
        go: the toolchain.
        staged: the future cache entry.
        scratch: an empty folder for the build's own files.
        progress: hears how it goes.

    Raises:
        ToolError: a module cannot be had, or a program does not build.
    """
    folder = scratch / "module"
    with storage_errors(scratch):
        _lay_out(tool, folder)
        log = log_file(tool)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")
        (staged / "bin").mkdir(parents=True)
    for item in tool.prepare:
        progress.update(tool.name, f"reading {item.module}")
        origin = module_folder(go, item, scratch) / item.source
        with storage_errors(folder):
            _prepare(tool, item, origin, folder / item.to)
    overlay = folder / _OVERLAY
    if overlay.exists():
        with storage_errors(folder):
            shutil.copytree(overlay, folder, dirs_exist_ok=True)
    for number, (program, package) in enumerate(tool.programs.items(), 1):
        place = f" ({number} of {len(tool.programs)})" if len(tool.programs) > 1 else ""

        def tick(how_far: str, program: str = program, place: str = place) -> None:
            progress.update(tool.name, f"building {program}{place}, {how_far}")

        build(
            go,
            folder,
            package,
            staged / "bin" / program,
            tool.ldflags.format(version=tool.version),
            tool.tags,
            log,
            tick,
        )


def _lay_out(tool: Tool, folder: Path) -> None:
    for name, path in _own_files(tool):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def _prepare(tool: Tool, item: Prepared, origin: Path, target: Path) -> None:
    if not origin.exists():
        raise ToolError(f"{item.module}@{item.version} has no {item.source}", "correct `prepare` in twin/tools.yaml")
    if item.stamp:
        document = json.loads(origin.read_text())
        document |= {key: text.format(version=tool.version) for key, text in item.stamp.items()}
        target.write_text(json.dumps(document))
    elif origin.is_dir():
        copy_readable(origin, target)
    else:
        shutil.copyfile(origin, target)


def copy_readable(origin: Path, target: Path) -> None:
    """Copy a folder of the read-only module cache so that its owner may change and remove the copy."""
    shutil.copytree(origin, target, copy_function=shutil.copyfile)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
