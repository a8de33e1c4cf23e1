"""What is wrong with training jobs, beyond what any workload may have wrong."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from . import image_names, names
from .counts import MOST_RESTARTS, Size, bounded, fewest, most
from .gang_rules import written
from .problems import ABSENT, NOTHING, Problem, Subject, each, known, lost
from .training import TrainingJob

if TYPE_CHECKING:
    from .environment import Environment

_JOBS = ("training", "jobs")
_OPTION = re.compile(r"--?[A-Za-z]")
_OF_SHELL = re.compile(r"[|&;<>`]|^\w+=")
"""What a shell makes of a line: pipes, sequences, redirections, variables before the program."""
_OF_FRAMEWORK = {
    "pytorch": ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"),
    "mpi": ("MPI_HOST",),
    "none": (),
}
"""Variables that Volcano's plugins set, after those of the job, so that theirs count."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each job by itself."""
    yield from each(_JOBS, env.training.jobs, env, _name, _image, _command, _some_workers, _restarts, _variables)


def references(env: "Environment") -> Iterator[Problem]:
    """Launchers that are missing, or that nobody needs."""
    yield from each(_JOBS, env.training.jobs, env, _launcher)


def limits(env: "Environment") -> Iterator[Problem]:
    """Jobs whose nodes may go while they cannot."""
    yield from each(_JOBS, env.training.jobs, env, _spot)


def fits(env: "Environment") -> Iterator[Problem]:
    """Jobs that begin without all of those whom they wait for."""
    yield from each(_JOBS, env.training.jobs, env, _elastic)


def _name(it: Subject[TrainingJob]) -> Iterator[Problem]:
    """It is the name of a service, and with the task and a number that of a pod, which is its host name as well."""
    suffix = it.value.longest_suffix
    kind = names.dns_1035(names.LABEL - len(suffix))
    if fault := kind.fault(it.name):
        over = kind.limit < len(it.name) <= names.LABEL
        message = f"has {len(it.name)} characters: with {suffix} a pod's host name would be too long" if over else fault
        yield Problem(it.at, it.name, message, kind.allowed, spoils=NOTHING)


def _image(it: Subject[TrainingJob]) -> Iterator[Problem]:
    image = known(it.value.image)
    reference, at = image_names.parse(image), (*it.at, "image")
    if reference is None:
        yield Problem(at, image, "is no image reference", image_names.ALLOWED)
    elif not reference.exact:
        message = "names no exact image, so pods of one job may differ, and so may a restart"
        yield Problem(at, image, message, image_names.ALLOWED, f"{reference.repository}:…")


def _command(it: Subject[TrainingJob]) -> Iterator[Problem]:
    command = known(it.value.command)
    if not command or (not lost(command[0]) and not command[0].strip()):
        message = "must name a program"
        yield Problem((*it.at, "command"), list(command), message, "such as [python, train.py]")
    elif meant := _meant(*map(known, command)):
        message = "nothing splits this: all of it would be the name of one program"
        allowed = "the program and each of its arguments as a text of its own"
        fix = f"command: {json.dumps(meant, ensure_ascii=False)}"
        yield Problem((*it.at, "command", 0), command[0], message, allowed, fix)


def _meant(first: str, *rest: str) -> list[str] | None:
    """What was meant where the first text of a command is a whole command line; None where it may be a path."""
    words = first.split()
    if len(words) < 2 or ("/" in words[0] and not any(map(_OPTION.match, words[1:]))):
        return None
    if _OF_SHELL.search(first):
        return ["bash", "-c", " ".join([first, *map(shlex.quote, rest)])]
    with suppress(ValueError):  # a quotation without an end
        words = shlex.split(first)
    return [*words, *rest]


def _some_workers(it: Subject[TrainingJob]) -> Iterator[Problem]:
    count, at = it.value.workers.count, (*it.at, "workers", "count")
    if fewest(known(count)) == 0:
        at = (*at, "min") if isinstance(count, Size) else at
        yield Problem(at, 0, "a job without workers does nothing", "1 or more")


def _restarts(it: Subject[TrainingJob]) -> Iterator[Problem]:
    yield from bounded((*it.at, "restarts"), known(it.value.restarts), MOST_RESTARTS)


def _variables(it: Subject[TrainingJob]) -> Iterator[Problem]:
    for name in _OF_FRAMEWORK[known(it.value.framework)]:
        if name in it.value.env:
            message = f"framework {it.value.framework} sets it in every pod, and that value counts"
            yield Problem((*it.at, "env", name), known(it.value.env[name]), message, "no such variable", "leave it out")


def _launcher(it: Subject[TrainingJob]) -> Iterator[Problem]:
    framework, launcher, at = known(it.value.framework), known(it.value.launcher), (*it.at, "launcher")
    if framework == "mpi" and launcher is None:
        message = "with framework mpi a pod runs mpirun and reaches the workers"
        yield Problem(at, ABSENT, message, fix="launcher: {cpu: 2, memory: 4Gi}")
    elif framework != "mpi" and launcher is not None:
        message = f"only mpi has a launcher; with {framework} every worker runs the command"
        yield Problem(
            at, launcher.model_dump(mode="json"), message, "with framework mpi", "leave it out", spoils=NOTHING
        )


def _spot(it: Subject[TrainingJob]) -> Iterator[Problem]:
    pool = it.env.pools[it.value.pool]
    if pool.capacity.kind != "spot":
        return
    if known(it.value.restarts) == 0:
        message = f"nodes of pool {it.value.pool} are spot: they go at short notice, and the job with the first of them"
        yield Problem((*it.at, "restarts"), 0, message, "1 or more, or a pool that is not spot", "restarts: 10")
    elif not known(it.value.checkpoints):
        message = f"nodes of pool {it.value.pool} are spot: when one goes, the job starts anew from nothing"
        fix = "checkpoints: true"
        yield Problem((*it.at, "checkpoints"), False, message, fix=fix, severity="warning")


def _elastic(it: Subject[TrainingJob]) -> Iterator[Problem]:
    count, framework = it.value.workers.count, it.value.framework
    if fewest(count) == most(count):
        return
    at = (*it.at, "workers", "count")
    if framework == "mpi":
        message = "mpirun is told of all workers and ends when one of them is not there"
        yield Problem(at, written(count), message, "a fixed count", f"count: {most(count)}")
    elif framework == "pytorch":
        message = (
            f"WORLD_SIZE is {most(count)} from the beginning: a rendezvous that waits for so many holds the GPUs of "
            f"{fewest(count)} until they are there"
        )
        allowed = "a fixed count, or torchrun with a range of nodes (--nnodes=MIN:MAX --rdzv-backend=c10d)"
        yield Problem(at, written(count), message, allowed, severity="warning")
