"""A toy job is killed, its disks are lost and its checkpoints damaged; it must end as if nothing had happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from twin import tools
from twin.aws.cloud import Cloud
from twin.drill import drilling

SEEDS = range(1, 6)


@pytest.fixture(scope="module")
def rclone() -> Path:
    return tools.ensure(["rclone"])["rclone"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with drilling.cloud(tmp_path_factory.mktemp("drill") / "moto.log") as made:
        yield made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drill_ends_as_if_nothing_had_happened(seed: int, tmp_path: Path, store: Cloud, rclone: Path) -> None:
    outcome = drilling.drill(seed, tmp_path, store, rclone, lambda _: None)
    assert outcome.broken == [], outcome.events
    assert len(outcome.events) == 3
    # A copy that is late is passed over for a newer one; what every drill ends with is as many as are kept.
    assert outcome.checkpoints >= 2
