"""Laws about what containers of workloads may do beyond their own files and processes."""

from model import pod_security
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, Severity, rule
from policies.scopes import of_system, secured

_STANDARDS = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"


@rule(
    PodRule,
    id="capabilities",
    severity=Severity.HIGH,
    what="Workloads add no capability but those that container runtimes give anyway, and `IPC_LOCK` for RDMA.",
    why=(
        "Capabilities such as `SYS_ADMIN`, `SYS_PTRACE` or `NET_ADMIN` reach out of the container: to devices, to the "
        "processes of other teams, to the network of the node."
    ),
    fix="Remove the capability. RDMA needs `IPC_LOCK` only; agents of nodes live in `policies.systemNamespaces`.",
    link=_STANDARDS,
)
def capabilities(pod: Pod, report: Report) -> None:
    """Judge what each container adds."""
    for container in pod.containers:
        with report.reading():
            for added in container.at("securityContext", "capabilities", "add").items():
                with report.reading():
                    name = (added.text() or "").upper().removeprefix("CAP_")
                    allowed = name in pod_security.CAPABILITIES or name == pod_security.LOCKED_MEMORY
                    if name and not allowed and not of_system(pod, report):
                        report.violation(added, f"{added} is more than a workload needs")


@rule(
    PodRule,
    id="privilege-escalation",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="Containers of workloads set `allowPrivilegeEscalation: false`.",
    why=(
        "Left out it is true: a program with the setuid bit in the image makes root of whoever runs it, and with it "
        "every capability that the container was left with."
    ),
    fix="Set `securityContext.allowPrivilegeEscalation: false`.",
    link=_STANDARDS,
)
def privilege_escalation(pod: Pod, report: Report) -> None:
    """Judge the security context of each container; a patch says only what it changes."""
    for container in pod.containers:
        with report.reading():
            context = container["securityContext"]
            granted = context["allowPrivilegeEscalation"]
            allowed = granted.boolean()
            # Of privileged containers the law about those speaks.
            silent = allowed is None and not pod.partial and not context["privileged"].boolean()
            if (allowed or silent) and not of_system(pod, report):
                report.violation(granted, "may gain privileges" if allowed else "says nothing, which means true")


@rule(
    PodRule,
    id="root-user",
    severity=Severity.MEDIUM,
    level=Level.ADVISORY,
    what="A container that runs as root gives up all capabilities and adds those that it needs.",
    why=(
        "Root with the capabilities that a runtime gives may change every file that is mounted, whoever owns it, and "
        "forge network packets. RDMA needs root to lock memory, and nothing else of it."
    ),
    fix="Set `capabilities: {drop: [ALL], add: […]}`, or run as another user.",
    link=_STANDARDS,
)
def root_user(pod: Pod, report: Report) -> None:
    """Judge containers that say that they run as root; what an image says nobody sees."""
    for container in pod.containers:
        with report.reading():
            amount = secured(pod, container, "runAsUser").quantity()
            if amount is None or amount.value != 0:
                continue
            dropped = container.at("securityContext", "capabilities", "drop")
            if "ALL" not in {(each.text() or "").upper() for each in dropped.items()} and not of_system(pod, report):
                report.violation(dropped, "root keeps what the runtime gives")


RULES = (capabilities, privilege_escalation, root_user)
