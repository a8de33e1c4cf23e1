"""How the twin is: processes, nodes, lent processes with their differences, images that it does not know."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import psutil
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Node, Pod

from twin import control_plane, files, images, stages
from twin.aws import running
from twin.client import connect
from twin.keeper import Keeper, Process
from twin.loans import Difference
from twin.nodes import is_ready, is_simulated
from twin.paths import Paths


@dataclass(frozen=True)
class ProcessStatus:
    """A process of the twin.

    Attributes:
        name: Its name, and that of its log.
        state: RUNNING, STARTING, BACKOFF, EXITED, FATAL, STOPPING or STOPPED, as supervisord says.
        pid: Process id, or None.
        seconds: How long it has been running.
        memory: Its share of memory (PSS), in bytes.
        port: The loopback port that it is reached at, or None.
        healthy: Whether it does what it is there for.
        log: Its log file.
    """

    name: str
    state: str
    pid: int | None
    seconds: int
    memory: int
    port: int | None
    healthy: bool
    log: str


@dataclass(frozen=True)
class LoanStatus:
    """A process that is lent to a pod.

    Attributes:
        process: Its name.
        pod: The pod, `namespace/name`.
        image: The image that it stands for.
        ready: Whether it answers.
        problem: Why it does not.
        restarts: How often it was started again.
        ports: The loopback port for each port of the container.
        differences: How it differs from the container.
    """

    process: str
    pod: str
    image: str
    ready: bool
    problem: str
    restarts: int
    ports: Mapping[int, int]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class UnknownImage:
    """An image that the twin neither lends nor simulates: its pods stay unready.

    Attributes:
        image: The image.
        pods: How many pods use it.
        example: One of them, `namespace/name`.
    """

    image: str
    pods: int
    example: str


@dataclass(frozen=True)
class CloudStatus:
    """The cloud that stands in for AWS.

    Attributes:
        address: Where it answers.
        resources: How many resources were made in it by the engine.
        followed: The cluster whose node groups the nodes follow; empty if they follow none.
        problem: Why they do not, or empty.
    """

    address: str
    resources: int
    followed: str
    problem: str


@dataclass(frozen=True)
class Status:
    """How the twin is.

    Attributes:
        running: Whether the process keeper is there.
        processes: Its processes, the keeper included.
        nodes: How many simulated nodes there are.
        nodes_ready: How many of them are ready.
        loans: Processes lent to pods.
        simulated: How many pods each simulated image has.
        unknown: Images that nothing stands for.
        problem: Why the cluster could not be asked, or empty.
        cloud: The cloud of the twin; None if it has none.
    """

    running: bool
    processes: tuple[ProcessStatus, ...] = ()
    nodes: int = 0
    nodes_ready: int = 0
    loans: tuple[LoanStatus, ...] = ()
    simulated: Mapping[str, int] | None = None
    unknown: tuple[UnknownImage, ...] = ()
    problem: str = ""
    cloud: CloudStatus | None = None

    @property
    def memory(self) -> int:
        """Memory of all processes (sum of PSS), in bytes."""
        return sum(process.memory for process in self.processes)

    @property
    def healthy(self) -> bool:
        """Whether the control plane works: lent processes depend on what was deployed, and count on their own."""
        lent = {loan.process for loan in self.loans}
        return self.running and not self.problem and all(p.healthy for p in self.processes if p.name not in lent)


def of(paths: Paths, keeper: Keeper, ports: Mapping[str, int]) -> Status:
    """Find out how the twin of a state directory is.

    Args:
        paths: The state directory.
        keeper: Its process keeper.
        ports: Ports of the control plane.
    """
    if not keeper.answers():
        return Status(running=False)
    loans = tuple(_loans(paths))
    processes = (_keeper_status(paths, keeper), *_processes(paths, keeper, ports, loans))
    cloud = _cloud(paths, ports) if any(process.name == running.CLOUD for process in processes) else None
    try:
        with connect(paths.kubeconfig) as client:
            nodes = [node for node in client.list(Node) if is_simulated(node)]
            simulated, unknown = _images(client)
    except (ApiError, httpx2.HTTPError) as error:
        return Status(
            running=True,
            processes=processes,
            loans=loans,
            problem=f"the API server does not answer: {error}",
            cloud=cloud,
        )
    return Status(
        running=True,
        processes=processes,
        nodes=len(nodes),
        nodes_ready=sum(map(is_ready, nodes)),
        loans=loans,
        simulated=simulated,
        unknown=unknown,
        cloud=cloud,
    )


def _cloud(paths: Paths, ports: Mapping[str, int]) -> CloudStatus:
    address, made = running.address(ports[running.CLOUD]), 0
    with suppress(httpx2.HTTPError):
        made = running.made(ports[running.CLOUD])
    told = files.read_json(paths.following)
    document = (told.get("followed") or {}).get("document") or {}
    return CloudStatus(address, made, (document.get("cluster") or {}).get("name", ""), told.get("problem", ""))


def _keeper_status(paths: Paths, keeper: Keeper) -> ProcessStatus:
    pid = keeper.pid()
    started = 0.0
    with suppress(psutil.Error):
        started = psutil.Process(pid).create_time()
    process = Process(name="keeper", state="RUNNING", pid=pid, started=int(started), exit_code=0)
    return _process_status(paths, process, None, healthy=True)


def _processes(
    paths: Paths, keeper: Keeper, ports: Mapping[str, int], loans: Iterable[LoanStatus]
) -> Iterable[ProcessStatus]:
    checks = control_plane.checks(paths, ports) if set(ports) >= set(control_plane.PORTS) else {}
    if checks:
        checks |= {
            running.CLOUD: control_plane.cloud_check(ports),
            running.FOLLOWER: control_plane.follower_check(paths),
        }
    lent = {loan.process: loan for loan in loans}
    order = [name for rank in control_plane.RANKS for name in rank]
    known = keeper.processes()
    for name in sorted(known, key=lambda name: (order.index(name) if name in order else len(order), name)):
        process = known[name]
        if name in lent:
            healthy, port = lent[name].ready, next(iter(lent[name].ports.values()), None)
        else:
            healthy, port = name in checks and control_plane.passes(checks[name]), ports.get(name)
        yield _process_status(paths, process, port, healthy=healthy and process.running)


def _process_status(paths: Paths, process: Process, port: int | None, *, healthy: bool) -> ProcessStatus:
    memory = 0
    if process.pid:
        with suppress(psutil.Error):
            memory = psutil.Process(process.pid).memory_full_info().pss
    return ProcessStatus(
        name=process.name,
        state=process.state,
        pid=process.pid,
        seconds=max(0, int(time.time()) - process.started) if process.pid else 0,
        memory=memory,
        port=port,
        healthy=healthy,
        log=str(paths.log(process.name)),
    )


def _loans(paths: Paths) -> Iterable[LoanStatus]:
    for file in sorted(paths.loans.glob("*/loan.json")):
        record: dict[str, Any] = files.read_json(file)
        if record:
            yield LoanStatus(
                process=record["process"],
                pod=f"{record['namespace']}/{record['pod']}",
                image=record["image"],
                ready=record["ready"],
                problem=record["problem"],
                restarts=record["restarts"],
                ports={int(own): here for own, here in record["ports"].items()},
                differences=tuple(Difference(**difference) for difference in record["differences"]),
            )


def _images(client: Client) -> tuple[dict[str, int], tuple[UnknownImage, ...]]:
    simulated: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    example: dict[str, str] = {}
    for pod in client.list(Pod, namespace="*", chunk_size=500):
        if pod.spec is None or pod.metadata is None:
            continue
        timed = stages.RUNS_FOR in (pod.metadata.annotations or {})
        for image in {c.image or "" for c in [*pod.spec.containers, *(pod.spec.initContainers or [])]}:
            if timed or images.is_simulated(image):
                simulated[image] += 1
            elif images.lent_program(image) is None:
                unknown[image] += 1
                example.setdefault(image, f"{pod.metadata.namespace}/{pod.metadata.name}")
    named = (UnknownImage(image, count, example[image]) for image, count in unknown.most_common())
    return dict(simulated), tuple(named)
