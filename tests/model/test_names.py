"""Legal names, the derived ones included."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import names
from tests.model.documents import environment, errors, only, put, rename


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "must not be empty"),
        ("pool_A", "'_' (character 5)"),
        ("Züge", "'Z' (character 1)"),
        ("züge", "'ü' (character 2)"),
        ("трен", "'т' (character 1)"),
        ("a b", "' ' (character 2)"),
        ("trailing-", "must not end with '-'"),
        ("-leading", "must not begin with '-'"),
        ("a" * 64, "has 64 characters"),
        ("a.b", "'.' (character 2)"),
        ("a\n", "character 2"),
    ],
)
def test_a_bad_label_is_told_by_its_first_bad_character_or_its_length(name: str, fault: str):
    assert fault in (names.DNS_LABEL.fault(name) or "")


@pytest.mark.parametrize("name", ["a", "7", "a-b", "a" * 63, "0-0"])
def test_legal_labels(name: str):
    assert names.DNS_LABEL.fault(name) is None


@pytest.mark.parametrize(("name", "legal"), [("a1", True), ("1a", False), ("a" * 53, True), ("a" * 54, False)])
def test_services_begin_with_a_letter(name: str, legal: bool):
    assert (names.dns_1035(53).fault(name) is None) is legal


@pytest.mark.parametrize(
    ("key", "legal"),
    [
        ("rack", True),
        ("acme.io/rack", True),
        ("Acme.io/rack", False),
        ("acme.io/Rack_1.x", True),
        ("acme.io/", False),
        ("/rack", False),
        ("a/b/c", False),
        ("acme..io/rack", False),
        ("-rack", False),
        ("a" * 64, False),
        ("a" * 253 + "/x", True),
        ("a" * 254 + "/x", False),
    ],
)
def test_label_keys(key: str, legal: bool):
    assert (names.label_key_fault(key) is None) is legal


@pytest.mark.parametrize(
    ("value", "legal"), [("", True), ("True", True), ("a.b_c-d", True), (".a", False), ("a b", False)]
)
def test_label_values(value: str, legal: bool):
    assert (names.LABEL_VALUE.fault(value) is None) is legal


@pytest.mark.parametrize(
    ("name", "legal"), [("a.b", True), ("a..b", False), ("a.-b", False), ("a-.b", False), (".", False)]
)
def test_subdomains(name: str, legal: bool):
    assert (names.subdomain_fault(name) is None) is legal


def test_fit_leaves_short_names_alone_and_tells_long_ones_apart():
    assert names.fit("short", 10) == "short"
    one, other = names.fit("x" * 70 + "1", 63), names.fit("x" * 70 + "2", 63)
    assert one != other
    assert len(one) <= 63
    assert one == names.fit("x" * 70 + "1", 63)


@given(st.text(string.ascii_lowercase + "-", min_size=1, max_size=200), st.integers(20, 63))
def test_what_fit_gives_is_as_legal_as_what_it_was_given(name: str, limit: int):
    fitted = names.fit(name, limit)
    assert len(fitted) <= limit
    long = names.Kind(
        "name", string.ascii_lowercase + "0123456789-", string.ascii_lowercase, string.ascii_lowercase, 500
    )
    if long.fault(name) is None:
        assert names.dns_1035(limit).fault(fitted) is None


def test_a_pool_whose_nodes_would_have_too_long_names_is_refused():
    name = "a" * 62
    path, problem = only(errors(rename("pools.system", name)))
    assert path == f"pools.{name}"
    assert "64 characters" in problem.message
    assert problem.allowed == "at most 61 characters"
    environment(rename("pools.system", "a" * 61))


def test_a_pool_name_of_64_characters_is_one_problem():
    assert list(errors(rename("pools.system", "a" * 64))) == ["pools." + "a" * 64]


def test_a_queue_is_called_by_its_whole_path():
    name = "q" * 55
    path, problem = only(errors(put(f"queues.research.queues.{name}", {})))
    assert path == f"queues.research.queues.{name}"
    assert "64 characters" in problem.message
    environment(put(f"queues.research.queues.{'q' * 54}", {}))


def test_a_ray_cluster_has_room_for_what_kuberay_appends():
    name = "r" * 54
    path, problem = only(errors(rename("ray.clusters.tuning", name)))
    assert path == f"ray.clusters.{name}"
    assert "at most 53" in problem.message
    environment(rename("ray.clusters.tuning", "r" * 53))


def test_a_ray_cluster_begins_with_a_letter():
    assert list(errors(rename("ray.clusters.tuning", "7b"))) == ["ray.clusters.7b"]
