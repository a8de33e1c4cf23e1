"""`twin drill`: a toy job is killed over and over, and must end as if nothing had happened."""

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import console
from .refusals import RefusedError
from .tables import table

if TYPE_CHECKING:
    from twin.drill.drilling import Outcome

_SIMULATED = """\
Real: the job's ranks, uploader.sh and rclone are processes, killed by SIGKILL; what they write are files.
Simulated: nodes are folders on this machine, the archive is moto, the job is a toy, and no power is lost.\
"""


def drill(
    times: Annotated[int, typer.Option(help="How many drills, each with the next seed.", min=1)] = 1,
    seed: Annotated[int | None, typer.Option(help="What happens, and when, follows from it; any if left out.")] = None,
) -> None:
    """Kill a toy training job, its uploaders and its nodes, and damage checkpoints: nothing promised may be lost.

    Needs no cluster. Each job must end as one that nothing happened to; whatever is complete must stay complete.
    """
    from twin import tools
    from twin.drill import drilling

    from . import local

    with tools.shown_on(console) as progress:
        rclone = tools.ensure(["rclone"], progress)["rclone"]
    first = random.randrange(1_000_000) if seed is None else seed  # noqa: S311 - what happens is no secret
    console.print(_SIMULATED)
    folder = local.STATE / "drill"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found: list[Outcome] = []
    with drilling.cloud(folder / "moto.log") as store:
        for number in range(first, first + times):
            console.print(f"[bold]seed {number}[/]")
            place = folder / str(number)
            place.mkdir()
            found.append(drilling.drill(number, place, store, rclone, lambda line: console.print(f"  {line}")))
            if not found[-1].broken:
                shutil.rmtree(place)
    _report(found, folder)


def _report(found: "list[Outcome]", folder: Path) -> None:
    grid = table("seed", "events", "complete checkpoints", "seconds", "result")
    for each in found:
        result = f"{len(each.broken)} broken" if each.broken else "as uninterrupted"
        grid.add_row(str(each.seed), str(len(each.events)), str(each.checkpoints), f"{each.seconds:.1f}", result)
    console.print(grid)
    bad = [each for each in found if each.broken]
    if bad:
        told = "\n".join(f"seed {each.seed}: {line}" for each in bad for line in each.broken)
        raise RefusedError(
            f"drill: {len(bad)} of {len(found)} broken\n{told}\n"
            f"  files and logs: {folder}\n  again: ./gangline twin drill --seed {bad[0].seed}"
        )
