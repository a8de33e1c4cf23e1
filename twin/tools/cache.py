"""The cache of tools and sources outside the checkout: entries appear whole or not at all.

    <cache>/tools/<tool>-<version>/bin/<program>     and manifest.json
    <cache>/sources/<name>-<version>/files/...       and manifest.json
    <cache>/downloads/, locks/, logs/, staging/

An entry is made in `staging` and renamed into place. Whoever makes one holds its lock, so a staging
folder of the same key that is met under the lock was left by a run that died.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from twin.tools.errors import storage_errors

MANIFEST = "manifest.json"


def cache_root() -> Path:
    """The cache folder: `GANGLINE_CACHE`, or `gangline` in the user's cache folder."""
    named = os.environ.get("GANGLINE_CACHE")
    return Path(named).expanduser().absolute() if named else user_cache_path("gangline")


def hash_file(path: Path, algorithm: str = "sha256") -> str:
    """The digest of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


@dataclass(frozen=True)
class FileRecord:
    """A file of an entry as it was made: its digest, and what tells cheaply that nobody touched it."""

    sha256: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileRecord":
        """The record of a file as it is now."""
        stat = path.stat()
        return cls(hash_file(path), stat.st_size, stat.st_mtime_ns)


@dataclass(frozen=True)
class Entry:
    """A cache entry that was found and is sound.

    Attributes:
        folder: where it lies.
        how: the way it was got, `download` or `build` (sources: `module`).
        recipe: digest of what it was made from; an entry of another recipe is not taken.
        files: by path relative to the folder.
    """

    folder: Path
    how: str
    recipe: str
    files: dict[str, FileRecord]


def _load(folder: Path) -> Entry:
    """Read an entry's manifest.

    Raises:
        ValueError: the manifest is broken.
        OSError: it cannot be read.
    """
    try:
        document = json.loads((folder / MANIFEST).read_text())
        files = {name: FileRecord(**record) for name, record in document["files"].items()}
        return Entry(folder, document["how"], document["recipe"], files)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{folder / MANIFEST} is not a manifest") from error


def find(folder: Path, recipes: Mapping[str, str], *, thorough: bool = False) -> tuple[Entry | None, str]:
    """Look for a sound entry.

    Args:
        folder: where it would lie.
        recipes: by way, the digest of what it must have been made from.
        thorough: hash every file; else only those whose size or time differ from the record.

    Returns:
        The entry and an empty text; or nothing and the reason, empty when there simply is none.
    """
    if not folder.exists():
        return None, ""
    try:
        entry = _load(folder)
        for name, record in entry.files.items():
            path = folder / name
            stat = path.stat()
            touched = (stat.st_size, stat.st_mtime_ns) != (record.size, record.mtime_ns)
            # A cache that was copied or restored has new times and the same bytes.
            if (touched or thorough) and hash_file(path) != record.sha256:
                return None, f"{path} is damaged: its checksum is not the recorded one"
    except (OSError, ValueError) as error:
        return None, f"{folder} is damaged: {error}"
    if recipes.get(entry.how) != entry.recipe:
        return None, f"{folder} was made from other pins than today's"
    return entry, ""


def commit(staged: Path, folder: Path, how: str, recipe: str) -> None:
    """Write the manifest of a finished staging folder and move it into place, over an unsound entry.

    Raises:
        OSError: the file system refused; nothing half-made is in place then.
    """
    names = sorted(p.relative_to(staged).as_posix() for p in staged.rglob("*") if p.is_file())
    files = {name: asdict(FileRecord.of(staged / name)) for name in names}
    document = {"how": how, "recipe": recipe, "files": files}
    with (staged / MANIFEST).open("w") as stream:
        json.dump(document, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        discarded = staged.parent / "old"
        folder.rename(discarded)
    staged.rename(folder)


@contextmanager
def locked(key: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a cache key; `waiting` is called once if another run holds it."""
    lock_file = cache_root() / "locks" / f"{key}.lock"
    with storage_errors(cache_root()):
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(lock_file)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waiting()
            lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def staging(key: str) -> Iterator[Path]:
    """A fresh folder for the holder of the key's lock; it and what dead runs left are removed."""
    parent = cache_root() / "staging" / key
    with storage_errors(cache_root()):
        shutil.rmtree(parent, ignore_errors=True)
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(parent, ignore_errors=True)
