"""What a person sees while tools are got: live bars on a terminal, plain lines elsewhere."""

import time
from collections.abc import Mapping
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

_HEARTBEAT = 30
# Weight, in seconds, of the measured build times against what this machine has shown so far.
_PRIOR = 120


class Forecast:
    """The time that is left, from measured build times corrected by how this machine has fared so far."""

    def __init__(self, plan: Mapping[str, float]) -> None:
        """Args: plan: seconds by tool, as measured on two cores."""
        self._plan = dict(plan)
        self._open = dict(plan)
        self._measured = 0.0
        self._taken = 0.0
        self._current: tuple[str, float] | None = None

    def begin(self, tool: str) -> None:
        """A tool's turn has come."""
        self._current = (tool, time.monotonic())

    def finish(self, tool: str) -> None:
        """A tool is there."""
        if self._current and self._current[0] == tool:
            self._taken += time.monotonic() - self._current[1]
            self._measured += self._plan[tool]
        self._open.pop(tool, None)
        self._current = None

    @property
    def pace(self) -> float:
        """This machine's time over the measured time, by the tools so far and by one that is overdue."""
        taken, measured = self._taken + _PRIOR, self._measured + _PRIOR
        if self._current:
            tool, spent = self._current[0], self._spent
            if spent > self._plan[tool] * taken / measured:
                return (taken + spent) / (measured + self._plan[tool])
        return taken / measured

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._current[1] if self._current else 0.0

    def _rest(self, tool: str) -> float:
        """Seconds left of the running tool; nothing when it is overdue."""
        return max(0.0, self._plan[tool] * self.pace - self._spent)

    def share(self, tool: str) -> float:
        """How much of a running tool is done, between 0 and 0.99: a guess by time."""
        if not self._current or self._current[0] != tool:
            return 0.0
        return min(0.99, self._spent / (self._plan[tool] * self.pace))

    def left(self) -> float:
        """Seconds left in all."""
        running = self._current[0] if self._current else ""
        rest = sum(span for tool, span in self._open.items() if tool != running) * self.pace
        return rest + (self._rest(running) if running else 0.0)

    def words(self) -> str:
        """What is left, in words, and whether that can be believed."""
        if self._current and not self._rest(self._current[0]):
            left = self.left()
            # Of the last one nothing is known any more, and "5 s" would be made up.
            return "longer than usual" + (f"; {duration(left)} or more left in all" if left else "")
        return f"about {duration(self.left())} left in all"


def duration(seconds: float) -> str:
    """A span as people say it, rounded to what an estimate is worth."""
    if seconds < 50:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{round(seconds / 60) or 1} min"


class Progress:
    """Hears what is being done to get tools. This one says nothing.

    Use as a context manager around `ensure`.
    """

    def __enter__(self) -> Self:
        """Start showing."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Stop showing."""

    def plan(self, seconds: Mapping[str, float]) -> None:
        """What is missing, with estimated seconds each."""

    def begin(self, tool: str, way: str) -> None:
        """A tool's turn has come, or its next way has."""

    def update(self, tool: str, detail: str, done: float | None = None, total: float | None = None) -> None:
        """Something moved; `done` of `total` where that is known."""

    def finish(self, tool: str, how: str) -> None:
        """A tool is there."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


class Lines(Progress):
    """Plain lines for logs: when a tool starts, when it is there, and each half minute between."""

    def __init__(self, console: Console) -> None:
        """Args: console: where the lines go."""
        self._console = console
        self._forecast = Forecast({})
        self._since = self._spoke = 0.0
        self._current = ""

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        self._spoke = time.monotonic()

    def plan(self, seconds: Mapping[str, float]) -> None:
        """Say what is missing."""
        self._forecast = Forecast(seconds)
        if seconds:
            self._say(
                f"missing: {', '.join(seconds)}; to build them takes about "
                f"{duration(self._forecast.left())} on two cores"
            )

    def begin(self, tool: str, way: str) -> None:
        """Say what starts."""
        self._since = time.monotonic()
        self._current = tool
        self._forecast.begin(tool)
        self._say(f"{tool}: {way}")

    def update(self, tool: str, detail: str, done: float | None = None, total: float | None = None) -> None:
        """Say something each half minute, so that nobody thinks it hangs."""
        if time.monotonic() - self._spoke >= _HEARTBEAT:
            share = f", {100 * done / total:.0f} %" if done is not None and total else ""
            spent = duration(time.monotonic() - self._since)
            self._say(f"{tool}: {detail}{share}, {spent} so far; {self._forecast.words()}")

    def finish(self, tool: str, how: str) -> None:
        """Say what is there."""
        self._forecast.finish(tool)
        # What another run got has no start of ours.
        spent = f" in {time.monotonic() - self._since:.0f} s" if self._current == tool else ""
        self._current = ""
        self._say(f"{tool}: {how}{spent}")

    def note(self, text: str) -> None:
        """Say it."""
        self._say(text)


class Live(Progress):
    """Bars on a terminal: one per missing tool and one in total."""

    def __init__(self, console: Console) -> None:
        """Args: console: the terminal."""
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description:<28}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._total: TaskID | None = None
        self._forecast = Forecast({})

    def __enter__(self) -> Self:
        """Start drawing."""
        self._bars.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """Stop drawing; what was drawn stays."""
        self._bars.stop()

    def plan(self, seconds: Mapping[str, float]) -> None:
        """Draw a bar for each missing tool."""
        self._forecast = Forecast(seconds)
        for tool, span in seconds.items():
            self._tasks[tool] = self._bars.add_task(tool, total=1.0, detail=f"about {duration(span)}")
        if len(seconds) > 1:
            self._total = self._bars.add_task("in total", total=sum(seconds.values()), detail="")

    def begin(self, tool: str, way: str) -> None:
        """Wake the tool's bar."""
        self._forecast.begin(tool)
        if tool in self._tasks:
            self._bars.update(self._tasks[tool], detail=way)

    def update(self, tool: str, detail: str, done: float | None = None, total: float | None = None) -> None:
        """Move the tool's bar and the total."""
        if tool in self._tasks:
            share = done / total if done is not None and total else self._forecast.share(tool)
            self._bars.update(self._tasks[tool], completed=share, detail=detail)
        self._draw_total()

    def finish(self, tool: str, how: str) -> None:
        """Fill the tool's bar."""
        self._forecast.finish(tool)
        if tool in self._tasks:
            self._bars.update(self._tasks[tool], completed=1.0, detail=how)
        self._draw_total()

    def note(self, text: str) -> None:
        """Print above the bars."""
        self._bars.console.print(text, markup=False, highlight=False)

    def _draw_total(self) -> None:
        if self._total is not None:
            left = self._forecast.left()
            whole = self._bars.tasks[self._bars.task_ids.index(self._total)].total or 1.0
            done = max(0.0, whole - left / self._forecast.pace)
            self._bars.update(self._total, completed=done, detail=self._forecast.words() if left > 1 else "")


def shown_on(console: Console) -> Progress:
    """The fitting display: bars on a terminal, lines in a log."""
    return Live(console) if console.is_terminal else Lines(console)
