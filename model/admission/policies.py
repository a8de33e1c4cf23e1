"""What the API server is told: policies for the namespaces of teams, and what they list.

It is one policy for all laws of a level, since of several that refuse an object the API server tells one only
(k8s.io/apiserver, pkg/admission/plugin/policy/validating/dispatcher.go); so everything that is wrong is told at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from model import laws, namespaces, queue_labels
from model.admission.cel import joined, literal, texts
from model.admission.expressions import expressions, variables
from model.pod_templates import CORE, TEMPLATES, plural

if TYPE_CHECKING:
    from model.environment import Environment

Action = Literal["Deny", "Warn"]
"""What happens to an object that breaks a law: it is refused, or made with a warning."""

NAMES: Mapping[Action, str] = MappingProxyType({"Deny": "gangline-workloads", "Warn": "gangline-workloads-advice"})

_LONGEST_FAULT, _LONGEST = 400, 4800
"""Characters of what is told of one law, and of all. The API server drops a message of more than 5 KiB
(k8s.io/apiserver, pkg/apis/cel/config.go)."""

_CONTROLLERS = ("system:nodes", *(f"system:serviceaccounts:{name}" for name in ("kube-system", *namespaces.OURS)))
"""Groups that are not judged: what controllers make follows from objects that were judged when people made them, and an
operator whose pods are refused fails without a word to anybody."""


@dataclass(frozen=True)
class Policy:
    """A policy of the API server, and what its binding does.

    Attributes:
        action: What happens to what breaks one of its laws.
        laws: Ids of its laws.
        variables: Its variables by name, in order: each may use those before it.
    """

    action: Action
    laws: tuple[str, ...]
    variables: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name in the cluster, and that of its binding."""
        return NAMES[self.action]


EXPRESSION = "variables.faults == ''"
MESSAGE_EXPRESSION = (
    f"variables.faults.size() > {_LONGEST} ? variables.faults.substring(0, {_LONGEST}) : variables.faults"
)
MESSAGE = "breaks laws about workloads in the namespaces of teams"
"""Where what is wrong cannot be told in one line."""

_DECIDING = (
    # What of an object the laws look at.
    ".?spec",
    ".?template",
    *(f".metadata.?labels[?{literal(key)}]" for key in (queue_labels.VOLCANO, queue_labels.KUEUE, queue_labels.KAI)),
    f".metadata.?annotations[?{literal(queue_labels.ANNOTATION)}]",
)


def _changed(part: str) -> str:
    return f"object{part} != oldObject{part}"


CONDITIONS: Mapping[str, str] = MappingProxyType(
    {
        # What is judged at all, by names that a refusal tells.
        "not-by-a-controller": (
            f"!request.userInfo.?groups.orValue([]).exists(group, group in {texts(_CONTROLLERS)})"
            " && request.userInfo.username != 'system:kube-controller-manager'"
        ),
        # What was there before a law may still be finalised and deleted, and agents annotate pods that others made.
        "changed": f"request.operation != 'UPDATE' || {' || '.join(map(_changed, _DECIDING))}",
    }
)


def resources() -> dict[str, tuple[str, ...]]:
    """What is judged, by API group: all kinds that make pods, and Volcano's groups of pods, which name a queue."""
    found: dict[str, list[str]] = {}
    for group, kind in TEMPLATES:
        found.setdefault("" if group == CORE else group, []).append(plural(kind))
    found[""].append("pods/ephemeralcontainers")  # `kubectl debug` adds a container to a pod that runs
    found["scheduling.volcano.sh"] = ["podgroups"]
    return {group: tuple(kinds) for group, kinds in found.items()}


def policies(env: "Environment") -> tuple[Policy, ...]:
    """The policies of an environment: one that refuses and one that warns, as far as there is a law for each."""
    if not env.tenants:
        return ()
    by_law = expressions(env)
    actions = {law: _action(env, law) for law in by_law}
    found: list[Policy] = []
    for action in NAMES:
        chosen = {law: expression for law, expression in by_law.items() if actions[law] == action}
        if chosen:
            found.append(Policy(action, tuple(chosen), _variables(env, chosen)))
    return tuple(found)


def _action(env: "Environment", law: str) -> Action | None:
    """What happens to what breaks a law: its level in the pack holds here too."""
    level = env.policies.levels.get(law, "mandatory")
    if env.policies.admission == "none" or level == "disabled":
        return None
    return "Deny" if env.policies.admission == "deny" and level == "mandatory" else "Warn"


def _variables(env: "Environment", chosen: Mapping[str, str]) -> dict[str, str]:
    own = {_variable(law): expression for law, expression in chosen.items()}
    told = joined(f"[{', '.join(map(_told, chosen))}]", " | ")
    return {**variables(env), **own, "faults": told}


def _told(law: str) -> str:
    fault = f"variables.{_variable(law)}"
    shortened = f"({fault}.size() > {_LONGEST_FAULT} ? {fault}.substring(0, {_LONGEST_FAULT}) + '...' : {fault})"
    return f"{fault} == '' ? '' : {literal(f'{law}: ')} + {shortened} + {literal(f'. Fix: {laws.BY_ID[law].fix}')}"


def _variable(law: str) -> str:
    first, *rest = law.split("-")
    return first + "".join(word.capitalize() for word in rest)
