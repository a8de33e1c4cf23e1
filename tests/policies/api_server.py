"""The API server's part in admission, played by another implementation of CEL (https://github.com/cel-expr/cel-python).

What Kubernetes adds to the language is written here: quantities. `tests/twin/test_admission.py` asks a real one.
"""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional, ext_strings

from model import tenants
from model.admission import policies
from model.environment import Environment
from model.pod_templates import CORE, TEMPLATES
from model.quantities import Quantity
from tests.policies.objects import SIGNATURE, UNKNOWN

KINDS = {*TEMPLATES, ("scheduling.volcano.sh", "PodGroup")}
_TOLD = re.compile(r"(?:^| \| )([a-z-]+): ")


def told(message: str) -> set[str]:
    """The laws that a refusal names."""
    return set(_TOLD.findall(message))


class _Registered(Protocol):
    """A resource as a program registers it."""

    @property
    def type(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> Any: ...


def object_of(resource: _Registered, namespace: str) -> dict[str, Any] | None:
    """Give what reaches the API server for a resource; None for what cannot: patches, lists and values not known yet.

    Args:
        resource: The resource.
        namespace: Its namespace where it names none.
    """
    found = re.fullmatch(r"kubernetes:([^/]+)/([^:]+):(\w+)", resource.type)
    if found is None or (found[1], found[3]) not in KINDS or UNKNOWN in repr(resource.inputs):
        return None
    opened = _opened(resource.inputs)
    version = found[2] if found[1] == CORE else f"{found[1]}/{found[2]}"
    metadata = {"namespace": namespace, "name": resource.name} | opened.get("metadata", {})
    return opened | {"apiVersion": version, "kind": found[3], "metadata": metadata}


def _opened(value: Any) -> Any:
    """Give a value without secrets around it and without what is null, which the API server leaves out."""
    if isinstance(value, dict):
        if SIGNATURE in value:
            return _opened(value["value"])
        return {key: _opened(each) for key, each in value.items() if each is not None}
    return [_opened(each) for each in value if each is not None] if isinstance(value, list) else value


class ApiServer:
    """Judges objects by the policies of an environment."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        names: tuple[str, ...] = ("object", "oldObject", "request", "namespaceObject", "variables")
        declared: dict[str, cel.Type] = dict.fromkeys(names, cel.Type.DYN)
        language = cel.NewEnv(
            variables=declared, extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings(), _quantities()]
        )
        self._conditions = [language.compile(each) for each in policies.CONDITIONS.values()]
        self._policies = {
            policy.action: {name: language.compile(text) for name, text in policy.variables.items()}
            for policy in policies.policies(env)
        }
        self._message = language.compile(policies.MESSAGE_EXPRESSION)
        self._expression = language.compile(policies.EXPRESSION)

    def says(
        self, made: Mapping[str, Any], *, old: Mapping[str, Any] | None = None, groups: tuple[str, ...] = ("people",)
    ) -> dict[str, str]:
        """What it says of an object by what it does: `Deny` and `Warn`; nothing where all is well.

        Args:
            made: The object.
            old: What it is to replace; None when it is created.
            groups: Groups of whoever asks.
        """
        namespace = made["metadata"]["namespace"]
        owner = tenants.by_namespace(self._env).get(namespace)
        if owner is None:
            return {}  # the binding selects namespaces of teams
        annotations = {tenants.QUEUES: ",".join(tenants.nameable(self._env, self._env.tenants[owner]))}
        group, _, _ = made["apiVersion"].rpartition("/")
        data: dict[str, Any] = {
            "object": made,
            "oldObject": old,
            "request": {
                "kind": {"group": group, "kind": made["kind"]},
                "operation": "CREATE" if old is None else "UPDATE",
                "userInfo": {"username": "somebody", "groups": list(groups)},
            },
            "namespaceObject": {"metadata": {"name": namespace, "annotations": annotations}},
        }
        if not all(_value(condition, data) for condition in self._conditions):
            return {}
        found: dict[str, str] = {}
        for action, variables in self._policies.items():
            known: dict[str, Any] = {}
            for name, variable in variables.items():
                known[name] = _value(variable, {**data, "variables": known})
            if not _value(self._expression, {**data, "variables": known}):
                found[action] = _value(self._message, {**data, "variables": known})
        return found


def _value(expression: cel.Expression, data: Mapping[str, Any]) -> Any:
    found = expression.eval(data=data)
    assert found.type() != cel.Type.ERROR, found.value()
    return found.plain_value()


def _quantities() -> cel.CelExtension:
    """Kubernetes' quantities (k8s.io/apiserver, pkg/cel/library/quantity.go), as texts."""
    text, number, yes, real = cel.Type.STRING, cel.Type.INT, cel.Type.BOOL, cel.Type.DOUBLE

    def amount(written: str) -> Any:
        return Quantity.parse(written).value

    def compare(one: str, other: str) -> int:
        return (amount(one) > amount(other)) - (amount(one) < amount(other))

    functions = (
        ("quantity", text, [text], False, lambda written: written if amount(written) is not None else ""),
        ("compareTo", number, [text, text], True, compare),
        ("isGreaterThan", yes, [text, text], True, lambda one, other: compare(one, other) > 0),
        ("asApproximateFloat", real, [text], True, lambda written: float(amount(written))),
    )
    declared = [
        cel.FunctionDecl(name, [cel.Overload(f"{name}_text", result, parameters, member, function)])
        for name, result, parameters, member, function in functions
    ]
    return cel.CelExtension("quantities", declared)
