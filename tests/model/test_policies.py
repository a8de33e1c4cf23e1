"""What an environment sets about the policy pack."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from model import document, exemptions
from model.dates import moment
from tests.model.documents import environment, errors, example, only, put

GRANTED: dict[str, Any] = {
    "rule": "privileged",
    "resource": "kubernetes:apps/v1:DaemonSet::tuner",
    "reason": "tunes the kernel until the image does",
    "owner": "platform",
    "expires": "2027-01-31",
}
AT = "policies.exemptions[0]"


def granting(*exemptions: Any) -> Any:
    return put("policies", {"exemptions": list(exemptions)})


@pytest.mark.parametrize(
    "written",
    ["2027-01-31", date(2027, 1, 31), "2027-01-31 00:00:00 +0000 UTC", "2027-01-31T00:00:00Z"],
    ids=["quoted", "YAML", "the engine's", "JSON"],
)
def test_a_day_is_the_same_however_it_came(written: Any) -> None:
    (exemption,) = environment(granting(GRANTED | {"expires": written})).policies.exemptions
    assert exemption.expires == date(2027, 1, 31)
    assert exemption.model_dump(mode="json", by_alias=True)["expires"] == "2027-01-31"


@pytest.mark.parametrize(
    "written",
    [
        "soon",
        "2027-02-30",
        "31.01.2027",
        "2027-01-31T11:30:00Z",
        "2027-01-31T00:00:00+14:00",
        "20270131",
        "2027-W05-7",
        2027,
        "",
        None,
    ],
)
def test_what_is_no_day(written: Any) -> None:
    at, problem = only(errors(granting(GRANTED | {"expires": written})))
    assert (at, problem.allowed) == (f"{AT}.expires", "year, month and day, such as 2027-01-31")


@pytest.mark.parametrize(
    ("change", "at", "said", "fix"),
    [
        ({"reason": "  "}, "reason", "says nothing", None),
        ({"owner": ""}, "owner", "says nothing", None),
        ({"rule": ""}, "rule", "says nothing", None),
        ({"resource": "tuner"}, "resource", "its type and its name are needed", "'*::tuner'"),
        ({"resource": "*"}, "resource", "its type and its name are needed", None),
    ],
)
def test_an_exemption_says_what_for_why_and_who(change: Any, at: str, said: str, fix: str | None) -> None:
    place, problem = only(errors(granting(GRANTED | change)))
    assert place == f"{AT}.{at}"
    assert said in problem.message
    assert problem.fix == fix


def test_all_mistakes_are_told_at_once() -> None:
    found = errors(granting(GRANTED | {"reason": "", "resource": "x"}, {"rule": "a"}, GRANTED, GRANTED))
    assert set(found) == {
        f"{AT}.reason",
        f"{AT}.resource",
        *(f"policies.exemptions[1].{key}" for key in ("resource", "reason", "owner", "expires")),
        "policies.exemptions[3]",
    }
    assert found["policies.exemptions[3]"].message.startswith("is there already, at exemptions[2]")
    assert found["policies.exemptions[1].expires"].allowed == "year, month and day, such as 2027-01-31"


def test_a_mistake_elsewhere_leaves_a_day_a_day() -> None:
    engine = GRANTED | {"expires": "2027-01-31 00:00:00 +0000 UTC"}
    assert [*errors(granting(engine), put("pools.train.sise", 3))] == ["pools.train.sise"]


def test_an_exemption_of_everything_is_told() -> None:
    (told,) = document.judge(example(granting(GRANTED | {"resource": "*::*"}))).warnings
    assert "is every resource" in told.message


@pytest.mark.parametrize("level", ["off", "warn", True, None])
def test_levels_have_names(level: Any) -> None:
    place, _ = only(errors(put("policies.levels.privileged", level)))
    assert place == "policies.levels.privileged"


@pytest.mark.parametrize(
    ("today", "said"),
    [
        ("2027-01-10", None),
        ("2027-01-18", "ends soon: after 2027-01-31 the"),
        ("2027-01-31", "ends soon: after 2027-01-31 the"),
        ("2027-02-01", "is over"),
    ],
)
def test_a_preview_says_what_ends(today: str, said: str | None) -> None:
    now = datetime.fromisoformat(today).replace(hour=23, minute=59, tzinfo=UTC)
    verdict = document.judge(example(granting(GRANTED)), now=now)
    assert verdict.environment is not None
    told = [problem.message for problem in verdict.warnings if problem.path[0] == "policies"]
    assert len(told) == (said is not None)
    assert not said or said in told[0]


def test_an_exemption_counts_through_its_last_day() -> None:
    last = date(2027, 1, 31)
    assert not exemptions.over(last, last)
    assert exemptions.over(last, date(2027, 2, 1))


@pytest.mark.parametrize(
    ("name", "said"), [("Monitoring", "'M'"), ("monitoring*", "'*'"), ("default", "names no namespace")]
)
def test_a_namespace_of_the_platform_has_a_name_of_its_own(name: str, said: str) -> None:
    at, problem = only(errors(put("policies", {"systemNamespaces": ["monitoring", name]})))
    assert at == "policies.systemNamespaces[1]"
    assert said in problem.message


def test_a_pattern_sees_the_type_and_the_name_alone() -> None:
    urn = (
        "urn:pulumi:prod::gangline::gangline:index:Platform$gangline:index:Agents$kubernetes:apps/v1:DaemonSet::a-tuner"
    )
    assert exemptions.subject(urn) == "kubernetes:apps/v1:DaemonSet::a-tuner"
    assert exemptions.covers("kubernetes:apps/v1:DaemonSet::*-tuner", urn)
    assert not exemptions.covers("gangline:*", urn)
    assert not exemptions.covers("kubernetes:apps/v1:DaemonSet::tuner", urn)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2036-05-28 11:30:00 +0000 UTC", datetime(2036, 5, 28, 11, 30, tzinfo=UTC)),
        ("2036-05-28 13:30:00.5 +0200 +0200", datetime(2036, 5, 28, 11, 30, 0, 500000, tzinfo=UTC)),
        ("2036-05-28T11:30:00Z", datetime(2036, 5, 28, 11, 30, tzinfo=UTC)),
    ],
)
def test_points_in_time_as_the_engine_hands_them_on(text: str, read: datetime) -> None:
    assert moment(text) == read
