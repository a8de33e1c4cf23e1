"""The law that each node has one device plugin of NVIDIA."""

from typing import TYPE_CHECKING

from model import chart_values
from policies import agents
from policies.agents import Agent
from policies.rules import Report, Severity, Stack, StackRule, rule

if TYPE_CHECKING:
    from model.environment import Environment


@rule(
    StackRule,
    id="device-plugins",
    severity=Severity.HIGH,
    what="No node has two device plugins of NVIDIA, its image's own included.",
    why=(
        "Each registers the same resource with the kubelet, which believes the last one: GPUs vanish from the node or "
        "are given to two pods, whenever one of the two restarts."
    ),
    fix=(
        "Leave out the plugin, or its chart, that you added: `sharing` and `devices.install` say what each pool gets "
        "(docs/guides/install-modes.md)."
    ),
    link="https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
)
def device_plugins(stack: Stack, report: Report) -> None:
    """Judge where the plugins of a stack run, against each other and against the images of the document's pools."""
    plugins = agents.found(stack, report, agents.PLUGIN)
    env = stack.environment if plugins else None
    if env is None:
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model import images

    owner = {pool: "its image" for pool in env.pools if images.brings(env, pool, "device-plugin")}
    for plugin in plugins:
        with report.reading(plugin.resource.urn):
            name = plugin.resource.urn.rpartition("::")[2]
            for pool in agents.reached(plugin, env):
                if pool in owner and _kept_away(plugin, owner[pool], env):
                    continue
                other = owner.setdefault(pool, name)
                if other != name:
                    message = f"is a second device plugin on pool {pool}, beside that of {other}"
                    report.violation(plugin.where, message, plugin.resource.urn)


def _kept_away(plugin: Agent, owner: str, env: "Environment") -> bool:
    """Whether labels keep the document's own operator away from nodes whose image runs a plugin."""
    own = plugin.chart == chart_values.GPU_OPERATOR and env.devices.install == "operator"
    return own and owner == "its image"


RULES = (device_plugins,)
