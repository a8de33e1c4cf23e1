"""What a document may say that concerns AWS only."""

from datetime import UTC, date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from model.base import Declared, Listed
from model.dates import moment
from model.problems import lost

EXAMPLE = "2026-12-20T11:30:00Z"


def _instant(value: object) -> object:
    """YAML knows points in time; a stack's configuration has them as text."""
    if isinstance(value, str):
        try:
            value = moment(value)
        except ValueError:
            value = None
    if not isinstance(value, date):
        raise _no_instant("is no point in time")
    if not isinstance(value, datetime):
        raise _no_instant("is a day, and a point in time is needed")
    if value.tzinfo is None:
        raise _no_instant("says no time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise _no_instant("is no point in time") from None


def _no_instant(reason: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{reason}", {"reason": reason, "allowed": f"such as {EXAMPLE}"})


def written(instant: datetime) -> str:
    """A point in time as documents have it: in UTC, with a `Z`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    PlainSerializer(written, when_used="json"),
    Field(json_schema_extra={"type": "string", "format": "date-time"}),
]
"""A point in time with its zone, such as `2026-12-20T11:30:00Z`."""


def said(value: Declared, key: str) -> bool:
    """Whether a document says something under a key that may be left out, and it could be read."""
    name, field = next((name, it) for name, it in type(value).model_fields.items() if (it.alias or name) == key)
    found = getattr(value, name)
    return not lost(found) and found != field.get_default(call_default_factory=True)


class Network(Declared):
    """The network of a cluster: made here, or one that is there already (`vpc` and `subnets`)."""

    cidr: str | None = None
    """Addresses of the VPC that is made, /16 to /20; 10.0.0.0/16 when left out."""
    nat: Literal["single", "zonal", "none"] | None = None
    """NAT gateways of the VPC that is made: `single` (one, in the first zone), `zonal` (one per zone, so that the loss
    of a zone costs no other one its way out) or `none` (with `endpoints`). `single` when left out."""
    endpoints: bool = False
    """Whether AWS's own services are reached by end points inside the VPC that is made: for networks without a way
    out. S3 always is, since that way costs nothing."""
    vpc: str | None = None
    """Id of a VPC that is there already, such as `vpc-0a1b2c3d4e5f67890`."""
    subnets: dict[str, str] = Field(default_factory=dict)
    """Ids of its private subnets by zone: one for each of the cluster's zones."""
    gpu_subnets: dict[str, str] = Field(default_factory=dict)
    """Ids of private subnets for GPU nodes by zone, where those of `subnets` are too small for them."""


class Access(Declared):
    """Who may enter the cluster."""

    principal: str
    """ARN of an IAM role or user."""
    policy: Literal["cluster-admin", "admin", "edit", "view"] | None = None
    """What it may do in the whole cluster, by EKS's own policies."""
    groups: Listed[str] = ()
    """Kubernetes groups that it belongs to, such as those of `tenants.*.groups`."""


class Registry(Declared):
    """Images by way of a cache in the account's own registry (ECR)."""

    cache: Listed[str] = ()
    """Registries that are cached: public.ecr.aws, quay.io, registry.k8s.io; with credentials docker.io, ghcr.io."""
    credentials: dict[str, str] = Field(default_factory=dict)
    """ARNs of secrets of Secrets Manager by registry; their names begin with `ecr-pullthroughcache/`."""


class Capacity(Declared):
    """How the machines of a pool are paid for and held."""

    synonyms: ClassVar = {"type": "kind", "id": "reservation", "end": "ends", "until": "ends"}
    misplaced: ClassVar = dict.fromkeys(
        ("maxPrice", "spotMaxPrice", "max_price"),
        "managed node groups and Karpenter pay the spot price and take no bid; only self-managed groups do",
    )

    kind: Literal["on-demand", "spot", "reservation", "block"]
    """on-demand, spot, reservation (an On-Demand Capacity Reservation) or block (a Capacity Block for ML)."""
    reservation: str | None = None
    """Id of the reservation or block, such as `cr-0a1b2c3d4e5f67890`."""
    ends: Instant | None = None
    """When a block ends, such as 2026-12-20T11:30:00Z. EC2 begins to end its instances 30 minutes before."""
    placement_group: str | None = None
    """Name of the placement group that a reservation was made in; without one its nodes must not be in any."""
