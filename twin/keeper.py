"""The process keeper: supervisord, its configuration, and the conversation with it.

supervisord starts each process again when it ends, rotates its log, and ends it at `stop`. It is driven over a unix
socket by its documented XML-RPC interface (http://supervisord.org/api.html). Each process runs through
`twin/tether.py`, so that none survives the keeper. See docs/decisions/021-process-keeper.md.
"""

import getpass
import os
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from twin import files
from twin.errors import ProcessFailedError, TwinError
from twin.paths import CHECKOUT, Paths

ROOT_VARIABLE = "GANGLINE_TWIN_ROOT"  # in the environment of each process, to know it as ours
LOG_SIZE = "20MB"
CALL_LIMIT, ANSWER_LIMIT = 10.0, 3.0  # seconds; it works through one call after the other
NOT_RUNNING, BAD_NAME = 70, 10  # supervisor.xmlrpc.Faults


@dataclass(frozen=True)
class Program:
    """A process to be kept running.

    Attributes:
        name: Unique in the twin; names the log file too.
        program: Absolute path of the executable.
        arguments: Its arguments.
        environment: Its environment, beside PATH, HOME and LANG, which are the twin's own.
        grace: Seconds to end by itself after SIGTERM.
    """

    name: str
    program: Path
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    grace: int = 2


@dataclass(frozen=True)
class Process:
    """What the keeper says about a process.

    Attributes:
        name: Name of the program.
        state: supervisord's word: STOPPED, STARTING, RUNNING, BACKOFF, STOPPING, EXITED or FATAL.
        pid: Process id, or None when there is none.
        started: When it was last started, in seconds since 1970.
        exit_code: How it last ended; 0 before it did.
    """

    name: str
    state: str
    pid: int | None
    started: int
    exit_code: int

    @property
    def running(self) -> bool:
        """Whether there is a process, maybe a fresh one."""
        return self.state in ("STARTING", "RUNNING")

    @property
    def ended(self) -> bool:
        """Whether it ended although nobody asked for it."""
        return self.state in ("BACKOFF", "EXITED", "FATAL")


