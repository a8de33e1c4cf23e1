"""What moto lacks and a GPU cluster needs, added to moto itself, so that whatever reads the cloud sees it.

Each module adds actions to a service's responses, or wraps those that lose what they were told. `install` must come
before moto serves its first request. What moto validates is not made stricter, but for what stands in the way of a
deletion: an order of deletion that AWS would refuse must not pass here.
"""

from twin.aws.moto_gaps import (
    access,
    addons,
    buckets,
    capacity,
    changes,
    clusters,
    dependencies,
    efs,
    endpoints,
    failures,
    fsx,
    given,
    identity,
    images,
    journal,
    node_groups,
    placement,
    quotas,
    registry,
    rules,
)

_ALL = (
    failures,
    placement,
    capacity,
    rules,
    endpoints,
    dependencies,
    identity,
    clusters,
    node_groups,
    addons,
    access,
    fsx,
    efs,
    images,
    registry,
    quotas,
    buckets,
    journal,
    changes,
    given,
)

__all__ = ["install"]


def install() -> None:
    """Add everything to moto. Calling it again changes nothing."""
    for module in _ALL:
        module.install()
