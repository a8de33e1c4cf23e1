"""What can go wrong with the twin, said so that a person knows what to do next."""

from pathlib import Path

TAIL_LINES = 15


class TwinError(Exception):
    """The twin could not do what was asked. The text is meant for a person and is shown without a traceback."""


class ProcessFailedError(TwinError):
    """A process of the twin ended or never answered; carries the last lines of its log.

    Args:
        process: The process at fault, as `status` names it.
        problem: What it should have done, in words.
        log: Its log file; it may be missing.
    """

    def __init__(self, process: str, problem: str, log: Path) -> None:
        self.process = process
        self.tail = tail(log)
        lines = "\n".join(f"    {line}" for line in self.tail) or "    (nothing was logged)"
        super().__init__(f"{process}: {problem}\n  last lines of {log}:\n{lines}")


def tail(log: Path, lines: int = TAIL_LINES) -> list[str]:
    """Give the last lines of a log file, or none when there is no file."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 16384))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return text.splitlines()[-lines:]
