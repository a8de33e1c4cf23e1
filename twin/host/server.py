"""The stand-in's server: runs Python programs and policy packs for the engine, over the engine's own protocol.

`server.py [options] ENGINE` prints the port it serves on and ends with its parent, on SIGINT and on SIGTERM, and
everything that it started ends with it. It is run by file: it needs the SDK and nothing of this project.

The protocol is that of the SDK (pulumi.runtime.proto, language.proto); how the official host behaves was read in
release 3.274 of the engine (sdk/go/common/resource/plugin: langruntime_plugin.go, analyzer_plugin.go, plugin.go).
"""

# ruff: noqa: ARG002, D102, N802 (names and signatures of the service are the protocol's)

import contextlib
import importlib.metadata
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import psutil
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import language_pb2 as pb
from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2

STARTER = "pulumi-language-python-exec"
# What the starter exits with after it has shown the error itself.
SHOWN = 32
GRACE = 2.0
WATCH = 1.0

_LIST_PACKAGES = (
    "import importlib.metadata as m, json;print(json.dumps({d.name: d.version for d in m.distributions()}))"
)


class HostError(Exception):
    """A request that cannot be met; the text is for a person."""


class Children:
    """The programs that run now. None of them outlives the host."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def start(
        self, command: list[str], cwd: str, environment: Mapping[str, str], *, piped: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start a program. With `piped` its output is ours to read, else it goes where the host's goes."""
        # The engine interrupts the whole group when it leaves. The programs must not print a traceback then:
        # ending them is the host's work.
        shielded = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
        pipe = subprocess.PIPE if piped else None
        with self._lock:
            if self._closed:
                raise HostError("the language host is about to end")
            child = subprocess.Popen(
                shielded, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
            )
            self._running.add(child)
        return child

    def forget(self, child: subprocess.Popen[bytes]) -> None:
        """A program has ended."""
        with self._lock:
            self._running.discard(child)

    def end(self, child: subprocess.Popen[bytes]) -> None:
        """End a program and all that it started: asked first, then made to."""
        try:
            family = psutil.Process(child.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            family = []
        for number in (signal.SIGTERM, signal.SIGKILL):
            child.send_signal(number)
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
            # Not psutil's wait for the program itself: it would take the exit code from `Run`.
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE)
            _, family = psutil.wait_procs(family, timeout=GRACE)
            if child.poll() is not None and not family:
                return

    def close(self) -> None:
        """End everything, and start nothing more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for child in running:
            self.end(child)


def virtualenv(info: pb.ProgramInfo) -> Path:
    """The environment folder that a project's or a policy pack's runtime options name; `.venv` if they name none.

    Raises:
        HostError: there is no Python in it.
    """
    named = MessageToDict(info.options).get("virtualenv") or ".venv"
    folder = (Path(info.root_directory) / named).absolute()
    if not (folder / "bin" / "python").exists():
        raise HostError(
            f"{folder} holds no Python environment (runtime option `virtualenv: {named}` of {info.root_directory})"
        )
    return folder


def environment_of(folder: Path, base: Mapping[str, str]) -> dict[str, str]:
    """A process environment in which a Python environment is active."""
    inherited = {key: value for key, value in base.items() if key != "PYTHONHOME"}
    path = os.pathsep.join([str(folder / "bin"), base.get("PATH", os.defpath)])
    return inherited | {"VIRTUAL_ENV": str(folder), "PATH": path, "PYTHONUNBUFFERED": "1"}


def starter() -> str:
    """The SDK's script that runs a program, found on PATH.

    Raises:
        HostError: it is not there.
    """
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder) / STARTER
        if folder and path.is_file():
            return str(path)
    raise HostError(f"no {STARTER} on PATH")


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    """The language runtime service, as far as `up`, `preview`, `refresh`, `destroy`, `about` and packs need it."""

    def __init__(self, engine: str) -> None:
        """Args: engine: the engine's address; empty if only Handshake tells it."""
        self._engine = engine
        self._children = Children()
        self._programs: set[subprocess.Popen[bytes]] = set()

    def close(self) -> None:
        """End everything that runs."""
        self._children.close()

    def Handshake(self, request, context):
        self._engine = request.engine_address or self._engine
        return pb.LanguageHandshakeResponse()

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    def GetRequiredPackages(self, request, context):
        return pb.GetRequiredPackagesResponse()  # the engine takes plugins as the program asks for them

    def GetRequiredPlugins(self, request, context):
        return pb.GetRequiredPluginsResponse()

    def RuntimeOptionsPrompts(self, request, context):
        return pb.RuntimeOptionsResponse()

    def InstallDependencies(self, request, context):
        yield pb.InstallDependenciesResponse(stdout=b"nothing to do: ./gangline keeps the environment up to date\n")

    def About(self, request, context):
        return pb.AboutResponse(
            executable=sys.executable,
            version=sys.version.split()[0],
            metadata={"host": "stand-in of the gangline project"},
        )

    def GetProgramDependencies(self, request, context):
        try:
            python = virtualenv(request.info) / "bin" / "python"
        except HostError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        listed = subprocess.run([python, "-P", "-c", _LIST_PACKAGES], capture_output=True, check=True)
        packages = sorted(json.loads(listed.stdout).items())
        return pb.GetProgramDependenciesResponse(
            dependencies=[pb.DependencyInfo(name=name, version=version) for name, version in packages]
        )

    def Cancel(self, request, context):
        # Policy packs stay: operations that are on their way still ask them.
        for program in list(self._programs):
            self._children.end(program)
        return empty_pb2.Empty()

    def Run(self, request, context):
        info = request.info
        try:
            folder = virtualenv(info)
            command = [str(folder / "bin" / "python"), "-u", starter(), *self._run_arguments(request)]
            config = {
                "PULUMI_CONFIG": json.dumps(dict(request.config)),
                "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
            }
            child = self._children.start(command, request.pwd, environment_of(folder, os.environ) | config)
        except HostError as error:
            return pb.RunResponse(error=str(error))
        self._programs.add(child)
        try:
            code = child.wait()
        finally:
            self._programs.discard(child)
            self._children.forget(child)
        if code == SHOWN:
            return pb.RunResponse(bail=True)
        if code < 0:
            return pb.RunResponse(error=f"Program was ended by signal {-code}")
        return pb.RunResponse(error=f"Program exited with non-zero exit code: {code}" if code else "")

    def _run_arguments(self, request: pb.RunRequest) -> list[str]:
        options = {
            "monitor": request.monitor_address,
            "engine": self._engine,
            "project": request.project,
            "root_directory": request.info.root_directory,
            "stack": request.stack,
            "pwd": request.pwd,
            "dry_run": "true" if request.dryRun else "false",
            "parallel": str(request.parallel),
            "organization": request.organization,
        }
        pairs = [text for key, value in options.items() if value for text in (f"--{key}", value)]
        return [*pairs, request.info.entry_point or ".", *request.args]

    def RunPlugin(self, request, context):
        if request.kind not in ("", "analyzer"):
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"this stand-in runs programs and policy packs only, no {request.kind} plugin in Python "
                "(install Pulumi's own pulumi-language-python)",
            )
        try:
            folder = virtualenv(request.info)
            base = dict(pair.split("=", 1) for pair in request.env) or dict(os.environ)
            python = str(folder / "bin" / "python")
            command = [python, "-u", "-m", "pulumi.policy", *request.args, request.info.program_directory]
            child = self._children.start(command, request.pwd, environment_of(folder, base), piped=True)
        except HostError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        # The engine ends a pack by cancelling the call.
        context.add_callback(lambda: self._children.end(child))
        try:
            yield from _relay(child)
        finally:
            self._children.end(child)
            self._children.forget(child)


