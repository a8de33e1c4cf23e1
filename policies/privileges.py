"""Laws about what pods may do to the nodes that they run on."""

import re

from model import laws
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
    if _node_agent(pod):
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


def _node_agent(pod: Pod) -> bool:
    if (pod.group, pod.kind) != ("apps", "DaemonSet"):
        return False
    metadata = pod.object["metadata"]
    namespace, name = metadata["namespace"].value, metadata["name"].value
    known = NODE_AGENTS.get(namespace) if isinstance(namespace, str) else None
    return known is not None and isinstance(name, str) and known.fullmatch(name) is not None


RULES = (privileged,)
