"""Training jobs: what is refused, what is doubted, and what their gang is."""

from typing import Any

import pytest

from model import gangs, volcano_jobs
from model.quantities import Quantity
from tests.model.documents import SPOT, Change, environment, errors, example, only, put, rename, warnings

AT = "training.jobs.llm"
JOB: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.llm",
    "pool": "train",
    "image": "registry.example.com/train:1.0",
    "command": ["torchrun", "train.py"],
    "workers": {"count": 4, "cpu": 96, "memory": "1Ti", "gpus": 8},
}
MPI = put(AT, {**JOB, "framework": "mpi", "launcher": {"cpu": 2, "memory": "4Gi"}})
PLACE = ("training", "jobs", "llm")


def job(*changes: Change) -> tuple[Change, ...]:
    return (put(AT, JOB), *changes)


@pytest.mark.parametrize(
    ("change", "path", "says", "allowed"),
    [
        # More than there are, none, and fewer than none (minAvailable above replicas, -1).
        (
            put(f"{AT}.workers.count", {"min": 9, "max": 8}),
            "workers.count.min",
            "min 9 is more than max 8",
            "at most 8",
        ),
        (put(f"{AT}.workers.count", {"min": -1, "max": 8}), "workers.count.min", "must not be negative", "0 to"),
        (put(f"{AT}.workers.count", 0), "workers.count", "does nothing", "1 or more"),
        (put(f"{AT}.workers.count", {"min": 0, "max": 4}), "workers.count.min", "does nothing", "1 or more"),
        (
            put(f"{AT}.workers.count", {"min": 1, "max": 4, "desired": 2}),
            "workers.count.desired",
            "gets more",
            "min and",
        ),
        (
            put(f"{AT}.workers.count", {"min": 1, "max": 4, "desired": 5}),
            "workers.count.desired",
            "gets more",
            "min and",
        ),
        (put(f"{AT}.workers.minAvailable", 4), "workers.minAvailable", "workers.count: {min", None),
        (put(f"{AT}.workers.count", 5), "workers.count", None, None),
        # Queues that take no jobs.
        (put(f"{AT}.queue", "nope"), "queue", "no such queue", "research.llm"),
        (put(f"{AT}.queue", "root"), "queue", "takes no jobs", "research.llm"),
        (put(f"{AT}.queue", "default"), "queue", "only when it is declared", "research.llm"),
        (put(f"{AT}.queue", "research"), "queue", "jobs go to leaves only", "research.llm"),
        (put(f"{AT}.queue", "production"), "queue", "may not use this queue", "research.llm"),
        # What it names, and what it asks for.
        (put(f"{AT}.namespace", "reserch"), "namespace", "no tenant has", "research"),
        (put(f"{AT}.pool", "tran"), "pool", "no such pool", "train"),
        (put(f"{AT}.workers.gpus", 9), "workers.gpus", "offers 8", "at most 8"),
        (put(f"{AT}.workers.cpu", 224), "workers.cpu", "a worker asks for 224", "at most 223.37"),
        (put(f"{AT}.image", "registry.example.com/train"), "image", "no exact image", "tag or digest"),
        (put(f"{AT}.image", "Train Image"), "image", "is no image reference", "tag or digest"),
        (put(f"{AT}.command", []), "command", "must name a program", "such as"),
        (put(f"{AT}.command", [" "]), "command", "must name a program", "such as"),
        (put(f"{AT}.restarts", -1), "restarts", "must not be negative", "0 to"),
        (put(f"{AT}.restarts", 2**31 - 1), "restarts", "is more than", "0 to"),
        (put(f"{AT}.launcher", {"cpu": 1, "memory": "1Gi"}), "launcher", "only mpi has a launcher", "framework mpi"),
        (put(f"{AT}.framework", "mpi"), "launcher", "runs mpirun", None),
        (put(f"{AT}.framework", "tensorflow"), "framework", "not one of the", "pytorch, mpi, none"),
        (put(f"{AT}.within", {"level": "zone"}), "within.level", "no such level", "spine, rack"),
        (put(f"{AT}.checkpoints", True), "checkpoints", "no storage.checkpoints", None),
        (put(f"{AT}.restartPolicy", "OnFailure"), "restartPolicy", "is restarts: …", "restarts"),
        (rename(f"{AT}.workers.count", "replicas"), "workers.replicas", "did you mean count", None),
    ],
)
def test_one_mistake_is_one_problem(change: Change, path: str, says: str | None, allowed: str | None):
    found = errors(*job(put(f"{AT}.within", {"level": "rack"}), change))
    where, problem = only(found)
    assert where == f"{AT}.{path}"
    assert (says or "a rack of pool train holds 4") in problem.message
    assert allowed is None or allowed in (problem.allowed or "")


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        (["python train.py --lr 1e-4"], '["python", "train.py", "--lr", "1e-4"]'),
        (["torchrun train.py", "--lr", "1e-4"], '["torchrun", "train.py", "--lr", "1e-4"]'),
        (["/usr/bin/python train.py --lr=1e-4"], '["/usr/bin/python", "train.py", "--lr=1e-4"]'),
        (["python -c 'import train'"], '["python", "-c", "import train"]'),
        (["python it's.py"], '["python", "it\'s.py"]'),
        (["cd /work && python train.py"], '["bash", "-c", "cd /work && python train.py"]'),
        (["cd /work && python", "my train.py"], '["bash", "-c", "cd /work && python \'my train.py\'"]'),
        (["SEED=1 python train.py"], '["bash", "-c", "SEED=1 python train.py"]'),
        (["python train.py\n"], '["python", "train.py"]'),
        # A path may have spaces, and what follows the program is its own affair.
        (["/opt/my tools/train"], None),
        (["./my train.sh", "--lr", "1e-4"], None),
        (["bash", "-c", "python train.py --lr 1e-4"], None),
        (["python", "my train.py"], None),
    ],
)
def test_a_command_line_is_no_program(command: list[str], fix: str | None):
    found = errors(*job(put(f"{AT}.command", command)))
    if fix is None:
        assert not found
        return
    path, problem = only(found)
    assert (path, problem.value, problem.fix) == (f"{AT}.command[0]", command[0], f"command: {fix}")
    assert problem.allowed == "the program and each of its arguments as a text of its own"


