"""Each resource type from creation to deletion, over the provider's own wire, on moto."""

from typing import Any

import pytest
from examples import Example
from examples_cluster import EKS, IDENTITY
from examples_data import KEYS, NOTICES, REGISTRY
from examples_files import FILES, S3
from examples_network import COMPUTE, NETWORK
from place import Place
from provider_client import Engine, Made

from twin.aws import plans, sdk
from twin.aws.resources import Resource
from twin.aws.rows import ROWS

# A type has several examples where its inputs exclude each other: they are told apart by a word after the token.
EXAMPLES = {**NETWORK, **COMPUTE, **IDENTITY, **EKS, **KEYS, **NOTICES, **REGISTRY, **S3, **FILES}


def merged(inputs: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**inputs, **changes}.items() if value is not None}


def refreshed(engine: Engine, made: Made) -> Made:
    found = engine.read(made)
    assert found is not None
    return found


@pytest.mark.parametrize("key", sorted(EXAMPLES))
def test_a_type_from_creation_to_deletion(key: str, engine: Engine, place: Place) -> None:
    example, token = EXAMPLES[key], key.partition(" ")[0]
    inputs = example.inputs(place)
    name = key.rpartition(":")[2].lower().replace(" ", "-")
    made = engine.create(token, name, inputs)
    _is_what_the_sdk_says(token, made)
    _reads_as_it_was_made(engine, made)
    _nothing_differs(engine, made, inputs)
    _can_be_imported(engine, made, inputs)
    _drift_is_seen_and_repaired(engine, place, example, made, inputs)
    _replacement_is_planned(engine, place, example, made, inputs)
    made = _changes_in_place(engine, place, example, made, inputs)
    engine.delete(made)
    assert (engine.read(made) is None) is example.mortal
    if example.mortal:
        engine.delete(made)


def _is_what_the_sdk_says(token: str, made: Made) -> None:
    kind = sdk.resource(token)
    assert made.id
    assert made.outputs.keys() <= kind.outputs.keys()
    mistakes = [each for name, value in made.outputs.items() for each in sdk.mistakes(value, kind.outputs[name], name)]
    assert mistakes == []


def _reads_as_it_was_made(engine: Engine, made: Made) -> None:
    found = refreshed(engine, made)
    assert found.inputs == made.inputs
    assert found.outputs == made.outputs


def _nothing_differs(engine: Engine, made: Made, inputs: dict[str, Any]) -> None:
    found = refreshed(engine, made)
    checked = engine.check(made.token, made.name, inputs, found.inputs)
    answer = engine.diff(found, checked)
    assert list(answer.diffs) == []
    assert answer.changes == answer.DIFF_NONE


def _can_be_imported(engine: Engine, made: Made, inputs: dict[str, Any]) -> None:
    """By the id alone all is found that the cloud knows, and nothing is planned then."""
    found = engine.read(made, inputs={})
    assert found is not None
    row = ROWS[made.token]
    known = {name: value for name, value in made.inputs.items() if name not in row.echo and name != "__defaults"}
    assert known.keys() <= found.inputs.keys()


def _drift_is_seen_and_repaired(
    engine: Engine, place: Place, example: Example, made: Made, inputs: dict[str, Any]
) -> None:
    if example.drift is None:
        return
    example.drift(place, made)
    found = refreshed(engine, made)
    checked = engine.check(made.token, made.name, inputs, found.inputs)
    answer = engine.diff(found, checked)
    assert set(answer.diffs) == example.drifted
    if answer.replaces:
        assert not ROWS[made.token].updated & example.drifted
        return
    repaired = engine.update(found, checked)
    assert refreshed(engine, repaired).inputs == made.inputs


def _replacement_is_planned(engine: Engine, place: Place, example: Example, made: Made, inputs: dict[str, Any]) -> None:
    if example.replace is None:
        return
    changes = example.replace(place)
    checked = engine.check(made.token, made.name, merged(inputs, changes), made.inputs)
    answer = engine.diff(made, checked)
    assert set(answer.replaces) == (example.replaced or set(changes))


def _changes_in_place(engine: Engine, place: Place, example: Example, made: Made, inputs: dict[str, Any]) -> Made:
    if example.change is None:
        return made
    changes = example.change(place)
    before = refreshed(engine, made)
    checked = engine.check(made.token, made.name, merged(inputs, changes), before.inputs)
    answer = engine.diff(before, checked)
    assert set(answer.diffs) == set(changes)
    assert list(answer.replaces) == []
    changed = engine.update(before, checked)
    found = refreshed(engine, changed)
    assert found.inputs == changed.inputs
    assert found.outputs == changed.outputs
    again = engine.check(made.token, made.name, merged(inputs, changes), found.inputs)
    assert list(engine.diff(found, again).diffs) == []
    return changed


def test_there_are_forty_types_at_least() -> None:
    assert len(ROWS) >= 40
    assert {key.partition(" ")[0] for key in EXAMPLES} == ROWS.keys()


@pytest.mark.parametrize("token", sorted(ROWS))
def test_a_row_is_in_order_and_its_examples_use_all_of_it(token: str, place: Place) -> None:
    row = ROWS[token]
    examples = [example for key, example in EXAMPLES.items() if key.partition(" ")[0] == token]
    assert list(plans.unplaced(Resource(token, row, place.cloud, {}))) == []
    used = {name for example in examples for name in example.inputs(place)}
    changed = {name for example in examples if example.change for name in example.change(place)}
    replaced = {name for example in examples if example.replace for name in example.replace(place)}
    assert row.carried <= used | changed | replaced | set(row.defaults) | {row.autoname}
    assert bool(changed) == bool(row.updated | ({"tags"} if row.tags else set()))
    assert bool(replaced) == bool(row.replaced)
    roots = {path.partition(".")[0] for path in row.replaced}
    documented = sdk.resource(token).replaces & row.carried
    assert documented <= roots or row.replaced_too is not None
    drifts = any(example.drift for example in examples)
    assert drifts == bool(row.updated | ({"tags"} if row.tags else set()) or "accessScope" in row.replaced)


def test_what_replaces_depends_on_values_where_the_documentation_says_so(engine: Engine, place: Place) -> None:
    token = "aws:fsx/lustreFileSystem:LustreFileSystem"
    made = engine.create(
        token, "versions", {"subnetIds": place.subnets[0], "storageCapacity": 1200, "fileSystemTypeVersion": "2.12"}
    )
    higher = {**made.inputs, "fileSystemTypeVersion": "2.15"}
    lower = {**made.inputs, "fileSystemTypeVersion": "2.10"}
    assert list(engine.diff(made, higher).replaces) == []
    assert list(engine.diff(made, lower).replaces) == ["fileSystemTypeVersion"]
    engine.delete(made)


def test_the_default_version_of_a_template_follows_where_it_is_told_to(engine: Engine) -> None:
    token = "aws:ec2/launchTemplate:LaunchTemplate"
    inputs = {"instanceType": "p5.48xlarge", "updateDefaultVersion": True}
    made = engine.create(token, "follows", inputs)
    changed = engine.update(
        made, engine.check(token, "follows", {**inputs, "instanceType": "p4d.24xlarge"}, made.inputs)
    )
    assert (changed.outputs["latestVersion"], changed.outputs["defaultVersion"]) == (2, 2)
    engine.delete(changed)
