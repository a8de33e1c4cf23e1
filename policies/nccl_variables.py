"""Laws about variables of NCCL in workloads of any kind."""

from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, Severity, rule

_PREFIX = "NCCL_"


@rule(
    PodRule,
    id="nccl-variables",
    severity=Severity.MEDIUM,
    what="Variables of NCCL have values that NCCL reads as they are meant.",
    why=(
        "NCCL reads `true` as 0, cuts numbers that are too large, takes names for prefixes and looks for devices whose "
        "names hold a blank. It says so only when asked (`NCCL_DEBUG=INFO`), and the job runs slower or not at all."
    ),
    fix=(
        "Write what the message says, or better nothing: most of these variables are best left to NCCL. What follows "
        "from a pool's `fabric` is set by this project (docs/guides/fabric.md)."
    ),
    link="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
)
def nccl_variables(pod: Pod, report: Report) -> None:
    """Judge the environment of each container: what is wrong wherever it runs."""
    report.variables(pod, _judge)


def _judge(variable: Field, report: Report) -> None:
    name = variable["name"].text()
    if name is None or not name.startswith(_PREFIX):
        return
    field = variable["value"]
    value = field.text()
    if value is None:
        return  # filled from elsewhere
    # Not at the top: the tables behind it are read for such variables only.
    from model import nccl

    for problem in nccl.problems((), {name: value}):
        if problem.severity == "error":
            said = "NCCL reads it otherwise than it is meant" if field.secret else problem.message
            report.violation(field, f"{name} is {field}: {said}")


RULES = (nccl_variables,)
