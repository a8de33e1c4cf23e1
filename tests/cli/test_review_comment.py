"""The scripts of the run that may write, as a runner runs them, with GitHub played by a script.

What they read is a stranger's: its report, its SARIF, the folder that both came in.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.review import sarif
from tests.cli.test_review_report import EXEMPTED, FINDING, review
from tests.cli.test_review_workflows import COMMENT, load

SHA = "1" * 40
MARKER = "<!-- gangline review aws-training -->"
PULLS = [{"number": 7, "head": {"sha": "2" * 40}}, {"number": 8, "head": {"sha": SHA}}]
GH = """#!/usr/bin/env bash
# Answers as `gh api` does, and keeps what was sent.
while [ $# -gt 0 ]; do
  case $1 in
    --method) method=$2; shift ;;
    --jq) filter=$2; shift ;;
    -F | -f) [[ $2 == body=@* ]] && cp "${2#body=@}" sent.md; shift ;;
    repos/*) path=$1 ;;
  esac
  shift
done
echo "${method:-GET} $path" >>calls
[ -z "${filter:-}" ] || jq -r "$filter" "$(basename "$path").json"
"""

Step = dict[str, Any]


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """Give a folder as a step finds it, with a report of the other run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "aws-training.md").write_text(f"{MARKER}\n## ✅ `aws-training`\n")
    (tmp_path / "pulls.json").write_text(json.dumps(PULLS))
    (tmp_path / "comments.json").write_text("[]")
    return tmp_path


def script(*, names: str) -> str:
    (step,) = [step for step in load(COMMENT)["jobs"]["comment"]["steps"] if names in step.get("run", "")]
    return step["run"]


def run(runner: Path, text: str) -> subprocess.CompletedProcess[str]:
    values = {
        "PATH": f"{runner / 'bin'}:{os.environ['PATH']}",
        "GH_REPO": "we/gangline",
        "ENVIRONMENT": "aws-training",
        "OWNER": "stranger",
        "BRANCH": "change",
        "SHA": SHA,
        "NUMBER": "8",
        "RUN": "https://example.com/run/1",
        "MARKER": MARKER,
        "GITHUB_OUTPUT": str(runner / "output"),
    }
    # https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
    return subprocess.run(
        ["bash", "-e", "-c", text], cwd=runner, env=values, capture_output=True, text=True, check=False
    )


def posted(runner: Path) -> str:
    done = run(runner, script(names="body.md"))
    assert done.returncode == 0, done.stderr
    return (runner / "sent.md").read_text()


def calls(runner: Path) -> list[str]:
    return (runner / "calls").read_text().splitlines()


def test_the_pull_request_is_the_one_at_the_commit(runner: Path) -> None:
    assert run(runner, script(names="/pulls")).returncode == 0
    assert (runner / "output").read_text() == "number=8\n"
    (runner / "output").unlink()
    (runner / "pulls.json").write_text(json.dumps(PULLS[:1]))
    done = run(runner, script(names="/pulls"))
    assert (done.returncode, (runner / "output").read_text()) == (0, "number=\n")
    assert "no open pull request" in done.stdout


def test_a_first_report_is_a_new_comment_that_says_who_wrote_it(runner: Path) -> None:
    lines = posted(runner).splitlines()
    assert lines[0] == MARKER
    assert lines[1] == '<sub>Written by <a href="https://example.com/run/1">the code of 1111111</a>.</sub>'
    assert lines[-1] == "## ✅ `aws-training`"
    assert calls(runner)[-1] == "POST repos/we/gangline/issues/8/comments"


def test_a_next_report_takes_the_place_of_our_own_comment_only(runner: Path) -> None:
    told = [("stranger", MARKER), ("github-actions[bot]", "else"), ("github-actions[bot]", f"{MARKER}\nold")]
    comments = [{"id": number, "user": {"login": who}, "body": body} for number, (who, body) in enumerate(told)]
    (runner / "comments.json").write_text(json.dumps(comments))
    assert "aws-training" in posted(runner)
    assert calls(runner)[-1] == "PATCH repos/we/gangline/issues/comments/2"


def test_without_a_report_the_comment_says_so_and_not_what_was_true_before(runner: Path) -> None:
    (runner / "review" / "aws-training.md").unlink()
    assert posted(runner).splitlines() == [
        MARKER,
        'There is no review of `aws-training` at 1111111: <a href="https://example.com/run/1">its run</a> says why.',
    ]


def test_a_report_that_is_too_long_is_cut_even_within_a_letter(runner: Path) -> None:
    (runner / "review" / "aws-training.md").write_text("a" + "→" * 30_000)
    sent = posted(runner)
    assert sent.endswith("a" + "→" * (61_999 // 3))
    assert len(sent) < 65_536


def test_links_are_gone_before_anything_is_read(runner: Path) -> None:
    (runner / "review" / "aws-training.md").unlink()
    (runner / "review" / "aws-training.md").symlink_to("/etc/passwd")
    assert run(runner, script(names="find review")).returncode == 0
    assert [each.name for each in (runner / "review").iterdir()] == []


def test_alerts_are_ours_whatever_the_file_claims(runner: Path) -> None:
    ours = sarif.log(review(FINDING, EXEMPTED), "1")
    told = ours["runs"][0] | {"automationDetails": {"id": "/language:python/"}, "externalPropertyFileReferences": {}}
    told["tool"] = {"driver": told["tool"]["driver"] | {"name": "CodeQL"}, "extensions": [{"name": "e"}]}
    told["results"] = [*told["results"]] * 3000
    file = {"version": "2.1.0", "inlineExternalProperties": [], "runs": [told, told]}
    (runner / "review" / "aws-training.sarif").write_text(json.dumps(file))
    assert run(runner, script(names="alerts.sarif")).returncode == 0
    found = json.loads((runner / "alerts.sarif").read_text())
    (result,) = ours["runs"][0]["results"]
    assert found == {
        "$schema": sarif.SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "gangline", "rules": ours["runs"][0]["tool"]["driver"]["rules"]}},
                "columnKind": "unicodeCodePoints",
                "results": [result] * 1000,
            }
        ],
    }


def test_the_upload_reads_no_folder_of_the_change_and_keeps_environments_apart() -> None:
    step = load(COMMENT)["jobs"]["comment"]["steps"][-1]
    assert "checkout_path" not in step["with"]
    assert step["with"]["sarif_file"] == "alerts.sarif"
    assert step["with"]["category"] == "gangline/${{ matrix.environment }}"
