"""What rows do: create, read, update and delete a resource of a type in the cloud."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jmespath

from twin.aws import sdk
from twin.aws.cloud import ACCOUNT, Cloud, CloudError, operation
from twin.aws.row import Row, Tags, Update
from twin.aws.translate import UnmappedError, from_api, member, settle, to_api
from twin.aws.wire import UNKNOWN, known

Values = Mapping[str, Any]


class PartlyMadeError(Exception):
    """A resource is there, but not all that was asked for: its id must not be lost.

    Attributes:
        id: The id.
        outputs: Its outputs as far as they could be read.
    """

    def __init__(self, identity: str, outputs: dict[str, Any], reason: str) -> None:
        super().__init__(reason)
        self.id = identity
        self.outputs = outputs


@dataclass(frozen=True)
class Found:
    """A resource as it is in the cloud.

    Attributes:
        outputs: All its outputs.
        inputs: Its inputs, in the terms of those that were asked for.
    """

    outputs: dict[str, Any]
    inputs: dict[str, Any]


class Resource:
    """A resource type in a cloud."""

    def __init__(self, token: str, row: Row, cloud: Cloud, default_tags: Mapping[str, str]) -> None:
        self.token = token
        self.row = row
        self.kind = sdk.resource(token)
        self._cloud = cloud
        self._default_tags = default_tags

    @property
    def region(self) -> str:
        """Where it is made."""
        return self._cloud.region

    def all_tags(self, inputs: Values) -> dict[str, str]:
        """Give the tags that the resource gets: its own before those of the provider."""
        return {**self._default_tags, **(inputs.get("tags") or {})}

    def parameters(self, name: str, inputs: Values, only: frozenset[str]) -> dict[str, Any]:
        """Give the parameters of an operation that come from properties.

        Raises:
            UnmappedError: A property has no place in it.
        """
        shape = operation(self.row.service, name).input_shape
        result: dict[str, Any] = {}
        for prop, value in inputs.items():
            if value is None or prop not in only:
                continue
            encoder = self.row.encoders.get(prop)
            if encoder is not None:
                result.update(encoder(value) if known(value) else {})
                continue
            place, owner = self._place(shape, prop)
            if place is None:
                raise UnmappedError(prop, f"not carried by the stand-in: {name} has no such member")
            target = result if owner is shape else result.setdefault(self.row.inside, {})
            target[place] = to_api(value, owner.members[place], prop, self.row.renames)
        return result

    def takes(self, name: str, prop: str) -> bool:
        """Say whether an operation takes a property."""
        return (
            prop in self.row.encoders or self._place(operation(self.row.service, name).input_shape, prop)[0] is not None
        )

    def _place(self, shape: Any, prop: str) -> tuple[str | None, Any]:
        inner = shape.members.get(self.row.inside)
        found = member(inner, prop, self.row.renames) if inner is not None else None
        return (found, inner) if found is not None else (member(shape, prop, self.row.renames), shape)

    def creatable(self) -> frozenset[str]:
        """Give the carried properties that the creation takes; the others are set right after it, by updates."""
        late = {name for update in self.row.updates if update.parameters_of for name in update.properties}
        return self.row.composed | frozenset(
            name
            for name in self.row.carried - {"tags", "region"}
            if not (name in self.row.encoders and name in late) and self.takes(self.row.create.operation, name)
        )

    def create(self, inputs: Values) -> tuple[str, Found]:
        """Make the resource.

        Raises:
            CloudError: The cloud refused it; nothing is there.
            PartlyMadeError: It is there, but a later step failed.
        """
        context = self._context("", inputs, {})
        now = self.creatable()
        parameters = self.parameters(self.row.create.operation, inputs, now - self.row.composed)
        tags = self.all_tags(inputs)
        if self.row.tags:
            parameters |= self.row.tags.creation(tags)
        answer = self._cloud.call(self.row.service, self.row.create, context, parameters)
        identity = self._identity(answer, context)
        try:
            context = self._context(identity, inputs, {}) | {"answer": answer}
            for call in self.row.after:
                self._cloud.call(self.row.service, call, context)
            for update in self.row.updates:
                wanted = {name: inputs[name] for name in update.properties if inputs.get(name) is not None}
                if wanted.keys() - now:
                    self._update(update, {}, {**inputs, **wanted}, frozenset(wanted), context)
            if self.row.tags and not self.row.tags.create and tags:
                self._cloud.call(self.row.service, self.row.tags.add, context | {"tags": self.row.tags.form(tags)})
            found = self.read(identity, inputs, {})
        except (CloudError, UnmappedError) as error:
            raise PartlyMadeError(identity, dict(inputs), str(error)) from error
        if found is None:
            raise PartlyMadeError(identity, dict(inputs), "it was made, but cannot be found")
        return identity, found

    def read(self, identity: str, inputs: Values, state: Values) -> Found | None:
        """Read the resource; None if it is not there.

        Args:
            identity: Its id.
            inputs: The inputs that were asked for; empty when the resource is imported.
            state: Its outputs as they were known.
        """
        context = self._context(identity, inputs, state)
        actual = self._read(context)
        if actual is None:
            return None
        told = {name: kind for name, kind in self.kind.outputs.items() if name not in ("tags", "tagsAll")}
        outputs = {name: self._output(name, kind, actual, context) for name, kind in told.items()}
        if self.row.tags:
            tags = self.row.tags.parse(jmespath.search(self.row.tags.read, actual))
            own = {name for name, text in self._default_tags.items() if tags.get(name) == text}
            asked = inputs.get("tags") or {}
            outputs["tagsAll"] = tags
            outputs["tags"] = {name: text for name, text in tags.items() if name not in own or name in asked} or None
        imported = not inputs
        found: dict[str, Any] = {}
        for name in sorted(self.row.carried):
            if name in inputs or (imported and outputs.get(name) is not None):
                found[name] = settle(inputs.get(name), outputs.get(name), self.kind.inputs[name])
                if not isinstance(found[name], dict):
                    outputs[name] = found[name]
        if "__defaults" in inputs:
            found["__defaults"] = inputs["__defaults"]
        return Found(_given(outputs), _given(found))

    def update(self, identity: str, before: Values, now: Values, state: Values) -> Found:
        """Change the resource in place.

        Raises:
            CloudError: The cloud refused a change, or the resource is gone.
        """
        context = self._context(identity, now, state)
        changed = frozenset(
            name for name in self.row.carried if settle(before.get(name), now.get(name), "any") != before.get(name)
        )
        for update in self.row.updates:
            if changed & set(update.properties):
                self._update(update, before, now, changed & set(update.properties), context)
        if self.row.tags:
            self._retag(self.row.tags, state.get("tagsAll") or {}, self.all_tags(now), context)
        found = self.read(identity, now, state)
        if found is None:
            raise CloudError(f"{identity} is not there any more")
        return found

    def delete(self, identity: str, inputs: Values, state: Values) -> None:
        """Delete the resource; one that is gone already is fine.

        Raises:
            CloudError: The cloud refused it.
        """
        context = self._context(identity, inputs, state)
        for call in self.row.delete:
            try:
                self._cloud.call(self.row.service, call, context)
            except CloudError as error:
                if error.code not in self.row.gone:
                    raise

    def _read(self, context: Values) -> dict[str, Any] | None:
        try:
            first = self._cloud.read(self.row.service, self.row.reads[0], context)
        except CloudError as error:
            if error.code in self.row.gone:
                return None
            raise
        if not first and first != {}:
            return None
        actual = {self.row.reads[0].into: first} if self.row.reads[0].into else dict(first)
        for read in self.row.reads[1:]:
            result = self._cloud.read(self.row.service, read, {**context, "actual": actual})
            if read.into:
                actual[read.into] = result
            else:
                actual |= result or {}
        return actual

    def _output(self, name: str, kind: sdk.Type, actual: Values, context: Values) -> Any:
        if name in self.row.echo:
            return context.get(name)
        if name == "region":
            return self._cloud.region
        rule = self.row.outputs.get(name)
        if callable(rule):
            return rule(actual, context)
        if isinstance(rule, str):
            return from_api(jmespath.search(rule, actual), kind, name, self.row.renames)
        wanted = self.row.renames.get(name, name).lower()
        value = next((entry for key, entry in actual.items() if key.lower() == wanted), None)
        return from_api(value, kind, name, self.row.renames)

    def _update(self, update: Update, before: Values, now: Values, changed: frozenset[str], context: Values) -> None:
        if update.parameters_of is not None:
            for parameters in update.parameters_of(before, {**now, "id": context["id"]}):
                self._cloud.call(self.row.service, update, context, parameters)
            return
        values = {name: now.get(name) for name in update.properties}
        for name in changed:
            if values[name] is None:
                values[name] = update.resets.get(name)
        parameters = self.parameters(update.operation, values, frozenset(update.properties))
        self._cloud.call(self.row.service, update, context, parameters)

    def _retag(self, rule: Tags, before: Mapping[str, str], now: Mapping[str, str], context: Values) -> None:
        if gone := sorted(before.keys() - now.keys()):
            self._cloud.call(self.row.service, rule.remove, {**context, "keys": gone, "tags": rule.form(now)})
        if new := {name: text for name, text in now.items() if before.get(name) != text}:
            self._cloud.call(self.row.service, rule.add, {**context, "tags": rule.form(new), "alltags": rule.form(now)})

    def _identity(self, answer: Any, context: Values) -> str:
        if "{" in self.row.id:
            told = next(
                (entry for name, entry in answer.items() if isinstance(entry, dict) and name != "ResponseMetadata"), {}
            )
            return self.row.id.format_map({**told, **context})
        found = jmespath.search(self.row.id, answer)
        if not found:
            raise CloudError(f"{self.row.create.operation}: no {self.row.id} in the answer")
        return str(found)

    def _context(self, identity: str, inputs: Values, state: Values) -> dict[str, Any]:
        named = parse_id(self.row.id, identity) if identity and "{" in self.row.id else {}
        merged = {**named, **state, **inputs, "id": identity, "region": self._cloud.region, "account": ACCOUNT}
        return {name: value for name, value in merged.items() if value is not None and value is not UNKNOWN}


def parse_id(template: str, identity: str) -> dict[str, str]:
    """Read the properties that an id is made of."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template))
    found = re.fullmatch(pattern, identity)
    return found.groupdict() if found else {}


def _given(values: Values) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