@pytest.mark.parametrize(
    ("name", "count", "fault"),
    [
        ("a" * 54, 4, None),
        ("a" * 55, 4, "with -master-0 a pod's host name would be too long"),
        ("a" * 54, 16, "with -worker-14 a pod's host name would be too long"),
        ("a" * 64, 4, "has 64 characters"),
        ("9llm", 4, "must not begin with '9'"),
        ("llm_1", 4, "'_' (character 4)"),
        ("llm.1", 4, "'.' (character 4)"),
        ("LLM", 4, "'L' (character 1)"),
        ("llm-", 4, "must not end with '-'"),
    ],
)
def test_a_name_is_checked_with_what_is_added_to_it(name: str, count: int, fault: str | None):
    # It is also the name of a service, which begins with a letter (RFC 1035).
    value = {**JOB, "workers": {**JOB["workers"], "count": count}}
    found = errors(put("training.jobs", {name: value}))
    if fault is None:
        assert not found
    else:
        _, problem = only(found)
        assert fault in problem.message


@pytest.mark.parametrize(
    ("framework", "variable", "taken"),
    [
        ("pytorch", "WORLD_SIZE", True),
        ("pytorch", "MASTER_ADDR", True),
        ("pytorch", "MPI_HOST", False),
        ("mpi", "MPI_HOST", True),
        ("mpi", "RANK", False),
        ("none", "RANK", False),
    ],
)
def test_variables_of_the_framework_are_the_frameworks(framework: str, variable: str, taken: bool):
    start = MPI if framework == "mpi" else put(AT, {**JOB, "framework": framework})
    found = errors(start, put(f"{AT}.env", {variable: "1"}))
    assert list(found) == ([f"{AT}.env.{variable}"] if taken else [])


@pytest.mark.parametrize(
    ("changes", "path", "severity"),
    [
        ([put(f"{AT}.restarts", 0)], "restarts", "error"),
        ([], "checkpoints", "warning"),
    ],
)
def test_nodes_that_may_go_want_jobs_that_come_back(changes: list[Change], path: str, severity: str):
    at = f"{AT}.{path}"
    found = (errors if severity == "error" else warnings)(*SPOT, put(AT, {**JOB, "queue": "research"}), *changes)
    assert at in found
    assert "are spot" in found[at].message


@pytest.mark.parametrize(
    ("framework", "says", "severity"),
    [
        ("none", "the gang is 2 workers; 2 more come one by one", "warning"),
        ("pytorch", "WORLD_SIZE is 4 from the beginning", "warning"),
        ("mpi", "mpirun is told of all workers", "error"),
    ],
)
def test_a_part_of_the_workers_may_begin_where_they_can(framework: str, says: str, severity: str):
    start = MPI if framework == "mpi" else put(AT, {**JOB, "framework": framework})
    from model import document

    found = document.judge(example(start, put(f"{AT}.workers.count", {"min": 2, "max": 4}))).problems
    assert [problem.severity for problem in found if says in problem.message] == [severity]


def test_a_gang_that_no_pod_leads():
    gang = gangs.gang(environment(*job()), PLACE)
    assert (gang.lead, gang.workers, gang.pods) == (None, 4, 4)
    assert gang.min_resources == {
        "cpu": Quantity.parse(384),
        "memory": Quantity.parse("4Ti"),
        "nvidia.com/gpu": Quantity.parse(32),
    }
    assert gangs.nodes_of(environment(*job()), PLACE) == 4


def test_a_launcher_is_one_of_the_gang():
    gang = gangs.gang(environment(MPI), PLACE)
    assert gang.lead == {"cpu": 2, "memory": 4 * 2**30}
    assert gang.pods == 5
    # It has room beside a worker.
    assert gangs.nodes_of(environment(MPI), PLACE) == 4


@pytest.mark.parametrize(
    ("count", "whole", "least"),
    [(1, {"master": 1, "worker": 0}, {"master": 1, "worker": 0}), (4, {"master": 1, "worker": 3}, None)],
)
def test_as_many_pods_as_workers(count: int, whole: dict[str, int], least: dict[str, int] | None):
    env = environment(*job(put(f"{AT}.workers.count", count)))
    it = env.training.jobs["llm"]
    made = volcano_jobs.tasks(it)
    assert {name: task["replicas"] for name, task in made.items()} == whole
    assert {name: task["minAvailable"] for name, task in made.items()} == (least or whole)
    assert volcano_jobs.spec(env, it)["minAvailable"] == sum(whole.values()) == gangs.gang(env, PLACE).pods


def test_a_job_that_its_queue_never_holds_is_told_with_both_numbers():
    path, problem = only(errors(*job(put(f"{AT}.workers.count", 17))))
    assert path == f"{AT}.workers.count"
    assert "needs 136 of nvidia.com/gpu, queue research may use 128" in problem.message
    assert "needs 17 nodes, pool train holds 16" in problem.message
    assert problem.allowed == "at most 16 workers"


def test_a_small_quota_is_one_mistake_whatever_kinds_it_holds():
    path, problem = only(errors(*job(put("tenants.research.quota", {"cpu": 1}))))
    assert path == "tenants.research.quota.cpu"
    assert "tuning needs 392 of cpu, llm needs 384 of cpu" in problem.message
