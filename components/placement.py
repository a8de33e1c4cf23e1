"""On which nodes pods run: pools are selected by label, and their taints tolerated."""

from collections.abc import Iterable

from pulumi_kubernetes.core.v1 import (
    AffinityArgs,
    NodeAffinityArgs,
    NodeSelectorArgs,
    NodeSelectorRequirementArgs,
    NodeSelectorTermArgs,
    TolerationArgs,
)

from model import agents
from model.environment import Environment
from model.nodes import POOL_LABEL


def tolerations(environment: Environment, pools: Iterable[str]) -> list[TolerationArgs]:
    """Give one exact toleration for each taint of these pools."""
    return [
        TolerationArgs(key=toleration.key, operator="Exists", effect=toleration.effect)
        for toleration in agents.tolerations(environment, pools)
    ]


def on_pools(pools: Iterable[str]) -> AffinityArgs:
    """Keep pods on the nodes of these pools."""
    return _pool("In", pools)


def beside_gpus(environment: Environment) -> tuple[AffinityArgs | None, list[TolerationArgs]]:
    """Give the affinity and tolerations of pods that serve the cluster as a whole, such as operators.

    They stay off GPU nodes, where they would take cores from jobs that ask for whole nodes. Nodes of no pool, such as
    a control plane that the document does not describe, are not excluded. Where all pools have GPUs, any will do.
    """
    gpu_pools = agents.gpu_pools(environment)
    others = [name for name in environment.pools if name not in gpu_pools]
    if not others:
        return None, tolerations(environment, environment.pools)
    return (_pool("NotIn", gpu_pools) if gpu_pools else None), tolerations(environment, others)


def _pool(operator: str, pools: Iterable[str]) -> AffinityArgs:
    requirement = NodeSelectorRequirementArgs(key=POOL_LABEL, operator=operator, values=list(pools))
    return AffinityArgs(
        node_affinity=NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=NodeSelectorArgs(
                node_selector_terms=[NodeSelectorTermArgs(match_expressions=[requirement])]
            )
        )
    )
