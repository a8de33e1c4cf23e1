"""How a stack differs from what it was."""

import json
from typing import Any

import pytest

from twin.aws.wire import SECRET, SIGNATURE, UNKNOWN_TEXT
from twin.differences import HIDDEN, MISSING, OUTPUT, UNKNOWN, Change, changes
from twin.monitor import UPSTREAM, Resource

MAP = "kubernetes:core/v1:ConfigMap"
ROLE = "aws:iam/role:Role"
TEMPLATE, GROUP = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/nodeGroup:NodeGroup"


def made(type_: str, inputs: Any, name: str = "one", **options: Any) -> Resource:
    options = {"custom": True, "parent": None} | options
    return Resource(urn=f"urn:pulumi:s::p::{type_}::{name}", type=type_, name=name, inputs=inputs, **options)


def secret(value: Any) -> dict[str, Any]:
    return {SIGNATURE: SECRET, "value": value}


def only(before: Any, now: Any, type_: str = "kubernetes:core/v1:Namespace", **options: Any) -> Change | None:
    found = changes([made(type_, before)], [made(type_, now, **options)])
    assert len(found) <= 1
    return found[0] if found else None


def test_resources_come_change_and_go() -> None:
    old = [made(MAP, {}, "gone"), made(MAP, {"x": 1}, "same"), made("gangline:index:Tenant", {"a": 1}, custom=False)]
    new = [made(MAP, {"x": 1}, "same"), made(MAP, {}, "new"), made("gangline:index:Tenant", {"a": 2}, custom=False)]
    assert [(each.kind, each.resource.name) for each in changes(old, new)] == [("add", "new"), ("remove", "gone")]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [("a", 1, True)]),
        ({"a": None}, {}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1]}}, [("a.b.1", 2, MISSING)]),
        ({}, {"a": {"b": 1}}, [("a", MISSING, {"b": 1})]),
        # by name, so that one more at the top is one more
        (
            {"a": [{"name": "x", "v": 1}]},
            {"a": [{"name": "w"}, {"name": "x", "v": 2}]},
            [("a.x.v", 1, 2), ("a.w", MISSING, {"name": "w"})],
        ),
        # what is not known yet cannot be compared, but that it comes or goes can be told
        ({"a": 1}, {"a": UNKNOWN_TEXT}, []),
        ({"a": UNKNOWN_TEXT}, {"a": 1}, []),
        ({}, {"a": UNKNOWN_TEXT}, [("a", MISSING, UNKNOWN)]),
        # secrets are compared where both sides can be read, and never shown
        ({"a": secret("x")}, {"a": secret("x")}, []),
        ({"a": secret("x")}, {"a": secret("y")}, [("a", HIDDEN, HIDDEN)]),
        ({"a": secret({"b": 1})}, {"a": {"b": 2}}, [("a", HIDDEN, HIDDEN)]),
        ({"a": {SIGNATURE: SECRET, "ciphertext": "v1:abc"}}, {"a": secret("y")}, []),
        ({"a": {SIGNATURE: SECRET, "plaintext": json.dumps("x")}}, {"a": secret("y")}, [("a", HIDDEN, HIDDEN)]),
        ({"a": {SIGNATURE: OUTPUT, "value": "x"}}, {"a": "y"}, [("a", "x", "y")]),
        # what a provider filled in is no change of the program
        ({"a": 1, "name": "one-4f5a", "__defaults": ["name"]}, {"a": 1}, []),
        ({"name": "one-4f5a", "__defaults": ["name"]}, {"name": "two"}, [("name", "one-4f5a", "two")]),
    ],
)
def test_inputs_are_compared_value_by_value(before: Any, now: Any, expected: list[Any]) -> None:
    change = only(before, now)
    found = change.differences if change else ()
    assert [(".".join(map(str, each.path)), each.before, each.now) for each in found] == expected


def test_options_of_the_resource_count() -> None:
    before, now = {"spec": {"a": [{"b": 1}], "c": 1}}, {"spec": {"a": [{"b": 2}], "c": 2}}
    change = only(before, now, replace_on_changes=("spec.a[*].b",), ignore_changes=("spec.c",))
    assert change is not None
    assert (change.kind, change.because) == ("replace", ("spec.a[*].b",))
    assert [each.path for each in change.differences] == [("spec", "a", 0, "b")]


