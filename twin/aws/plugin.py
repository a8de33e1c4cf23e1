"""The stand-in as a plugin of the engine: `python -m twin.aws.plugin ENGINE` prints the port it serves on.

It ends with the engine, on SIGINT and on SIGTERM, but never in the middle of a call of the cloud: what was made there
is told first.
"""

import os
import time

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from twin.aws.provider import Provider
from twin.host.server import end_of, engine, listen

GRACE = 5.0


def serve(provider: Provider) -> tuple[grpc.Server, int]:
    """Serve a provider on a port of loopback."""
    return listen(lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server))


def main() -> None:
    """Serve until told to stop, or until the engine is gone."""
    done = end_of(os.getppid())
    provider = Provider(engine())
    _server, port = serve(provider)
    print(port, flush=True)
    done.wait()
    provider.drain(GRACE)
    # Answers are on their way, and threads that wait for the engine must not hold the end up.
    time.sleep(0.05)
    os._exit(0)


if __name__ == "__main__":
    main()
