"""`doctor`: what is here, what is missing, and how each thing would be had."""

from typing import TYPE_CHECKING

from .output import console

if TYPE_CHECKING:
    from twin.tools import Row


def doctor() -> None:
    """Say which tools are here, which are missing, how each would be had and how long that takes. Changes nothing."""
    from twin import tools

    rows = tools.report()
    for row in rows:
        _show(row)
    for use, command in (("twin", "./gangline up"), ("tests", "./gangline test")):
        missing = [row for row in rows if row.where == "missing" and row.use == use]
        if missing:
            minutes = sum(row.seconds for row in missing) // 60 + 1
            console.print(f"{len(missing)} of {len(rows)} missing; {command} gets them; building takes {minutes} min")
    if all(row.where != "missing" for row in rows):
        console.print(f"all {len(rows)} are here")


def _show(row: "Row") -> None:
    colour = "red" if row.where == "missing" else "green"
    console.print(f"[bold]{row.name}[/] {row.wanted}  [{colour}]{row.where}[/]  {row.purpose}", soft_wrap=True)
    for place in row.places:
        console.print(f"    {place}", style="dim", soft_wrap=True)
    for way in row.ways:
        time = f", about {row.seconds // 60 + 1} min" if way.name == "build" and row.seconds else ""
        state = f"off: {way.off}" if way.off else f"possible{time}"
        console.print(f"    {way.name:9}{state}", style="dim", soft_wrap=True)
    for note in row.notes:
        console.print(f"    note     {note.strip()}", style="dim", soft_wrap=True)
