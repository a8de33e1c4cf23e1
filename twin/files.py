"""Files that another process may read, or a crash may interrupt, at any moment."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write(path: Path, content: str | bytes, mode: int = 0o600) -> bool:
    """Replace a file as a whole: readers see the old content or the new one, never a part.

    The Volcano scheduler, for one, follows its configuration by inotify and stops for good on an empty file.

    Args:
        path: The file; its directory is made when missing.
        content: Text (written as UTF-8) or bytes.
        mode: Permissions of the file.

    Returns:
        Whether the content differed from what was there.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return True


def write_json(path: Path, value: Any) -> bool:
    """Write a value as JSON, as `write` does."""
    return write(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; a missing or half-written file counts as empty, because all such files can be made anew."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
