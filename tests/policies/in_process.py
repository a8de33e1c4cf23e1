"""The pack without a process: the same calls, for rules that no pack has."""

from collections.abc import Iterable
from typing import Any

from policies.rules import Law
from policies.server import Analyzer
from twin.policy_pack import PolicyPack


class InProcess(PolicyPack):
    """A pack of some rules, in a run of its own."""

    def __init__(self, rules: Iterable[Law], *, preview: bool = True) -> None:
        self._stub: Any = Analyzer(rules)
        self.begin(preview=preview)

    def _call(self, method: Any, request: Any) -> Any:
        return method(request, None)
