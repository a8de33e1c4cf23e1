"""Laws about what pods may do to the nodes that they run on."""

import re

from model import laws, namespaces
from model.namespaces import AGENTS
from policies.pods import Pod
from policies.rules import PodRule, Report, rule

NODE_AGENTS = {
    # DaemonSets that manage the devices of a node and cannot do so otherwise: names in full, by namespace, and why.
    AGENTS: re.compile(
        r"nvidia-mps-control-daemon-[a-z0-9-]+"  # sets the compute mode of GPUs, mounts shared memory on the node
        r"|nvidia-mig-manager"  # cuts GPUs with the driver of the node, stops services that hold them open
    ),
}


@rule(PodRule, laws.PRIVILEGED)
def privileged(pod: Pod, report: Report) -> None:
    """Judge the security context of each container, and of the pod where Windows has it."""
    if _trusted(pod, report):
        return
    for container in pod.containers:
        with report.reading():
            granted = container.at("securityContext", "privileged")
            if granted.boolean():
                report.violation(granted, "is privileged")
    for holder in (pod.spec, *pod.containers):
        with report.reading():
            host = holder.at("securityContext", "windowsOptions", "hostProcess")
            if host.boolean():
                report.violation(host, "is a process of the host")


def _trusted(pod: Pod, report: Report) -> bool:
    """Whether it may be: the system's own, and of ours those that cannot do without."""
    metadata = pod.object["metadata"]
    of = metadata["namespace"].value
    if not isinstance(of, str) or not namespaces.of_system(of, report.system):
        return False
    if of not in namespaces.OURS:
        return True
    name, known = metadata["name"].value, NODE_AGENTS.get(of)
    if known is None or not isinstance(name, str) or (pod.group, pod.kind) != ("apps", "DaemonSet"):
        return False
    return known.fullmatch(name) is not None


RULES = (privileged,)
