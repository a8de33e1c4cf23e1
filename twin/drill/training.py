"""The toy that is trained: what it computes depends on every step of every rank, so nothing wrong goes unseen."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SIZE = 192 * 1024
"""Bytes of each of its two tensors, on each rank."""
FILES = ("weights.bin", "optimizer/first moment.bin")


@dataclass(frozen=True)
class State:
    """What one rank holds after a step.

    Attributes:
        tensors: All of it.
    """

    tensors: bytes

    @classmethod
    def first(cls, rank: int) -> "State":
        """Give what a rank begins with."""
        return cls(hashlib.shake_128(f"rank {rank}".encode()).digest(2 * SIZE))

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> "State":
        """Give what a part of a checkpoint holds."""
        return cls(b"".join(files[name] for name in FILES))

    def files(self) -> dict[str, bytes]:
        """Give the files of its part of a checkpoint."""
        return {FILES[0]: self.tensors[:SIZE], FILES[1]: self.tensors[SIZE:]}

    def gradient(self, step: int) -> bytes:
        """Give what the rank tells the others in a step."""
        return hashlib.sha256(self.tensors + step.to_bytes(8)).digest()

    def after(self, gradients: Sequence[bytes]) -> "State":
        """Give the state after a step, from what all ranks told, in their order."""
        return State(hashlib.shake_128(self.tensors + b"".join(gradients)).digest(2 * SIZE))


def uninterrupted(ranks: int, steps: int) -> list[list[State]]:
    """Give the states of all ranks after each step, from 0, of a run that nothing happens to."""
    found = [[State.first(rank) for rank in range(ranks)]]
    for step in range(1, steps + 1):
        gradients = [state.gradient(step) for state in found[-1]]
        found.append([state.after(gradients) for state in found[-1]])
    return found
