"""Rules and dashboards speak only of what somebody measures, and each alert has its page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from catalog import dcgm
from catalog.xids import xids
from model import document
from model.environment import Environment
from model.monitoring import counters, series
from model.monitoring.alerts import alerts, annotations
from model.monitoring.dashboards import dashboards, render
from model.monitoring.recordings import recordings
from model.monitoring.reference import example
from model.monitoring.rules import groups
from model.problems import render as told
from tests.model.documents import small
from tests.model.generated_documents import documents
from tests.monitoring.documents import VALUE, environment

PROJECT = Path(__file__).parents[2]
SHIPPED = sorted(PROJECT.glob("stacks/Pulumi.*.yaml"))
RUNBOOKS = PROJECT / "docs" / "runbooks"


def measured(**monitoring: Any) -> Environment:
    return document.load({**VALUE, "monitoring": monitoring})


def problems(**thresholds: Any) -> str:
    return told(document.judge({**VALUE, "monitoring": {"alerts": thresholds}}).errors)


def asked(env: Environment) -> dict[str, frozenset[str]]:
    """The metrics that each rule and panel of an environment asks for."""
    rules = {f"rule {rule.name}": rule.expression for rule in (*alerts(env), *recordings(env))}
    panels = {
        f"panel {board.uid} {panel.title}: {query}": query
        for board in dashboards(env)
        for panel in board.panels
        for query in panel.queries.values()
    }
    return {what: series.metrics(expression) for what, expression in (rules | panels).items()}


def unmeasured(env: Environment) -> dict[str, set[str]]:
    """What rules and panels ask for and nobody gives: neither the counters file, nor a rule, nor a named exporter."""
    recorded = {recording.name for recording in recordings(env)}
    others = {name for names in series.OTHERS.values() for name in names}
    given_by_somebody = counters.metrics(env) | recorded | others
    return {what: lacking for what, names in asked(env).items() if (lacking := set(names - given_by_somebody))}


ENVIRONMENTS = {
    **{file.name: document.read(file).load() for file in SHIPPED},
    "of every kind": environment(),
    "of the reference": example(),
    "without profiling": measured(dcgm={"profiling": False}),
    "without an exporter": measured(dcgm="none"),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_rules_and_dashboards_ask_for_is_measured(name: str):
    assert unmeasured(ENVIRONMENTS[name]) == {}


@given(documents())
@settings(max_examples=60, deadline=None)
def test_so_it_is_whatever_the_document_says(value: dict[str, Any]):
    env = document.judge(value).environment
    if env is not None:
        assert unmeasured(env) == {}


def test_a_rule_of_a_counter_that_is_not_read_would_be_found():
    env = measured(dcgm={"profiling": False})
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" not in counters.metrics(env)
    assert all("DCGM_FI_PROF" not in expression for expression in map(str, asked(env)))
    assert {"DCGM_FI_PROF_GR_ENGINE_ACTIVE"} <= {name for names in asked(environment()).values() for name in names}


def test_all_dcgm_names_are_fields_that_are_known():
    asked_for = {name for names in asked(environment()).values() for name in names if name.startswith("DCGM")}
    assert len(asked_for) > 20
    assert asked_for <= set(dcgm.fields())


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ('max by (node, gpu) (rate(a_total{x=~"b|c_d", y!=""}[5m])) * 60 > 31', {"a_total"}),
        ('label_replace(a:b:c{q="r"}, "queue", "$1", "src", "(.+)") or on (pool) 0 * d', {"a:b:c", "d"}),
        ("a offset 10m == 4 and b unless on (c) d * on (e) group_left (f) g", {"a", "b", "d", "g"}),
        ("sum(a) > bool 0", {"a"}),
        ("vector(64)", set()),
        ("1e9 * a", {"a"}),
    ],
)
def test_metrics_of_an_expression(expression: str, names: set[str]):
    assert series.metrics(expression) == names


def test_without_an_exporter_there_are_no_rules():
    env = ENVIRONMENTS["without an exporter"]
    assert groups(env) == []
    assert dashboards(env) == ()


def test_without_profiling_idle_gpus_are_told_by_what_there_is():
    env = ENVIRONMENTS["without profiling"]
    (idle,) = (alert for alert in alerts(env) if alert.name == "GpuIdle")
    assert "avg_over_time(DCGM_FI_DEV_GPU_UTIL" in idle.expression
    assert {alert.name for alert in alerts(env)} == {alert.name for alert in alerts(environment())}
    names = {recording.name for recording in recordings(env)}
    assert "device:activity:ratio" in names
    assert not any("tensor" in name for name in names)


def test_alerts_on_rdma_and_shared_memory_are_for_pools_that_have_them():
    plain = document.load({**VALUE, "pools": {"train": {"server": "dgx-h100", "size": 2}}, "queues": {}, "tenants": {}})
    everything = {alert.name for alert in alerts(environment())}
    assert everything - {alert.name for alert in alerts(plain)} == {"GpuMemoryFull", "RdmaLinkDown"}


def test_each_alert_has_its_page_and_each_page_its_alert():
    pages = {file.stem for file in RUNBOOKS.glob("*.md")} - {"README"}
    assert pages == {alert.name for alert in alerts(environment())}


@pytest.mark.parametrize("page", sorted(RUNBOOKS.glob("[GR][a-z]*.md")), ids=lambda page: page.stem)
def test_each_page_says_what_one_needs(page: Path):
    text = page.read_text("utf-8")
    found = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert found == ["What it means", "Check", "Do", "When to call the vendor", "Sources"]
    assert text.startswith(f"# {page.stem}\n")


def test_alerts_link_to_their_pages():
    (fatal, *_) = alerts(environment())
    assert annotations(environment(), fatal)["runbook"] == "docs/runbooks/GpuXidFatal.md"
    env = measured(alerts={"runbooks": "https://wiki.example.com/gpus/"})
    assert annotations(env, fatal)["runbook_url"] == "https://wiki.example.com/gpus/GpuXidFatal.md"


def test_each_xid_has_one_kind():
    kinds = xids()
    numbers = [number for named in kinds.values() for number in named]
    assert set(kinds) == {"fatal", "reset", "nvlink", "application", "ignored"}
    assert len(numbers) == len(set(numbers))
    assert all(0 < number < 1000 for number in numbers)


def test_thresholds_reach_the_rules():
    env = measured(
        alerts={
            "temperature": {"warning": 71, "critical": 72, "memory": 73},
            "throttling": {"thermal": 21, "power": 22},
            "errors": {"singleBit": 41, "pcieReplays": 42, "nvlinkCrc": 43},
            "idle": {"activity": 31, "minutes": 32},
            "memory": 51,
        }
    )
    text = "\n".join(alert.expression for alert in alerts(env))
    for ending in ("> 71", "> 72", "> 73", "> 21", "> 22", "> 41", "> 42", "> 43", "> 51", "< 31"):
        assert ending in text
    assert "[32m]" in text
    assert "offset 32m" in text


@pytest.mark.parametrize(
    ("thresholds", "at", "said", "allowed"),
    [
        (
            {"temperature": {"warning": 90}},
            "temperature.warning",
            "90: the warning at 90 comes no earlier than the critical alert at 90",
            "less than 90",
        ),
        # One mistake, one problem: whether the warning comes early enough cannot be said before this is mended.
        (
            {"temperature": {"critical": 30}},
            "temperature.critical",
            "30: is out of range",
            "40 to 120 degrees Celsius",
        ),
        ({"errors": {"pcieReplays": 0}}, "errors.pcieReplays", "0: is out of range", "1 to 1000000 per minute"),
        ({"idle": {"minutes": 5}}, "idle.minutes", "5: is out of range", "10 to 1440 minutes"),
        ({"throttling": {"power": 100}}, "throttling.power", "100: is out of range", "1 to 99 percent"),
        ({"memory": 100}, "memory", "100: is out of range", "1 to 99 percent"),
        (
            {"runbooks": "wiki/gpus"},
            "runbooks",
            "wiki/gpus: is no place that alerts could link to",
            "a URL such as https://wiki.example.com/runbooks, without ? # { }",
        ),
        *(
            (
                {"runbooks": base},
                "runbooks",
                f"{base}: is a template for Prometheus, not a link",
                "a URL such as https://wiki.example.com/runbooks, without ? # { }",
            )
            for base in ("https://{{x", "https://wiki.example.com/{{ $labels.gpu }}", "https://wiki.example.com/x}")
        ),
    ],
)
def test_thresholds_that_cannot_be_meant(thresholds: dict[str, Any], at: str, said: str, allowed: str):
    assert problems(**thresholds) == f"environment.monitoring.alerts.{at}\n  {said}\n  allowed: {allowed}"


POOL = {"server": "dgx-h100", "size": 2}
SLICED = {**POOL, "sharing": {"timeSlicing": {"replicas": 4}}}


@pytest.mark.parametrize(
    ("pool", "monitoring", "path", "value"),
    [
        (POOL, {"dcgm": "none", "alerts": {"idle": {"minutes": 30}}}, (), {"idle": {"minutes": 30}}),
        (SLICED, {"dcgm": "none", "alerts": {"memory": 90}}, (), {"memory": 90}),
        (SLICED, {"prometheus": "none", "alerts": {"memory": 90}}, (), {"memory": 90}),
        (POOL, {"alerts": {"memory": 90}}, ("memory",), 90),
    ],
)
def test_settings_of_alerts_that_are_not_made_are_told(
    pool: dict[str, Any], monitoring: dict[str, Any], path: tuple[str, ...], value: object
):
    verdict = document.judge(small(pools={"train": pool}, monitoring=monitoring))
    (warning,) = verdict.warnings
    assert verdict.errors == ()
    assert (warning.path, warning.value) == (("monitoring", "alerts", *path), value)
    assert warning.message.startswith("has no effect")


@pytest.mark.parametrize(
    ("pool", "monitoring"),
    [
        (POOL, {"dcgm": "none", "alerts": {}}),
        (POOL, {"dcgm": "none", "alerts": {"memory": 95}}),
        (POOL, {"alerts": {"idle": {"minutes": 30}}}),
        (SLICED, {"alerts": {"memory": 90}}),
    ],
)
def test_settings_that_change_an_alert_or_nothing_are_not_warned_of(pool: dict[str, Any], monitoring: dict[str, Any]):
    assert document.judge(small(pools={"train": pool}, monitoring=monitoring)).problems == ()


def test_the_guide_shows_thresholds_that_may_stand():
    blocks = re.findall(
        r"```yaml\n(.*?)```", (PROJECT / "docs" / "guides" / "monitoring.md").read_text("utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        assert told(document.judge({**VALUE, **yaml.safe_load(block)}).errors) == ""


def test_links_of_guide_and_runbooks_lead_somewhere():
    pages = [
        PROJECT / "docs" / "guides" / "monitoring.md",
        PROJECT / "docs" / "reference" / "alerts.md",
        *RUNBOOKS.glob("*.md"),
    ]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("wrong", [True, "85", 85.5, None, [85]])
def test_thresholds_are_whole_numbers(wrong: object):
    assert "environment.monitoring.alerts.temperature.warning" in problems(temperature={"warning": wrong})


def test_dashboards_have_fixed_names():
    assert [board.uid for board in dashboards(environment())] == ["gangline-cluster", "gangline-node", "gangline-teams"]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_panels_stand_beside_each_other(name: str):
    for board in dashboards(ENVIRONMENTS[name]):
        made = json.loads(json.dumps(render(board)))
        taken: set[tuple[int, int]] = set()
        for panel in made["panels"]:
            at = panel["gridPos"]
            assert at["x"] + at["w"] <= 24
            squares = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            assert not squares & taken
            taken |= squares
        assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])
        assert all(
            len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) for panel in made["panels"]
        )


def test_dashboards_use_only_variables_that_they_have():
    for board in dashboards(environment()):
        made = render(board)
        names = {variable["name"] for variable in made["templating"]["list"]}
        for panel in made["panels"]:
            for target in panel["targets"]:
                used = {word.split('"')[0] for word in target["expr"].split("$")[1:]}
                assert used <= names | {"1"}
                assert target["datasource"]["uid"] == "${datasource}"
