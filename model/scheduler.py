"""The batch scheduler: what it shall aim at, and what it is told for that."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from . import queues, scheduler_rules
from .base import Declared
from .problems import Problem, answered, known, lost

if TYPE_CHECKING:
    from .environment import Environment

_OVERRIDE = ("scheduler", "override")
_INTENT = ("placement", "order", "reclaim", "preempt")


Kind = Literal["volcano", "kueue", "kai"]
"""Who places workloads."""


class Scheduler(Declared):
    """Which scheduler places the gangs, and what it aims at."""

    kind: Kind = "volcano"
    """`volcano`: a scheduler of its own for gangs, queues and topology. `kueue`: workloads are admitted whole, and the
    cluster's own scheduler binds their pods. `kai`: NVIDIA's scheduler. docs/reference/schedulers.md says what each
    carries over."""
    placement: Literal["pack", "spread"] = "pack"
    """`pack`: pods fill up nodes, so that whole nodes stay free for large gangs; `spread`: they go where most is
    free."""
    order: Literal["priority", "fair"] = "priority"
    """Which job of a queue is next: that of the highest `priority` and then the oldest, or, `fair`, among equal
    priorities that which holds the smallest part of the cluster (dominant resource fairness)."""
    reclaim: bool = True
    """Whether a queue takes back from others, gang by gang, what it deserves. Without it a queue waits until they are
    done."""
    preempt: bool = True
    """Whether a job takes the place of jobs of lower priority in its own queue, gang by gang."""
    override: dict[str, Any] = Field(default_factory=dict)
    """A whole configuration of Volcano's scheduler (`volcano-scheduler.conf`) in place of what follows from the rest.
    It is checked as that is."""


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with a configuration that stands in place of ours."""
    yield from answered(_override, env)


def limits(env: "Environment") -> Iterator[Problem]:
    """Aims that nothing serves."""
    yield from answered(_nothing_deserved, env)


def _override(env: "Environment") -> Iterator[Problem]:
    override = known(env.scheduler.override)
    if not override:
        return
    for name in _INTENT:
        if name in env.scheduler.model_fields_set:
            message = "override is the whole configuration, so this would have no effect"
            yield Problem(("scheduler", name), getattr(env.scheduler, name), message, fix="keep one of both")
    deserving = any(not lost(node.queue.deserved) and node.queue.deserved for node in queues.flatten(env))
    for problem in scheduler_rules.problems(override, deserving=deserving):
        # Of a configuration with a mistake nothing is concluded: what was meant may be what is missed.
        yield replace(problem, path=(*_OVERRIDE, *problem.path), spoils=(_OVERRIDE,))


def _nothing_deserved(env: "Environment") -> Iterator[Problem]:
    scheduler = env.scheduler
    if "reclaim" not in scheduler.model_fields_set or not scheduler.reclaim:
        return
    if not any(node.queue.deserved for node in queues.flatten(env)):
        message = "no queue deserves anything, so there is nothing to take back"
        yield Problem(("scheduler", "reclaim"), True, message, fix="give queues deserved", severity="warning")
