"""What AWS says of an account and a region, as plain values.

Who asks is the command line; what follows is judged in `model.aws.account`. Anything here may be `Unknown` instead:
whoever asks may lack a permission for one question and have all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A question without an answer.

    Attributes:
        action: The IAM action that it takes, such as `servicequotas:GetServiceQuota`.
        reason: What AWS said.
        denied: Whether a permission is missing.
    """

    action: str
    reason: str
    denied: bool


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone.

    Attributes:
        identity: Its id, which means the same place in every account, such as `use2-az1`.
        usable: Whether it is open to the account and in order.
    """

    identity: str
    usable: bool


@dataclass(frozen=True, slots=True)
class Reservation:
    """A capacity reservation or capacity block.

    Attributes:
        state: Such as `active` or `scheduled`.
        block: Whether it is a capacity block.
        instance: Its instance type.
        zone: Its zone.
        total: Instances in all.
        available: Those that nobody uses.
        targeted: Whether only instances that name it run in it.
        platform: The operating system that it is for.
        tenancy: `default` or `dedicated`.
        owner: The account that pays it.
        starts: When it begins.
        ends: When it ends; None without an end.
        placement_group: Name of the placement group that it was made in.
    """

    state: str
    block: bool
    instance: str
    zone: str
    total: int
    available: int
    targeted: bool
    platform: str
    tenancy: str
    owner: str
    starts: datetime | None = None
    ends: datetime | None = None
    placement_group: str | None = None


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet.

    Attributes:
        vpc: Its VPC.
        zone: Its zone.
        free: Addresses that nobody uses.
        public: Whether what starts in it gets a public address.
    """

    vpc: str
    zone: str
    free: int
    public: bool


@dataclass(frozen=True, slots=True)
class Running:
    """An instance that runs or starts.

    Attributes:
        instance: Its type.
        cpu: Its logical cores, which quotas count.
        spot: Whether it is a spot instance.
        block: Whether it runs in a capacity block.
        reservation: The reservation or block that it runs in.
        subnet: Where it is.
        cluster: The EKS cluster that it belongs to; None for another use.
    """

    instance: str
    cpu: int
    spot: bool = False
    block: bool = False
    reservation: str | None = None
    subnet: str | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Answers:
    """All that is asked of an account for one document.

    Attributes:
        account: Its number.
        zones: The region's zones by name.
        offerings: Where instance types of the document are offered: zones by type.
        quotas: Quotas by code, in vCPUs.
        running: What runs already.
        reservations: All reservations and blocks by id, those that other accounts share included.
        subnets: Subnets that the document names, by id; who is not there is not in it.
        versions: What EKS says of each minor version of Kubernetes, such as `STANDARD_SUPPORT`.
        addons: Versions of EKS add-ons for the document's Kubernetes, by name.
    """

    account: str
    zones: Mapping[str, Zone] | Unknown
    offerings: Mapping[str, frozenset[str]] | Unknown
    quotas: Mapping[str, int | Unknown]
    running: Sequence[Running] | Unknown
    reservations: Mapping[str, Reservation] | Unknown
    versions: Mapping[str, str] | Unknown
    subnets: Mapping[str, Subnet] | Unknown = field(default_factory=dict)
    addons: Mapping[str, frozenset[str]] | Unknown = field(default_factory=dict)

    @property
    def unknown(self) -> tuple[Unknown, ...]:
        """The questions without an answer, each action once."""
        asked = (
            self.zones, self.offerings, *self.quotas.values(), self.running, self.reservations, self.versions,
            self.subnets, self.addons,
        )  # fmt: skip
        return tuple({each.action: each for each in asked if isinstance(each, Unknown)}.values())


def known(answer: T | Unknown) -> T | None:
    """An answer, or None when there is none."""
    return None if isinstance(answer, Unknown) else answer
