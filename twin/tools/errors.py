"""The one error that the tool layer raises to people."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from twin.errors import TwinError

# What a full disk, a used-up quota and a file-size limit say.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ROOM_WORDS = ("no space left on device", "disk quota exceeded", "file too large")


def says_no_room(text: str) -> bool:
    """Whether another program's words, or an error that holds several, tell of a full disk."""
    return any(words in text.lower() for words in _NO_ROOM_WORDS)


class ToolError(TwinError):
    """A tool or source cannot be had.

    Attributes:
        problem: what failed, with the place and the value.
        fix: what a person can do about it.
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(f"{problem}\nfix: {fix}")
        self.problem = problem
        self.fix = fix


def no_room(place: Path) -> ToolError:
    """The error for a disk, quota or file-size limit that is used up."""
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    free = shutil.disk_usage(there).free // 2**20
    return ToolError(
        f"no room to write {place} ({free} MiB free on that disk)",
        "free some space (Go's caches too: go clean -cache), raise the quota, or put the cache elsewhere with "
        "GANGLINE_CACHE=/other/folder",
    )


@contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Turn what the file system refuses into a ToolError that names the place."""
    try:
        yield
    except OSError as error:
        where = Path(error.filename) if isinstance(error.filename, str) else place
        if error.errno in _NO_ROOM or says_no_room(str(error)):
            raise no_room(where) from error
        raise ToolError(
            f"cannot use {where}: {error.strerror or error}",
            f"make {place} a folder that you may write to, or name another with GANGLINE_CACHE=/other/folder",
        ) from error
