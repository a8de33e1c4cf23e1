"""Exact quantities."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import document
from model.quantities import Quantity, QuantityError, request_fault, written
from tests.model.documents import environment, errors, only, put, small


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", "8"),
        (8, "8"),
        ("500m", "0.5"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1E", "1e18"),
        ("1.5Gi", "1610612736"),
        ("100n", "1e-7"),
        ("2Ti", str(2 * 1024**4)),
        ("512G", "512e9"),
        (".5", "0.5"),
        ("5.", "5"),
        ("0", "0"),
        ("1288490188800m", "1288490188.8"),
    ],
)
def test_quantities_are_read_exactly(text: str | int, value: str):
    quantity = Quantity.parse(text)
    assert quantity.value == Decimal(value)
    assert str(quantity) == str(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("512GB", "did you mean 512G?"),
        ("6GiB", "did you mean 6Gi?"),
        ("1K", "did you mean 1k?"),
        ("512 Gi", "did you mean 512Gi?"),
        ("", "is not a quantity"),
        ("-2", "must be >= 0"),
        ("+2", "did you mean 2?"),
        ("0x10", "is not a quantity"),
        ("Inf", "is not a quantity"),
        ("NaN", "is not a quantity"),
        (1.5, "write it as text or as a whole number"),
        (True, "write it as text or as a whole number"),
        (None, "write it as text or as a whole number"),
        (-2, "must be >= 0"),
        ("1Gi\n", "is not a quantity"),
        ("٣", "is not a quantity"),
        ("9e999", "more than Kubernetes can hold"),
        ("16Ei", "more than Kubernetes can hold"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_was_meant(text: object, says: str):
    with pytest.raises(QuantityError) as caught:
        Quantity.parse(text)  # pyright: ignore[reportArgumentType]
    assert says in str(caught.value)


def test_decimal_and_binary_units_differ():
    assert Quantity.parse("512G") < Quantity.parse("512Gi")
    assert Quantity.parse("4096G") < Quantity.parse("4096Gi")


@pytest.mark.parametrize(
    ("one", "other"), [("1.5Gi", "1536Mi"), ("2Ti", "2048Gi"), ("1000m", "1"), ("1k", "1e3"), ("0", "0Gi")]
)
def test_equal_amounts_are_equal_however_written(one: str, other: str):
    assert Quantity.parse(one) == Quantity.parse(other)
    assert hash(Quantity.parse(one)) == hash(Quantity.parse(other))


@pytest.mark.parametrize(
    ("value", "says", "fix"),
    [("512m", "less than 1Mi", "512Mi"), ("64", "less than 1Mi", None), ("64k", "less than 1Mi", None)],
)
def test_memory_below_a_mebibyte_is_a_mistyped_suffix(value: str, says: str, fix: str | None):
    path, problem = only(errors(put("pools.system.shape.memory", value)))
    assert path == "pools.system.shape.memory"
    assert says in problem.message
    assert problem.fix == fix


def test_milli_bytes_that_the_api_itself_writes_are_memory():
    assert environment(put("pools.serve.shape.memory", "549755813888000m")).pools["serve"].shape is not None


@pytest.mark.parametrize(
    "value", ["512GB", "6GiB", "1K", "512 Gi", "", "-2", "0x10", "Inf", "NaN", 1.5, True, None, [], {}]
)
def test_a_bad_amount_in_a_document_names_its_field(value: object):
    path, problem = only(errors(put("ray.clusters.tuning.head.memory", value)))
    assert path == "ray.clusters.tuning.head.memory"
    assert problem.value == value


@pytest.mark.parametrize("value", ["0.0001", "1u", "100n"])
def test_cores_are_no_finer_than_a_thousandth(value: str):
    path, problem = only(errors(put("ray.clusters.tuning.head.cpu", value)))
    assert path == "ray.clusters.tuning.head.cpu"
    assert "finer than 1m" in problem.message


@pytest.mark.parametrize("value", ["0.5", "500m", 0.5, "1.5"])
def test_gpus_are_whole(value: object):
    assert list(errors(put("ray.clusters.tuning.workers.gpus", value))) == ["ray.clusters.tuning.workers.gpus"]


@pytest.mark.parametrize("value", ["0.5", "500m", "96.5"])
def test_gpus_in_quotas_are_whole(value: object):
    path, problem = only(errors(put("queues.production.deserved.gpu", value)))
    assert path == "queues.production.deserved.gpu"
    assert "whole" in problem.message


_UNITS = ["", "m", "k", "M", "G", "Ki", "Mi", "Gi"]


@given(st.integers(0, 10**6), st.sampled_from(_UNITS), st.integers(0, 10**6), st.sampled_from(_UNITS))
def test_order_is_the_order_of_values(one: int, unit: str, other: int, other_unit: str):
    a, b = Quantity.parse(f"{one}{unit}"), Quantity.parse(f"{other}{other_unit}")
    assert (a < b, a == b, a > b) == (a.value < b.value, a.value == b.value, a.value > b.value)


@given(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 2**50))
def test_what_is_written_reads_back_the_same(resource: str, amount: int):
    assert Quantity.parse(written(resource, Decimal(amount))).value == amount


@given(st.integers(0, 10**9))
def test_millicores_are_written_exactly(millicores: int):
    assert Quantity.parse(written("cpu", Decimal(millicores) / 1000)).value == Decimal(millicores) / 1000


@pytest.mark.parametrize(
    ("resource", "request_", "limit", "says"),
    [
        ("memory", "4096Gi", "4096G", "4096Gi (4398046511104) of memory, more than the limit 4096G (4096000000000)"),
        ("memory", "1536Mi", "1.5Gi", None),
        ("memory", "1Gi", None, None),
        ("cpu", "1", "500m", "more than the limit 500m (0.5)"),
        ("nvidia.com/gpu", "1", "3", "but the limit is 3"),
        ("nvidia.com/gpu", "3", "1", "but the limit is 1"),
        ("nvidia.com/gpu", "1", None, "without a limit"),
        ("nvidia.com/gpu", None, "1", None),
        ("nvidia.com/gpu", "2", "2", None),
        ("nvidia.com/gpu", None, "500m", "not a whole number"),
        ("nvidia.com/gpu", "0.5", "0.5", "a pool that shares them"),
    ],
)
def test_requests_beside_limits(resource: str, request_: str | None, limit: str | None, says: str | None):
    one, other = (None if text is None else Quantity.parse(text) for text in (request_, limit))
    fault = request_fault(resource, one, other)
    assert (fault is None) if says is None else (says in (fault or ""))


@pytest.mark.parametrize("floor", ["-1", -1, "much", True])
def test_what_is_allowed_for_memory_is_memory(floor: object):
    sharing = {"mps": {"replicas": 8, "floor": floor}}
    (problem,) = document.judge(small(pools={"train": {"server": "dgx-h100", "size": 1, "sharing": sharing}})).problems
    assert problem.path[-1] == "floor"
    assert problem.allowed == "a quantity such as 512Gi, 80G or 1.5Ti"
