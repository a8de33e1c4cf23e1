"""Multi-Instance GPU: profiles, the resources that their instances become, and layouts.

Sources: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (profiles and placements),
https://github.com/NVIDIA/k8s-device-plugin v0.18.0, internal/rm/rm.go (resource names), and
https://github.com/NVIDIA/mig-parted v0.15.0 (layouts).
"""

from collections.abc import Mapping
from typing import Any

PREFIX = "nvidia.com/mig-"
"""How the resources of MIG instances begin under the strategy `mixed`."""

CONFIG_LABEL = "nvidia.com/mig.config"
"""The node label by which the MIG manager finds the layout that a node is to have."""

DISABLED = "all-disabled"
"""The layout of nodes whose GPUs are not cut, by the name that the MIG manager falls back to."""


def resource(profile: str) -> str:
    """The resource of a profile's instances under the strategy `mixed`: `nvidia.com/mig-1g.10gb`.

    A `+` is no letter of a resource name, so the device plugin writes a dot: that of `1g.10gb+me` ends with `.me`.
    """
    return PREFIX + _plain(profile)


def layout_name(profiles: Mapping[str, int]) -> str:
    """The name of a layout, fit for a label value: `7x1g.10gb`, `2x1g.10gb-1x3g.40gb`."""
    return "-".join(f"{count}x{_plain(profile)}" for profile, count in sorted(profiles.items()))


def layout(profiles: Mapping[str, int]) -> list[dict[str, Any]]:
    """What mig-parted makes of each GPU of a node for a layout."""
    return [{"devices": "all", "mig-enabled": True, "mig-devices": dict(sorted(profiles.items()))}]


def _plain(profile: str) -> str:
    return profile.replace("+", ".")
