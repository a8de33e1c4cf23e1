"""What containers may have at most without being a danger to their node, as Kubernetes' own standards say it."""

CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
"""Capabilities that the level `baseline` lets a container add: what container runtimes give anyway
(https://kubernetes.io/docs/concepts/security/pod-security-standards/)."""
LOCKED_MEMORY = "IPC_LOCK"
"""The one that RDMA needs on top: memory is registered with the NIC by locking it."""
LEVELS = ("privileged", "baseline", "restricted")
"""What a namespace may hold its pods to."""
ENFORCE = "pod-security.kubernetes.io/enforce"
"""The label by which it does (https://kubernetes.io/docs/concepts/security/pod-security-admission/)."""
