"""The environments of this checkout: `stacks/Pulumi.<name>.yaml`."""

import difflib
from pathlib import Path
from typing import Annotated

import typer

from .refusals import RefusedError

ROOT = Path(__file__).resolve().parents[1]
STACKS = ROOT / "stacks"


def names() -> list[str]:
    """Give the names of all environments, sorted."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in STACKS.glob("Pulumi.*.yaml"))


def file(name: str) -> Path:
    """Give the file of an environment, relative to the current directory where that is shorter to read.

    Raises:
        RefusedError: There is no such environment; the nearest name is suggested.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        fix = f"fix: {near[0]}" if near else f"fix: write {STACKS.name}/Pulumi.{name}.yaml"
        raise RefusedError(
            f"environment {name}: there is no {STACKS.name}/Pulumi.{name}.yaml\n"
            f"  allowed: {', '.join(known)}        {fix}"
        )
    path = STACKS / f"Pulumi.{name}.yaml"
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


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


def _complete(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Argument(metavar="[ENV]", help="An environment: stacks/Pulumi.ENV.yaml.", autocompletion=_complete),
]
"""The argument that names an environment."""
