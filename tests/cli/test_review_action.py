"""The script of the action, as a runner runs it: what it keeps, and how it ends."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_review_workflows import ACTION, load, steps

GANGLINE = """#!/bin/sh
echo "$@" >arguments
printf %s "$SARIF" >"$6"
printf %s "$REPORTED"
exit "$CODE"
"""


def run(folder: Path, reported: str, code: int) -> int:
    (folder / "gangline").write_text(GANGLINE)
    (folder / "gangline").chmod(0o755)
    (step,) = [step for step in steps(ACTION) if step.get("id") == "review"]
    values = {
        "PATH": os.environ["PATH"],
        "ENVIRONMENT": "aws-training",
        "AGAINST": "HEAD^1",
        "REPORT": str(folder / "report"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "SARIF": "{}",
        "REPORTED": reported,
        "CODE": str(code),
    }
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(bash, cwd=folder, env=values, check=False).returncode


@pytest.mark.parametrize("code", [0, 1])
def test_a_report_is_kept_shown_and_handed_on_and_its_verdict_is_the_steps(tmp_path: Path, code: int) -> None:
    assert run(tmp_path, "## the report\n", code) == code
    report = tmp_path / "report" / "aws-training"
    assert (tmp_path / "arguments").read_text().split() == [
        *("review", "aws-training", "--against", "HEAD^1", "--sarif", f"{report}.sarif")
    ]
    assert Path(f"{report}.md").read_text() == (tmp_path / "summary").read_text() == "## the report\n"
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert told == {"markdown": f"{report}.md", "sarif": f"{report}.sarif"}
    assert set(told) == set(load(ACTION)["outputs"])


@pytest.mark.parametrize("code", [1, 2])
def test_without_a_report_nothing_is_left_that_could_be_taken_for_one(tmp_path: Path, code: int) -> None:
    assert run(tmp_path, "", code) == code
    assert list((tmp_path / "report").iterdir()) == []
    assert not (tmp_path / "output").exists()
