"""The action and the example workflows: their form, and that a stranger's change gets hold of nothing."""

import json
import re
import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import validator_for

from model import reading

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
EXAMPLES = ROOT / "docs" / "examples" / "github"
REVIEW, COMMENT = EXAMPLES / "review.yml", EXAMPLES / "review-comment.yml"
FILES = [(ACTION, "github-actions"), (REVIEW, "github-workflows"), (COMMENT, "github-workflows")]
STRANGERS = re.compile(r"\$\{\{[^}]*(github\.(event|head_ref|ref)|inputs\.|steps\.)")
"""What somebody else may have written."""


def load(file: Path) -> Any:
    # As GitHub reads it: in YAML 1.1 the key `on` would be true.
    root = reading.compose(file.read_text())
    assert root is not None
    return reading.value_of(root)[0]


def steps(file: Path) -> Iterator[dict[str, Any]]:
    text = load(file)
    for part in (text["runs"], *text.get("jobs", {}).values()) if "runs" in text else text["jobs"].values():
        yield from part["steps"]


@pytest.mark.parametrize(("file", "kind"), FILES, ids=lambda it: getattr(it, "name", it))
def test_they_have_the_form_that_github_asks_for(file: Path, kind: str) -> None:
    vendored = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{kind}.json"
    schema = json.loads(vendored.read_text())
    validator_for(schema)(schema).validate(load(file))


@pytest.mark.parametrize("file", [file for file, _ in FILES], ids=lambda it: it.name)
def test_actions_of_others_are_pinned_and_scripts_are_sound(file: Path, tmp_path: Path) -> None:
    used = [step["uses"] for step in steps(file) if "uses" in step]
    assert used
    for each in used:
        assert each == "./" or re.fullmatch(r"[a-z-]+/[a-z/-]+@[0-9a-f]{40}", each), each
        assert each == "./" or re.search(re.escape(each) + r" # v\d+\.\d+\.\d+\n", file.read_text()), each
    scripts = [step["run"] for step in steps(file) if "run" in step]
    for number, script in enumerate(scripts):
        assert not STRANGERS.search(script), "a value in the text of a script can be more than a value"
        path = tmp_path / f"{number}.sh"
        path.write_text(f"#!/usr/bin/env bash\n{script}")
        shellcheck = ROOT / ".venv" / "bin" / "shellcheck"
        done = subprocess.run([shellcheck, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_run_that_executes_the_change_may_write_nothing() -> None:
    review = load(REVIEW)
    assert list(review["on"]) == ["pull_request"]
    assert review["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in review["jobs"].values())
    assert "secrets." not in REVIEW.read_text() + ACTION.read_text()
    checkout = next(step for step in steps(REVIEW) if step.get("uses", "").startswith("actions/checkout"))
    assert checkout["with"]["persist-credentials"] is False


def test_the_run_that_may_write_executes_nothing_of_the_change() -> None:
    comment = load(COMMENT)
    assert list(comment["on"]) == ["workflow_run"]
    assert comment["permissions"] == {}
    (job,) = comment["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write", "security-events": "write"}
    assert comment["on"]["workflow_run"]["workflows"] == [load(REVIEW)["name"]]
    used = [step.get("uses", "") for step in job["steps"]]
    assert not [each for each in used if each.startswith(("actions/checkout", "./"))]
    scripts = "\n".join(step.get("run", "") for step in job["steps"])
    assert "gangline review" not in scripts
    assert "python" not in scripts
    assert "secrets." not in COMMENT.read_text()


def test_both_speak_of_the_same_environments_and_of_shipped_ones() -> None:
    named = [
        load(file)["jobs"][job]["strategy"]["matrix"]["environment"]
        for file, job in ((REVIEW, "review"), (COMMENT, "comment"))
    ]
    assert named[0] == named[1]
    assert all((ROOT / "stacks" / f"Pulumi.{name}.yaml").is_file() for name in named[0])


def test_the_check_to_require_is_there_for_every_change_and_fails_with_any_review() -> None:
    review = load(REVIEW)
    assert not review["on"]["pull_request"], "a change that is left out would wait for the check for ever"
    verdict = review["jobs"]["verdict"]
    assert (verdict["needs"], verdict["if"]) == ("review", "always()")
    assert verdict["steps"][-1]["run"] == 'test "$RESULT" = success'
    assert "the check `verdict`" in (ROOT / "docs" / "guides" / "pull-requests.md").read_text()


def test_a_change_is_compared_with_what_it_is_merged_into() -> None:
    (review,) = [step for step in steps(REVIEW) if step.get("uses") == "./"]
    assert review["with"]["against"] == "HEAD^1"
