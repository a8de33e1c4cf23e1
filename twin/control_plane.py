"""The processes of the control plane: their arguments, their order, and how one knows that they work."""

import json
import ssl
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
import yaml

from twin import files, images, pki, stages
from twin.aws import running
from twin.keeper import Program
from twin.paths import CHECKOUT, Paths

PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", running.CLOUD)
# The order of starting. Each rank waits until the one before works; stopping goes the other way.
_SETTINGS = {"kube-apiserver": {"GOGC": "300"}}
"""Environment by program. A thousand nodes are a gigabyte in the API server, and by default it goes over all of it each
time that it has allocated as much again: on two cores a gang then waits for that."""
RANKS = (("etcd",), ("kube-apiserver",), ("kube-controller-manager", "kube-scheduler", "kwok", "lender"))
TOOLS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def is_lent(name: str) -> bool:
    """Say whether a process of the keeper is lent to a pod, rather than the twin's own."""
    return not any(name in rank for rank in RANKS) and name not in (running.CLOUD, running.FOLLOWER)


def server(ports: Mapping[str, int]) -> str:
    """Give the URL of the API server."""
    return f"https://127.0.0.1:{ports['kube-apiserver']}"


def write_configuration(paths: Paths, ports: Mapping[str, int], programs: Mapping[str, Path]) -> bool:
    """Write the files that the processes read: kubeconfigs, KWOK's stages, how the API server reaches into the cluster.

    Returns:
        Whether any of them changed.
    """
    egress = {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [
            {
                "name": "cluster",
                "connection": {
                    "proxyProtocol": "HTTPConnect",
                    "transport": {"uds": {"udsName": str(paths.gateway_socket)}},
                },
            }
        ],
    }
    lent = {name: str(programs[name]) for name in sorted(images.LENT.values()) if name in programs}
    contents = {
        paths.kubeconfig: pki.kubeconfig(paths.pki, "admin", server(ports)),
        paths.config / "stages.yaml": stages.document(),
        paths.config / "egress.yaml": yaml.safe_dump(egress),
        paths.programs: json.dumps(lent),
    }
    for client in ("controller-manager", "scheduler", "kwok", "lender"):
        contents[paths.config / f"{client}.kubeconfig"] = pki.kubeconfig(paths.pki, client, server(ports))
    return any([files.write(path, content) for path, content in contents.items()])  # noqa: C419 - write all of them


def programs(paths: Paths, ports: Mapping[str, int], tools: Mapping[str, Path]) -> list[Program]:
    """Describe the processes of the control plane.

    Args:
        paths: The state directory.
        ports: A port for each of `PORTS`.
        tools: An executable for each of `TOOLS`.

    Raises:
        KeyError: A tool is missing.
    """
    made = {
        "etcd": _etcd(paths, ports),
        "kube-apiserver": _apiserver(paths, ports),
        "kube-controller-manager": _controller_manager(paths, ports),
        "kube-scheduler": _scheduler(paths, ports),
        "kwok": _kwok(paths, ports),
    }
    lender = Program(
        name="lender",
        program=Path(sys.executable),
        arguments=("-m", "twin.lending", str(paths.root)),
        environment={"PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": "1"},
    )
    return [
        *(
            Program(name, tools[name], arguments, _SETTINGS.get(name, {}), grace=5 if name == "etcd" else 2)
            for name, arguments in made.items()
        ),
        lender,
    ]


def _etcd(paths: Paths, ports: Mapping[str, int]) -> tuple[str, ...]:
    client, peer = (f"https://127.0.0.1:{ports[name]}" for name in ("etcd", "etcd-peer"))
    return (
        f"--data-dir={paths.etcd}",
        "--name=twin",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        # Kept data name the peer; a changed port is harmless, as there is one member only.
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=twin={peer}",
        f"--cert-file={paths.pki}/server.crt",
        f"--key-file={paths.pki}/server.key",
        f"--trusted-ca-file={paths.pki}/ca.crt",
        "--client-cert-auth",
        f"--peer-cert-file={paths.pki}/server.crt",
        f"--peer-key-file={paths.pki}/server.key",
        f"--peer-trusted-ca-file={paths.pki}/ca.crt",
        "--peer-client-cert-auth",
        # A machine that loses power loses a twin: that is cheap, waiting for the disk is not.
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=5m",
        "--log-level=warn",
    )


def _apiserver(paths: Paths, ports: Mapping[str, int]) -> tuple[str, ...]:
    return (
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports['kube-apiserver']}",
        f"--etcd-servers=https://127.0.0.1:{ports['etcd']}",
        f"--etcd-cafile={paths.pki}/ca.crt",
        f"--etcd-certfile={paths.pki}/etcd-client.crt",
        f"--etcd-keyfile={paths.pki}/etcd-client.key",
        f"--client-ca-file={paths.pki}/ca.crt",
        f"--token-auth-file={paths.pki}/{pki.TOKENS}",
        f"--tls-cert-file={paths.pki}/server.crt",
        f"--tls-private-key-file={paths.pki}/server.key",
        # How it tells servers of further APIs on whose behalf it asks. While one of those does not answer, no namespace
        # can be removed.
        f"--requestheader-client-ca-file={paths.pki}/ca.crt",
        f"--requestheader-allowed-names={pki.CLIENTS['front-proxy'][0]}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={paths.pki}/front-proxy.crt",
        f"--proxy-client-key-file={paths.pki}/front-proxy.key",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-signing-key-file={paths.pki}/service-accounts.key",
        f"--service-account-key-file={paths.pki}/service-accounts.pub",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        # Webhooks are reached by their Services, as in any cluster; the lender's gateway is the cluster network.
        f"--egress-selector-config-file={paths.config}/egress.yaml",
        # Loopback addresses are not allowed in the Endpoints of `kubernetes`.
        "--endpoint-reconciler-type=none",
        # One machine with a thousand nodes: fairness among clients would only queue them.
        "--enable-priority-and-fairness=false",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--profiling=false",
    )


