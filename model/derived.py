"""Values that follow from an environment, worked out once."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from .problems import Unanswerable

if TYPE_CHECKING:
    from typing import Concatenate

    from .environment import Environment

P = ParamSpec("P")
T = TypeVar("T")


def derived(function: "Callable[Concatenate[Environment, P], T]") -> "Callable[Concatenate[Environment, P], T]":
    """Remember the answers of a function of an environment, which never changes.

    With a thousand workloads on a few pools and queues, each answer is asked for a thousand times. That there is no
    answer is remembered as well.
    """

    @wraps(function)
    def once(env: "Environment", *args: P.args, **kwargs: P.kwargs) -> T:
        key = (function, *args, *sorted(kwargs.items()))
        memory = env.derived
        if key not in memory:
            try:
                memory[key] = function(env, *args, **kwargs)
            except Unanswerable as reason:
                memory[key] = reason
        answer = memory[key]
        if isinstance(answer, Unanswerable):
            raise Unanswerable
        return answer

    return once
