"""Training jobs: the same program on every worker, all of which start together."""

from typing import ClassVar, Literal

from pydantic import Field

from .base import Declared, Listed
from .counts import fewest, most
from .workloads import Leader, Workload

LEADING, WORKING = "master", "worker"
"""Names of tasks: with `pytorch` the first worker is a task of its own, since Volcano's plugin ranks by tasks
(https://github.com/volcano-sh/volcano, pkg/controllers/job/plugins/distributed-framework/pytorch)."""


class TrainingJob(Workload):
    """A job that runs to its end once, and starts anew as a whole when a pod of it is lost."""

    called: ClassVar[str] = "training job"
    leader: ClassVar[str] = "launcher"
    counts_uploader: ClassVar[bool] = True

    misplaced: ClassVar = {"restartPolicy": "no pod restarts by itself; how often the whole job does is restarts: …"}

    image: str
    """Image of all its pods, with a tag or digest."""
    command: Listed[str]
    """The program and its arguments, each a text of its own. Every worker runs it; with `mpi` the launcher does."""
    framework: Literal["pytorch", "mpi", "none"] = "pytorch"
    """How workers find each other. `pytorch`: by MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which count pods.
    `mpi`: a launcher reaches them by ssh. `none`: by their names alone."""
    launcher: Leader | None = None
    """The pod that runs `mpirun`, with framework `mpi`."""
    restarts: int = 3
    """How often the whole job starts anew after a pod of it failed or was evicted; 0 for never. Evictions because
    others took back what was theirs count, too."""

    @property
    def elastic(self) -> bool:
        """A range of one number is a fixed count. Of a Ray cluster it is not: it asks for Ray's autoscaler."""
        return fewest(self.workers.count) < most(self.workers.count)

    def tasks(self, workers: int) -> dict[str, int]:
        """Its tasks, in order, each with its number of pods, when it has so many workers."""
        if self.framework == "mpi":
            return {self.leader: 1, WORKING: workers}
        if self.framework == "pytorch":
            return {LEADING: 1, WORKING: workers - 1}
        return {WORKING: workers}

    @property
    def longest_suffix(self) -> str:
        """What is added to its name for the pod with the longest name: `-worker-7`."""
        tasks = self.tasks(most(self.workers.count)).items()
        return max((f"-{task}-{pods - 1}" for task, pods in tasks), key=len)


class Training(Declared):
    """Training jobs on this cluster."""

    jobs: dict[str, TrainingJob] = Field(default_factory=dict)
    """Training jobs by name."""
