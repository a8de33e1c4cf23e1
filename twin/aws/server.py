"""moto with its gaps filled, on a port of loopback: `python -m twin.aws.server PORT`.

What it holds is kept in memory, for as long as it runs.
"""

import os
import sys

# moto reads it when it is imported. Without it no policy of AWS's own can be attached.
os.environ.setdefault("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")

from moto.server import main as serve

from twin.aws import moto_gaps


def main() -> None:
    """Serve until told to stop."""
    moto_gaps.install()
    serve(["--host", "127.0.0.1", "--port", sys.argv[1]])


if __name__ == "__main__":
    main()
