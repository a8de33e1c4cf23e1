"""EFS: where it is, and what it is not for."""

from model import document
from tests.model.aws.documents import found, only
from tests.model.documents import by_path, example, put

EFS = {"kind": "efs", "size": "10Ti"}


def test_it_is_a_shared_tier() -> None:
    assert found(put("storage", {"shared": EFS})) == {}


def test_it_is_of_aws() -> None:
    problems = document.judge(example(put("storage", {"shared": EFS}))).problems
    assert list(by_path(problems)) == ["storage.shared.kind"]


def test_checkpoints_are_not_what_it_is_for() -> None:
    checkpoints = {"write": "shared", "keep": "shared", "every": "1h", "retain": 2}
    path, problem = only(put("storage", {"shared": EFS, "checkpoints": checkpoints}), severity="warning")
    assert path == "storage.checkpoints.write"
    assert "homes and code" in problem.message
