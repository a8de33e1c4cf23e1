"""Become a program that cannot outlive the process keeper: `tether.py PIDFILE SPECIFICATION`.

The kernel kills the program when its parent dies, however that happens. Only the standard library is used, and the
program takes this process's place, so that the tether costs some milliseconds and no memory.

The specification is a JSON file `{"program", "arguments", "environment"}`: arguments and environment of the program
come from charts and people, and would have to be quoted for the keeper's configuration otherwise.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Tie this process to its parent, check that the parent is the keeper, and become the program."""
    pidfile, specification = map(Path, sys.argv[1:])
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"tether: prctl: {os.strerror(ctypes.get_errno())}")
    # The keeper may have died before the tie was made: then somebody else is the parent by now.
    if os.getppid() != int(pidfile.read_text()):
        sys.exit("tether: the process keeper is gone")
    what = json.loads(specification.read_text())
    try:
        os.execve(what["program"], [what["program"], *what["arguments"]], what["environment"])  # noqa: S606
    except OSError as error:
        sys.exit(f"tether: {what['program']}: {error.strerror}")


if __name__ == "__main__":
    main()
