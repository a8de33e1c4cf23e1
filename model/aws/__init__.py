"""What a document means on AWS: where its parts stand, and what AWS is asked for.

Nothing here knows Pulumi or calls AWS. Sources stand where a rule or a number comes from.
"""

from typing import TYPE_CHECKING

from model.counts import Size
from model.derived import derived
from model.problems import known

if TYPE_CHECKING:
    from model.environment import Environment

CLUSTER_TAG = "gangline.dev/cluster"
"""Everything that is made carries it, with the cluster's name: bills, clean-ups and permissions go by it."""


def here(env: "Environment") -> bool:
    """Whether the cluster is made on AWS."""
    return known(env.cluster.provider) == "aws"


def zones(env: "Environment") -> tuple[str, ...]:
    """The zones of the cluster.

    Raises:
        Unanswerable: One could not be read.
    """
    return tuple(known(zone) for zone in known(env.cluster.zones))


def region(env: "Environment") -> str:
    """The region, which all zones of a cluster share: `us-east-2` of `us-east-2a`."""
    return zones(env)[0][:-1]


def tags(env: "Environment", name: str) -> dict[str, str]:
    """The tags of a thing.

    Args:
        env: The document.
        name: What people shall see in the console's lists.
    """
    return {"Name": name, CLUSTER_TAG: env.cluster.name}


def permanent(env: "Environment") -> bool:
    """Whether a `destroy` must not take what holds data or work."""
    return known(env.data) == "keep"


@derived
def managed(env: "Environment") -> tuple[str, ...]:
    """The pools that are managed node groups, in the order of the document."""
    return tuple(name for name, pool in env.pools.items() if known(pool.provisioner) == "managed")


@derived
def karpenter(env: "Environment") -> tuple[str, ...]:
    """The pools whose nodes Karpenter makes, in the order of the document."""
    return tuple(name for name, pool in env.pools.items() if known(pool.provisioner) == "karpenter")


@derived
def autoscaled(env: "Environment") -> tuple[str, ...]:
    """The managed pools whose size an autoscaler changes."""
    return tuple(name for name in managed(env) if isinstance(known(env.pools[name].size), Size))
