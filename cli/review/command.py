"""`review`: reads a change before it is merged, without any cluster, cloud or credentials."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import environments
from cli.environments import ROOT
from cli.refusals import RefusedError

if TYPE_CHECKING:
    from .report import Review

COULD_NOT_RUN = 2

Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="REF",
        help="Compare with this branch, tag or commit, whose own code is rehearsed. "
        "[default: where the work left the default branch]",
    ),
]
State = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="FILE", help="Compare with a state from `pulumi stack export` instead of a commit."
    ),
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write what is broken as SARIF 2.1.0, too.")
]


def review(
    environment: environments.Name = "twin", against: Against = None, state: State = None, sarif: Sarif = None
) -> None:
    """Report in Markdown what a change does: to pools, queues, nodes and resources, and which rules it breaks.

    Needs no engine, no cluster, no cloud and no credentials. Exit codes: 0 no mandatory rule is broken, 1 the document
    has mistakes or a mandatory rule is broken, 2 the review could not be made (the reason is on stderr). In GitHub
    Actions what is broken is annotated at its line, too.
    """
    from components.sources import SourceError
    from twin.errors import TwinError

    from . import annotations, markdown

    try:
        found = _review(environment, against, state, sarif)
        if sarif is not None:
            _write(sarif, found)
    except (RefusedError, TwinError, SourceError) as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(COULD_NOT_RUN) from None
    sys.stdout.write(markdown.page(found))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        sys.stderr.writelines(f"{line}\n" for line in annotations.lines(found))
    if found.broken:
        raise typer.Exit(1)


def _write(file: Path, found: "Review") -> None:
    from . import sarif

    version = next(
        line.partition('"')[2].rstrip('"')
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if line.startswith("version = ")
    )
    try:
        file.write_text(json.dumps(sarif.log(found, version), indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise RefusedError(f"--sarif {file}: {error.strerror}") from None


def _review(name: str, against: str | None, state: Path | None, sarif: Path | None) -> "Review":
    from . import before, making

    environments.file(name)
    if against is not None and state is not None:
        raise RefusedError("--against and --state: only one of them can be compared with\n  fix: leave one out")
    if sarif is not None and not sarif.parent.is_dir():
        raise RefusedError(f"--sarif {sarif}: there is no folder {sarif.parent}\n  fix: mkdir -p {sarif.parent}")
    if state is not None:
        was = before.saved(state, name)
        return making.review(making.read(name), was.called, lambda: was)
    commit = before.commit(against)
    with before.rehearsed(commit, name) as rehearsing:
        # Both run at the same time: each takes seconds.
        return making.review(making.read(name), commit.called, rehearsing.result)
