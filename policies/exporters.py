"""The law that GPUs are measured where there are any."""

from policies import agents
from policies.rules import Level, Report, Severity, Stack, StackRule, rule


@rule(
    StackRule,
    id="gpu-exporter",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Where the stack makes GPUs available it measures them, too: each such pool has a DCGM exporter.",
    why=(
        "A GPU that is broken or idle looks like any other then: alerts on it never fire, and nobody knows what a team "
        "uses of what it has."
    ),
    fix="Extend the exporter to the pool; or say that somebody else measures: `monitoring: {dcgm: none}`.",
    link="https://docs.nvidia.com/datacenter/cloud-native/gpu-telemetry/latest/dcgm-exporter.html",
)
def gpu_exporter(stack: Stack, report: Report) -> None:
    """Judge the pools that plugins of the stack reach against those that its exporters reach."""
    plugins = agents.found(stack, report, agents.PLUGIN)
    env = stack.environment if plugins else None
    if env is None:
        return
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.monitoring.shape import Dcgm

    if not isinstance(env.monitoring.dcgm, Dcgm):
        return
    reached: dict[str, dict[str, None]] = {agents.PLUGIN: {}, agents.EXPORTER: {}}
    for agent in (*plugins, *agents.found(stack, report, agents.EXPORTER)):
        with report.reading(agent.resource.urn):
            reached[agent.program] |= dict.fromkeys(agents.reached(agent, env))
    for pool in reached[agents.PLUGIN]:
        if pool not in reached[agents.EXPORTER]:
            report.violation(f"environment.pools.{pool}", f"no exporter runs on the nodes of {pool}")


RULES = (gpu_exporter,)
