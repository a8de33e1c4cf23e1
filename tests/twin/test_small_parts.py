"""Files, ports, the tether, the gateway, certificates and the environment, each by itself."""

import asyncio
import json
import os
import shlex
import socket
import ssl
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from twin import environment, errors, files, gateway, pki, ports, tether
from twin.paths import Paths


def test_a_file_is_replaced_as_a_whole_and_only_when_it_differs(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    assert files.write(path, "one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first = path.stat().st_ino
    assert not files.write(path, "one")
    assert path.stat().st_ino == first
    assert files.write(path, b"two")
    assert path.stat().st_ino != first
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("content", ["", '{"half', "[1]", "null"])
def test_a_half_written_state_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "state").write_text(content)
    assert files.read_json(tmp_path / "state") == {}
    assert files.read_json(tmp_path / "missing") == {}


def test_ports_are_kept_while_they_are_free_and_differ_from_each_other() -> None:
    chosen = ports.choose(["a", "b", "c"], {})
    assert len(set(chosen.values())) == 3
    assert all(ports.FIRST <= port < ports.LAST for port in chosen.values())
    assert ports.choose(["a", "b", "c"], chosen) == chosen
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", chosen["b"]))
        thief.listen()
        again = ports.choose(["a", "b", "c"], chosen)
    assert (again["a"], again["c"]) == (chosen["a"], chosen["c"])
    assert again["b"] != chosen["b"]
    assert ports.choose(["a"], chosen, taken=[chosen["a"]])["a"] != chosen["a"]


def tethered(tmp_path: Path, pid: int, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "pid").write_text(f"{pid}\n")
    specification = {"program": program, "arguments": arguments, "environment": {"ONLY": "this"}}
    (tmp_path / "specification").write_text(json.dumps(specification))
    command = [sys.executable, "-S", "-E", tether.__file__, tmp_path / "pid", tmp_path / "specification"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_tethered_program_gets_its_arguments_and_its_environment_and_nothing_else(tmp_path: Path) -> None:
    done = tethered(tmp_path, os.getpid(), "/bin/sh", "-c", 'echo "$1"; env', "sh", "a 'quoted' %(here)s ; # word")
    assert done.stdout.splitlines()[0] == "a 'quoted' %(here)s ; # word"
    assert "ONLY=this" in done.stdout.splitlines()
    assert not any(
        line.startswith("PATH=/") and line == f"PATH={os.environ['PATH']}" for line in done.stdout.splitlines()
    )


def test_a_tether_whose_keeper_is_gone_starts_nothing(tmp_path: Path) -> None:
    done = tethered(tmp_path, 1, "/bin/echo", "started")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", "tether: the process keeper is gone")


def test_a_tether_says_what_it_cannot_run(tmp_path: Path) -> None:
    done = tethered(tmp_path, os.getpid(), "/no/such/program")
    assert done.stderr.strip() == "tether: /no/such/program: No such file or directory"


def test_the_gateway_joins_both_ends_or_says_why_not(tmp_path: Path) -> None:
    async def run() -> None:
        async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write((await reader.readline()).upper())
            writer.close()

        async def resolve(host: str, port: int) -> int | str:
            return there if (host, port) == ("10.96.0.7", 443) else f"nobody is at {host}"

        async def ask(text: str) -> bytes:
            reader, writer = await asyncio.open_unix_connection(tmp_path / "socket")
            writer.write(text.encode())
            answer = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return answer

        server = await asyncio.start_server(shout, "127.0.0.1", 0)
        there = server.sockets[0].getsockname()[1]
        problem = ["busy"]
        entrance = await gateway.serve(tmp_path / "socket", resolve, {"/settled": lambda: problem[0]})
        async with server, entrance:
            joined = await ask("CONNECT 10.96.0.7:443 HTTP/1.1\r\nHost: x\r\n\r\nhello\n")
            assert joined == b"HTTP/1.1 200 Connection Established\r\n\r\nHELLO\n"
            assert (await ask("CONNECT 10.96.0.8:443 HTTP/1.1\r\n\r\n")).startswith(
                b"HTTP/1.1 503 nobody is at 10.96.0.8\r\n"
            )
            assert (await ask("GET /settled HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 503 busy\r\n")
            problem[0] = ""
            assert (await ask("GET /settled HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
            assert (await ask("nonsense\r\n\r\n")) == b""

    asyncio.run(run())


def test_certificates_appear_as_a_whole_and_are_kept(tmp_path: Path) -> None:
    directory = tmp_path / "pki"
    assert pki.ensure(directory)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert set(before) == set(pki.FILES)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in directory.iterdir())
    assert not pki.ensure(directory)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before
    (directory / "server.key").unlink()
    assert pki.ensure(directory)
    assert not list(tmp_path.glob(".pki.*"))

    subject = x509.load_pem_x509_certificate((directory / "controller-manager.crt").read_bytes()).subject
    assert "CN=system:kube-controller-manager" in subject.rfc4514_string()
    context = ssl.create_default_context(cafile=str(directory / "ca.crt"))
    context.load_cert_chain(directory / "admin.crt", directory / "admin.key")


def test_the_kubeconfig_has_one_context(tmp_path: Path) -> None:
    pki.ensure(tmp_path / "pki")
    found = yaml.safe_load(pki.kubeconfig(tmp_path / "pki", "admin", "https://127.0.0.1:20443"))
    assert [context["name"] for context in found["contexts"]] == [found["current-context"]] == ["gangline-twin"]
    assert found["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:20443"


def test_the_environment_survives_a_shell_and_lets_other_tools_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "it's a $HOME; `x`" / ".twin"
    monkeypatch.setenv("PATH", "/usr/bin:/bin:/tools")
    programs = {
        "pulumi": Path("/cache/pulumi/bin/pulumi"),
        "kwok": Path("/tools/kwok"),
        "b": Path("/cache/pulumi/bin/b"),
    }
    wanted = environment.variables(Paths(root), programs)
    assert wanted["PATH"] == "/usr/bin:/bin:/tools:/cache/pulumi/bin"
    script = f"{environment.exports(wanted)}env -0"
    shown = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True, env={}).stdout
    assert wanted.items() <= dict(pair.split("=", 1) for pair in shown.split("\0") if pair).items()
    assert wanted["PULUMI_BACKEND_URL"] == f"file://{root}/state?metadata=skip"
    assert shlex.split(environment.exports({"A": "x y"})) == ["export", "A=x y"]


def test_sockets_fit_into_a_socket_address(tmp_path: Path) -> None:
    assert Paths(Path("/short/.twin")).keeper_socket == Path("/short/.twin/run/keeper.sock")
    long = Paths(tmp_path / ("x" * 100) / ".twin")
    assert len(str(long.keeper_socket)) < 100
    assert long.sockets != Paths(tmp_path / ("y" * 100) / ".twin").sockets


def test_the_end_of_a_log_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    assert "(nothing was logged)" in str(errors.ProcessFailedError("etcd", "ended", log))
    log.write_bytes(b"\xff\n" * 9000 + b"last\n")
    error = errors.ProcessFailedError("etcd", "ended while starting", log)
    assert str(error).startswith(f"etcd: ended while starting\n  last lines of {log}:\n")
    assert error.tail[-1] == "last"
    assert len(error.tail) == errors.TAIL_LINES