def _controller_manager(paths: Paths, ports: Mapping[str, int]) -> tuple[str, ...]:
    kubeconfig = paths.config / "controller-manager.kubeconfig"
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports['kube-controller-manager']}",
        f"--tls-cert-file={paths.pki}/server.crt",
        f"--tls-private-key-file={paths.pki}/server.key",
        f"--root-ca-file={paths.pki}/ca.crt",
        f"--service-account-private-key-file={paths.pki}/service-accounts.key",
        # Without it the controllers lack rights, and taints of nodes never clear.
        "--use-service-account-credentials=true",
        "--controllers=*,-ttl-controller",
        # By default 20 requests a second: a thousand new nodes would wait a minute for their taints to go.
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        # More than KWOK's lease of 200 s.
        "--node-monitor-grace-period=240s",
        "--leader-elect=false",
        "--profiling=false",
    )


def _scheduler(paths: Paths, ports: Mapping[str, int]) -> tuple[str, ...]:
    kubeconfig = paths.config / "scheduler.kubeconfig"
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports['kube-scheduler']}",
        f"--tls-cert-file={paths.pki}/server.crt",
        f"--tls-private-key-file={paths.pki}/server.key",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--leader-elect=false",
        "--profiling=false",
    )


def _kwok(paths: Paths, ports: Mapping[str, int]) -> tuple[str, ...]:
    return (
        f"--kubeconfig={paths.config}/kwok.kubeconfig",
        f"--config={paths.config}/stages.yaml",
        f"--manage-nodes-with-annotation-selector={stages.NODE_SELECTOR}",
        "--node-lease-duration-seconds=200",
        "--cidr=10.128.0.0/10",
        f"--server-address=127.0.0.1:{ports['kwok']}",
    )


@dataclass(frozen=True)
class Check:
    """How one sees that a process works.

    Attributes:
        what: What it does when it works, to finish "it did not ...".
        limit: Seconds until it must.
        test: Says whether it does; a network error counts as no.
    """

    what: str
    limit: float
    test: Callable[[], bool]


def checks(paths: Paths, ports: Mapping[str, int]) -> dict[str, Check]:
    """Give a check for each process of the control plane, by its name. The lender's is its gateway."""
    context = ssl.create_default_context(cafile=str(paths.pki / "ca.crt"))
    context.load_cert_chain(paths.pki / "admin.crt", paths.pki / "admin.key")
    client = httpx2.Client(verify=context, timeout=5, trust_env=False)

    def answers(name: str, path: str, scheme: str = "https") -> Callable[[], bool]:
        return lambda: client.get(f"{scheme}://127.0.0.1:{ports[name]}{path}").is_success

    def makes_accounts() -> bool:
        return client.get(f"{server(ports)}/api/v1/namespaces/default/serviceaccounts/default").is_success

    return {
        "etcd": Check("answer as healthy", 20, answers("etcd", "/health")),
        "kube-apiserver": Check("become ready", 60, answers("kube-apiserver", "/readyz")),
        "kube-controller-manager": Check("make the default service account", 30, makes_accounts),
        "kube-scheduler": Check("become ready", 30, answers("kube-scheduler", "/readyz")),
        "kwok": Check("become ready", 30, answers("kwok", "/readyz", "http")),
        "lender": Check("open its gateway", 30, lambda: ask_lender(paths, "/healthz") == ""),
    }


def cloud_check(ports: Mapping[str, int]) -> Check:
    """Give the check of the twin's cloud."""
    return Check("answer", 60, lambda: running.made(ports[running.CLOUD]) >= 0)


def follower_check(paths: Paths) -> Check:
    """Give the check of what makes nodes of node groups."""
    return Check("follow the node groups", 60, lambda: files.read_json(paths.following).get("problem") == "")


def passes(check: Check) -> bool:
    """Say whether a process works now."""
    try:
        return check.test()
    except (httpx2.HTTPError, OSError):
        return False


def ask_lender(paths: Paths, path: str) -> str:
    """Ask the lender what is not well; nothing is said when all is.

    Args:
        paths: The state directory.
        path: `/healthz`: its gateway is open. `/settled`: no lent process is still starting.

    Raises:
        httpx2.HTTPError: It does not answer.
    """
    transport = httpx2.HTTPTransport(uds=str(paths.gateway_socket), verify=False)
    with httpx2.Client(transport=transport, timeout=5) as gateway:
        answer = gateway.get(f"http://gateway{path}")
    return "" if answer.is_success else answer.reason_phrase
