"""How long a gang is not whole after one of its nodes dies."""

import time

from lightkube.models.core_v1 import Taint
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from twin.bench.jobs import Gang
from twin.bench.scene import Scene

_TAINT = "bench.gangline.dev/dead"
_LIMIT = 120.0


def recoveries(scene: Scene, nodes: int, times: int, name: str) -> list[float]:
    """Take one node after the other from a running gang, and wait each time until it is whole on others.

    The node gets a taint of effect NoExecute, as the node controller gives it to nodes that do not report: how long
    that takes is a setting of the control plane, and left out.

    Returns:
        Seconds from the taint until all pods of the gang have nodes again.

    Raises:
        TwinError: The gang was not bound at first.
    """
    gang = Gang(f"{name}-recovery", nodes)
    scene.fill([gang])
    found: list[float] = []
    dead: list[str] = []
    for _ in range(times):
        victim = scene.watch.bound(gang.name)[0].node
        dead.append(victim)
        began = time.monotonic()
        taints = [*_taints(scene, victim), Taint(key=_TAINT, effect="NoExecute").to_dict()]
        scene.client.patch(Node, victim, {"spec": {"taints": taints}}, patch_type=PatchType.MERGE)

        def whole() -> bool:
            bound = scene.watch.bound(gang.name)
            return len(bound) == gang.nodes and all(seen.node not in dead for seen in bound)

        if scene.watch.until(whole, _LIMIT):
            found.append(time.monotonic() - began)
    for node in dead:
        kept = [taint for taint in _taints(scene, node) if taint["key"] != _TAINT]
        scene.client.patch(Node, node, {"spec": {"taints": kept}}, patch_type=PatchType.MERGE)
    scene.clear()
    return found


def _taints(scene: Scene, name: str) -> list[dict[str, str]]:
    spec = scene.client.get(Node, name).spec
    return [taint.to_dict() for taint in ((spec.taints if spec else None) or [])]
