"""How one run holds the rules: what its environment and its own configuration say of levels, options, exemptions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from model import exemptions
from model.dates import day
from model.problems import nearest
from policies.fields import Field, absent
from policies.own_rules import EXEMPTION_EXPIRED, OWN_RULES, POLICY_SETTINGS
from policies.rules import Level, Option, Report, Rule

_NAMES = {int: "a whole number, 0 or more", str: "text", bool: "true or false", list: "a list of texts"}
OWN = frozenset(rule.id for rule in OWN_RULES)
_LASTING = frozenset({POLICY_SETTINGS.id, EXEMPTION_EXPIRED.id})
"""What a document could switch off the judge of itself with."""


@dataclass(frozen=True)
class Exemption:
    """A rule that may be broken in one place for a time.

    Attributes:
        place: Where the document says so.
        rule: Id of the rule.
        pattern: Pattern of the resources (`model.exemptions.covers`).
        reason: Why.
        owner: Who answers for it.
        expires: The last day on which it counts.
    """

    place: str
    rule: str
    pattern: str
    reason: str
    owner: str
    expires: date


@dataclass(frozen=True)
class Run:
    """What the configuration of the pack says for one run; the engine fills in the levels that it was not given.

    Attributes:
        levels: Levels by rule.
        options: Options that were given, by rule.
    """

    levels: Mapping[str, Level] = field(default_factory=dict)
    options: Mapping[str, Field] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """How the rules are held.

    Attributes:
        levels: Levels by rule, of all rules.
        options: Options by rule, all of them.
        valid: Exemptions that count, by rule.
        expired: Exemptions that are over.
        system: Namespaces that the document counts as the system's.
        faults: What is wrong with the settings.
    """

    levels: Mapping[str, Level]
    options: Mapping[str, Mapping[str, Any]]
    valid: Mapping[str, Sequence[Exemption]]
    expired: tuple[Exemption, ...]
    system: frozenset[str]
    faults: Report

    def exemption(self, rule: str, urn: str) -> Exemption | None:
        """Give the exemption that covers a resource; None without one."""
        found = (each for each in self.valid.get(rule, ()) if exemptions.covers(each.pattern, urn))
        return next(found, None)


def settle(rules: Iterable[Rule], run: Run, document: Field | None, today: date) -> Settings:
    """Bring together what the rules, the document and the run say. What the run says counts most.

    A level of the run that is the rule's own is taken for the engine's, and leaves the document's.
    """
    known = {rule.id: rule for rule in rules}
    reading = _Reading(known, document or absent(""))
    given = {id_: level for id_, level in run.levels.items() if id_ in known and level is not known[id_].level}
    levels = {id_: rule.level for id_, rule in known.items()} | reading.levels() | given
    options = {id_: dict(rule.defaults) for id_, rule in known.items()}
    for id_, values in (*reading.options(), *run.options.items()):
        if id_ in known:
            options[id_] |= reading.options_of(known[id_], values)
    found = reading.exemptions()
    expired = tuple(each for each in found if exemptions.over(each.expires, today))
    valid: dict[str, list[Exemption]] = {}
    for each in found:
        if each not in expired:
            valid.setdefault(each.rule, []).append(each)
    return Settings(levels, options, valid, expired, reading.system(), reading.faults)


class _Reading:
    """Reads the document's section field by field, so that one mistake leaves the rest in force."""

    def __init__(self, rules: Mapping[str, Rule], document: Field) -> None:
        self.faults = Report()
        self._rules = rules
        self._document = document

    def levels(self) -> dict[str, Level]:
        words = {level.value: level for level in Level}
        found: dict[str, Level] = {}
        for name, field_ in self._members("levels"):
            with self.faults.reading():
                word = field_.text()
                if name in _LASTING:
                    self.faults.violation(field_, f"nothing but a run sets the level of {name}")
                elif word in words and self._is_rule(name, field_):
                    found[name] = words[word]
                elif word not in words:
                    self.faults.violation(field_, f"{field_} is no level: {', '.join(words)}")
        return found

    def options(self) -> Iterator[tuple[str, Field]]:
        for name, field_ in self._members("options"):
            if self._is_rule(name, field_):
                yield name, field_

    def options_of(self, rule: Rule, values: Field) -> dict[str, Any]:
        found: dict[str, Any] = {}
        with self.faults.reading():
            for name, field_ in values.members().items():
                with self.faults.reading():
                    option, value = rule.options.get(name), field_.plain()
                    if option is None:
                        there = ", ".join(rule.options) or "none"
                        self.faults.violation(field_, f"{rule.id} has no such option; options: {there}")
                    elif not _fits(option, value):
                        said = str(field_) if field_.secret else json.dumps(value, ensure_ascii=False)
                        self.faults.violation(field_, f"{said} is not {_NAMES[option.kind]}")
                    else:
                        found[name] = value
        return found

    def system(self) -> frozenset[str]:
        found: list[str | None] = []
        with self.faults.reading():
            for item in self._document.at("policies", "systemNamespaces").items():
                with self.faults.reading():
                    found.append(item.text())
        return frozenset(name for name in found if name)

    def exemptions(self) -> list[Exemption]:
        found: list[Exemption] = []
        with self.faults.reading():
            for item in self._document.at("policies", "exemptions").items():
                with self.faults.reading():
                    if (exemption := self._exemption(item)) is not None:
                        found.append(exemption)
        return found

    def _exemption(self, item: Field) -> Exemption | None:
        rule, pattern, reason, owner, expires = (
            item[key].text() for key in ("rule", "resource", "reason", "owner", "expires")
        )
        if not (rule and pattern and reason and owner and expires):
            self.faults.violation(item, "lacks one of rule, resource, reason, owner and expires")
        elif rule in OWN:
            self.faults.violation(item["rule"], f"nothing is exempt from {rule}")
        elif self._is_rule(rule, item["rule"]):
            try:
                return Exemption(item.path, rule, pattern, reason, owner, day(expires))
            except ValueError:
                self.faults.violation(item["expires"], f"{expires} is no day")
        return None

    def _members(self, key: str) -> list[tuple[str, Field]]:
        with self.faults.reading():
            return [*self._document.at("policies", key).members().items()]
        return []

    def _is_rule(self, name: str, field_: Field) -> bool:
        if name not in self._rules:
            near = nearest(name, self._rules)
            self.faults.violation(
                field_, f"there is no rule {name or 'without a name'}" + (f"; {near} is one" if near else "")
            )
        return name in self._rules


def _fits(option: Option, value: Any) -> bool:
    if option.kind is list:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if option.kind is int:
        return type(value) is int and value >= 0
    return type(value) is option.kind
