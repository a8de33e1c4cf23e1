"""The pack as a process: its handshake, its levels, what a run remembers, and its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2

from policies.fields import Field
from policies.pack import RULES
from policies.rules import Option, PodRule, Report, ResourceRule, Severity, rule
from policies.server import Analyzer
from tests.policies import checks
from tests.policies.checks import of
from tests.policies.in_process import InProcess
from tests.policies.objects import UNKNOWN, Resource, container, platform, pod
from twin.paths import CHECKOUT
from twin.policy_pack import PolicyPack, judge

BAD = pod(container(image="a:latest"), name="bad")
WAITING = pod(container(image=UNKNOWN), name="waiting")
BOTH = pod(container(image=UNKNOWN), container(image="a:latest"), name="both")


def begin(process: PolicyPack, *, preview: bool = True) -> PolicyPack:
    """Begin a run in which one rule judges alone."""
    others = {policy.name: "disabled" for policy in process.info().policies}
    process.begin(preview=preview, levels=others | {"image-version": "mandatory", "unjudged": "advisory"})
    return process


def test_known_bad_is_reported_beside_what_is_unknown(process: PolicyPack) -> None:
    pack = begin(process)
    found = [verdict for resource in (WAITING, BOTH) for verdict in pack.analyze(resource)]
    assert [(verdict.policy, verdict.level, verdict.urn) for verdict in found] == [
        ("image-version", "mandatory", BOTH.urn)
    ]
    assert "spec.containers[1].image" in found[0].message
    (summary,) = pack.analyze_stack([])
    assert summary.message.splitlines()[1:] == [
        "2 places could not be judged and will be at the update:",
        "both: spec.containers[0].image is not known yet (image-version)",
        "waiting: spec.containers[0].image is not known yet (image-version)",
    ]


def test_the_update_judges_what_the_preview_could_not(process: PolicyPack) -> None:
    assert begin(process).analyze(WAITING) == []
    bad = pod(container(image="a:latest"), name="waiting")
    assert [verdict.level for verdict in begin(process, preview=False).analyze(bad)] == ["mandatory"]
    assert begin(process, preview=False).analyze(pod(name="waiting")) == []
    assert process.analyze_stack([]) == []


def test_a_resource_that_is_sent_again_counts_once(process: PolicyPack) -> None:
    """The engine analyzes a replaced resource twice, the second time with what it knows by then."""
    pack = begin(process)
    pack.analyze(WAITING)
    pack.analyze(pod(name="waiting"))
    assert pack.analyze_stack([]) == []


@pytest.mark.parametrize(
    ("level", "expected"), [("advisory", ["advisory"]), ("disabled", []), ("remediate", ["mandatory"])]
)
def test_levels_come_from_the_configuration(process: PolicyPack, level: str, expected: list[str]) -> None:
    process.begin(levels={"image-version": level})
    assert [verdict.level for verdict in of("image-version", process.analyze(BAD))] == expected


def test_a_level_for_a_rule_that_is_gone_is_ignored(process: PolicyPack) -> None:
    process.begin(levels={"no-such-rule": "mandatory"})
    assert [verdict.level for verdict in of("image-version", process.analyze(BAD))] == ["mandatory"]


def test_what_waits_can_be_silenced(process: PolicyPack) -> None:
    process.begin(levels={"unjudged": "disabled"})
    process.analyze(WAITING)
    assert process.analyze_stack([]) == []


def test_all_rules_say_how_to_mend_and_where_to_read_on(pack: PolicyPack) -> None:
    info = pack.info()
    assert (info.name, info.supportsConfig) == ("gangline", True)
    for policy in info.policies:
        assert policy.url.startswith("https://")
        assert policy.description
        assert policy.remediation_steps
        assert policy.severity


def test_judging_a_stack_takes_one_call() -> None:
    verdicts = judge([BAD, WAITING])
    assert [verdict.level for verdict in of("image-version", verdicts)] == ["mandatory"]
    assert [verdict.level for verdict in of("unjudged", verdicts)] == ["advisory"]


def _option(kind: Any, default: Any) -> Any:
    @rule(
        ResourceRule,
        types=("aws:s3/bucket:Bucket",),
        id="names",
        severity=Severity.LOW,
        what="Names are right.",
        why="Because.",
        fix="Mend it.",
        link="https://example.org",
        options={"right": Option(kind, default, "What is right.")},
    )
    def names(properties: Field, report: Report) -> None:
        report.violation(properties["bucket"], f"right: {report.options['right']!r}")

    return names


BUCKET = Resource("aws:s3/bucket:Bucket", {"bucket": "data"})


@pytest.mark.parametrize(
    ("kind", "default", "given", "schema"),
    [
        (int, 8, 16, {"type": "integer"}),
        (int, None, 16, {"type": "integer"}),
        (str, "a", "b", {"type": "string"}),
        (bool, False, True, {"type": "boolean"}),
        (list, [], ["a", "b"], {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_options_come_from_the_document_or_from_the_run(kind: Any, default: Any, given: Any, schema: Any) -> None:
    """The schema names no default: the engine would fill it in, and nobody could tell what was set for the run."""
    pack = InProcess([_option(kind, default)])
    told = json_format.MessageToDict(pack.info().policies[0].configSchema)["properties"]
    assert told == {"right": {"description": "What is right.", **schema}}

    def said(**policies: Any) -> str:
        return checks.judged(pack, [platform({"policies": policies}), BUCKET])[0].message.splitlines()[1]

    assert said() == f"bucket: right: {default!r}"
    assert said(options={"names": {"right": given}}) == f"bucket: right: {given!r}"
    pack.begin(options={"names": {"right": given}})
    assert said(options={"names": {"right": default or given}}) == f"bucket: right: {given!r}"


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        (int, "8", '"8" is not a whole number, 0 or more'),
        (int, 0.5, "0.5 is not a whole number"),
        (int, True, "true is not a whole number"),
        (int, -1, "-1 is not a whole number, 0 or more"),
        (str, 8, "8 is not text"),
        (bool, 1, "1 is not true or false"),
        (list, "a", '"a" is not a list of texts'),
        (list, [1], "[1] is not a list of texts"),
    ],
)
def test_an_option_of_another_kind_is_refused(kind: Any, value: Any, wanted: str) -> None:
    pack = InProcess([_option(kind, None)])
    held = platform({"policies": {"options": {"names": {"right": value}}}})
    (verdict,) = of("policy-settings", checks.judged(pack, [held, BUCKET]))
    assert f"environment.policies.options.names.right: {wanted}" in verdict.message
    pack.begin(options={"names": {"right": value}})
    (verdict,) = of("policy-settings", checks.judged(pack, [BUCKET]))
    assert wanted in verdict.message


def test_rules_are_asked_about_their_types_only() -> None:
    """Nothing of another type is even read: a definition of custom resources has a megabyte."""
    asked: list[str] = []

    class Counting(Analyzer):
        def _apply(self, rule: Any, subject: Any) -> Report:
            asked.append(rule.id)
            return super()._apply(rule, subject)

    analyzer = Counting(RULES)
    for type_ in ("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "random:index/randomId:RandomId"):
        analyzer.Analyze(analyzer_pb2.AnalyzeRequest(type=type_, urn=f"urn::{type_}::x"), None)
    assert asked == []
    analyzer.Analyze(analyzer_pb2.AnalyzeRequest(type="kubernetes:core/v1:Pod", urn="urn::x::x"), None)
    assert {rule.id for rule in RULES if isinstance(rule, PodRule)} <= set(asked)


def _start() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:0", str(CHECKOUT / "policies")],
        cwd=CHECKOUT / "policies",
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_port_is_the_only_thing_said_and_the_pack_ends_quietly() -> None:
    process = _start()
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, err, process.returncode) == (b"", b"", 0)


def test_the_pack_imports_little_before_it_answers() -> None:
    """It starts in less than a second, most of it the SDK's own, because the heavy parts come when they are needed."""
    script = "import policies.pack, policies.server, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    heavy = {"pulumi_kubernetes", "pulumi_aws", "pulumi_policy", "pydantic", "model.environment", "catalog", "httpx"}
    assert heavy & set(done.stdout.split()) == set()


def test_the_pack_ends_with_an_engine_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(
        "import subprocess, sys, time\n"
        f"pack = subprocess.Popen([sys.executable, '-u', '-m', 'pulumi.policy', 'x', {str(CHECKOUT / 'policies')!r}],"
        f" cwd={str(CHECKOUT / 'policies')!r}, stdout=subprocess.PIPE)\n"
        "pack.stdout.readline()\n"
        "print(pack.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    engine = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert engine.stdout is not None
    pack = psutil.Process(int(engine.stdout.readline()))
    engine.kill()
    engine.wait()
    engine.stdout.close()
    deadline = time.monotonic() + 10
    while pack.is_running() and pack.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
