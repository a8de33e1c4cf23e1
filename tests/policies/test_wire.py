"""The pack as a process: its handshake, its levels, what a run remembers, and its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.policies.objects import UNKNOWN, container, pod
from twin.paths import CHECKOUT
from twin.policy_pack import PolicyPack, judge

BAD = pod(container(image="a:latest"), name="bad")
WAITING = pod(container(image=UNKNOWN), name="waiting")
BOTH = pod(container(image=UNKNOWN), container(image="a:latest"), name="both")


def test_known_bad_is_reported_beside_what_is_unknown(pack: PolicyPack) -> None:
    """Field case: the whole policy turned into a note, and a mandatory rule looked passed."""
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
    process.begin(preview=True)
    assert process.analyze(WAITING) == []
    process.begin(preview=False)
    assert [verdict.level for verdict in process.analyze(pod(container(image="a:latest"), name="waiting"))] == [
        "mandatory"
    ]
    process.begin(preview=False)
    assert process.analyze(pod(name="waiting")) == []
    assert process.analyze_stack([]) == []


def test_a_resource_that_is_sent_again_counts_once(pack: PolicyPack) -> None:
    """The engine analyzes a replaced resource twice, the second time with what it knows by then."""
    pack.analyze(WAITING)
    pack.analyze(pod(name="waiting"))
    assert pack.analyze_stack([]) == []


@pytest.mark.parametrize(
    ("level", "expected"), [("advisory", ["advisory"]), ("disabled", []), ("remediate", ["mandatory"])]
)
def test_levels_come_from_the_configuration(process: PolicyPack, level: str, expected: list[str]) -> None:
    process.begin(levels={"image-version": level})
    assert [verdict.level for verdict in process.analyze(BAD)] == expected


def test_a_level_for_a_rule_that_is_gone_is_ignored(process: PolicyPack) -> None:
    process.begin(levels={"no-such-rule": "mandatory"})
    assert [verdict.policy for verdict in process.analyze(BAD)] == ["image-version"]


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
    assert [(verdict.policy, verdict.level) for verdict in verdicts] == [
        ("image-version", "mandatory"),
        ("unjudged", "advisory"),
    ]


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
    heavy = {"pulumi_kubernetes", "pulumi_aws", "pulumi_policy", "model.environment", "catalog", "lightkube", "httpx"}
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
