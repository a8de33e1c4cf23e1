"""What a document names and does not make, put into the twin's cloud: its reservations, and a network of somebody's."""

from typing import TYPE_CHECKING, Any

import httpx2

from model import aws
from twin.aws.names import GIVEN

if TYPE_CHECKING:
    from model.environment import Environment


def give(address: str, env: "Environment") -> list[str]:
    """Put it there, as if it had been bought and made before.

    Args:
        address: The cloud's.
        env: A document of a cluster on AWS.

    Returns:
        The ids of what was not there before.

    Raises:
        httpx2.HTTPError: The cloud does not answer, or refuses it.
    """
    # Loopback is asked directly: a proxy of the environment would look for it on its own machine.
    answer = httpx2.post(f"{address}{GIVEN}", json=wanted(env), timeout=30, trust_env=False)
    return answer.raise_for_status().json()


def wanted(env: "Environment") -> dict[str, Any]:
    """Give what a document names, in the form that the cloud takes."""
    reservations = [
        {
            "id": pool.capacity.reservation,
            "type": pool.instance,
            "zone": pool.zone or aws.zones(env)[0],
            "count": pool.most,
            "block": pool.capacity.kind == "block",
            "ends": pool.capacity.ends.isoformat() if pool.capacity.ends else None,
            "placementGroup": pool.capacity.placement_group,
        }
        for pool in env.pools.values()
        if pool.capacity.reservation
    ]
    network = env.cluster.network
    subnets = {subnet: zone for named in (network.subnets, network.gpu_subnets) for zone, subnet in named.items()}
    networks = [{"vpc": network.vpc, "subnets": subnets}] if network.vpc else []
    return {"region": aws.region(env), "reservations": reservations, "networks": networks}
