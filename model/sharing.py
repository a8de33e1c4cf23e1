"""How the GPUs of a pool are shared between containers: one plan per pool, since the device plugin decides per node.

Shapes only; what may be combined and what fits the hardware is in `sharing_rules`.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .amounts import Memory
from .base import Declared, Mapped, Plain, PlainOrMapped
from .problems import nearest


class TimeSlicing(Declared):
    """Containers take turns on a GPU. No memory or fault isolation between them.

    The resource is always renamed (`nvidia.com/gpu.shared`), so that nobody takes a slice for a whole GPU, and a
    container may ask for one slice only: two could be slices of the same GPU.
    """

    synonyms: ClassVar = {"count": "replicas", "slices": "replicas"}

    replicas: int
    """Slices per GPU, 2 (the device plugin refuses fewer) to 2500 (each needs a pod)."""


class Mps(Declared):
    """Containers run on a GPU at the same time, under CUDA's Multi-Process Service.

    Each process gets an equal part of the GPU's memory and of its threads. There is no fault isolation: an error of one
    ends all that share the GPU. The resource is renamed as with time slicing.
    """

    synonyms: ClassVar = {"count": "replicas", "clients": "replicas"}

    replicas: int
    """Containers per GPU, 2 to 48 (16 below compute capability 7.5)."""
    floor: Memory | None = None
    """GPU memory that a container needs; a warning says when its part is smaller."""


class Mig(Declared):
    """GPUs are cut into instances with memory and compute units of their own (Multi-Instance GPU)."""

    profiles: dict[str, int] = Field(json_schema_extra={"minProperties": 1})
    """Instances per GPU by profile, e.g. {1g.10gb: 7}. All GPUs of the pool are cut alike."""
    strategy: Literal["mixed", "single"] = "mixed"
    """`mixed`: each profile is a resource of its own (`nvidia.com/mig-1g.10gb`). `single`: the instances, all of one
    profile, are called `nvidia.com/gpu`."""


class SharingPlan(Declared):
    """`sharing: {timeSlicing: {...}}`, `{mps: {...}}` or `{mig: {...}}`; `timeSlicing` may stand beside `mig`."""

    misplaced: ClassVar = {
        "replicas": "belongs to a way of sharing: timeSlicing or mps",
        "profiles": "belongs to mig",
        "strategy": "belongs to mig",
    }

    time_slicing: TimeSlicing | None = None
    """Containers take turns on a GPU, or on each of its instances."""
    mps: Mps | None = None
    """Containers run on a GPU at the same time."""
    mig: Mig | None = None
    """GPUs are cut into instances."""


_EXAMPLES = {"timeSlicing": "{replicas: 4}", "mps": "{replicas: 8}", "mig": "{profiles: {1g.10gb: 7}}"}


def _how_far(value: object) -> object:
    """A way of sharing by its name alone does not say between how many."""
    meant = nearest(value, ["none", *_EXAMPLES]) if isinstance(value, str) else None
    if meant is None or meant == "none":
        return value
    fix = f"sharing: {{{meant}: {_EXAMPLES[meant]}}}"
    allowed = ", ".join(["none", *(f"{{{way}: {part}}}" for way, part in _EXAMPLES.items())])
    raise PydanticCustomError("rule", "{reason}", {"reason": "does not say how far", "allowed": allowed, "fix": fix})


Sharing = Annotated[
    Annotated[Literal["none"], BeforeValidator(_how_far), Plain] | Annotated[SharingPlan, Mapped], PlainOrMapped
]
