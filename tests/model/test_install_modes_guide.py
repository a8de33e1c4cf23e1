"""The table of owners in the guide is what the model says."""

from pathlib import Path
from typing import Any

from catalog import reader as catalog
from model import images
from tests.model.documents import environment, errors, only, put

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "install-modes.md").read_text()
_NAMES = {"gangline": "ours", "operator": "GPU Operator", "image": "image"}


def row(name: str | None) -> str:
    """One line of the table: who brings driver, container toolkit and device plugin in each mode."""
    cells: list[str] = []
    for mode in ("plugins", "operator"):
        changes = [put("devices", {"install": mode}), put("pools.serve.sharing", "none"), _without_slices]
        changes += [put("pools.train.image", name)] if name else []
        if name and catalog.images()[name].ec2:
            changes.append(put("pools.train.server", "hgx-h100"))
        if found := errors(*changes):
            path, problem = only(found)
            assert path == "pools.train.image"
            assert "driver" in problem.message
            cells.append("refused: no driver")
            continue
        env = environment(*changes)
        owners = [images.driver_owner(env, "train"), images.toolkit_owner(env, "train")]
        cells.append(", ".join(_NAMES[str(owner)] for owner in (*owners, images.plugin_owner(env, "train"))))
    return f"| {f'`{name}`' if name else 'not given'} | {cells[0]} | {cells[1]} |"


def _without_slices(value: dict[str, Any]) -> None:
    value["ray"]["clusters"].pop("answers")
    for queue in value["queues"].values():
        for amounts in queue.values():
            if isinstance(amounts, dict):
                amounts.pop("nvidia.com/gpu.shared", None)


def test_guide_says_who_owns_what():
    rows = [row(name) for name in (None, *catalog.images())]
    assert "\n".join(rows) in GUIDE, "\n".join(["the table should be", *rows])
