"""The life of a control plane: from nothing, again, killed, moved, stopped; real processes, a directory of its own."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from cluster_helpers import eventually, is_ready, look_up, offer, processes_of
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap as ConfigMapResource
from lightkube.resources.core_v1 import Namespace, Pod, ServiceAccount

from twin import control_plane, files
from twin.cluster import Twin
from twin.errors import ProcessFailedError, TwinError
from twin.keeper import Keeper
from twin.paths import CHECKOUT

CONTROL_PLANE = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "lender"}


@pytest.fixture(scope="module")
def own(programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A twin that is started and killed; its path has what paths can have, and is too long for a unix socket."""
    root = tmp_path_factory.mktemp("own") / "a checkout #1; with a long name" / ("x" * 60) / ".twin"
    made = Twin(root, programs)
    yield made
    made.stop()
    assert processes_of(made) == []


def test_starts_from_nothing_and_says_what_it_does(own: Twin) -> None:
    assert not own.status().running
    lines: list[str] = []
    with ThreadPoolExecutor(2) as threads:  # two at once: one starts it, the other finds it running
        both = [threads.submit(Twin(own.paths.root, own.programs).start, lines.append) for _ in range(2)]
        started, found = sorted((future.result() for future in both), key=lambda result: result.already)

    assert not started.already
    assert found.already
    assert started.seconds < 30  # 8 on two quiet cores
    assert [line.split()[0] for line in lines if " works " in line] == [n for rank in control_plane.RANKS for n in rank]
    status = own.status()
    assert status.healthy
    assert {process.name for process in status.processes} == CONTROL_PLANE | {"keeper"}
    assert all(process.pid and process.memory > 0 for process in status.processes)
    assert status.memory < 2.5 * 2**30
    with own.client() as client:
        client.create(ConfigMapResource(metadata=ObjectMeta(name="kept"), data={"value": "1"}))


def test_a_second_start_changes_nothing(own: Twin) -> None:
    own.start()
    before = {process.pid for process in processes_of(own)}
    started = own.start()
    assert started.already
    assert started.seconds < 2
    assert {process.pid for process in processes_of(own)} == before


def test_a_process_that_dies_is_started_again(own: Twin) -> None:
    own.start()
    keeper = Keeper(own.paths)
    victim = keeper.processes()["kube-scheduler"].pid
    assert victim
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: keeper.processes()["kube-scheduler"].pid not in (None, victim))
    eventually(lambda: own.status().healthy)


def test_nothing_survives_the_keeper_and_the_next_start_continues(own: Twin) -> None:
    own.start()
    children = processes_of(own)
    os.kill(Keeper(own.paths).pid(), signal.SIGKILL)
    eventually(lambda: processes_of(own) == [], limit=5, what="no process outlives its keeper")
    assert len(children) > len(CONTROL_PLANE)
    assert own.paths.keeper_socket.exists(), "the crash left its socket behind"

    started = own.start()
    assert not started.already
    assert started.seconds < 25  # 6 on two quiet cores
    with own.client() as client:
        assert client.get(ConfigMapResource, "kept", namespace="default").data == {"value": "1"}


def test_a_frozen_keeper_is_ended_by_force(own: Twin) -> None:
    own.start()
    keeper = Keeper(own.paths).pid()
    os.kill(keeper, signal.SIGSTOP)
    before = time.monotonic()
    assert own.stop()
    assert time.monotonic() - before < 8
    assert processes_of(own) == []
    assert not psutil.pid_exists(keeper) or psutil.Process(keeper).status() == psutil.STATUS_ZOMBIE


def test_taken_ports_broken_state_and_a_moved_checkout_are_no_obstacle(own: Twin) -> None:
    own.stop()
    port = files.read_json(own.paths.state)["ports"]["kube-apiserver"]
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        started = own.start()
    moved = files.read_json(own.paths.state)["ports"]["kube-apiserver"]
    assert moved != port
    assert started.notes[0].startswith(f"port {port} of kube-apiserver is taken by another program, now {moved}")
    with own.client() as client:
        assert client.get(Namespace, "default")

    own.stop()
    own.paths.state.write_text('{"ports": {"etcd": 2')
    (own.paths.pki / "server.crt").unlink()
    moved_away = Twin(own.paths.root.with_name("moved"), own.programs)
    own.paths.root.rename(moved_away.paths.root)
    try:
        moved_away.start()
        with moved_away.client() as client:
            assert client.get(ConfigMapResource, "kept", namespace="default").data == {"value": "1"}
    finally:
        moved_away.stop()
        assert processes_of(moved_away) == []
        moved_away.paths.root.rename(own.paths.root)


