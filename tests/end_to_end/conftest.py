"""A copy of this checkout with a twin of its own, driven by `./gangline` as a person would."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Checkout:
    """A checkout and what is asked of it."""

    root: Path

    def run(
        self, *arguments: str, check: bool = True, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `./gangline`; unless `check` is off, a refusal fails the test with everything it printed."""
        done = subprocess.run(
            [self.root / "gangline", *arguments],
            cwd=self.root,
            env={**_settings(), **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode:
            pytest.fail(f"gangline {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def settings(self) -> dict[str, str]:
        """What `twin env` prints, as a shell understands it, on top of the process environment."""
        script = 'eval "$(./gangline twin env)" && env -0'
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.root, env=_settings(), capture_output=True, text=True, check=True
        )
        return dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)

    def pulumi(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run plain pulumi with those settings."""
        settings = self.settings()
        pulumi = shutil.which("pulumi", path=settings["PATH"])
        assert pulumi, "no pulumi on the twin's path"
        done = subprocess.run(
            [pulumi, *arguments, "--non-interactive"],
            cwd=self.root,
            env=settings,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            pytest.fail(f"pulumi {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def resources(self) -> list[dict[str, Any]]:
        """The resources of the stack's saved state."""
        exported = json.loads(self.pulumi("stack", "export", "--stack", "twin").stdout)
        return exported["deployment"].get("resources", [])

    @property
    def document(self) -> Path:
        """The stack file of the environment `twin`."""
        return self.root / "stacks" / "Pulumi.twin.yaml"

    def edit(self, change: Any) -> None:
        """Change the document: `change` gets the value under `gangline:environment` and alters it."""
        stack = yaml.safe_load(self.document.read_text())
        change(stack["config"]["gangline:environment"])
        self.document.write_text(yaml.safe_dump(stack, sort_keys=False))


def _settings() -> Mapping[str, str]:
    """The environment of a person who has no Pulumi settings; the tool cache stays the usual one."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "KUBECONFIG"))}
    return kept | {"COLUMNS": "200"}


def copy_of_checkout(here: Path) -> Checkout:
    """Copy what is under version control, with an environment that borrows this one's packages."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, here / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", here / ".venv"], check=True)
    borrowed = sysconfig.get_path("purelib")
    own = sysconfig.get_path("purelib", "venv", {"base": str(here / ".venv"), "platbase": str(here / ".venv")})
    Path(own, "gangline.pth").write_text(f"{here}\n{borrowed}\n")
    (here / ".venv" / "gangline.root").write_text(f"{here}\n")
    for stamp in ("gangline.lock", "gangline-dev.lock"):
        shutil.copyfile(here / "uv.lock", here / ".venv" / stamp)
    return Checkout(here)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """One checkout for all tests of a file; its twin is stopped at the end whatever happened."""
    copied = copy_of_checkout(tmp_path_factory.mktemp("checkout"))
    yield copied
    copied.run("twin", "stop", check=False)
