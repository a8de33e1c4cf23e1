"""An environment's document: read from its stack file, judged as a whole, and loaded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as File
from typing import Any

from . import (
    bottlerocket,
    cluster,
    fabric_rules,
    features,
    gang_rules,
    images,
    nccl,
    nodes,
    override_rules,
    pod_patch,
    policies,
    pools,
    queues,
    racks,
    ray_rules,
    reading,
    releases,
    scheduler,
    schedulers,
    shapes,
    shares,
    sharing_rules,
    tenants,
    topology,
    training_rules,
    workload_rules,
)
from .aws import addons, archive, blocks, cluster_rules, efs, lustre, pool_rules, registry
from .engine_names import DOCUMENT_KEY
from .environment import Environment
from .monitoring import counters, effects, exporter, thresholds
from .problems import DocumentError, Problem, answered, lost, nearest
from .reading import Positions
from .storage import caches, claims, contract_rules, disks, existing, mounts, stores

Rule = Callable[[Environment], Iterable[Problem]]

STAGES: tuple[tuple[Rule, ...], ...] = (
    # Each thing by itself,
    (
        cluster.values,
        cluster_rules.values,
        addons.values,
        pools.values,
        pool_rules.values,
        images.values,
        sharing_rules.values,
        fabric_rules.values,
        topology.values,
        scheduler.values,
        queues.values,
        tenants.values,
        workload_rules.values,
        ray_rules.values,
        training_rules.values,
        counters.values,
        exporter.values,
        thresholds.values,
        lustre.values,
        efs.values,
        archive.values,
        disks.values,
        caches.values,
        claims.values,
        existing.values,
        stores.values,
        policies.values,
        releases.values,
        contract_rules.values,
    ),
    # what one names of another,
    (
        cluster.references,
        cluster_rules.references,
        addons.references,
        registry.references,
        pools.references,
        pool_rules.references,
        images.references,
        bottlerocket.references,
        features.references,
        fabric_rules.references,
        topology.references,
        racks.references,
        queues.references,
        tenants.references,
        disks.references,
        caches.references,
        claims.references,
        existing.references,
        workload_rules.references,
        ray_rules.references,
        training_rules.references,
        lustre.references,
        contract_rules.references,
        mounts.references,
    ),
    # what must agree,
    (
        nodes.limits,
        pool_rules.limits,
        sharing_rules.limits,
        fabric_rules.limits,
        queues.limits,
        scheduler.limits,
        override_rules.limits,
        schedulers.limits,
        tenants.limits,
        disks.limits,
        caches.limits,
        claims.limits,
        workload_rules.limits,
        ray_rules.limits,
        training_rules.limits,
        thresholds.limits,
        effects.limits,
        pod_patch.limits,
        nccl.limits,
        lustre.limits,
        efs.limits,
        archive.limits,
        contract_rules.limits,
        mounts.limits,
    ),
    (queues.tree,),
    # and what there is room for.
    (queues.claims, gang_rules.fits, ray_rules.fits, training_rules.fits, contract_rules.fits),
)
"""All rules. What is found wrong at one stage is `LOST` at the next, so that one mistake is one problem."""


@dataclass(frozen=True)
class Verdict:
    """What is known about a document.

    Attributes:
        environment: The environment; None when the document has errors.
        problems: All problems, errors and warnings.
    """

    environment: Environment | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What must be mended."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is doubtful."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    def required(self, file: object = None, positions: Positions | None = None) -> Environment:
        """The environment.

        Raises:
            DocumentError: There are errors; all problems are in it.
        """
        if self.environment is None:
            raise DocumentError(self.problems, file, positions)
        return self.environment


@dataclass(frozen=True)
class Document:
    """A document as it stands in a file.

    Attributes:
        file: The stack file.
        value: The plain value under `gangline:environment`.
        positions: Where each part of it stands.
        hidden: Problems that YAML hides from a plain value, such as duplicate keys.
    """

    file: File
    value: Any
    positions: Positions
    hidden: tuple[Problem, ...] = ()

    def judge(self, now: datetime | None = None) -> Verdict:
        """Judge all of it, and with a point in time what that makes of it, too."""
        return judge(self.value, self.positions, self.hidden, now)

    def load(self) -> Environment:
        """The environment.

        Raises:
            DocumentError: It has errors; all of them are in it.
        """
        return self.judge().required(self.file, self.positions)


def read(file: File) -> Document:
    """Read the document of a stack file.

    Raises:
        DocumentError: There is no such file, it is not YAML, or it has no environment.
    """
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise _unreadable(file, None, "there is no such file") from None
    except (OSError, UnicodeError) as error:
        raise _unreadable(file, None, f"cannot read it: {error}") from None
    try:
        root = reading.compose(text)
        config = reading.child(root, "config")
        for around in (root, config):
            for key, (first, second) in reading.duplicates(around).items():
                message = f"{key} is given twice (lines {first} and {second}), so which one counts is unclear"
                raise _unreadable(file, first, message, "keep one of them")
        node = reading.child(config, DOCUMENT_KEY)
        if node is None:
            near = nearest(DOCUMENT_KEY, reading.keys(config))
            raise _unreadable(file, None, f"it has no {DOCUMENT_KEY} under config{f', but {near}' if near else ''}")
        value, hidden = reading.value_of(node)
    except reading.ReadingError as error:
        raise _unreadable(file, error.line, f"cannot be read as YAML: {error}") from None
    return Document(file, value, Positions(node), tuple(hidden))


def _unreadable(file: File, line: int | None, message: str, fix: str | None = None) -> DocumentError:
    return DocumentError([Problem((), file.name, message, fix=fix)], f"{file}:{line}" if line else file)


def judge(
    value: Any, positions: Positions | None = None, hidden: Iterable[Problem] = (), now: datetime | None = None
) -> Verdict:
    """Find all problems of a document's plain value, and the environment when there is no error.

    Args:
        value: What stands under `gangline:environment`.
        positions: Where each part of it stands.
        hidden: Problems that are known already.
        now: The point in time for which it is judged; None to leave time out, as when something is taken down.
    """
    understood = shapes.Reading(Environment, value, positions.text if positions else lambda _: None)
    problems = list(hidden)
    unclear = [path for problem in problems for path in problem.spoilt]
    understood.disregard(unclear)
    problems += understood.problems
    timely: tuple[Rule, ...] = (
        (lambda env: blocks.passing(env, now), lambda env: policies.passing(env, now)) if now else ()
    )
    for number, stage in enumerate((*STAGES, timely)):
        if number == 1 and not lost(understood.found):
            amounts, uneven = shares.settled(understood.found)
            understood.settle(amounts)
            problems += uneven
        if lost(understood.found):
            break
        found = [problem for rule in stage for problem in answered(rule, understood.found)]
        problems += found
        if spoilt := [path for problem in found for path in problem.spoilt]:
            understood.forget(spoilt)
    problems = [understood.as_written(problem) for problem in problems]
    if positions:
        problems.sort(key=lambda problem: positions.line(problem.path) or 0)
    broken = any(problem.severity == "error" for problem in problems)
    return Verdict(None if broken else understood.found, tuple(problems))


def load(value: Any, positions: Positions | None = None, file: object = None) -> Environment:
    """The environment of a plain value.

    Raises:
        DocumentError: It has errors; all of them, and all warnings, are in it.
    """
    return judge(value, positions).required(file, positions)
