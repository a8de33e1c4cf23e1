"""Shell scripts that run in pods and on people's machines: for any POSIX shell, and free of the usual mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("components/storage/uploader.sh", "gangline")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_sound(script: str) -> None:
    program = Path(sys.executable).with_name("shellcheck")
    checked = subprocess.run([program, "--shell=sh", ROOT / script], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
