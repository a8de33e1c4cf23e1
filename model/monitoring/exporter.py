"""How the DCGM exporter runs on each kind of node, so that what it measures is told of the right pod.

The exporter asks the kubelet which pod holds which device. How it must read the answer depends on how the GPUs are
shared, and it can be told only once per process. Source:
https://github.com/NVIDIA/dcgm-exporter, 4.5.3-4.8.2: internal/pkg/transformation/kubernetes.go, pkg/cmd/app.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model import gpu_requests, images, names, namespaces, nodes, submission
from model.derived import derived
from model.problems import NOTHING, Path, Problem, answered, known, readable

from .shape import Dcgm, Prometheus

if TYPE_CHECKING:
    from model.environment import Environment
    from model.pools import Pool

JOB = "dcgm-exporter"
"""Name of the exporter's Service, and the label `job` of its metrics, whoever runs it."""
LABELS = {"app.kubernetes.io/part-of": JOB}
"""Labels of the exporter's Service and of its pods, whatever their DaemonSet."""
PORT = 9400
"""Where the exporter listens unless told otherwise."""


@dataclass(frozen=True)
class Deployment:
    """The exporter on the nodes of some pools.

    Attributes:
        name: How the GPUs there are shared; a DNS label.
        pools: The pools.
        environment: Variables that tell the exporter how.
        host_pid: Whether it must see the processes of the node. Time slices of a GPU have no counters of their own:
            it finds out which pod a process on the GPU belongs to.
        cut: Whether the GPUs are cut into instances, which takes that nobody holds them open meanwhile.
    """

    name: str
    pools: tuple[str, ...]
    environment: Mapping[str, str]
    host_pid: bool
    cut: bool


@derived
def deployments(env: "Environment") -> tuple[Deployment, ...]:
    """The exporter on all GPU nodes, once for each way of sharing; none where the document wants no exporter."""
    if not isinstance(known(env.monitoring.dcgm), Dcgm):
        return ()
    found: dict[str, list[str]] = {}
    for pool in images.exporter_pools(env):
        found.setdefault(_sharing(env.pools[pool]), []).append(pool)
    return tuple(_deployment(env, name, tuple(pools)) for name, pools in sorted(found.items()))


def _sharing(pool: "Pool") -> str:
    if pool.sharing == "none":
        return "whole"
    ways = {"mig": pool.sharing.mig, "time-slicing": pool.sharing.time_slicing, "mps": pool.sharing.mps}
    return "-".join(way for way, declared in ways.items() if declared)


def _deployment(env: "Environment", name: str, pools: tuple[str, ...]) -> Deployment:
    # Under MPS no process of a pod is seen on the GPU, only the server's.
    return Deployment(name, pools, variables(env, pools), host_pid="time-slicing" in name, cut="mig" in name)


def variables(env: "Environment", pools: Iterable[str]) -> dict[str, str]:
    """What an exporter on the nodes of some pools is told, as variables of its environment."""
    label = submission.POD_LABELS[env.scheduler.kind]
    found = {
        "DCGM_EXPORTER_KUBERNETES": "true",
        "DCGM_EXPORTER_INTERVAL": str(interval(env) * 1000),
        "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS": "true",
        "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX": f"^{label.replace('.', '[.]')}$",
    }
    members = [env.pools[pool] for pool in pools]
    if any(nodes.replicas(pool) > 1 for pool in members):
        # Several pods hold one GPU; otherwise its metrics would be told of whichever comes last.
        found["KUBERNETES_VIRTUAL_GPUS"] = "true"
    # Resources by other names are not looked at unless they are named; those of MIG are known by their beginning.
    offered = {resource for pool in members for resource in nodes.gpu_resources(pool)}
    if renamed := sorted(name for name in offered if name != nodes.GPU and not name.startswith(gpu_requests.MIG)):
        found["NVIDIA_RESOURCE_NAMES"] = ",".join(renamed)
    return found


@dataclass(frozen=True)
class Target:
    """A Service of exporters that Prometheus asks.

    Attributes:
        name: A DNS label.
        namespace: Its namespace.
        labels: Its labels.
        port: Name of its port.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    port: str


@derived
def targets(env: "Environment") -> tuple[Target, ...]:
    """The Services of all exporters; none where the document wants no exporter."""
    if not isinstance(known(env.monitoring.dcgm), Dcgm):
        return ()
    found: list[Target] = []
    if deployments(env):
        found.append(Target(JOB, namespaces.AGENTS, LABELS, "metrics"))
    if images.operator_pools(env):
        # https://github.com/NVIDIA/gpu-operator v26.7.0, assets/state-dcgm-exporter/0500_service.yaml
        found.append(Target(f"{JOB}-operator", namespaces.GPU_OPERATOR, {"app": "nvidia-dcgm-exporter"}, "gpu-metrics"))
    return tuple(found)


def interval(env: "Environment") -> int:
    """Seconds between two readings, and between two questions of Prometheus; those of the default without an exporter.

    Raises:
        Unanswerable: It could not be read.
    """
    settings = known(env.monitoring.dcgm)
    written = known((settings if isinstance(settings, Dcgm) else Dcgm()).interval)
    return int(written.removesuffix("s"))


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with the settings for Prometheus."""
    yield from answered(_labels, env)


def _labels(env: "Environment") -> Iterator[Problem]:
    settings = known(env.monitoring.prometheus)
    if not isinstance(settings, Prometheus):
        return
    at: Path = ("monitoring", "prometheus", "labels")
    for key, value in readable(settings.labels):
        if fault := names.label_key_fault(key):
            yield Problem((*at, key), key, fault, names.LABEL_KEY_ALLOWED, spoils=NOTHING)
        if fault := names.LABEL_VALUE.fault(value):
            yield Problem((*at, key), value, fault, names.LABEL_VALUE.allowed, spoils=NOTHING)
