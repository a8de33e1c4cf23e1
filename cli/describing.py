"""A document in a few lines, for people."""

from rich.table import Table

from model import aws, devices, fabric
from model.durations import told
from model.environment import Environment
from model.pools import Pool
from model.quotas import Quota
from model.storage.contract import Event, events, times


def line(environment: Environment) -> str:
    """Say in one line how much a document describes."""
    queues = 0
    waiting = list(environment.queues.values())
    while waiting:
        queue = waiting.pop()
        queues += 1
        waiting.extend(queue.queues.values())
    parts = {
        "pool": len(environment.pools),
        "queue": queues,
        "tenant": len(environment.tenants),
        "Ray cluster": len(environment.ray.clusters),
    }
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in parts.items())


def table(environment: Environment) -> Table:
    """Lay a document out: pools, queues, topology, Ray clusters."""
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    cluster = environment.cluster
    grid.add_row(
        "cluster",
        f"{cluster.name}: Kubernetes {cluster.kubernetes}, {_place(environment)}",
    )
    for name, pool in environment.pools.items():
        grid.add_row(f"pool {name}", _pool(pool))
    if environment.topology.node_labels:
        grid.add_row("topology", " > ".join(environment.topology.node_labels))
    elif environment.topology.racks:
        grid.add_row("topology", f"{len(environment.topology.racks)} static domains")
    for name, queue in environment.queues.items():
        parts = f": {', '.join(queue.queues)}" if queue.queues else ""
        grid.add_row(f"queue {name}", f"deserved {_quota(queue.deserved)}{parts}")
    for name, ray in environment.ray.clusters.items():
        count = ray.workers.count
        workers = f"{count}" if isinstance(count, int) else f"{count.min}..{count.max}"
        within = f", within one {ray.within.level}" if ray.within else ""
        grid.add_row(f"ray {name}", f"head + {workers} × {ray.workers.gpus} GPUs in {ray.queue} on {ray.pool}{within}")
    for name, words in checkpoints(environment):
        grid.add_row(name, words)
    return grid


def checkpoints(environment: Environment) -> list[tuple[str, str]]:
    """Say what the contract about checkpoints means: what happens when, with the times. Nothing without one."""
    contract = environment.storage.checkpoints
    if contract is None:
        return []
    took = times(environment)
    steps = [f"to {contract.write}{_in(took.write)} every {contract.every}"]
    if contract.keep != contract.write:
        steps.append(f"on to {contract.keep}{_in(took.flush)}")
    if contract.archive:
        steps.append(f"to the archive{_in(took.archive)}")
    back = [f"from {contract.keep}{_in(took.restore)}"]
    if contract.archive:
        back.append(f"from the archive{_in(took.thaw)}")
    return [
        ("checkpoints", f"{', '.join(steps)}; {contract.retain} are kept"),
        ("a restore", ", ".join(back)),
        *((_EVENTS[event.kind], _cost(event)) for event in events(environment)),
    ]


_EVENTS = {
    "process": "a process dies",
    "node": "a node is lost",
    "spot": "a spot notice",
    "block": "a block ends",
}


def _in(seconds: int | None) -> str:
    return "" if seconds is None else f" in {told(seconds)}"


def _cost(event: Event) -> str:
    if event.loss is None:
        return "how much work is lost cannot be computed: speeds or the largest job are not declared"
    if event.saved:
        return f"{told(event.notice)} are enough to save: nothing is lost"
    begin = f"{told(event.notice)} are too short to save: " if event.notice else ""
    return f"{begin}at worst {told(event.loss)} of work are lost"


def _place(environment: Environment) -> str:
    cluster = environment.cluster
    if aws.here(environment):
        return f"AWS {aws.region(environment)}, zones {', '.join(cluster.zones)}"
    return f"{cluster.provider}, context {cluster.context}"


def _pool(pool: Pool) -> str:
    size = f"{pool.size}" if isinstance(pool.size, int) else f"{pool.size.min}..{pool.size.max}"
    if pool.server is not None:
        kind = pool.server
    elif pool.shape is not None:
        kind = f"{pool.shape.cpu} cores, {pool.shape.memory}"
        if pool.shape.gpu is not None:
            kind += f", {pool.shape.gpu.count} × {pool.shape.gpu.model}"
    else:
        kind = pool.instance or "?"
        if pool.capacity.kind != "on-demand":
            kind += f", {pool.capacity.kind}"
        if pool.provisioner == "karpenter":
            kind += ", by Karpenter"
        if pool.zone:
            kind += f", {pool.zone}"
    connected = fabric.of(pool).kind
    if connected != "tcp":
        kind += f", {connected}"
    if pool.plan is not None:
        kind += f", {devices.plan_name(pool)}"
    taints = "".join(f", taint {taint.key}={taint.value}:{taint.effect}" for taint in pool.taints)
    return f"{size} × {kind}{taints}"


def _quota(quota: Quota) -> str:
    return " ".join(f"{resource}={amount}" for resource, amount in quota.items()) or "nothing"