def _relay(child: subprocess.Popen[bytes]) -> Iterator[pb.RunPluginResponse]:
    """What a program prints, as it prints it, then its exit code."""
    pieces: queue.Queue[pb.RunPluginResponse | None] = queue.Queue()

    def read(name: str, stream) -> None:
        while block := stream.read1(65536):
            pieces.put(pb.RunPluginResponse(**{name: block}))
        pieces.put(None)

    for name in ("stdout", "stderr"):
        threading.Thread(target=read, args=(name, getattr(child, name)), daemon=True).start()
    open_streams = 2
    while open_streams:
        piece = pieces.get()
        if piece is None:
            open_streams -= 1
        else:
            yield piece
    yield pb.RunPluginResponse(exitcode=child.wait())


def engine() -> str:
    """Give the address of the engine, which it names last when it starts a plugin."""
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    return addresses[-1] if addresses else ""


def listen(register: Callable[[grpc.Server], None]) -> tuple[grpc.Server, int]:
    """Serve what is registered on a port of loopback."""
    # The engine bounds its messages at 400 MB; its word counts, not grpc's default of 4.
    server = grpc.server(
        ThreadPoolExecutor(max_workers=16),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def end_of(parent: int) -> threading.Event:
    """Give what is set once this process is told to stop, or its parent is gone: a killed engine says no goodbye."""
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: done.set())

    def watch() -> None:
        while not done.is_set():
            time.sleep(WATCH)
            if os.getppid() != parent:
                done.set()

    threading.Thread(target=watch, daemon=True).start()
    return done


def main() -> None:
    """Serve until told to stop, or until the engine is gone."""
    done = end_of(os.getppid())
    host = Host(engine())
    _server, port = listen(lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server))
    print(port, flush=True)
    done.wait()
    host.close()
    # Threads that still wait for a pipe must not hold the end up, nor print on it.
    os._exit(0)


if __name__ == "__main__":
    main()