class Keeper:
    """The supervisord of one state directory."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        # Kept, as making one costs more than a call. Connections are not: the keeper may be another one by then.
        transport = httpx2.HTTPTransport(
            uds=str(paths.keeper_socket), verify=False, limits=httpx2.Limits(max_keepalive_connections=0)
        )
        self._client = httpx2.Client(transport=transport)

    @property
    def pidfile(self) -> Path:
        """Where supervisord writes its process id."""
        return self._paths.keeper / "keeper.pid"

    @property
    def configuration(self) -> Path:
        """The configuration file of supervisord; its path in a command line proves a process to be ours."""
        return self._paths.keeper / "keeper.conf"

    def answers(self) -> bool:
        """Say whether a keeper of this state directory is there and listens."""
        try:
            return self._call("getIdentification", limit=ANSWER_LIMIT) == str(self._paths.root)
        except (httpx2.HTTPError, OSError, xmlrpc.client.Error):
            return False

    def launch(self, programs: Iterable[Program], limit: float = 10.0) -> None:
        """Start supervisord, detached from this process. It starts no program yet.

        Args:
            programs: The programs that it shall know.
            limit: Seconds until it must answer.

        Raises:
            ProcessFailedError: It did not come up.
            TwinError: It refused its configuration, or a path has a percent sign in it.
        """
        for path in (self._paths.root, CHECKOUT, sys.executable):
            if "%" in str(path):
                raise TwinError(f"{path}: supervisord cannot work in a path with a percent sign: move the checkout")
        for stale in (*self._paths.keeper.glob("*.ini"), *self._paths.keeper.glob("*.json")):
            stale.unlink()
        for program in programs:
            self._describe(program, autostart=False)
        files.write(self.configuration, self._configuration())
        environment = self._base_environment() | {
            "PYTHONPATH": str(CHECKOUT),
            "GANGLINE_PYTHON": sys.executable,
            "GANGLINE_TETHER": str(Path(__file__).with_name("tether.py")),
            "GANGLINE_LOGS": str(self._paths.logs),
            "GANGLINE_SOCKET": str(self._paths.keeper_socket),
            "GANGLINE_IDENTITY": str(self._paths.root),
        }
        result = subprocess.run(
            [sys.executable, "-m", "supervisor.supervisord", "-c", str(self.configuration)],
            env=environment,
            cwd=self._paths.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise TwinError(f"the process keeper did not start: {(result.stderr or result.stdout).strip()}")
        deadline = time.monotonic() + limit
        while not self.answers():
            if time.monotonic() > deadline:
                raise ProcessFailedError("keeper", f"no answer after {limit:g} s", self._paths.log("keeper"))
            time.sleep(0.02)

    def knows(self, programs: Iterable[Program]) -> bool:
        """Say whether these programs are known to the keeper exactly as they are described here."""
        return all(files.read_json(self._specification(p.name)) == self._specify(p) for p in programs)

    def pid(self) -> int:
        """Give the process id of supervisord."""
        return int(self._call("getPID"))

    def processes(self) -> dict[str, Process]:
        """Give what is known of each program, by name."""
        return {
            info["name"]: Process(
                name=info["name"],
                state=info["statename"],
                pid=info["pid"] or None,
                started=info["start"],
                exit_code=info["exitstatus"],
            )
            for info in self._call("getAllProcessInfo")
        }

    def start(self, name: str) -> None:
        """Start a program that the keeper knows, without waiting for it."""
        self._call("startProcess", name, False)

    def stop(self, names: Iterable[str], limit: float) -> None:
        """Stop programs, all at once, and wait until they are gone.

        Args:
            names: The programs; unknown and stopped ones are passed over.
            limit: Seconds after which those that are left are killed.
        """
        waiting = set(names)
        for name in waiting:
            try:
                self._call("stopProcess", name, False)
            except xmlrpc.client.Fault as fault:
                if fault.faultCode not in (NOT_RUNNING, BAD_NAME):
                    raise
        deadline = time.monotonic() + limit
        while alive := [p.name for p in self.processes().values() if p.name in waiting and p.pid]:
            if time.monotonic() > deadline:
                for name in alive:
                    self._call("signalProcess", name, "KILL")
            time.sleep(0.03)

    def add(self, program: Program) -> None:
        """Make a further program known and start it."""
        self._describe(program, autostart=True)
        self._call("reloadConfig")
        self._call("addProcessGroup", program.name)

    def remove(self, name: str) -> None:
        """Stop a program and forget it."""
        self.stop([name], limit=5)
        try:
            self._call("removeProcessGroup", name)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode != BAD_NAME:
                raise
        self._ini(name).unlink(missing_ok=True)
        self._specification(name).unlink(missing_ok=True)
        self._call("reloadConfig")

    def shutdown(self) -> None:
        """Ask supervisord to stop what is left and to end."""
        self._call("shutdown")

    def _call(self, method: str, *arguments: Any, limit: float = CALL_LIMIT) -> Any:
        response = self._client.post(
            "http://keeper/RPC2",
            content=xmlrpc.client.dumps(arguments, f"supervisor.{method}"),
            headers={"content-type": "text/xml"},
            timeout=limit,
        )
        response.raise_for_status()
        (value,), _ = xmlrpc.client.loads(response.text)
        return value

    def _ini(self, name: str) -> Path:
        return self._paths.keeper / f"{name}.ini"

    def _specification(self, name: str) -> Path:
        return self._paths.keeper / f"{name}.json"

    def _specify(self, program: Program) -> dict[str, Any]:
        return {
            "program": str(program.program),
            "arguments": list(program.arguments),
            "environment": {**program.environment, **self._base_environment()},
        }

    def _describe(self, program: Program, *, autostart: bool) -> None:
        files.write_json(self._specification(program.name), self._specify(program))
        # A program that ends is started again, after 1, 2, 3... seconds when it never ran for a second.
        command = " ".join(
            f'"{part}"'
            for part in (
                "%(ENV_GANGLINE_PYTHON)s",
                "-S",
                "-E",
                "%(ENV_GANGLINE_TETHER)s",
                f"%(here)s/{self.pidfile.name}",
                f"%(here)s/{program.name}.json",
            )
        )
        lines = (
            f"[program:{program.name}]",
            f"command={command}",
            f"autostart={str(autostart).lower()}",
            "autorestart=true",
            "startsecs=1",
            "startretries=1000000",
            f"stopwaitsecs={program.grace}",
            "redirect_stderr=true",
            f"stdout_logfile=%(ENV_GANGLINE_LOGS)s/{program.name}.log",
            f"stdout_logfile_maxbytes={LOG_SIZE}",
            "stdout_logfile_backups=1",
        )
        files.write(self._ini(program.name), "\n".join(lines) + "\n")

    def _configuration(self) -> str:
        # Paths come by expansion: written out, a blank before a `#` would start a comment.
        user = f"user={getpass.getuser()}" if os.getuid() == 0 else ""
        return f"""\
[supervisord]
identifier=%(ENV_GANGLINE_IDENTITY)s
pidfile=%(here)s/{self.pidfile.name}
logfile=%(ENV_GANGLINE_LOGS)s/keeper.log
logfile_maxbytes={LOG_SIZE}
logfile_backups=1
{user}

[unix_http_server]
file=%(ENV_GANGLINE_SOCKET)s
chmod=0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface

[include]
files=*.ini
"""

    def _base_environment(self) -> dict[str, str]:
        # Nothing of the caller's: no proxies, no kubeconfig, no ~/.kwok; and the same whoever starts the twin.
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._paths.root),
            "LANG": "C.UTF-8",
            ROOT_VARIABLE: str(self._paths.root),
        }
