"""The stand-in as a plugin of the engine: `python -m twin.aws.plugin ENGINE` prints the port it serves on.

It ends with the engine, on SIGINT and on SIGTERM, but never in the middle of a call of the cloud: what was made there
is told first.
"""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from twin.aws.provider import Provider

GRACE = 5.0
WATCH = 1.0


def serve(provider: Provider) -> tuple[grpc.Server, int]:
    """Serve a provider on a port of loopback."""
    # The engine bounds its messages at 400 MB; its word counts, not grpc's default of 4.
    server = grpc.server(
        ThreadPoolExecutor(max_workers=16),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def _watch(parent: int, done: threading.Event) -> None:
    """A killed engine says no goodbye: notice that it is gone."""
    while not done.is_set():
        time.sleep(WATCH)
        if os.getppid() != parent:
            done.set()


def main() -> None:
    """Serve until told to stop, or until the engine is gone."""
    parent = os.getppid()
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: done.set())
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    provider = Provider(addresses[-1] if addresses else "")
    _server, port = serve(provider)
    print(port, flush=True)
    threading.Thread(target=_watch, args=(parent, done), daemon=True).start()
    done.wait()
    provider.drain(GRACE)
    # Answers are on their way, and threads that wait for the engine must not hold the end up.
    time.sleep(0.05)
    os._exit(0)


if __name__ == "__main__":
    main()
