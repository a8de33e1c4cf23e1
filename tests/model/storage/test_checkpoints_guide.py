"""The guide to checkpoints says what is so."""

import re
from pathlib import Path

import yaml

from cli import describing
from model import document
from model.dataloader import PREFETCH, WORKERS
from model.storage.mounts import DIR, EVERY, SCRATCH, SHARED

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "guides" / "checkpoints.md").read_text("utf-8")
EXAMPLE = document.read(ROOT / "docs" / "examples" / "03-checkpoints.yaml")


def test_its_document_is_that_of_the_example() -> None:
    shown = re.search(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    assert shown
    assert yaml.safe_load(shown[1])["storage"] == EXAMPLE.value["storage"]


def test_what_it_means_is_what_check_says() -> None:
    said = "".join(f"  {name}: {words}\n" for name, words in describing.checkpoints(EXAMPLE.load()))
    assert f"```\n{said}```" in GUIDE


def test_its_names_are_those_that_jobs_find() -> None:
    for name in (DIR, EVERY, WORKERS, PREFETCH, SCRATCH, SHARED):
        assert f"`{name}`" in GUIDE
