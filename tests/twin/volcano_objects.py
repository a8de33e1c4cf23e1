"""Volcano as its chart deploys it, in small: the same images, arguments, mounts and hook; rights of our own."""

from pathlib import Path
from typing import Any

import yaml

NAMESPACE = "volcano-system"
VERSION = "v1.15.1"
LIBERAL = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def objects(chart: Path) -> list[dict[str, Any]]:
    """All objects, in the order in which they can be created."""
    crds = [
        yaml.safe_load(file.read_text())
        for folder in (chart / "crd/bases", chart / "charts/jobflow/crd/bases")
        for file in sorted(folder.glob("*.yaml"))
    ]
    accounts = [
        made
        for name in ("scheduler", "controllers", "admission", "admission-init")
        for made in (
            _object("v1", "ServiceAccount", f"volcano-{name}"),
            _object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRoleBinding",
                f"volcano-{name}",
                roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                subjects=[{"kind": "ServiceAccount", "name": f"volcano-{name}", "namespace": NAMESPACE}],
            ),
        )
    ]
    return [
        _object("v1", "Namespace", NAMESPACE),
        *crds,
        *accounts,
        _object("v1", "ConfigMap", "volcano-scheduler-configmap", data={"volcano-scheduler.conf": LIBERAL}),
        _object(
            "v1", "ConfigMap", "volcano-admission-configmap", data={"volcano-admission.conf": "resourceGroups: []\n"}
        ),
        admission_init(),
        _webhook("queues", "queues", "validate", "ValidatingWebhookConfiguration"),
        _object(
            "v1",
            "Service",
            "volcano-admission-service",
            spec={"selector": {"app": "volcano-admission"}, "ports": [{"port": 443, "targetPort": 8443}]},
        ),
        admission(),
        controllers(),
        scheduler(),
    ]


def admission_init() -> dict[str, Any]:
    """The hook that makes the webhooks' certificate."""
    container = {
        "name": "main",
        "image": f"docker.io/volcanosh/vc-webhook-manager:{VERSION}",
        "command": [
            "./gen-admission-secret.sh",
            *("--service", "volcano-admission-service"),
            *("--namespace", NAMESPACE),
            *("--secret", "volcano-admission-secret"),
        ],
    }
    pod = {"serviceAccountName": "volcano-admission-init", "restartPolicy": "Never", "containers": [container]}
    return _object("batch/v1", "Job", "volcano-admission-init", spec={"backoffLimit": 3, "template": {"spec": pod}})


def admission() -> dict[str, Any]:
    """The webhooks."""
    return _deployment(
        "admission",
        "vc-webhook-manager",
        [
            "--enabled-admission=/queues/validate",
            "--tls-cert-file=/admission.local.config/certificates/tls.crt",
            "--tls-private-key-file=/admission.local.config/certificates/tls.key",
            "--ca-cert-file=/admission.local.config/certificates/ca.crt",
            "--admission-conf=/admission.local.config/configmap/volcano-admission.conf",
            f"--webhook-namespace={NAMESPACE}",
            "--webhook-service-name=volcano-admission-service",
            "--enable-healthz=true",
            "--logtostderr",
            "--port=8443",
            "-v=4",
            "2>&1",
        ],
        {
            "/admission.local.config/certificates": {"secret": {"secretName": "volcano-admission-secret"}},
            "/admission.local.config/configmap": {"configMap": {"name": "volcano-admission-configmap"}},
        },
    )


def controllers() -> dict[str, Any]:
    """The controllers."""
    arguments = ["--logtostderr", "--enable-healthz=true", "--leader-elect=false", "-v=4", "2>&1"]
    return _deployment("controllers", "vc-controller-manager", arguments, {})


def scheduler() -> dict[str, Any]:
    """The scheduler, with its configuration in a mounted ConfigMap."""
    return _deployment(
        "scheduler",
        "vc-scheduler",
        [
            "--logtostderr",
            "--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf",
            "--enable-healthz=true",
            "--enable-metrics=true",
            "--leader-elect=false",
            "-v=3",
            "2>&1",
        ],
        {
            "/volcano.scheduler": {"configMap": {"name": "volcano-scheduler-configmap"}},
            "/tmp/klog-socks": {"emptyDir": {}},
        },
        [
            {"name": "DEBUG_SOCKET_DIR", "value": "/tmp/klog-socks"},
            {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        ],
    )


def _deployment(
    name: str,
    image: str,
    arguments: list[str],
    mounts: dict[str, dict[str, Any]],
    environment: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    labels = {"app": f"volcano-{name}"}
    volumes = {f"volume-{number}": volume for number, volume in enumerate(mounts.values())}
    container = {
        "name": name,
        "image": f"docker.io/volcanosh/{image}:{VERSION}",
        "args": arguments,
        "env": environment or [],
        "volumeMounts": [{"name": v, "mountPath": path} for v, path in zip(volumes, mounts, strict=True)],
    }
    pod = {
        "serviceAccountName": f"volcano-{name}",
        "containers": [container],
        "volumes": [{"name": volume, **source} for volume, source in volumes.items()],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return _object("apps/v1", "Deployment", f"volcano-{name}", spec=spec)


def _webhook(plural: str, path: str, what: str, kind: str) -> dict[str, Any]:
    service = {"name": "volcano-admission-service", "namespace": NAMESPACE, "path": f"/{path}/{what}", "port": 443}
    rule = {
        "apiGroups": ["scheduling.volcano.sh"],
        "apiVersions": ["v1beta1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": [plural],
    }
    webhook = {
        "name": f"{what}{plural.removesuffix('s')}.volcano.sh",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "failurePolicy": "Fail",
        "rules": [rule],
        "sideEffects": "NoneOnDryRun",
    }
    name = f"volcano-admission-service-{plural}-{what}"
    return _object("admissionregistration.k8s.io/v1", kind, name, webhooks=[webhook])


def _object(version: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    clustered = kind in ("Namespace", "ClusterRoleBinding", "ValidatingWebhookConfiguration")
    metadata = {"name": name} if clustered else {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}
