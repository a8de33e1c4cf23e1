"""The pods of a training job, for whatever makes them of the templates."""

import shlex
from collections.abc import Mapping

from pulumi_kubernetes.core.v1 import PodTemplateSpecArgs

from components.workloads import pods
from components.workloads.pods import Program
from model.environment import Environment
from model.storage import mounts
from model.training import TrainingJob

_LOCKED_ROOM = ("NET_BIND_SERVICE", "SETGID", "SETUID", "SYS_CHROOT")
"""What sshd needs: its port, and to become another user in an empty folder (sshd(8), UsePrivilegeSeparation)."""
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Open MPI's mpirun refuses root otherwise; the keys that Volcano brings are root's."""


def templates(environment: Environment, job: TrainingJob) -> dict[str, PodTemplateSpecArgs]:
    """Give the template of each task's pods, by the task's name.

    A pod that failed is never started again by its node: the job starts anew as a whole.
    """
    if job.launcher is None:
        worker = pods.worker(environment, job, Program("train", job.image, job.command), restart="Never")
        return dict.fromkeys(job.tasks(1), worker)
    launcher = Program(job.leader, job.image, job.command, environment=_AS_ROOT, user=0)
    daemon = Program("sshd", job.image, _daemon(_variables(environment, job)), capabilities=_LOCKED_ROOM, user=0)
    return {
        job.leader: pods.leader(environment, job, job.launcher.asked, launcher, restart="Never"),
        "worker": pods.worker(environment, job, daemon, restart="Never"),
    }


def _variables(environment: Environment, job: TrainingJob) -> Mapping[str, str]:
    tiers = mounts.of(environment, job)
    return {**pods.of_workers(environment, job).environment, **(tiers.environment if tiers else {}), **job.env}


def _daemon(variables: Mapping[str, str]) -> list[str]:
    """Run sshd in the foreground.

    Its sessions begin with an empty environment. What the container has of the fabric, and where programs and
    libraries are, must be handed on by name (sshd_config(5), SetEnv).
    """
    handed = " ".join(f"{name}={_quoted(value)}" for name, value in sorted(variables.items()))
    places = 'PATH=\\"$PATH\\" LD_LIBRARY_PATH=\\"${LD_LIBRARY_PATH:-}\\"'
    option = f'"SetEnv={places} "{shlex.quote(handed)}'
    return ["/bin/sh", "-c", f"mkdir -p /run/sshd && ssh-keygen -A && exec /usr/sbin/sshd -D -e -o {option}"]


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
