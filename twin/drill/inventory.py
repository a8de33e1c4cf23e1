"""Which checkpoints are complete where, and whether they are what they must be."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from twin.drill.saving import order
from twin.drill.training import State

Wanted = Mapping[int, list[State]]
"""The right state of each rank, by step."""


class Tier(Protocol):
    """A place that holds checkpoints."""

    def files(self) -> set[str]:
        """Give the paths below the job."""
        ...

    def read(self, path: str) -> bytes | None:
        """Give the content at a path; None when it is gone."""
        ...


@dataclass(frozen=True)
class Folder:
    """A tier that is a folder.

    Attributes:
        root: The job's folder in it.
    """

    root: Path

    def files(self) -> set[str]:
        """Give the paths below the job."""
        # It may change meanwhile; os.walk passes over what is gone.
        found = ((Path(folder), names) for folder, _, names in os.walk(self.root))
        return {(folder / name).relative_to(self.root).as_posix() for folder, names in found for name in names}

    def read(self, path: str) -> bytes | None:
        """Give the content at a path; None when it is gone."""
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None


@dataclass(frozen=True)
class Bucket:
    """A tier that is part of a bucket.

    Attributes:
        client: boto3's client of S3.
        name: The bucket.
        prefix: The job's prefix in it, with a slash at its end.
    """

    client: Any
    name: str
    prefix: str

    def files(self) -> set[str]:
        """Give the paths below the job."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=self.prefix)
        return {each["Key"].removeprefix(self.prefix) for page in pages for each in page.get("Contents", ())}

    def read(self, path: str) -> bytes | None:
        """Give the content at a path; None when it is gone."""
        try:
            return self.client.get_object(Bucket=self.name, Key=self.prefix + path)["Body"].read()
        except self.client.exceptions.NoSuchKey:
            return None

    def write(self, path: str, content: bytes) -> None:
        """Replace the content at a path."""
        self.client.put_object(Bucket=self.name, Key=self.prefix + path, Body=content)


def complete(tier: Tier) -> list[str]:
    """Give the names of the complete checkpoints, newest first: those with a mark in each part."""
    marks: defaultdict[str, set[str]] = defaultdict(set)
    for path in tier.files():
        name, _, rest = path.partition("/")
        if rest.count("/") == 1 and rest.endswith("/complete"):
            marks[name].add(rest.partition("/")[0])
    return sorted((name for name, parts in marks.items() if _whole(parts)), key=order, reverse=True)


def _whole(parts: Iterable[str]) -> bool:
    count = int(next(iter(parts)).split("-")[-1])
    return set(parts) == {f"{number}-of-{count}" for number in range(count)}


def step_of(name: str) -> int:
    """Give the step after which it was written."""
    return int(name.split("-")[0])


def faults(tier: Tier, name: str, wanted: Wanted) -> list[str]:
    """Say what is wrong with a complete checkpoint: each file must be what an uninterrupted run would have written."""
    return [fault for rank in range(len(wanted[step_of(name)])) for fault in _of_part(tier, name, rank, wanted)]


def _of_part(tier: Tier, name: str, rank: int, wanted: Wanted) -> list[str]:
    found: list[str] = []
    states = wanted[step_of(name)]
    part = f"{name}/{rank}-of-{len(states)}"
    for path, content in states[rank].files().items():
        if (is_there := tier.read(f"{part}/{path}")) != content:
            found.append(f"{part}/{path} {'is missing' if is_there is None else 'has other content'}")
    manifest, seal = tier.read(f"{part}/manifest") or b"", tier.read(f"{part}/complete") or b""
    if hashlib.sha256(manifest).hexdigest().encode() != seal:
        found.append(f"{part}/manifest is not the one that was sealed")
    return found


@dataclass
class Inventory:
    """What has been seen complete, and what became of it.

    Attributes:
        keep: The tier that keeps checkpoints.
        archive: The archive.
        wanted: What they must hold.
        retain: How many are kept.
        seen: Names of those that were complete on `keep` since it was last lost.
        archived: Names of those that were complete in the archive.
        damaged: Names of those that the drill has damaged.
        broken: What must not be, in words.
    """

    keep: Tier
    archive: Tier
    wanted: Wanted
    retain: int
    seen: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def glance(self) -> None:
        """Note what is complete now."""
        self.seen |= set(complete(self.keep))

    def newest_sound(self) -> str:
        """Give the newest that is complete on a tier, and of which each part is sound on one; empty for none.

        It is the one to go on from when disks of nodes are lost.
        """
        tiers = (self.keep, self.archive)
        for name in sorted({name for tier in tiers for name in complete(tier)}, key=order, reverse=True):
            ranks = range(len(self.wanted[step_of(name)]))
            if all(any(not _of_part(tier, name, rank, self.wanted) for tier in tiers) for rank in ranks):
                return name
        return ""

    def take(self) -> None:
        """Look at all that is complete, and for all that was."""
        now, cold = complete(self.keep), complete(self.archive)
        for tier, names, called in ((self.keep, now, "kept"), (self.archive, cold, "archived")):
            for name in names:
                # What is taken away while it is looked at was not half-replaced.
                if name not in self.damaged and (found := faults(tier, name, self.wanted)) and name in complete(tier):
                    self.broken += [f"{called}: {fault}" for fault in found]
        for name in self.archived - set(cold):
            self.broken.append(f"archived: {name} is gone")
        for name in self.seen - set(now) - self.damaged:
            newer = [each for each in self.seen | set(now) if order(each) > order(name)]
            if len(newer) < self.retain:
                self.broken.append(f"kept: {name} is gone, and only {len(newer)} newer ones have been there")
            if name not in cold:
                self.broken.append(f"kept: {name} is gone, and is not in the archive")
        self.seen |= set(now)
        self.archived |= set(cold)
