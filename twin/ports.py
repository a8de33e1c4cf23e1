"""Loopback ports of the twin, kept from one start to the next."""

import random
import socket
import time
from collections.abc import Iterable, Mapping

# Below 32768, where Linux takes the ports of outgoing connections from: a port that `bind(0)` had
# given was stolen by a client socket before the server came to use it.
FIRST, LAST = 20000, 30000


def is_free(port: int) -> bool:
    """Say whether a server could listen on the loopback port now."""
    with socket.socket() as probe:
        # Servers written in Go set this too; without it a port just left counts as taken for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def choose(
    names: Iterable[str], kept: Mapping[str, int], taken: Iterable[int] = (), patience: float = 0
) -> dict[str, int]:
    """Give each name a free port of its own, the kept one where that is still free.

    Args:
        names: What needs a port.
        kept: Ports of an earlier choice.
        taken: Ports not to choose.
        patience: Seconds in which a kept port may become free: a killed process holds it until its last thread ends.

    Raises:
        OSError: There is no free port between 20000 and 30000.
    """
    used = set(taken)
    chosen: dict[str, int] = {}
    deadline = time.monotonic() + patience
    for name in names:
        port = kept.get(name)
        while port is not None and not is_free(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        if port is None or port in used or not is_free(port):
            port = _any_free(used)
        used.add(port)
        chosen[name] = port
    return chosen


def _any_free(used: set[int]) -> int:
    for port in random.sample(range(FIRST, LAST), LAST - FIRST):
        if port not in used and is_free(port):
            return port
    raise OSError(f"no free port on 127.0.0.1 between {FIRST} and {LAST}")
