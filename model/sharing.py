"""How the GPUs of a pool are shared between containers: one plan per pool, since the device plugin decides per node."""

from typing import Annotated, ClassVar, Literal

from .base import Declared, Mapped, Plain, PlainOrMapped


class TimeSlicing(Declared):
    """Containers take turns on a GPU. No memory or fault isolation between them.

    The resource is always renamed (`nvidia.com/gpu.shared`), so that nobody takes a slice for a whole GPU, and a
    container may ask for one slice only: two could be slices of the same GPU.
    """

    replicas: int
    """Slices per GPU, 2 (the device plugin refuses fewer) to 2500 (each needs a pod)."""


class TimeSlicingPlan(Declared):
    """`sharing: {timeSlicing: {...}}`."""

    misplaced: ClassVar = {"mps": "sharing by MPS is not available yet", "mig": "sharing by MIG is not available yet"}

    time_slicing: TimeSlicing
    """Containers take turns on a GPU."""


Sharing = Annotated[Annotated[Literal["none"], Plain] | Annotated[TimeSlicingPlan, Mapped], PlainOrMapped]
