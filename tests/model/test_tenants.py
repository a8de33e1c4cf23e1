"""Tenants: their namespaces, queues, quotas and people."""

import pytest

from model import namespaces, tenants
from tests.model.documents import add, environment, errors, only, put, rename


def test_tenants_may_use_what_they_name_and_its_parts():
    research = environment().tenants["research"]
    assert research.may_use("research")
    assert research.may_use("research.llm")
    assert not research.may_use("production")
    assert not research.may_use("researchers")


def test_each_namespace_has_one_owner():
    assert dict(tenants.by_namespace(environment())) == {
        "research": "research",
        "research-dev": "research",
        "production": "production",
    }


@pytest.mark.parametrize(
    ("namespace", "says"),
    [
        ("production", "belongs to tenant"),
        ("research", "is there twice"),
        ("kube-system", "of the system"),
        ("default", "of the system"),
        *((each, "of the system") for each in namespaces.OURS),
        ("Research", "'R'"),
        ("a" * 64, "64 characters"),
        ("a.b", "'.'"),
    ],
)
def test_namespaces_are_legal_and_nobody_elses(namespace: str, says: str):
    found = errors(add("tenants.research.namespaces", namespace))
    path, problem = only(found)
    assert says in problem.message
    assert path in ("tenants.research.namespaces[2]", "tenants.production.namespaces[0]")


def test_a_namespace_of_the_platform_is_no_teams() -> None:
    system = put("policies", {"systemNamespaces": ["monitoring"]})
    path, problem = only(errors(system, add("tenants.research.namespaces", "monitoring")))
    assert (path, problem.message) == (
        "tenants.research.namespaces[2]",
        "stands in policies.systemNamespaces, and is the platform's",
    )


@pytest.mark.parametrize(
    ("key", "one"), [("queue", "production"), ("namespace", "production"), ("Queues", "production")]
)
def test_one_in_place_of_a_list_is_one_mistake(key: str, one: str):
    meant = "namespaces" if key == "namespace" else "queues"
    path, problem = only(errors(rename(f"tenants.production.{meant}", key), put(f"tenants.production.{key}", one)))
    assert (path, problem.value, problem.fix) == (f"tenants.production.{key}", key, f"{meant}: [{one}]")
    assert f"did you mean {meant}?" in problem.message


def test_one_in_place_of_a_list_is_judged_as_the_list():
    wrong = errors(rename("tenants.research.queues", "queue"), put("tenants.research.queue", "nope"))
    assert wrong["tenants.research.queue[0]"].message == "there is no such queue"
    assert wrong["tenants.research.queue"].fix == "queues: [nope]"


@pytest.mark.parametrize(
    ("queue", "says"), [("nope", "no such queue"), ("root", "takes no jobs"), ("research", "is there twice")]
)
def test_queues_of_a_tenant_exist_and_are_named_once(queue: str, says: str):
    path, problem = only(errors(add("tenants.research.queues", queue)))
    assert path == "tenants.research.queues[1]"
    assert says in problem.message


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("research", "has parts"),
        ("production", "not among the queues"),
        ("research.lm", "no such queue"),
        ("root", "takes no jobs"),
    ],
)
def test_the_default_queue_is_a_leaf_that_the_tenant_may_use(queue: str, says: str):
    path, problem = only(errors(put("tenants.research.defaultQueue", queue)))
    assert path == "tenants.research.defaultQueue"
    assert says in problem.message
    assert problem.allowed == "research.llm, research.vision"


@pytest.mark.parametrize(
    ("resource", "nearest"), [("mem", "memory"), ("gpus", "gpu"), ("nvidia.com/gpus", "nvidia.com/gpu")]
)
def test_quotas_name_known_resources(resource: str, nearest: str):
    path, problem = only(errors(put(("tenants", "research", "quota", resource), 1)))
    assert resource in path
    assert problem.fix == nearest


@pytest.mark.parametrize("group", ["", " ", " a", "a "])
def test_groups_have_names(group: str):
    assert list(errors(put("tenants.research.groups.view", [group]))) == ["tenants.research.groups.view[0]"]


def test_groups_get_known_roles():
    path, problem = only(errors(put("tenants.research.groups.owner", ["x"])))
    assert path == "tenants.research.groups.owner"
    assert problem.allowed == "admin, edit, view"


def test_a_group_is_named_once_per_role():
    assert list(errors(add("tenants.research.groups.edit", "researchers"))) == ["tenants.research.groups.edit[1]"]


@pytest.mark.parametrize("key", ["namespaces", "queues"])
def test_a_tenant_has_namespaces_and_queues(key: str):
    change = put(f"tenants.research.{key}", [])
    assert f"tenants.research.{key}" in errors(change)


def test_a_resource_quota_limits_requests():
    assert tenants.hard(environment().tenants["research"]) == {
        "requests.nvidia.com/gpu": "128",
        "requests.memory": "24Ti",
    }


def test_pods_in_a_quota_are_counted_not_requested():
    env = environment(put("tenants.research.quota", {"pods": 100}))
    assert tenants.hard(env.tenants["research"]) == {"pods": "100"}


def test_a_resource_that_is_no_text_is_told_once():
    path, problem = only(errors(put("tenants.production.quota", {1: 2})))
    assert (path, problem.fix) == ("tenants.production.quota[1]", 'write "1"')
