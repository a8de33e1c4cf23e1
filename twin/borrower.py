"""A pod that borrows a process: its name here, what is known of it, and whether it stands behind a Service."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from lightkube.resources.core_v1 import Service

from twin import images, loans
from twin.loans import Loan
from twin.podstatus import Facts

STARTING = "starting"


@dataclass
class Borrower:
    """A pod and what is done for it.

    Attributes:
        name: Name of its process and log.
        pod: The pod as last seen.
        address: Its address in the cluster.
        loan: Its process, once that is started.
        finished: Exit code, for a script that ran.
        ready: Whether the process answers.
        problem: Why it is not ready.
        restarts: How often the process was started again.
        pid: Process id as last seen.
        token_until: When the token must be renewed, in seconds of the monotonic clock.
        over: Set when the pod is being deleted, or gone.
        gone: Whether the pod is gone.
        reported: What its status was last set to.
    """

    name: str
    pod: dict[str, Any]
    address: str
    loan: Loan | None = None
    finished: int | None = None
    ready: bool = False
    problem: str = STARTING
    restarts: int = 0
    pid: int | None = None
    token_until: float = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False
    reported: Facts | None = None

    @property
    def namespace(self) -> str:
        """Namespace of the pod."""
        return self.pod["metadata"]["namespace"]

    @property
    def pod_name(self) -> str:
        """Name of the pod."""
        return self.pod["metadata"]["name"]

    def leave(self, *, gone: bool) -> None:
        """Note that the pod is being deleted, or gone."""
        self.gone = self.gone or gone
        self.over.set()

    def facts(self) -> Facts:
        """Give what the pod's status is made from."""
        return Facts(
            address=self.address,
            running=self.pid is not None,
            ready=self.ready,
            problem=self.problem,
            restarts=self.restarts,
            finished=self.finished,
        )

    def record(self) -> dict[str, Any]:
        """Give what `twin status` shows, as JSON."""
        return {
            "process": self.name,
            "namespace": self.namespace,
            "pod": self.pod_name,
            "image": self.pod["spec"]["containers"][0]["image"],
            "ready": self.ready,
            "problem": self.problem,
            "restarts": self.restarts,
            "ports": {str(own): here for own, here in (self.loan.ports if self.loan else {}).items()},
            "differences": [asdict(difference) for difference in (self.loan.differences if self.loan else ())],
        }


def free_name(pod: dict[str, Any], used: set[str]) -> str:
    """Name the process of a pod: like its program or script, with a number where that is used."""
    container = next(c for c in pod["spec"]["containers"] if images.lent_program(c["image"]))
    script = loans.script_of(container)
    name = script[0].removesuffix(".sh") if script else images.lent_program(container["image"]) or ""
    return next(free for free in (name, *(f"{name}-{n}" for n in range(2, len(used) + 3))) if free not in used)


def endpoint(service: Service, port: int, borrowers: Iterable[Borrower]) -> int | str:
    """Give the loopback port behind a port of a Service, or say why there is none."""
    metadata, spec = service.metadata, service.spec
    name = f"{metadata.namespace}/{metadata.name}" if metadata else "?"
    wanted = next((item for item in (spec.ports if spec else None) or [] if item.port == port), None)
    if not metadata or not spec or not spec.selector or wanted is None:
        return f"service {name} has no port {port}"
    for borrower in borrowers:
        labels = borrower.pod["metadata"].get("labels") or {}
        chosen = borrower.namespace == metadata.namespace and spec.selector.items() <= labels.items()
        if not chosen or not borrower.ready or borrower.loan is None:
            continue
        target: int | str = wanted.targetPort or port
        own = borrower.loan.named.get(target) if isinstance(target, str) else target
        if own is not None and own in borrower.loan.ports:
            return borrower.loan.ports[own]
    return f"service {name} has no ready endpoint for port {port}"
