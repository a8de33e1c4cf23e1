"""What a person sees of the command line before anything is built."""

import subprocess
from pathlib import Path

import pytest

from cli import checking, environments
from cli.refusals import RefusedError

ROOT = Path(__file__).resolve().parents[2]
# A fork has environments of its own.
ENVIRONMENTS = sorted(file.name.split(".")[1] for file in (ROOT / "stacks").glob("Pulumi.*.yaml"))
ALLOWED = f"allowed: {', '.join(ENVIRONMENTS)}"


def gangline(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / ".venv" / "bin" / "python", "-P", "-m", "cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def test_check_says_what_the_document_holds() -> None:
    done = gangline("check", "twin")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "stacks/Pulumi.twin.yaml: sound (2 pools, 5 queues, 2 tenants, 1 Ray cluster)\n"


def test_check_knows_the_rules_that_a_document_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "  gangline:environment:\n"
    section = "    policies:\n      levels: {privilegd: advisory}\n      options: {gpu-budget: {gpus: many}}\n"
    text = (ROOT / "stacks" / "Pulumi.twin.yaml").read_text().partition("encryptionsalt")[0]
    lines = text.replace(key, f"{key}{section}").splitlines()
    file = tmp_path / "Pulumi.twin.yaml"
    file.write_text("\n".join(lines))
    monkeypatch.setattr(environments, "STACKS", tmp_path)
    with pytest.raises(RefusedError) as told:
        checking.check("twin")
    first = lines.index("      levels: {privilegd: advisory}") + 1
    at, said, fix, *others = str(told.value).splitlines()
    assert at == f"{file}:{first}  environment.policies.levels.privilegd"
    assert said == "  there is no rule privilegd; privileged is one"
    assert fix.startswith("  fix: Correct it under `policies`")
    assert others[0] == f"{file}:{first + 1}  environment.policies.options.gpu-budget.gpus"
    assert others[1] == '  "many" is not a whole number, 0 or more'


@pytest.mark.parametrize("command", ["check", "render", "up", "destroy"])
def test_an_unknown_environment_is_refused_with_the_nearest(command: str) -> None:
    done = gangline(command, "twni")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"environment twni: there is no stacks/Pulumi.twni.yaml\n  {ALLOWED}        fix: twin\n")


@pytest.mark.parametrize("arguments", [("chekc",), ("up", "--nope"), ("check", "twin", "extra"), ("twin", "begin")])
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    done = gangline(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "./gangline" in done.stderr


def test_works_from_any_folder(tmp_path: Path) -> None:
    # A folder with modules named like ours must not be imported instead of ours.
    (tmp_path / "model.py").write_text("raise SystemExit('the wrong model')\n")
    done = gangline("check", "twin", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(ROOT / "stacks" / "Pulumi.twin.yaml"))


def test_every_command_explains_itself() -> None:
    overview = gangline("--help").stdout
    for command in ("up", "destroy", "render", "check", "test", "doctor", "schema", "init", "twin"):
        assert command in overview
        assert gangline(command, "--help").returncode == 0


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("stacks/Pulumi.twin.yaml", f"this is no name of an environment\n  {ALLOWED}        fix: twin\n"),
        ("TWIN", f"there is no stacks/Pulumi.TWIN.yaml\n  {ALLOWED}        fix: twin\n"),
        ("../twin2", f"this is no name of an environment\n  {ALLOWED}        fix: twin\n"),
        (".", f"this is no name of an environment\n  {ALLOWED}\n"),
        ("..", f"this is no name of an environment\n  {ALLOWED}\n"),
        ("", f"this is no name of an environment\n  {ALLOWED}\n"),
    ],
)
def test_what_is_no_environment_is_told_what_is(written: str, answer: str) -> None:
    assert gangline("check", written).stderr == f"environment {written}: {answer}"


def test_a_full_disk_under_the_output_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [ROOT / ".venv" / "bin" / "python", "-P", "-m", "cli", "check", "twin"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "output: No space left on device\n")


def test_a_source_that_is_no_chart_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "stacks" / "Pulumi.lab.yaml"
    file.parent.mkdir()
    text = (ROOT / "stacks" / "Pulumi.twin.yaml").read_text().partition("encryptionsalt")[0]
    file.write_text(text.replace(".twin/sources/volcano-chart", "docs"))
    script = (
        f"from pathlib import Path; from cli import environments, app; environments.STACKS = Path({str(file.parent)!r})"
    )
    (file.parent / "Pulumi.twin.yaml").write_text(text)
    done = subprocess.run(
        [
            ROOT / ".venv" / "bin" / "python",
            "-P",
            "-c",
            f"{script}; import sys; sys.argv = ['x', 'render', 'lab']; app.main()",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "volcano: docs is no Helm chart" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_link_to_the_launcher_leads_to_its_checkout(tmp_path: Path) -> None:
    (tmp_path / "far").symlink_to(ROOT / "gangline")
    (tmp_path / "near").symlink_to("far")
    done = subprocess.run([tmp_path / "near", "check", "twin"], capture_output=True, text=True, check=False, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
