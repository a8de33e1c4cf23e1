"""Teams: the namespaces they work in, the queues they may use and who they are."""

from typing import Literal

from pydantic import Field

from .base import Declared, Listed
from .queues import Quota


class Tenant(Declared):
    """A team."""

    namespaces: Listed[str]
    """Namespaces made for the team. Each belongs to one team only."""
    queues: Listed[str]
    """Queues (paths such as `research.llm`) that the team submits to; naming a parent includes its parts."""
    default_queue: str | None = None
    """The leaf queue of workloads that name none; written on the namespaces."""
    quota: Quota = Field(default_factory=dict)
    """Upper bound of requests per namespace (a ResourceQuota on `requests.*`)."""
    groups: dict[Literal["admin", "edit", "view"], Listed[str]] = Field(default_factory=dict)
    """RBAC groups by the Kubernetes role (ClusterRole admin, edit or view) that they get in the namespaces."""
