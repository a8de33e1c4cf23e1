"""Starts the policy pack; the engine runs this folder."""

import sys
from pathlib import Path

# The engine puts this folder on the path, where `queues` or `images` could hide packages of these names.
# The project takes its place: rules import `policies.x` and `model.x`.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from policies.pack import RULES  # noqa: E402
from policies.server import serve  # noqa: E402

if __name__ == "__main__":
    serve(RULES)
