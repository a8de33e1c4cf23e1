"""What the real programs make of a configuration (twin/modules/upstream-parsers)."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Request:
    """A configuration, and the program that is to read it.

    Attributes:
        parser: Which, by the names of main.go: device-plugin, rdma-shared, nfd-worker, volcano-scheduler, …
        text: The configuration, as it stands in its file.
        environment: Of the program's container, for the device plugin, which prefers it to the file.
    """

    parser: str
    text: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Answer:
    """What the program makes of it.

    Attributes:
        error: Why it refuses the configuration; empty when it does not.
        config: What it understood.
        ignored: Places of the text that left no trace in that.
        warnings: What it would log.
    """

    error: str
    config: Any
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def silent(self) -> bool:
        """Whether all of the configuration counts, without a word."""
        return not self.error and not self.ignored and not self.warnings


class Upstream:
    """The programs' parsers at work, in one process that answers line by line."""

    def __init__(self, program: Path) -> None:
        # As bytes: a text stream would break lines where JSON does not.
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, request: Request) -> Answer:
        """What the program makes of a configuration."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(json.dumps(asdict(request)).encode() + b"\n")
        asked.flush()
        found = json.loads(answers.readline())
        value = found.get("value", {})
        return Answer(
            found.get("error", ""),
            value.get("config"),
            tuple(value.get("ignored") or ()),
            tuple(value.get("warnings") or ()),
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
