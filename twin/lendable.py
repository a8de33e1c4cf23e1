"""The programs that the twin lends: how each is told its ports and files, and how one sees that it works."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ADDRESS = "127.0.0.1"
"""Where all of them listen."""


@dataclass(frozen=True)
class Listener:
    """A port that a program opens.

    Attributes:
        name: What it serves.
        flag: The flag that sets it, or with dots the place in the program's configuration file.
        port: The program's default.
        bare: Whether it takes a port alone, not an address.
    """

    name: str
    flag: str
    port: int
    bare: bool = False

    @property
    def in_file(self) -> bool:
        """Whether it is set in the program's configuration file."""
        return not self.flag.startswith("-")


@dataclass(frozen=True)
class Probe:
    """How one sees that a program works.

    Attributes:
        listener: Name of the listener to ask.
        scheme: `http` or `https`.
        path: What to get.
        any_answer: Whether any HTTP answer will do, or only one of success.
    """

    listener: str
    scheme: str
    path: str
    any_answer: bool = False


@dataclass(frozen=True)
class Lendable:
    """What the twin knows of a program that it lends.

    Attributes:
        entrypoints: Names of its executable in the image; a container with another command is not this program.
        listeners: The ports that it opens.
        probe: What answers when it works.
        extra: Flags that only a process outside a pod needs: flag, value (`{namespace}` stands for the pod's), reason.
        configuration: The flag that names its configuration file in YAML, where something in that has to differ.
        folders: Places in that file that name a folder of the container, each with the program's default.
    """

    entrypoints: tuple[str, ...]
    listeners: tuple[Listener, ...]
    probe: Probe
    extra: tuple[tuple[str, str, str], ...] = ()
    configuration: str = ""
    folders: Mapping[str, str] = field(default_factory=dict)


_CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 -- in a container, by controller-runtime

# Flags and default ports: cmd/*/app/options/options.go of Volcano 1.15.1, main.go of KubeRay 1.6.2, cmd/kueue/main.go
# and apis/config/v1beta2 of Kueue 0.17.0.
LENDABLE = {
    "vc-scheduler": Lendable(
        ("vc-scheduler",),
        (Listener("metrics", "--listen-address", 8080), Listener("health", "--healthz-address", 11251)),
        Probe("health", "http", "/healthz"),
    ),
    "vc-controller-manager": Lendable(
        ("vc-controller-manager",),
        (Listener("metrics", "--listen-address", 8081), Listener("health", "--healthz-address", 11251)),
        Probe("health", "http", "/healthz"),
    ),
    "vc-webhook-manager": Lendable(
        ("vc-webhook-manager",),
        (Listener("webhook", "--port", 8443, bare=True), Listener("health", "--healthz-address", 11251)),
        # Its health answers before it serves; so the webhook's own port is asked.
        Probe("webhook", "https", "/", any_answer=True),
        (("--listen-address", ADDRESS, "loopback only"),),
    ),
    "kuberay-operator": Lendable(
        ("manager", "kuberay-operator"),
        (Listener("metrics", "--metrics-addr", 8080), Listener("health", "--health-probe-bind-address", 8082)),
        Probe("health", "http", "/readyz"),
        (("--leader-election-namespace", "{namespace}", "in a pod it is read from the mounted service account"),),
    ),
    "jobset": Lendable(
        ("manager", "jobset"),
        (
            Listener("health", "--health-probe-bind-address", 8081),
            Listener("metrics", "--metrics-bind-address", 8443),
            Listener("webhook", "webhook.port", 9443, bare=True),
        ),
        Probe("health", "http", "/readyz"),
        configuration="--config",
        folders={"webhook.certDir": _CERTIFICATES},
    ),
    "kueue": Lendable(
        ("manager", "kueue"),
        (
            Listener("health", "health.healthProbeBindAddress", 8081),
            Listener("metrics", "metrics.bindAddress", 8443),
            Listener("webhook", "webhook.port", 9443, bare=True),
            Listener("visibility", "--visibility-server-port", 8082, bare=True),
        ),
        Probe("health", "http", "/readyz"),
        configuration="--config",
        folders={"webhook.certDir": _CERTIFICATES},
    ),
}
