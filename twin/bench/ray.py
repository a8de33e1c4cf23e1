"""How fast Ray clusters come up."""

import time

from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta

from twin.bench import ground, jobs
from twin.bench.jobs import Gang
from twin.bench.scene import Scene
from twin.errors import TwinError

RayCluster = create_namespaced_resource("ray.io", "v1", "RayCluster", "rayclusters")
WORKERS = 2
_LIMIT = 300.0
_IMAGE = "rayproject/ray:2.52.0"


def clusters_per_minute(scene: Scene, count: int, name: str) -> float:
    """Create Ray clusters, each of a head and two workers with eight GPUs, and wait until all pods run.

    Raises:
        TwinError: They do not come up.
    """
    names = [f"{name}-{number}" for number in range(count)]
    began = time.monotonic()
    for each in names:
        metadata = ObjectMeta(
            name=each, namespace=ground.NAMESPACE, labels={"volcano.sh/queue-name": ground.EVERYTHING}
        )
        scene.client.create(RayCluster(metadata=metadata, spec=_spec(each)))

    def up() -> bool:
        return all(sum(seen.running is not None for seen in scene.watch.of(each)) > WORKERS for each in names)

    if not scene.watch.until(up, _LIMIT):
        raise TwinError(f"{count} Ray clusters were not up within {_LIMIT:g} s")
    took = time.monotonic() - began
    scene.client.deletecollection(RayCluster, namespace=ground.NAMESPACE)
    scene.clear()
    return count * 60 / took


def _spec(name: str) -> dict[str, object]:
    worker = jobs.pod(Gang(name, 1))
    worker["spec"].pop("restartPolicy")
    worker["spec"]["containers"][0] |= {"name": "ray-worker", "image": _IMAGE}
    head = jobs.pod(Gang(name, 1))
    head["spec"].pop("restartPolicy")
    amounts = {"cpu": "8", "memory": "32Gi"}
    resources = {"requests": amounts, "limits": amounts}
    head["spec"]["containers"][0] |= {"name": "ray-head", "image": _IMAGE, "resources": resources}
    group = {"groupName": "workers", "replicas": WORKERS, "minReplicas": WORKERS, "maxReplicas": WORKERS}
    return {
        "rayVersion": "2.52.0",
        "headGroupSpec": {"rayStartParams": {"num-cpus": "0"}, "template": head},
        "workerGroupSpecs": [{**group, "rayStartParams": {}, "template": worker}],
    }
