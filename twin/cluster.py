"""The twin's cluster: start it, stop it, ask how it is, give it nodes."""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import httpx2
import psutil

from twin import control_plane, environment, files, pki, ports
from twin.aws import running
from twin.errors import ProcessFailedError, TwinError
from twin.keeper import ROOT_VARIABLE, Keeper, Program
from twin.paths import Paths

if TYPE_CHECKING:
    from lightkube import Client

    from model.offers import NodeOffer
    from twin.nodes import NodeChanges
    from twin.status import Status

POLL = 0.05
LOCK_LIMIT = 120.0
LOANS_LIMIT = 20.0
FOLLOWER_LIMIT = 60.0


def _silent(_: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Started:
    """How `start` went.

    Attributes:
        already: The twin was running, and well.
        seconds: How long it took.
        notes: What a person should know: moved ports, remains of a crash.
    """

    already: bool
    seconds: float
    notes: tuple[str, ...]


class Twin:
    """A control plane on this machine, in one state directory.

    Args:
        root: The state directory; `.twin` in a checkout. Two twins need two of them, and nothing else.
        programs: Executables by name, as `twin.tools.ensure` gives them. Those of the control plane must be there for
            `start`; a pod of a lent image whose program is missing says so.
    """

    def __init__(self, root: Path, programs: Mapping[str, Path]) -> None:
        self.paths = Paths(root)
        self.programs = dict(programs)
        self._keeper = Keeper(self.paths)

    def start(self, progress: Callable[[str], None] = _silent, *, cloud: bool = False) -> Started:
        """Start the control plane, unless it runs and works; clean up after a crashed run first.

        Args:
            progress: Told what is being done, a line at a time.
            cloud: Whether its cloud must run, too. One that runs is left alone: it holds what was made in it.

        Raises:
            TwinError: A program is missing, a process did not come up (with the end of its log), or another process
                holds the twin.
        """
        began = time.monotonic()
        if missing := [name for name in control_plane.TOOLS if name not in self.programs]:
            raise TwinError(f"the twin lacks the programs {', '.join(missing)}: see `./gangline doctor`")
        try:
            self.paths.make()
        except OSError as error:
            raise TwinError(f"the twin cannot write its state: {error}") from error
        with self._locked():
            if self._runs_well():
                if cloud:
                    self._start_cloud(progress)
                return Started(True, time.monotonic() - began, ())
            notes = self._end_everything(progress)
            try:
                notes += self._start_or_end(progress, cloud)
            except ProcessFailedError as error:
                # Between choosing a port and using it somebody else may have taken it: choose again, once.
                if not any("address already in use" in line for line in error.tail):
                    raise
                progress(f"{error.process}: its port was taken meanwhile, choosing new ones")
                self.paths.state.unlink(missing_ok=True)
                notes += self._start_or_end(progress, cloud)
        return Started(False, time.monotonic() - began, tuple(notes))

    def stop(self, progress: Callable[[str], None] = _silent) -> bool:
        """End all processes of the twin; objects, certificates and ports are kept.

        Returns:
            Whether there was anything to end.
        """
        if not self._ours():  # found by their own marks: the state directory may have been removed under them
            return False
        self.paths.make()
        with self._locked():
            self._end_everything(progress)
        return True

    def status(self) -> "Status":
        """Say how the twin is. Changes nothing, and works whether it runs or not."""
        from twin import status

        return status.of(self.paths, self._keeper, self._ports())

    @property
    def cloud(self) -> str | None:
        """The address of the twin's cloud; None if it has none."""
        port = self._ports().get(running.CLOUD)
        return running.address(port) if port and self._has_cloud(port) else None

    def environment(self) -> dict[str, str]:
        """Give the environment variables that make plain `pulumi` and `kubectl` work on the twin.

        If it has a cloud, other variables that begin with `AWS_` must be taken away.
        """
        self.paths.make()
        given = environment.variables(self.paths, self.programs)
        if self.cloud:
            given |= running.variables(self._ports()[running.CLOUD], self.paths.pki / pki.TOKENS, given)
        return given

    def follow(self, region: str, document: Mapping[str, Any]) -> int:
        """Make the simulated nodes those of the node groups in the cloud, now and from now on.

        Args:
            region: Where the cluster is.
            document: The document of its environment: what nodes of a pool offer.

        Returns:
            How many nodes there are.

        Raises:
            TwinError: There is no cloud, or what follows it did not come up; see `start`.
        """
        port = self._ports().get(running.CLOUD)
        if port is None or not self._has_cloud(port):
            raise TwinError("the twin has no cloud: run `./gangline twin start` with an environment of AWS")
        wanted = {"region": region, "document": document}
        files.write_json(self.paths.followed, wanted)
        program = running.follower(self.paths.root, port)
        if not (self._keeper.knows([program]) and program.name in self._keeper.processes()):
            self._keeper.remove(program.name)
            self.paths.following.unlink(missing_ok=True)
            self._keeper.add(program)
        deadline = time.monotonic() + FOLLOWER_LIMIT
        while True:
            told = files.read_json(self.paths.following)
            if told.get("followed") == wanted and not told.get("problem"):
                return told["nodes"]
            if time.monotonic() > deadline:
                what = told.get("problem") or f"did not follow the node groups within {FOLLOWER_LIMIT:g} s"
                raise ProcessFailedError(program.name, what, self.paths.log(program.name))
            time.sleep(POLL)

    def apply_nodes(self, offers: Iterable["NodeOffer"]) -> "NodeChanges":
        """Make the simulated nodes those that are offered. Node groups are not followed any more.

        Raises:
            TwinError: The twin does not answer; and see `twin.nodes.reconcile`.
        """
        from twin import nodes

        try:
            if self.paths.followed.exists() and self._keeper.answers():
                self._keeper.remove(running.FOLLOWER)
                for file in (self.paths.followed, self.paths.following):
                    file.unlink(missing_ok=True)
            with self.client() as client:
                return nodes.reconcile(client, offers)
        except httpx2.HTTPError as error:
            raise TwinError(f"the twin does not answer ({error}): run `./gangline twin start`") from error

    def client(self) -> "Client":
        """Give a Kubernetes client with the rights of an administrator.

        Raises:
            TwinError: The twin was never started.
        """
        from twin.client import connect

        return connect(self.paths.kubeconfig)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = filelock.FileLock(self.paths.lock, timeout=LOCK_LIMIT)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise TwinError(
                f"another process has been starting or stopping this twin for {LOCK_LIMIT:g} s:"
                f" it holds {self.paths.lock}"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _ports(self) -> dict[str, int]:
        kept = files.read_json(self.paths.state).get("ports")
        return {name: port for name, port in kept.items() if isinstance(port, int)} if isinstance(kept, dict) else {}

    def _runs_well(self) -> bool:
        if not self._keeper.answers():
            return False
        chosen = self._ports()
        if set(chosen) != set(control_plane.PORTS):
            return False
        if pki.missing(self.paths.pki) or control_plane.write_configuration(self.paths, chosen, self.programs):
            return False
        if not self._keeper.knows(control_plane.programs(self.paths, chosen, self.programs)):
            return False
        return all(control_plane.passes(check) for check in control_plane.checks(self.paths, chosen).values())

    def _has_cloud(self, port: int) -> bool:
        return self._keeper.knows([self._cloud_program(port)])

    def _cloud_program(self, port: int) -> Program:
        return running.program(port, control_plane.server(self._ports()), self.paths.pki / "ca.crt")

    def _start_cloud(self, progress: Callable[[str], None]) -> None:
        """Have the cloud run beside a control plane that does."""
        program = self._cloud_program(self._ports()[running.CLOUD])
        if not (self._keeper.knows([program]) and program.name in self._keeper.processes()):
            self._keeper.remove(program.name)
            self._keeper.add(program)
        self._await_cloud(progress)

    def _await_cloud(self, progress: Callable[[str], None]) -> None:
        began = time.monotonic()
        self._await(running.CLOUD, control_plane.cloud_check(self._ports()))
        progress(f"{running.CLOUD} works ({time.monotonic() - began:.1f} s)")

    def _start_or_end(self, progress: Callable[[str], None], cloud: bool) -> list[str]:
        try:
            return self._start(progress, cloud)
        except BaseException as error:
            self._end_everything(_silent)
            if isinstance(error, OSError):
                raise TwinError(f"the twin cannot write its state: {error}") from error
            raise

    def _start(self, progress: Callable[[str], None], cloud: bool) -> list[str]:
        notes = []
        if pki.ensure(self.paths.pki):
            progress("made certificates")
        kept = self._ports()
        chosen = ports.choose(control_plane.PORTS, kept, patience=1)
        if moved := [name for name in kept if name in chosen and kept[name] != chosen[name]]:
            notes.append(
                "; ".join(
                    f"port {kept[name]} of {name} is taken by another program, now {chosen[name]}" for name in moved
                )
                + f"; {self.paths.kubeconfig} was written anew"
            )
            progress(notes[-1])
        files.write_json(self.paths.state, {"ports": chosen})
        control_plane.write_configuration(self.paths, chosen, self.programs)
        shutil.rmtree(self.paths.loans, ignore_errors=True)
        self.paths.make()
        for log in self.paths.logs.glob("*.log"):
            log.replace(log.with_name(f"{log.name}.1"))
        programs = control_plane.programs(self.paths, chosen, self.programs)
        self._keeper.launch([*programs, self._cloud_program(chosen[running.CLOUD])] if cloud else programs)
        if cloud:
            self._keeper.start(running.CLOUD)  # its imports take as long as the whole control plane
        checks = control_plane.checks(self.paths, chosen)
        for rank in control_plane.RANKS:
            if "kwok" in rank:
                self._free_nodes()
            for name in rank:
                self._keeper.start(name)
            for name in rank:
                began = time.monotonic()
                self._await(name, checks[name])
                progress(f"{name} works ({time.monotonic() - began:.1f} s)")
        if cloud:
            self._await_cloud(progress)
        return notes + self._await_loans()

    def _await_loans(self) -> list[str]:
        """Wait for the processes that kept pods borrow: webhooks among them, which would refuse what comes next."""
        deadline = time.monotonic() + LOANS_LIMIT
        waiting = "the lender"
        while time.monotonic() < deadline:
            with suppress(httpx2.HTTPError):
                waiting = control_plane.ask_lender(self.paths, "/settled")
                if not waiting:
                    return []
            time.sleep(POLL)
        return [f"what does not answer yet: {waiting}; see `./gangline twin status`"]

    def _free_nodes(self) -> None:
        """Drop the node leases of an earlier KWOK: a new one leaves nodes and pods alone until they expire."""
        from lightkube.resources.coordination_v1 import Lease

        with self.client() as client:
            client.deletecollection(Lease, namespace="kube-node-lease")

    def _await(self, name: str, check: control_plane.Check) -> None:
        deadline = time.monotonic() + check.limit
        starts: set[int] = set()
        while not control_plane.passes(check):
            process = self._keeper.processes().get(name)
            # A busy machine may cost a process its first attempt; the keeper makes a second one.
            if process is None or (process.ended and starts - {process.started}):
                raise ProcessFailedError(name, "ended while starting", self.paths.log(name))
            starts.add(process.started)
            if time.monotonic() > deadline:
                raise ProcessFailedError(name, f"did not {check.what} within {check.limit:g} s", self.paths.log(name))
            time.sleep(POLL)

    def _end_everything(self, progress: Callable[[str], None]) -> list[str]:
        """End the keeper in order when it answers, and whatever of ours is left by force; say what was left."""
        if self._keeper.answers():
            with suppress(httpx2.HTTPError):
                present = self._keeper.processes()
                others = tuple(name for name in present if not any(name in rank for rank in control_plane.RANKS))
                for rank in (("lender",), others + control_plane.RANKS[-1], *reversed(control_plane.RANKS[:-1])):
                    self._keeper.stop((name for name in rank if name in present), limit=6)
                self._keeper.shutdown()
            _gone(self._ours(), 3)
        notes = []
        if left := self._ours():
            names = ", ".join(sorted({_name(process) for process in left}))
            notes.append(f"ended {len(left)} processes that a crashed run had left: {names}")
            progress(notes[-1])
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            if stuck := _gone(left, 5):
                raise TwinError(f"process {stuck[0].pid} ({_name(stuck[0])}) does not end, even by SIGKILL")
        for path in (self.paths.keeper_socket, self.paths.gateway_socket, self._keeper.pidfile):
            path.unlink(missing_ok=True)
        return notes

    def _ours(self) -> list[psutil.Process]:
        """Find the processes of this state directory by what the keeper put into their environment.

        psutil compares pid and start time before it signals, so that a pid that was given anew is safe.
        """
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(ROOT_VARIABLE) == str(self.paths.root):
                    found.append(process)
        return found


def _gone(processes: list[psutil.Process], limit: float) -> list[psutil.Process]:
    """Wait until processes are gone; give those that are not.

    A dead child that nobody reaps counts as gone, but not before its threads: they hold ports and locks for a moment.
    """
    deadline = time.monotonic() + limit
    while True:
        left = []
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                dead = process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1
                if process.is_running() and not dead:
                    left.append(process)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.03)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return "?"
