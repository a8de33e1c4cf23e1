"""Multi-Instance GPU: profiles, the resources that their instances become, and layouts.

Sources: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (profiles and placements),
https://github.com/NVIDIA/k8s-device-plugin v0.18.0, internal/rm/rm.go (resource names), and
https://github.com/NVIDIA/mig-parted v0.15.0 (layouts).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from catalog import reader as catalog
from catalog.reader import MigProfile

from .gpu_requests import MIG
from .problems import Unanswerable, nearest

CONFIG_LABEL = "nvidia.com/mig.config"
"""The node label by which the MIG manager finds the layout that a node is to have."""

DISABLED = "all-disabled"
"""The layout of nodes whose GPUs are not cut, by the name that the MIG manager falls back to."""


def resource(profile: str) -> str:
    """The resource of a profile's instances under the strategy `mixed`: `nvidia.com/mig-1g.10gb`.

    A `+` is no letter of a resource name, so the device plugin writes a dot: that of `1g.10gb+me` ends with `.me`.
    """
    return MIG + plain(profile)


def ordered(profiles: Mapping[str, int]) -> list[tuple[str, int]]:
    """Instances by profile, in the order of the profiles' names."""
    return sorted(profiles.items(), key=lambda it: plain(it[0]))


def layout_name(profiles: Mapping[str, int]) -> str:
    """The name of a layout, fit for a label value: `7x1g.10gb`, `2x1g.10gb-1x3g.40gb`."""
    return "-".join(f"{count}x{plain(profile)}" for profile, count in ordered(profiles))


def layout(profiles: Mapping[str, int]) -> list[dict[str, Any]]:
    """What mig-parted makes of each GPU of a node for a layout."""
    return [{"devices": "all", "mig-enabled": True, "mig-devices": dict(ordered(profiles))}]


def fits(profiles: Mapping[str, MigProfile], counts: Mapping[str, int]) -> bool:
    """Whether one GPU can be cut into so many instances of each profile at once.

    Each takes memory slices from one of the places where its kind may begin, and no slice is taken twice. mig-parted
    tries all orders of making them, so a layout that has a placement is found
    (https://github.com/NVIDIA/mig-parted, pkg/mig/config/config.go).

    Args:
        profiles: The GPU's profiles.
        counts: Instances by profile, each one that the GPU has.
    """
    if taken(profiles, counts) > slices(profiles) or sum(profiles[name].media * counts[name] for name in counts) > 1:
        return False
    wanted = [profiles[name] for name, count in counts.items() for _ in range(count)]
    return _placed(sorted(wanted, key=lambda it: (len(it.starts), it.name)), 0)


def slices(profiles: Mapping[str, MigProfile]) -> int:
    """The memory slices of a GPU with these profiles."""
    return max((start + it.memory for it in profiles.values() for start in it.starts), default=0)


def taken(profiles: Mapping[str, MigProfile], counts: Mapping[str, int]) -> int:
    """The memory slices that so many instances of each profile take."""
    return sum(profiles[name].memory * count for name, count in counts.items())


def meant(profiles: Mapping[str, MigProfile], name: str) -> str | None:
    """The profile of a GPU that was probably meant: the same part of another GPU, or one that is spelt alike."""
    for other in catalog.gpus().values():
        if it := other.mig.get(name):
            alike = [own for own in profiles.values() if replace(own, name=name) == it]
            return alike[0].name if alike else None
    sized = [own for own in profiles if own.partition(".")[0] == name.partition(".")[0].lower()]
    return nearest(name, sized) or nearest(name, profiles)


def _placed(wanted: Sequence[MigProfile], occupied: int) -> bool:
    """Whether all find a place beside the memory slices that are taken, a bit each."""
    if not wanted:
        return True
    first, rest = wanted[0], wanted[1:]
    places = (((1 << first.memory) - 1) << start for start in first.starts)
    return any(_placed(rest, occupied | place) for place in places if not occupied & place)


def most(profiles: Mapping[str, MigProfile], counts: Mapping[str, int], name: str) -> int:
    """The most instances of a profile that fit on one GPU beside those of the others; -1 when not even these do."""
    count = -1
    while fits(profiles, {**counts, name: count + 1}):
        count += 1
    return count


def plain(profile: str) -> str:
    """A profile's name as resources and labels can hold it: `1g.10gb+me` is `1g.10gb.me` there.

    Raises:
        Unanswerable: It is no text, which is told where it stands.
    """
    if not isinstance(profile, str):
        raise Unanswerable
    return profile.replace("+", ".")
