"""The cluster network, as far as the API server uses it: an HTTP CONNECT proxy on a unix socket.

The API server is told to send what it sends into the cluster through this gateway (its egress selector): calls of
webhooks, and the proxies of Services and pods. So webhook configurations stay as their charts write them, and the
certificate that a webhook shows is checked against its Service's name.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path

# Gives the loopback port for an address and port of the cluster, or an explanation why there is none.
Resolver = Callable[[str, int], Awaitable[int | str]]
# Says what is not well, or nothing, to whoever gets a path.
Answers = Mapping[str, Callable[[], str]]
DIAL_LIMIT = 10.0


async def serve(socket: Path, resolve: Resolver, answers: Answers) -> asyncio.Server:
    """Open the gateway.

    Args:
        socket: Where to listen; an old socket file is replaced.
        resolve: Knows the processes that stand for pods.
        answers: What to say to plain requests, by path.
    """
    socket.unlink(missing_ok=True)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _tunnel(reader, writer, resolve, answers)
        except (OSError, EOFError, ValueError):
            pass  # either end went away: that is all that there is to say
        finally:
            writer.close()

    return await asyncio.start_unix_server(accept, path=str(socket))


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, resolve: Resolver, answers: Answers
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
    if method != "CONNECT":
        problem = answers[target]() if target in answers else f"there is no {target}"
        await _answer(writer, problem)
        return
    host, _, port = target.rpartition(":")
    found = await resolve(host.strip("[]"), int(port))
    if isinstance(found, int):
        try:
            there = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", found), DIAL_LIMIT)
        except (OSError, TimeoutError) as error:
            found = f"{target}: {error}"
        else:
            writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            await writer.drain()
            await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
            return
    # The API server shows the reason to whoever asked: "failed calling webhook ...: code 503: 503 <reason>".
    await _answer(writer, found)


async def _answer(writer: asyncio.StreamWriter, problem: str) -> None:
    line = f"503 {problem}" if problem else "200 OK"
    writer.write(f"HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # the other direction ends too, when this one is closed
    finally:
        with suppress(OSError, RuntimeError):
            writer.close()
