"""The one document that a person writes per environment."""

from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from .base import Declared
from .cluster import Cluster
from .install import Devices
from .monitoring.shape import Monitoring
from .policies import Policies
from .pools import Pool
from .queues import Queue
from .ray import Ray
from .releases import Release, catalogued
from .scheduler import Scheduler
from .storage.shape import Storage
from .tenants import Tenant
from .topology import Topology
from .training import Training


class Environment(Declared):
    """The document under the stack-config key `gangline:environment`."""

    cluster: Cluster
    """The Kubernetes cluster."""
    pools: dict[str, Pool]
    """Node pools by name."""
    devices: Devices = Devices()
    """How what GPUs need is installed."""
    topology: Topology = Topology()
    """Where nodes stand."""
    scheduler: Scheduler = Scheduler()
    """The batch scheduler."""
    queues: dict[str, Queue] = Field(default_factory=dict)
    """The tree of queues, by name."""
    tenants: dict[str, Tenant] = Field(default_factory=dict)
    """Teams by name."""
    storage: Storage = Storage()
    """Storage by tiers, and the contract about checkpoints."""
    ray: Ray = Ray()
    """Ray on this cluster."""
    training: Training = Training()
    """Training jobs on this cluster."""
    data: Literal["keep", "delete"] = "keep"
    """`keep`: what holds data or work, such as a cluster on AWS, is protected, and a `destroy` refuses. `delete`: for
    trials."""
    monitoring: Monitoring = Monitoring()
    """What is measured on GPU nodes."""
    policies: Policies = Policies()
    """How the rules of the policy pack are held here."""
    releases: dict[str, Release] = Field(
        default_factory=dict, json_schema_extra=lambda schema: schema.update(propertyNames={"enum": list(catalogued())})
    )
    """Overrides by product; the catalogue lists them."""

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """Answers that `model.derived` remembers. Beside the fields, so that equal documents stay equal."""
        return {}
