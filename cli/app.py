"""The command line: what `./gangline` offers, and how a refusal is shown."""

import errno
import os
import sys
from typing import NoReturn

import typer

from . import checking, destroying, doctoring, explaining, rendering, testing, twinning, upping
from .aws import initialising
from .review import command as reviewing

app = typer.Typer(
    name="gangline",
    help=(
        "GPU clusters as code. One typed document per environment (stacks/Pulumi.<env>.yaml) becomes a training "
        "and inference cluster whose parts agree.\n\nBegin with `./gangline up`: it builds a local twin of the "
        "cluster and brings the whole stack up on it. Exit codes: 0 done, 1 refused or failed (the reason is on "
        "stderr), 2 wrong usage."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(checking.check)
app.command()(rendering.render)
app.command()(reviewing.review)
app.command()(upping.up)
app.command()(destroying.destroy)
app.command()(explaining.why)
app.command()(doctoring.doctor)
app.command()(checking.schema)
app.command()(testing.test)
app.add_typer(initialising.app, name="init")
app.add_typer(twinning.app, name="twin")


def main() -> NoReturn:
    """Run the command line. A refusal is one text on stderr and exit code 1, never a traceback."""
    try:
        app(prog_name="./gangline")
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPIPE):
            raise
        sys.stderr.write(f"{error.filename or 'output'}: {error.strerror}\n")
        os._exit(1)  # the interpreter's own last flush would fail in the same way
    except Exception as error:
        if not _is_refusal(error):
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    sys.exit(0)


def _is_refusal(error: Exception) -> bool:
    """Whether the error's text was written for a person. The classes are imported only now: most runs need none."""
    from pulumi import RunError

    from components.sources import SourceError
    from model.problems import DocumentError
    from twin.errors import TwinError

    from .refusals import RefusedError

    return isinstance(error, (DocumentError, TwinError, RefusedError, SourceError, RunError))
