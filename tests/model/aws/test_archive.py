"""Buckets for the archive on AWS: their names, and when objects get cheaper."""

from itertools import permutations
from typing import Any

import pytest

from model.aws import archive
from tests.model.aws.documents import found, made, only
from tests.model.documents import Change, put

ORDER = ("STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE")
AT = "storage.archive"


def s3(**changes: Any) -> Change:
    return put("storage", {"archive": {"kind": "s3", **changes}})


def steps(*transitions: tuple[str, str]) -> Change:
    return s3(transitions=[{"after": after, "class": name} for after, name in transitions])


@pytest.mark.parametrize("name", ORDER)
def test_every_class_by_itself(name: str) -> None:
    assert found(steps(("30d", name))) == {}
    soon = found(steps(("29d", name)))
    assert list(soon) == ([f"{AT}.transitions[0].after"] if name.endswith("_IA") else [])


@pytest.mark.parametrize(("first", "second"), list(permutations(ORDER, 2)))
def test_objects_go_to_cheaper_classes_only(first: str, second: str) -> None:
    problems = found(steps(("30d", first), ("90d", second)))
    # A zone's only copy goes asleep or stays: the one pair in the order of prices that S3 does not know.
    cheaper = ORDER.index(first) < ORDER.index(second) and (first, second) != ("ONEZONE_IA", "GLACIER_IR")
    assert list(problems) == ([] if cheaper else [f"{AT}.transitions[1].class"])


@pytest.mark.parametrize(
    ("transitions", "place", "fix"),
    [
        ([("30d", "STANDARD_IA"), ("59d", "GLACIER_IR")], "[1].after", "after: 60d"),
        ([("45d", "ONEZONE_IA"), ("46d", "GLACIER")], "[1].after", "after: 75d"),
        ([("10d", "GLACIER_IR"), ("10d", "DEEP_ARCHIVE")], "[1].after", "after: 11d"),
        ([("90d", "GLACIER_IR"), ("30d", "DEEP_ARCHIVE")], "[1].after", "after: 91d"),
        ([("36h", "GLACIER_IR")], "[0].after", "after: 2d"),
        ([("30m", "STANDARD_IA")], "[0].after", "after: 1d"),
        ([("30d", "standard-ia")], "[0].class", "STANDARD_IA"),
        ([("30d", "GLACIER-IR")], "[0].class", "GLACIER_IR"),
        ([("30d", "STANDARD")], "[0].class", "STANDARD_IA"),
        ([("30d", "COLD")], "[0].class", None),
    ],
)
def test_days_and_names(transitions: list[tuple[str, str]], place: str, fix: str | None) -> None:
    path, problem = only(steps(*transitions))
    assert (path, problem.fix) == (f"{AT}.transitions{place}", fix)


@pytest.mark.parametrize("after", ["24h", "1d"])
def test_whole_days_are_days(after: str) -> None:
    assert archive.lifecycle(made(steps((after, "GLACIER_IR")))) == ((1, "GLACIER_IR"),)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("Acme_Archive", "bucket: acme-archive"),
        ("acme.archive", "bucket: acme-archive"),
        ("ab", None),
        ("-acme", "bucket: acme"),
        ("a" * 64, f"bucket: {'a' * 63}"),
        ("xn--acme", None),
        ("acme-s3alias", None),
        ("acme--x-s3", None),
    ],
)
def test_names_that_no_bucket_has(name: str, fix: str | None) -> None:
    path, problem = only(s3(bucket=name))
    assert (path, problem.fix) == (f"{AT}.bucket", fix)


@pytest.mark.parametrize("name", ["abc", "acme-archive-2026", "a" * 63, "123"])
def test_names_of_buckets(name: str) -> None:
    assert found(s3(bucket=name)) == {}


def test_a_bucket_that_is_made_has_no_keys() -> None:
    path, problem = only(s3(secret="keys"))
    assert (path, problem.fix) == (f"{AT}.secret", "leave it out")


def test_rules_are_of_buckets_that_are_made() -> None:
    there = s3(
        bucket="acme",
        endpoint="https://minio.example.com",
        secret="keys",
        transitions=[{"after": "30d", "class": "GLACIER"}],
    )
    assert list(found(there)) == [f"{AT}.transitions"]


def test_who_reads_is_told_of_classes_that_are_not_read_at_once() -> None:
    checkpoints = {"write": "scratch", "keep": "archive", "every": "15m", "retain": 3}
    scratch = put("storage.scratch", {"kind": "nvme"})
    keeps = put("storage.checkpoints", checkpoints)
    warned = found(steps(("90d", "GLACIER")), scratch, keeps, severity="warning")[f"{AT}.transitions[0].class"]
    assert "checkpoints need them" in warned.message
    awake = found(steps(("90d", "GLACIER_IR")), scratch, keeps, severity="warning")
    assert f"{AT}.transitions[0].class" not in awake
    assert found(steps(("90d", "GLACIER")), severity="warning") == {}
