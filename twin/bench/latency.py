"""How long a gang takes from its creation until all its pods have nodes, on an idle cluster."""

import time

from twin.bench import jobs
from twin.bench.jobs import Gang
from twin.bench.scene import Scene
from twin.errors import TwinError

_LIMIT = 120.0


def latencies(scene: Scene, nodes: int, times: int, name: str) -> list[float]:
    """Create one gang after the other, each on the empty cluster.

    Args:
        scene: The cluster.
        nodes: Nodes of each gang.
        times: How many.
        name: What their names begin with.

    Returns:
        Seconds from the request that creates the gang to the watch event by which the last of its pods has a node.

    Raises:
        TwinError: A gang was not bound.
    """
    found: list[float] = []
    for number in range(times):
        gang = Gang(f"{name}-{nodes}-{number}", nodes)
        began = time.monotonic()
        jobs.submit(scene.client, gang)
        if not scene.watch.until(lambda gang=gang: scene.bound_whole(gang), _LIMIT):
            raise TwinError(f"gang {gang.name} of {nodes} nodes was not bound within {_LIMIT:g} s")
        found.append(max(seen.bound or 0 for seen in scene.watch.of(gang.name)) - began)
        # A gang that still starts costs the next one time.
        scene.watch.until(lambda gang=gang: all(seen.running for seen in scene.watch.of(gang.name)), _LIMIT)
        scene.clear()
    return found
