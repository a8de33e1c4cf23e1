"""The Pulumi engine as a program: which one, with which settings, and how its runs are started."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .environments import ROOT
from .refusals import RefusedError

POLICIES = "policies"


@dataclass(frozen=True)
class Engine:
    """A Pulumi CLI and the settings it runs with.

    Attributes:
        program: The `pulumi` to run.
        settings: Its whole process environment.
    """

    program: Path
    settings: Mapping[str, str]

    @classmethod
    def of_user(cls) -> "Engine":
        """Give the user's own engine, login and credentials: the process environment as it is.

        Raises:
            RefusedError: There is no pulumi on PATH, or this shell was told to speak to the twin.
        """
        if os.environ.get("PULUMI_BACKEND_URL", "").startswith(f"file://{ROOT / '.twin'}"):
            raise RefusedError(
                "this shell has the twin's settings (./gangline twin env), and the environment is another cluster's\n"
                "  fix: use another shell, or --twin to try the environment on the twin"
            )
        found = shutil.which("pulumi")
        if found is None:
            raise RefusedError(
                "pulumi: not on PATH\n  fix: install the Pulumi CLI and log in (pulumi login), or add --twin: the same "
                "on the twin of this checkout, without a cluster"
            )
        return cls(Path(found), dict(os.environ))

    @classmethod
    def of_twin(cls, settings: Mapping[str, str]) -> "Engine":
        """Give the engine of the twin: whatever settings of Pulumi and AWS the user has stay out of it.

        Args:
            settings: What `twin env` prints.

        Raises:
            RefusedError: No pulumi is found on the twin's path.
        """
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "AWS_"))}
        whole = inherited | dict(settings)
        found = shutil.which("pulumi", path=whole.get("PATH"))
        if found is None:
            raise RefusedError("pulumi: the twin's tools are incomplete\n  fix: ./gangline twin start")
        return cls(Path(found), whole)

    def require_stack(self, stack: str) -> None:
        """Make sure that the back end has a stack.

        Raises:
            RefusedError: It has not, or cannot be asked.
        """
        try:
            self.read("stack", "--stack", stack, "--show-name")
        except RefusedError as error:
            raise RefusedError(
                f"stack {stack}: {error}\n  fix: log in to your back end (pulumi login), then make the stack, with the "
                f"secrets provider that you want: pulumi stack init {stack}"
            ) from None

    def run(self, *arguments: str) -> None:
        """Run pulumi in the foreground, with its own output.

        Raises:
            RefusedError: It ended with another exit code than 0. What is wrong is on the screen already.
        """
        # A log needs no dots.
        quiet = [] if sys.stdout.isatty() else ["--suppress-progress"]
        done = subprocess.run([self.program, *arguments, *quiet], cwd=ROOT, env=dict(self.settings), check=False)
        if done.returncode:
            raise RefusedError(f"pulumi {arguments[0]}: exit {done.returncode}, see above")

    def read(self, *arguments: str) -> str:
        """Run pulumi and give what it printed on stdout.

        Raises:
            RefusedError: It failed; its own message is passed on.
        """
        done = subprocess.run(
            [self.program, *arguments, "--non-interactive"],
            cwd=ROOT,
            env=dict(self.settings),
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RefusedError(f"pulumi {' '.join(arguments)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout
