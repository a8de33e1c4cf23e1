"""Training jobs as Volcano wants them."""

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from twin.rehearsal import Rehearsal, Resource

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]
JOB: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.llm",
    "pool": "train",
    "image": "registry.example.com/train:1.0",
    "command": ["torchrun", "train.py"],
    "workers": {"count": 8, "gpus": 8, "cpu": 96, "memory": "1Ti"},
}
LAUNCHER = {"framework": "mpi", "launcher": {"cpu": 2, "memory": "4Gi"}}


def job(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda value: value.update(training={"jobs": {"llm": {**JOB, **fields}}})


def made(rehearsal: Rehearsal) -> Resource:
    return rehearsal.named("platform-training-llm-job")


def spec(rehearsal: Rehearsal) -> Mapping[str, Any]:
    return json.loads(json.dumps(made(rehearsal).inputs["spec"], default=dict))


def variables(task: Mapping[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in task["template"]["spec"]["containers"][0]["env"]}


def test_the_first_worker_of_pytorch_is_a_task_of_its_own(rehearsed: Rehearse) -> None:
    found = spec(rehearsed(job()))
    assert [(task["name"], task["replicas"], task["minAvailable"]) for task in found["tasks"]] == [
        ("master", 1, 1),
        ("worker", 7, 7),
    ]
    assert found["tasks"][0]["template"] == found["tasks"][1]["template"]
    assert found["plugins"]["pytorch"] == ["--master=master", "--worker=worker"]
    assert found["minAvailable"] == 8
    assert (found["queue"], found["schedulerName"]) == ("research.llm", "volcano")


def test_nothing_is_left_for_volcano_to_fill_in(rehearsed: Rehearse) -> None:
    # What its webhook sets where it is missing (pkg/webhooks/admission/jobs/mutate) would show as a change.
    for fields in ({}, LAUNCHER, {"framework": "none"}):
        found = spec(rehearsed(job(**fields)))
        assert {"queue", "schedulerName", "maxRetry", "minAvailable", "plugins"} <= found.keys()
        assert "svc" in found["plugins"]
        assert ("ssh" in found["plugins"]) == ("mpi" in found["plugins"]) == (fields == LAUNCHER)
        assert all(task["minAvailable"] == task["replicas"] for task in found["tasks"])


def test_it_starts_anew_as_a_whole_as_often_as_is_said(rehearsed: Rehearse) -> None:
    found = spec(rehearsed(job(restarts=5)))
    assert found["policies"] == [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"}]
    # Volcano counts the first start, too (pkg/controllers/job/state/restarting.go).
    assert found["maxRetry"] == 6
    assert all(task["template"]["spec"]["restartPolicy"] == "Never" for task in found["tasks"])


def test_only_a_launcher_ends_the_others(rehearsed: Rehearse) -> None:
    # The first worker to end would otherwise end those that still write.
    assert all("policies" not in task for task in spec(rehearsed(job()))["tasks"])
    launcher, worker = spec(rehearsed(job(**LAUNCHER)))["tasks"]
    assert launcher["policies"] == [{"event": "TaskCompleted", "action": "CompleteJob"}]
    assert "policies" not in worker


def test_a_launcher_runs_the_command_and_workers_wait_for_it(rehearsed: Rehearse) -> None:
    found = spec(rehearsed(job(**LAUNCHER, command=["mpirun", "train"])))
    launcher, worker = found["tasks"]
    assert (launcher["name"], launcher["replicas"], worker["replicas"], found["minAvailable"]) == ("launcher", 1, 8, 9)
    assert launcher["template"]["spec"]["containers"][0]["command"] == ["mpirun", "train"]
    assert "nvidia.com/gpu" not in launcher["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert "sshd -D" in worker["template"]["spec"]["containers"][0]["command"][-1]
    assert found["plugins"]["mpi"] == ["--master=launcher", "--worker=worker"]
    for task in (launcher, worker):
        assert task["template"]["spec"]["containers"][0]["securityContext"]["runAsUser"] == 0
    assert variables(launcher)["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


@pytest.mark.parametrize("value", ["plain", 'a "b" c', "it's", "back\\slash", "$HOME `x` *"])
def test_sessions_of_ssh_get_what_the_container_has(rehearsed: Rehearse, value: str) -> None:
    worker = spec(rehearsed(job(**LAUNCHER, env={"SAID": value})))["tasks"][1]
    script = worker["template"]["spec"]["containers"][0]["command"][-1]
    # The shell hands one option to sshd, which takes it apart at blanks outside of quotes, as shlex does.
    option = script[script.index("-o ") :].removeprefix("-o ")
    seen = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {option}"], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin"}
    ).stdout
    assert seen.startswith("SetEnv=")
    pairs = dict(pair.split("=", 1) for pair in shlex.split(seen.removeprefix("SetEnv=")))
    assert pairs["SAID"] == value == variables(worker)["SAID"]
    assert pairs["NCCL_NET"] == "IB"
    assert pairs["PATH"] == "/usr/bin"


def test_a_part_is_enough_to_begin_and_to_be_complete(rehearsed: Rehearse) -> None:
    workers = {**JOB["workers"], "count": {"min": 2, "max": 4}}
    found = spec(rehearsed(job(framework="none", workers=workers)))
    assert [(task["name"], task["replicas"], task["minAvailable"]) for task in found["tasks"]] == [("worker", 4, 2)]
    assert (found["minAvailable"], found["minSuccess"]) == (2, 2)
    assert "minSuccess" not in spec(rehearsed(job()))


def test_topology_and_priority(rehearsed: Rehearse) -> None:
    found = spec(rehearsed(job(within={"level": "spine", "mode": "soft"}, priority="high")))
    assert found["networkTopology"] == {"mode": "soft", "highestTierAllowed": 2}
    assert found["priorityClassName"] == "high"
    # Volcano gives it to the pods, and lets it change there only.
    assert all("priorityClassName" not in task["template"]["spec"] for task in found["tasks"])
    assert "networkTopology" not in spec(rehearsed(job()))


def test_what_volcano_lets_change_is_no_reason_for_a_new_job(rehearsed: Rehearse) -> None:
    free, told = made(rehearsed(job(framework="none"))), made(rehearsed(job()))
    for numbers in ("spec.minAvailable", "spec.tasks[*].replicas", "spec.tasks[*].minAvailable"):
        assert numbers not in free.replace_on_changes
        # WORLD_SIZE is in the environment of those that run.
        assert numbers in told.replace_on_changes
    for each in (free, told):
        written = {f"spec.{key}" for key in each.inputs["spec"]} - {"spec.tasks", "spec.schedulerName"}
        assert written - {"spec.minAvailable", "spec.priorityClassName"} <= set(each.replace_on_changes)
        assert "spec.tasks[*].template" in each.replace_on_changes
        assert "spec.priorityClassName" not in each.replace_on_changes
        assert each.delete_before_replace


def test_up_waits_until_it_has_run(rehearsed: Rehearse) -> None:
    annotations = made(rehearsed(job())).inputs["metadata"]["annotations"]
    assert annotations == {"pulumi.com/waitFor": 'jsonpath={.status.conditions[?(@.status=="Running")]}'}


def test_workers_get_fabric_and_tiers(rehearsed: Rehearse) -> None:
    master = spec(rehearsed(job()))["tasks"][0]
    container = master["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["limits"]["rdma/shared_ib"] == "1"
    assert container["securityContext"]["capabilities"]["add"] == ["DAC_OVERRIDE", "IPC_LOCK"]
    assert variables(master)["NCCL_NET"] == "IB"