@pytest.mark.parametrize(
    ("type_", "before", "now"),
    [
        (
            "pulumi:providers:aws",
            {"region": "us-east-2", "version": "7.51.0", "__internal": {}},
            {"region": "us-east-2"},
        ),
        ("kubernetes:a/v1:QueuePatch", {"metadata": {"namespace": "default"}}, {"metadata": {}}),
        (
            "kubernetes:helm.sh/v3:Release",
            {"lint": False, "keyring": "", "chart": "./.charts/a-1.2-0f3b"},
            {"chart": "./.charts/a-1.2 (made at up)", "compat": "true"},
        ),
    ],
)
def test_what_engine_and_providers_fill_in_is_no_change(type_: str, before: Any, now: Any) -> None:
    assert only(before, now, type_) is None


def test_another_release_of_a_chart_is_a_change() -> None:
    release = "kubernetes:helm.sh/v3:Release"
    for later in ("./.charts/a-1.3 (made at up)", "./.charts/a-1.3-77"):
        assert only({"chart": "./.charts/a-1.2 (made at up)"}, {"chart": later}, release) is not None


def test_definitions_are_upstreams_own() -> None:
    assert only({"spec": {"group": "x"}}, {}, UPSTREAM) is None


def test_a_replaced_provider_takes_everything_with_it() -> None:
    token = "pulumi:providers:kubernetes"
    cluster = [made(token, {"clusterIdentifier": name, "version": "4.34"}, "in") for name in ("a", "b")]
    inside = made(MAP, {"data": {}}, provider=cluster[0].urn)
    assert [(each.kind, each.because) for each in changes([cluster[0], inside], [cluster[1], inside])] == [
        ("replace", ("clusterIdentifier",)),
        ("replace", ("its provider is replaced",)),
    ]
    assert changes([cluster[0]], [made(token, {"clusterIdentifier": "a"}, "in")]) == []


def test_what_follows_from_another_resource_is_foreseen() -> None:
    """A launch template that changes has a new version, so its nodes roll; a role made anew has a new id."""
    template = made(TEMPLATE, {"userData": "a"}, "t")
    group = made(
        GROUP,
        {"launchTemplate": {"id": "t-id", "version": UNKNOWN_TEXT}, "nodeRoleArn": UNKNOWN_TEXT},
        references={"launchTemplate": (template.urn,), "nodeRoleArn": (made(ROLE, {}, "r").urn,)},
    )
    rolled = changes([template, group], [made(TEMPLATE, {"userData": "b"}, "t"), group])
    assert [(each.kind, each.resource.type) for each in rolled] == [("change", TEMPLATE), ("change", GROUP)]
    assert rolled[1].differences[0].path == ("launchTemplate", "version")
    roles = [made(ROLE, {"name": name}, "r") for name in ("a", "b")]
    replaced = changes([roles[0], group], [roles[1], group])
    assert [(each.kind, each.because) for each in replaced] == [("replace", ("name",)), ("replace", ("nodeRoleArn",))]


def test_of_a_saved_state_ids_are_real() -> None:
    subnet = made("aws:ec2/subnet:Subnet", {}, "s")
    saved = made("aws:eks/cluster:Cluster", {"vpcConfig": {"subnetIds": ["subnet-0a1b"]}})
    now = made("aws:eks/cluster:Cluster", {"vpcConfig": {"subnetIds": ["s-id"]}})
    assert changes([subnet, saved], [subnet, now], saved=True) == []


def test_types_of_which_nothing_is_known_are_named() -> None:
    change = only({"a": 1}, {"a": 2}, "random:index/randomId:RandomId")
    assert change is not None
    assert (change.kind, change.foreseen) == ("change", False)
    known = only({"path": "/a"}, {"path": "/b"}, ROLE)
    assert known is not None
    assert (known.kind, known.foreseen) == ("replace", True)
