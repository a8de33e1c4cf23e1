"""Upstream charts, manifests and scripts: from their Go module into the cache, thence to a project."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml

from twin.tools.cache import Entry, cache_root, commit, find, hash_file, locked, staging
from twin.tools.errors import ToolError, storage_errors
from twin.tools.golang import find_go, module_folder
from twin.tools.pins import PINS, Source, load_sources
from twin.tools.progress import Progress
from twin.tools.recipe import copy_readable

_FILES = "files"


def source_folder(source: Source) -> Path:
    """Where a source lies in the cache."""
    return cache_root() / "sources" / source.key


def recipe(source: Source) -> str:
    """Digest of what a source's files are."""
    counted = {"module", "version", "sum", "path", "include"}
    counted |= {name for name in ("folders", "stamp") if getattr(source, name)}
    pin = source.model_dump(include=counted, mode="json")
    return hashlib.sha256(json.dumps(pin, sort_keys=True).encode()).hexdigest()


def cached_source(source: Source, *, thorough: bool = False) -> tuple[Entry | None, str]:
    """The sound cache entry of a source, or nothing and the reason."""
    return find(source_folder(source), {"module": recipe(source)}, thorough=thorough)


def ensure_sources(
    names: Iterable[str] | None = None, progress: Progress | None = None, *, pins: Path = PINS
) -> dict[str, Path]:
    """Have sources in the cache.

    Args:
        names: which; all when None.
        progress: hears how it goes.
        pins: the file that names them.

    Returns:
        The folder with the files, by name.

    Raises:
        ToolError: one cannot be had.
        KeyError: a name that the file does not have.
    """
    known = load_sources(pins)
    progress = progress or Progress()
    return {name: _ensure(known[name], progress) for name in (known if names is None else names)}


def _ensure(source: Source, progress: Progress) -> Path:
    folder = source_folder(source)
    entry, _ = cached_source(source)
    if entry is None:
        with locked(
            f"source-{source.key}", lambda: progress.note(f"{source.name}: another run is getting it; waiting")
        ):
            entry, damage = cached_source(source)
            if entry is None:
                if damage:
                    progress.note(f"{damage}; getting it anew")
                _get(source, folder)
    return folder / _FILES


def _get(source: Source, folder: Path) -> None:
    go, reason = find_go()
    if go is None:
        raise ToolError(
            f"{source.purpose} ({source.name}) comes from the Go module {source.module}: {reason}",
            "install Go (https://go.dev/dl/ or your system's package) and have it on PATH",
        )
    with staging(f"source-{source.key}") as scratch:
        module = module_folder(go, source, scratch)
        for path in (source.path, *source.folders.values()):
            if not (module / path).is_dir():
                raise ToolError(f"{source.module}@{source.version} has no {path}", "correct it in twin/tools.yaml")
        staged = scratch / "entry"
        with storage_errors(folder):
            staged.mkdir()
            _copy(source, module / source.path, staged / _FILES)
            for name, path in source.folders.items():
                copy_readable(module / path, staged / _FILES / name)
            if source.stamp:
                chart = staged / _FILES / "Chart.yaml"
                chart.write_text(yaml.safe_dump(yaml.safe_load(chart.read_text()) | source.stamp))
            commit(staged, folder, "module", recipe(source))


def _copy(source: Source, origin: Path, target: Path) -> None:
    if not source.include:
        copy_readable(origin, target)
        return
    target.mkdir()
    for name in source.include:
        if (origin / name).is_dir():
            copy_readable(origin / name, target / name)
        elif (origin / name).is_file():
            shutil.copyfile(origin / name, target / name)
        else:
            raise ToolError(
                f"{source.module}@{source.version} has no {source.path}/{name}",
                "correct it in twin/tools.yaml",
            )


def materialise(name: str, into: Path, progress: Progress | None = None, *, pins: Path = PINS) -> Path:
    """Have a source as a plain folder of a project, the same at each call.

    A folder there that differs, by one byte or one file, is replaced as a whole.

    Args:
        name: the source.
        into: the parent folder, such as `.twin/sources`.
        progress: hears how it goes.
        pins: the file that names it.

    Returns:
        `into/<name>`.

    Raises:
        ToolError: the source cannot be had, or the folder cannot be written.
        KeyError: a name that the file does not have.
    """
    source = load_sources(pins)[name]
    origin = _ensure(source, progress or Progress())
    target = into / name
    with locked(f"source-{source.key}", lambda: None), storage_errors(into):
        if _same(origin, target):
            return target
        into.mkdir(parents=True, exist_ok=True)
        fresh, old = into / f".{name}.new", into / f".{name}.old"
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
        copy_readable(origin, fresh)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    return target


def _same(one: Path, other: Path) -> bool:
    return other.is_dir() and _tree(one) == _tree(other)


def _tree(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hash_file(path) for path in files}
