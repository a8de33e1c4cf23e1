"""Files that are made from the model. `python -m model.generated` writes them; a test finds those that lag behind."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from .monitoring.counter_table import counter_table
from .monitoring.reference import reference as alerts_reference
from .reference import reference
from .schedulers import reference as schedulers_reference
from .schema import json_schema


def _schema() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


FILES: Mapping[str, Callable[[], str]] = {
    "stacks/environment.schema.json": _schema,
    "docs/reference/environment.md": reference,
    "docs/reference/alerts.md": alerts_reference,
    "docs/reference/counters.md": counter_table,
    "docs/reference/schedulers.md": schedulers_reference,
}
"""What each file, relative to the project, should hold."""


def write(project: Path) -> list[Path]:
    """Write all files that differ from what they should hold, and return them."""
    written: list[Path] = []
    for name, content in FILES.items():
        file, text = project / name, content()
        if not file.is_file() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            written.append(file)
    return written


if __name__ == "__main__":
    for changed in write(Path(__file__).parents[1]):
        print(changed)
