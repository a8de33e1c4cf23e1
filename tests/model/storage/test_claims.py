"""The claims of the shared tier: names, sizes, sums."""

from typing import Any

import pytest

from model import tenants
from model.storage import claims
from tests.model.documents import Change, environment, errors, only, put

LUSTRE = {"kind": "lustre", "size": "100Ti", "mount": "10.0.0.5@o2ib:/scratch"}
CLASS = {"kind": "class", "name": "weka", "size": "100Ti"}
NAMES = {"research": "data", "research-dev": "data", "production": "d"}
CLAIMS = {"kind": "claims", "size": "100Ti", "claims": NAMES}


def shared(kind: dict[str, Any], **sizes: str) -> list[Change]:
    return [put("storage.shared", kind), *(put(f"tenants.{name}.quota.storage", size) for name, size in sizes.items())]


BOTH = {"research": "20Ti", "production": "60Ti"}


@pytest.mark.parametrize(
    ("kind", "sizes", "name", "of"),
    [(LUSTRE, BOTH, "shared", "shared"), (CLASS, BOTH, "shared", "weka"), (CLAIMS, {}, "data", None)],
)
def test_a_namespace_has_one_claim(kind: dict[str, Any], sizes: dict[str, str], name: str, of: str | None):
    env = environment(*shared(kind, **sizes))
    assert claims.claim(env, "research-dev") == name
    assert claims.storage_class(env) == of


def test_without_a_shared_tier_there_is_none():
    env = environment()
    assert claims.claim(env, "research") is None
    assert claims.storage_class(env) is None
    assert claims.hard(env, "research") == {}


@pytest.mark.parametrize(("kind", "of"), [(LUSTRE, "shared"), (CLASS, "weka")])
def test_the_quota_is_of_the_class_and_beside_the_others(kind: dict[str, Any], of: str):
    env = environment(*shared(kind, **BOTH))
    assert claims.hard(env, "research") == {f"{of}.storageclass.storage.k8s.io/requests.storage": "20Ti"}
    assert tenants.hard(env.tenants["research"]) == {"requests.nvidia.com/gpu": "128", "requests.memory": "24Ti"}


def test_each_tenant_says_how_much():
    path, problem = only(errors(*shared(LUSTRE, research="20Ti")))
    assert path == "tenants.production.quota.storage"
    assert problem.allowed == "at most 100Ti"


@pytest.mark.parametrize(
    ("changes", "says"),
    [([], "no storage.shared"), ([put("storage.shared", CLAIMS)], "are there already")],
)
def test_a_size_of_nothing_is_refused(changes: list[Change], says: str):
    path, problem = only(errors(*changes, put("tenants.research.quota.storage", "20Ti")))
    assert path == "tenants.research.quota.storage"
    assert says in problem.message


def test_sums_count_every_namespace():
    path, problem = only(errors(*shared(LUSTRE, research="20Ti", production="61Ti")))
    assert path == "storage.shared.size"
    assert "101Ti in sum, it has 100Ti" in problem.message
    assert problem.fix == "size: 101Ti"
    assert not errors(*shared(LUSTRE, research="20Ti", production="60Ti"))


def test_a_claim_is_of_at_least_a_gibibyte():
    path, problem = only(errors(*shared(LUSTRE, research="20Ti", production="20Mi")))
    assert (path, problem.allowed) == ("tenants.production.quota.storage", "1Gi or more")


@pytest.mark.parametrize(
    ("change", "namespace"),
    [
        (put("storage.shared.claims", {**NAMES, "reserch": "data"}), "reserch"),
        (put("storage.shared.claims", {"research": "data", "research-dev": "data"}), "production"),
        (put("storage.shared.claims", {**NAMES, "production": "Data"}), "production"),
    ],
)
def test_claims_are_of_the_tenants_namespaces(change: Change, namespace: str):
    assert only(errors(put("storage.shared", dict(CLAIMS)), change))[0] == f"storage.shared.claims.{namespace}"


def test_a_misspelt_namespace_is_one_mistake():
    names = {"research": "data", "research-dve": "data", "production": "d"}
    path, problem = only(errors(put("storage.shared", {**CLAIMS, "claims": names})))
    assert (path, problem.fix) == ("storage.shared.claims.research-dve", "research-dev")


def test_a_misspelt_size_is_one_mistake():
    path, problem = only(errors(*shared(LUSTRE, production="60Ti"), put("tenants.research.quota", {"storge": "20Ti"})))
    assert (path, problem.fix) == ("tenants.research.quota.storge", "storage")


def test_the_nodes_own_storage_is_another_quota():
    quota = {"ephemeral-storage": "20Ti"}
    found = errors(*shared(LUSTRE, production="60Ti"), put("tenants.research.quota", quota))
    assert only(found)[0] == "tenants.research.quota.storage"


def test_a_size_is_missing_where_that_of_the_tier_cannot_be_read():
    found = errors(*shared({**LUSTRE, "size": "much"}, production="60Ti"))
    assert set(found) == {"storage.shared.size", "tenants.research.quota.storage"}


def test_a_class_has_a_legal_name():
    assert only(errors(*shared({**CLASS, "name": "We_ka"}, **BOTH)))[0] == "storage.shared.name"


@pytest.mark.parametrize(
    ("kind", "sizes", "data", "kept"),
    [
        (LUSTRE, BOTH, "keep", False),
        (CLASS, BOTH, "keep", True),
        (CLASS, BOTH, "delete", False),
        (CLAIMS, {}, "keep", True),
    ],
)
def test_what_a_class_makes_may_go_with_the_namespace(
    kind: dict[str, Any], sizes: dict[str, str], data: str, kept: bool
):
    assert claims.kept(environment(*shared(kind, **sizes), put("data", data))) is kept
