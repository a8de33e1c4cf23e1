"""Run by path in another version of this project: rehearses an environment there and writes down what came of it.

It may use nothing of this version, and of the other one only what every version has: the document and the rehearsal.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any


def main() -> None:
    """Args: the environment's name, and the file to write."""
    name, answer = sys.argv[1], Path(sys.argv[2])
    from model import document
    from model.problems import DocumentError
    from twin.errors import TwinError
    from twin.rehearsal import rehearse

    try:
        # Time is left out: what a block's end makes of a document was so before the change.
        environment = document.read(Path("stacks") / f"Pulumi.{name}.yaml").load()
        found: dict[str, Any] = {"resources": [_plain(each) for each in rehearse(environment, stack=name).resources]}
    except (DocumentError, TwinError) as error:
        found = {"refused": str(error)}
    answer.write_text(json.dumps(found))


def _plain(resource: Any) -> dict[str, Any]:
    return {field.name: _json(getattr(resource, field.name)) for field in fields(resource)}


def _json(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


if __name__ == "__main__":
    main()
