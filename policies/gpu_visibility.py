"""Laws about how pods come by GPUs."""

from model import laws
from model.gpu_requests import VISIBLE, visibility_fault
from model.namespaces import AGENTS
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, rule


@rule(PodRule, laws.GPU_VISIBILITY)
def gpu_visibility(pod: Pod, report: Report) -> None:
    """Judge the environment of each container; node agents look after all GPUs of their node."""
    if (pod.group, pod.kind) == ("apps", "DaemonSet") and pod.object.at("metadata", "namespace").value == AGENTS:
        return
    report.variables(pod, _judge)


def _judge(variable: Field, report: Report) -> None:
    if variable["name"].text() != VISIBLE:
        return
    if variable["valueFrom"].value is not None:
        report.violation(variable["valueFrom"], "takes the names of GPUs from elsewhere")
    elif why := visibility_fault(variable["value"].text() or ""):
        report.violation(variable["value"], f"{variable['value']} {why}")


RULES = (gpu_visibility,)
