"""What the README and the examples show is what a person gets."""

import re
from pathlib import Path

import pytest

from model import document, problems

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yaml"))


def _answer(example: Path) -> str:
    read = document.read(example)
    return problems.render(read.judge().problems, example.relative_to(ROOT), read.positions)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_answered_as_its_text_says(example: Path) -> None:
    expected = example.with_suffix(".txt")
    assert _answer(example) == (expected.read_text().rstrip("\n") if expected.exists() else "")


def test_the_problems_in_the_readme_are_those_of_the_example() -> None:
    answer = _answer(ROOT / "docs" / "examples" / "01-mistakes.yaml")
    shown = re.search(r"reports every problem at once:\n\n```\n(.*?)\n  …\n```", README, re.DOTALL)
    assert shown
    assert answer.startswith(shown[1])


def test_links_of_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
