"""Ray clusters."""

from typing import Literal

from pydantic import Field

from .base import Declared
from .pools import Count
from .quantities import Cpu, Memory


class Head(Declared):
    """The one head pod. It runs no work of its own by default, so it asks for no GPU."""

    cpu: Cpu
    memory: Memory


class Workers(Declared):
    """The worker pods, all alike."""

    count: Count
    """Number of pods, or {min, max, desired}: then Ray's autoscaler owns the number and the gang is head + min."""
    cpu: Cpu
    memory: Memory
    gpus: int = 0
    """GPUs per worker (shared GPUs on a pool that shares them)."""


class Within(Declared):
    """A bound on where a gang may be spread."""

    level: str
    """A level of `topology`, such as `rack`: the gang stays within one domain of it."""
    mode: Literal["hard", "soft"] = "hard"
    """`hard`: waits until one domain holds it; `soft`: prefers it."""


class RayCluster(Declared):
    """A Ray cluster: head and workers, one gang."""

    namespace: str
    """A namespace of a tenant."""
    queue: str
    """A leaf queue, by path: `research.llm`."""
    pool: str
    """The pool whose nodes it runs on."""
    ray: str
    """Ray version, as text: "2.52.0". The image is rayproject/ray of that version unless `image` says otherwise."""
    image: str | None = None
    head: Head
    workers: Workers
    within: Within | None = None
    """Keep the gang within one topology domain."""
    priority: str | None = None
    """A PriorityClass."""


class Ray(Declared):
    """Ray on this cluster."""

    clusters: dict[str, RayCluster] = Field(default_factory=dict)
