"""Makes `.venv` from the lock. Run by the launcher with any Python >= 3.11, so the standard library is all it has.

uv installs from uv.lock where it is on PATH; otherwise pip installs from requirements.txt, the hash-pinned
export of the same lock (a test keeps the two in step). The checkout itself gets on the path by a .pth file,
which is what an editable install comes down to, without a build backend (docs/decisions/002).
"""

import fcntl
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
ROOT_STAMP = VENV / "gangline.root"
STAMPS = {False: VENV / "gangline.lock", True: VENV / "gangline-dev.lock"}
"""Copies of the lock as it was when its packages were installed, without and with the development tools."""


def say(text: str) -> None:
    """Progress goes to stderr: stdout belongs to the command that was asked for."""
    sys.stderr.write(f"gangline: {text}\n")
    sys.stderr.flush()


def _moved() -> bool:
    return ROOT_STAMP.exists() and ROOT_STAMP.read_text().strip() != str(ROOT)


def fresh(dev: bool) -> bool:
    """Whether `.venv` has what the lock says, for this folder."""
    lock = (ROOT / "uv.lock").read_bytes()
    return (
        PYTHON.exists()
        and ROOT_STAMP.exists()
        and not _moved()
        and any(STAMPS[kind].exists() and STAMPS[kind].read_bytes() == lock for kind in {dev, True})
    )


def install(dev: bool) -> None:
    """Install the locked packages. An interrupted run leaves no stamp, and the next one starts over."""
    with (ROOT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if fresh(dev):
            return
        say("installing the locked packages into .venv" + (" (with development tools)" if dev else ""))
        for stamp in STAMPS.values():
            stamp.unlink(missing_ok=True)
        if _moved():  # its scripts name the old folder
            shutil.rmtree(VENV)
        if uv := shutil.which("uv"):
            _with_uv(uv, dev)
        else:
            _with_pip(dev)
        _on_path()
        ROOT_STAMP.write_text(f"{ROOT}\n")
        for kind, stamp in STAMPS.items():
            if dev or not kind:
                shutil.copyfile(ROOT / "uv.lock", stamp)
        say("the environment is ready")


def _with_uv(uv: str, dev: bool) -> None:
    groups = [] if dev else ["--no-dev"]
    # --inexact: installing without the development tools must not take them from somebody who has them.
    _run(
        [
            uv,
            "sync",
            "--quiet",
            "--locked",
            "--inexact",
            *groups,
            "--python",
            sys.executable,
            "--project",
            str(ROOT),
        ]
    )


def _with_pip(dev: bool) -> None:
    if not _runs(PYTHON):
        try:
            venv.create(VENV, clear=True, symlinks=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(
                f"gangline: could not make a virtual environment in {VENV}: {error}\n"
                "fix: install Python's venv module (Debian: apt-get install python3-venv), or install uv"
            ) from None
    requirements = ROOT / ("requirements-dev.txt" if dev else "requirements.txt")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    # Compiling 4,000 modules of the SDKs would take longer than everything else; Python does it at first import.
    _run(
        [
            str(PYTHON),
            "-m",
            "pip",
            "install",
            *quiet,
            "--no-compile",
            "--no-deps",
            "--require-hashes",
            "-r",
            str(requirements),
        ]
    )


def _runs(python: Path) -> bool:
    if not python.exists():
        return False
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


def _on_path() -> None:
    scheme = sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)})
    Path(scheme, "gangline.pth").write_text(f"{ROOT}\n")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(
            f"gangline: could not install the packages (exit {done.returncode}): {' '.join(command)}\n"
            "fix: see the message above; the package index must be reachable. The same command then starts over"
        )


if __name__ == "__main__":
    try:
        install(dev="--dev" in sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        raise SystemExit(f"gangline: could not make .venv: {error}") from None
