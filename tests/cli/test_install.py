"""The environment is made from the lock, and only from it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("gangline", "cli", "uv.lock", "requirements.txt", "requirements-dev.txt", "pyproject.toml")


def _pins(file: str) -> dict[str, set[str]]:
    """Names and hashes of a hash-pinned export, markers left out."""
    text = (ROOT / file).read_text().replace("\\\n", " ")
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {row[0]: {word.removeprefix("--hash=") for word in row if word.startswith("--hash=")} for row in rows}


def _locked() -> dict[str, set[str]]:
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    found = {}
    for package in lock["package"]:
        if "version" not in package or package["source"].get("virtual"):
            continue
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        found[f"{package['name']}=={package['version']}"] = {file["hash"] for file in files}
    return found


def test_exports_agree_with_the_lock() -> None:
    everything = _pins("requirements-dev.txt")
    assert everything == _locked()
    runtime = _pins("requirements.txt")
    assert runtime.items() <= everything.items()
    direct = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[\[<>=]", line)[0] for line in direct}
    assert names <= {pin.split("==")[0] for pin in runtime}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the launcher with an environment that looks installed, and a command line that only says it ran."""
    here = tmp_path / "checkout"
    here.mkdir()
    for name in FILES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, here / name)
        else:
            shutil.copy(source, here / name)
    (here / "cli" / "__main__.py").write_text("import sys; print('ran', *sys.argv[1:])\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", here / ".venv"], check=True)
    (here / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "gangline.pth").write_text(
        f"{here}\n"
    )
    (here / ".venv" / "gangline.root").write_text(f"{here}\n")
    shutil.copy(here / "uv.lock", here / ".venv" / "gangline.lock")
    return here


def _launch(checkout: Path, *arguments: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "gangline", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": path},
        cwd="/",
    )


def test_runs_at_once_when_the_lock_is_installed(checkout: Path) -> None:
    done = _launch(checkout, "check", "twin")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran check twin\n", "")


@pytest.mark.parametrize("change", ["lock", "moved", "interrupted"])
def test_makes_the_environment_again(checkout: Path, change: str, tmp_path: Path) -> None:
    """uv on PATH stands for the installer: what matters here is when it is called, and that its failure is told."""
    if change == "lock":
        (checkout / "uv.lock").write_text((checkout / "uv.lock").read_text() + "\n")
    elif change == "moved":
        checkout = checkout.rename(tmp_path / "elsewhere")
    else:
        (checkout / ".venv" / "gangline.lock").unlink()
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    uv = tools / "uv"
    uv.write_text('#!/bin/sh\necho "uv $1 $2 $3" >&2\nexit 3\n')
    uv.chmod(0o755)
    done = _launch(checkout, "check", path=f"{tools}:/usr/bin:/bin")
    assert done.returncode == 1
    assert "uv sync --quiet --locked" in done.stderr
    assert "could not install the packages (exit 3)" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv" / "gangline.lock").exists()


def test_says_what_it_needs_without_python(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".venv" / "gangline.lock").unlink()
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "cmp", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = _launch(checkout, "check", path=str(tools))
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
