"""On which nodes pods run: pools are selected by label, and their taints tolerated."""

from collections.abc import Iterable, Mapping

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


def on_pools(pools: Iterable[str], unless: Mapping[str, str] | None = None) -> AffinityArgs:
    """Keep pods on the nodes of these pools.

    Args:
        pools: Names of the pools.
        unless: Labels with the values by which a node is left out. One that gets such a value loses its pod of a
            DaemonSet.
    """
    requirements = [NodeSelectorRequirementArgs(key=POOL_LABEL, operator="In", values=list(pools))]
    for key, value in (unless or {}).items():
        requirements.append(NodeSelectorRequirementArgs(key=key, operator="NotIn", values=[value]))
    return _required(requirements)


def beside_gpus(environment: Environment) -> tuple[AffinityArgs | None, list[TolerationArgs]]:
    """Give the affinity and tolerations of pods that serve the cluster as a whole, such as operators.

    They stay off GPU nodes, where they would take cores from jobs that ask for whole nodes. Nodes of no pool, such as
    a control plane that the document does not describe, are not excluded. Where all pools have GPUs, any will do.
    """
    gpu_pools = agents.gpu_pools(environment)
    others = [name for name in environment.pools if name not in gpu_pools]
    if not others:
        return None, tolerations(environment, environment.pools)
    if not gpu_pools:
        return None, tolerations(environment, others)
    away = NodeSelectorRequirementArgs(key=POOL_LABEL, operator="NotIn", values=list(gpu_pools))
    return _required([away]), tolerations(environment, others)


def _required(requirements: list[NodeSelectorRequirementArgs]) -> AffinityArgs:
    return AffinityArgs(
        node_affinity=NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=NodeSelectorArgs(
                node_selector_terms=[NodeSelectorTermArgs(match_expressions=requirements)]
            )
        )
    )
