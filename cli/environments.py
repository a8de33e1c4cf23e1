"""The environments of this checkout: `stacks/Pulumi.<name>.yaml`."""

import difflib
import re
from pathlib import Path
from typing import Annotated

import typer

from .refusals import RefusedError

ROOT = Path(__file__).resolve().parents[1]
STACKS = ROOT / "stacks"
_STACK_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9_.-]{1,100}")
"""What Pulumi allows (https://www.pulumi.com/docs/iac/concepts/stacks/#create-stack), but for folders: `.` and `..`."""


def names() -> list[str]:
    """Give the names of all environments, sorted: those that are legal names of stacks."""
    files = {path.name.removeprefix("Pulumi.").removesuffix(".yaml"): path for path in STACKS.glob("Pulumi.*.yaml")}
    return sorted(name for name, path in files.items() if _STACK_NAME.fullmatch(name) and path.is_file())


def file(name: str) -> Path:
    """Give the file of an environment, relative to the current directory where that is shorter to read.

    Raises:
        RefusedError: There is no such environment; the nearest name is suggested.
    """
    known = names()
    if name not in known:
        plain = Path(name).name.removeprefix("Pulumi.").removesuffix(".yaml").lower()
        near = difflib.get_close_matches(plain, known, n=1)
        legal = bool(_STACK_NAME.fullmatch(name))
        fix = f"fix: {near[0]}" if near else f"fix: write {STACKS.name}/Pulumi.{name}.yaml" if legal else ""
        what = f"there is no {STACKS.name}/Pulumi.{name}.yaml" if legal else "this is no name of an environment"
        raise RefusedError(f"environment {name}: {what}\n  allowed: {', '.join(known)}        {fix}".rstrip())
    path = STACKS / f"Pulumi.{name}.yaml"
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current directory was removed
        return path
    return path.relative_to(here) if path.is_relative_to(here) else path


def refuse_copied_salt(name: str) -> None:
    """Refuse an environment whose secrets would be encrypted by the twin's passphrase, which everybody knows.

    Raises:
        RefusedError: Its file was copied from the twin's with everything in it.
    """
    salts = [
        line for line in (STACKS / "Pulumi.twin.yaml").read_text().splitlines() if line.startswith("encryptionsalt:")
    ]
    lines = file(name).read_text().splitlines()
    if name != "twin" and any(salt in lines for salt in salts):
        raise RefusedError(
            f"{file(name)}:{lines.index(salts[0]) + 1}  encryptionsalt\n"
            "  it is the twin's, whose passphrase is no secret\n"
            "  fix: delete the line; pulumi writes your own when it makes the stack"
        )


def complete(incomplete: str) -> list[str]:
    """Give the names that begin so."""
    return [name for name in names() if name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Argument(metavar="[ENV]", help="An environment: stacks/Pulumi.ENV.yaml.", autocompletion=complete),
]
"""The argument that names an environment."""