def test_pods_are_deleted_at_once_after_a_restart(own: Twin) -> None:
    """KWOK leaves nodes alone that another KWOK holds a lease of; those of the one before last 40 s."""
    own.start()
    own.apply_nodes([offer("restarted-0")])
    container = Container(name="main", image="registry.k8s.io/pause:3.10")
    spec = PodSpec(nodeName="restarted-0", containers=[container])
    with own.client() as client:
        # A controller makes the account that pods need, a moment after the start.
        eventually(lambda: list(client.list(ServiceAccount, namespace="default")), what="an account for pods")
        client.create(Pod(metadata=ObjectMeta(name="short"), spec=spec), namespace="default")
        eventually(lambda: is_ready(look_up(client, Pod, "short", "default")), what="a running pod")
    own.stop()
    own.start()
    with own.client() as client:
        client.delete(Pod, "short", namespace="default")
        eventually(lambda: not list(client.list(Pod, namespace="default")), limit=10, what="no pods")
    own.apply_nodes([])


def test_stops_in_a_moment_and_stopping_twice_is_nothing(own: Twin) -> None:
    own.start()
    before = time.monotonic()
    assert own.stop()
    assert time.monotonic() - before < 5
    assert processes_of(own) == []
    assert not own.stop()
    assert not own.status().running


def test_an_interrupted_start_leaves_nothing_running(own: Twin) -> None:
    own.stop()
    script = (
        "import pathlib, sys; from twin.cluster import Twin\n"
        "tools = {p.name: p for p in map(pathlib.Path, sys.argv[2:])}\n"
        "Twin(pathlib.Path(sys.argv[1]), tools).start(lambda line: print(line, flush=True))\n"
    )
    command = [sys.executable, "-c", script, str(own.paths.root), *map(str, own.programs.values())]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as starting:
        assert starting.stdout
        assert starting.stdout.readline().startswith("etcd works")
        starting.send_signal(signal.SIGINT)
        starting.communicate(timeout=30)
    assert starting.returncode == -signal.SIGINT
    assert processes_of(own) == []


def test_a_full_disk_is_said_and_leaves_nothing_running(own: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    own.stop()

    def refuse(*_: object) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(own.paths.kubeconfig))

    monkeypatch.setattr(control_plane, "write_configuration", refuse)
    with pytest.raises(
        TwinError, match=f"the twin cannot write its state: .*No space left .*{own.paths.kubeconfig.name}"
    ):
        own.start()
    assert processes_of(own) == []


def test_a_removed_state_directory_leaves_nothing_running(own: Twin, tmp_path: Path) -> None:
    """What people do when something is stuck: `rm -r .twin`, while it runs."""
    own.start()
    own.paths.root.rename(tmp_path / "removed")
    assert own.stop()
    assert processes_of(own) == []
    with pytest.raises(TwinError, match=r"run `\./gangline twin start`"):
        own.apply_nodes([])
    shutil.rmtree(own.paths.root)
    (tmp_path / "removed").rename(own.paths.root)
    with pytest.raises(TwinError, match=r"the twin does not answer .*: run `\./gangline twin start`"):
        own.apply_nodes([])


def test_a_process_that_cannot_start_is_named_with_the_end_of_its_log(own: Twin) -> None:
    etcd = own.paths.etcd / "member" / "snap" / "db"
    good = etcd.read_bytes()
    etcd.write_bytes(b"not a database")
    try:
        with pytest.raises(ProcessFailedError) as caught:
            own.start()
    finally:
        etcd.write_bytes(good)
    assert caught.value.process == "etcd"
    assert caught.value.tail
    assert str(own.paths.log("etcd")) in str(caught.value)
    assert processes_of(own) == []


def test_a_percent_sign_in_the_path_is_refused(programs: Mapping[str, Path], tmp_path: Path) -> None:
    with pytest.raises(TwinError, match="percent sign: move the checkout"):
        Twin(tmp_path / "100%" / ".twin", programs).start()


def test_missing_programs_are_named(own: Twin) -> None:
    with pytest.raises(TwinError, match="lacks the programs etcd, kube-apiserver"):
        Twin(own.paths.root, {}).start()
