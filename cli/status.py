"""How the twin is, for people."""

from twin.status import CloudStatus, Status

from .output import console
from .tables import table

MEBIBYTE = 1 << 20


def show(status: Status) -> None:
    """Print processes with their memory, nodes, lent processes with every difference, and what is only simulated."""
    if not status.running:
        console.print("The twin is not running: ./gangline twin start")
        return
    processes = table("process", "state", "pid", "memory", "port", "works", "log")
    for process in status.processes:
        processes.add_row(
            process.name,
            process.state,
            _or_dash(process.pid),
            f"{process.memory // MEBIBYTE} MiB",
            _or_dash(process.port),
            "yes" if process.healthy else "no",
            process.log,
        )
    console.print(processes)
    console.print(f"memory in all {status.memory // MEBIBYTE} MiB; nodes {status.nodes}, ready {status.nodes_ready}")
    if status.cloud is not None:
        _show_cloud(status.cloud)
    if status.problem:
        console.print(f"the cluster could not be asked: {status.problem}")
    for loan in status.loans:
        state = "ready" if loan.ready else f"not ready: {loan.problem}"
        console.print(f"\n[bold]{loan.process}[/] lent to {loan.pod} ({loan.image}), {state}")
        for difference in loan.differences:
            own = f" (its own: {difference.own})" if difference.own else ""
            line = f"  {difference.what}: {difference.lent}{own}; {difference.why}"
            console.print(line, markup=False, soft_wrap=True)
    if status.simulated:
        console.print("\nsimulated only (KWOK plays the kubelet, nothing runs in them):")
        for image, pods in sorted(status.simulated.items()):
            console.print(f"  {image}: {pods} pods", markup=False)
    for unknown in status.unknown:
        console.print(
            f"stays unready, nothing stands for its image: {unknown.image}, {unknown.pods} pods", markup=False
        )


def _show_cloud(cloud: CloudStatus) -> None:
    groups = f"the node groups of {cloud.followed}" if cloud.followed else "no node groups"
    console.print(f"AWS is moto at {cloud.address}: {cloud.resources} resources; nodes follow {groups}")
    if cloud.problem:
        console.print(f"the node groups cannot be followed now: {cloud.problem}", markup=False)


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
