"""The NVMe disks of a pool's nodes: how much scratch one node has."""

from decimal import Decimal
from typing import TYPE_CHECKING

from catalog import reader as catalog
from model.problems import Unanswerable
from model.quantities import Quantity

if TYPE_CHECKING:
    from model.environment import Environment


def size(env: "Environment", pool_name: str) -> Decimal:
    """Bytes of scratch that one node of a pool has; 0 where it has none.

    Raises:
        Unanswerable: Nobody says which disks its machines have.
    """
    scratch, pool = env.storage.scratch, env.pools[pool_name]
    if scratch is None or (scratch.pools and pool_name not in scratch.pools):
        return Decimal(0)
    if pool.instance is None or (instance := catalog.instances().get(pool.instance)) is None:
        raise Unanswerable
    return instance.disks * Quantity.parse(instance.disk).value if instance.disk else Decimal(0)
