"""Laws about how pods come by GPUs."""

from model.gpu_requests import VISIBLE, visibility_fault
from model.namespaces import AGENTS
from policies.fields import Field
from policies.pods import Pod
from policies.rules import PodRule, Report, Severity, rule


@rule(
    PodRule,
    id="gpu-visibility",
    severity=Severity.HIGH,
    what=f"No workload names GPUs in `{VISIBLE}`.",
    why=(
        "Where NVIDIA's runtime is the default one, the variable alone hands GPUs over: the pod uses GPUs of its node "
        "that the scheduler has given to somebody else, and no queue accounts for them."
    ),
    fix=f"Remove the variable and ask for GPUs by `limits`. `{VISIBLE}: void` is right for pods without any.",
    link="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html",
)
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
