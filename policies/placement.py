"""Reads where pods may run: their tolerations, and the pools of a document that their selectors mean."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policies.fields import Field

if TYPE_CHECKING:
    from model.placing import Requirement, Toleration

_REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def tolerations(spec: Field) -> "list[Toleration]":
    """Read the tolerations of a pod by its specification, or by what has these fields for one.

    Raises:
        UnreadableError: One of them is not known yet.
    """
    from model.placing import Toleration

    return [
        Toleration(
            key=item["key"].text() or "",
            exists=item["operator"].text() == "Exists",
            value=item["value"].text() or "",
            effect=item["effect"].text() or "",
        )
        for item in spec["tolerations"].items()
    ]


def terms(spec: Field) -> "list[list[tuple[Requirement, Field]]]":
    """Read what a pod requires of its node: alternatives, each a list of requirements with where they stand.

    Raises:
        UnreadableError: Something of it is not known yet.
    """
    from model.placing import Requirement

    always = [
        (Requirement(key, "In", (field.text() or "",)), field) for key, field in spec["nodeSelector"].members().items()
    ]
    alternatives = [list(_expressions(term)) for term in spec.at(*_REQUIRED)["nodeSelectorTerms"].items()]
    return [[*always, *alternative] for alternative in alternatives] or [always]


def _expressions(term: Field) -> "Iterator[tuple[Requirement, Field]]":
    from model.placing import Requirement

    for item in term["matchExpressions"].items():
        values = tuple(value.text() or "" for value in item["values"].items())
        yield Requirement(item["key"].text() or "", item["operator"].text() or "", values), item["key"]


def chosen(
    required: "Sequence[Sequence[tuple[Requirement, Field]]]", labels: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Give the pools that a pod's terms mean, in the order of the document; none where they choose no pool at all.

    A term that asks for nothing that the document speaks of chooses nothing: such pods run where they are tolerated.
    """
    spoken = {key for found in labels.values() for key in found} - {"kubernetes.io/os", "kubernetes.io/arch"}
    found: list[str] = []
    for term in required:
        choosing = [requirement for requirement, _ in term]
        if any(requirement.key in spoken for requirement in choosing):
            found += [name for name in labels if all(requirement.met(labels[name]) for requirement in choosing)]
    return [name for name in labels if name in found]
