"""What the engine answers by a replacement: facts about its providers.

Without a cluster and an account nobody can be asked, so the answers of the providers' `Diff` are kept here as a table
(docs/decisions/081); a test compares it with the real engine.

Sources: pulumi-kubernetes, provider/pkg/provider/diff.go (forceNew), provider.go (Diff, DiffConfig) and helm_release.go
(Diff), read at release 4.25; for AWS the rows of the twin's cloud.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twin.differences import Change, Difference
    from twin.monitor import Resource

_NAMED = ("metadata.name", "metadata.namespace")


def _each(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names.split())


_CONTAINER = """
args command env image imagePullPolicy lifecycle livenessProbe ports readinessProbe resources securityContext stdin
stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir
"""
_POD = """
affinity automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks hostAliases hostIPC hostNetwork hostPID
hostname imagePullSecrets nodeName nodeSelector overhead preemptionPolicy priority priorityClassName readinessGates
restartPolicy runtimeClassName schedulerName securityContext serviceAccount serviceAccountName shareProcessNamespace
subdomain terminationGracePeriodSeconds volumes
"""
_VOLUME = """
awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs hostPath
iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume
"""
_KUBERNETES: Mapping[str, tuple[str, ...]] = {
    "apps/v1:DaemonSet": ("spec.selector",),
    "apps/v1:Deployment": ("spec.selector",),
    "apps/v1:StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "batch/v1:Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "core/v1:PersistentVolume": _each("spec", _VOLUME),
    "core/v1:PersistentVolumeClaim": ("spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeName"),
    "core/v1:Pod": (
        *_each("spec", _POD),
        *_each("spec.containers[*]", _CONTAINER),
        *_each("spec.initContainers[*]", _CONTAINER),
    ),
    "core/v1:ResourceQuota": ("spec.scopes",),
    "core/v1:Service": ("spec.clusterIP",),
    "rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("roleRef",),
    "rbac.authorization.k8s.io/v1:RoleBinding": ("roleRef",),
    "storage.k8s.io/v1:StorageClass": ("parameters", "provisioner"),
}
_FROZEN: Mapping[str, tuple[str, ...]] = {
    "core/v1:ConfigMap": ("data", "binaryData"),
    "core/v1:Secret": ("data", "stringData", "type"),
}
"""What the provider makes anew for every change of content, as pods read it only when they start."""
_RELEASE = "helm.sh/v3:Release"
_PROVIDER = "pulumi:providers:"


def known(type_: str) -> bool:
    """Say whether it is known what replaces resources of a type."""
    from twin.aws.rows import ROWS

    return type_.startswith(("kubernetes:", f"{_PROVIDER}kubernetes", f"{_PROVIDER}aws")) or type_ in ROWS


def tells_anew(change: "Change") -> bool:
    """Say whether a resource that is changed has outputs that any change may renew, such as a number of its version."""
    from twin.aws.rows import ROWS

    row = ROWS.get(change.resource.type)
    return change.kind == "change" and row is not None and bool(row.fresh)


def filled_in(type_: str, difference: "Difference") -> bool:
    """Say whether a state has a value otherwise than the program only since the engine or a provider filled it in."""
    from twin.differences import MISSING

    sides = {str(value) for value in (difference.before, difference.now) if value is not MISSING}
    if type_.startswith(_PROVIDER):
        return difference.path[0] in ("version", "pluginDownloadURL", "__internal")
    if type_ == f"kubernetes:{_RELEASE}":
        default = difference.now is MISSING and len(difference.path) == 1 and not difference.before
        return default or difference.path == ("compat",) or (difference.path == ("chart",) and _fetched(difference))
    return difference.path == ("metadata", "namespace") and sides == {"default"}


def _fetched(difference: "Difference") -> bool:
    """Say whether it is the same chart, which has the digest of its content in its path once it was fetched."""
    from components.crds.source import MADE_LATER

    paths = sorted((str(difference.before), str(difference.now)), key=lambda path: not path.endswith(MADE_LATER))
    return paths[0].endswith(MADE_LATER) and paths[1].startswith(f"{paths[0].removesuffix(MADE_LATER)}-")


def because(
    resource: "Resource", before: Mapping[str, Any], now: Mapping[str, Any], differences: "Sequence[Difference]"
) -> tuple[str, ...]:
    """Give the inputs whose change replaces a resource; none where it is changed in place.

    Args:
        resource: The resource as it will be.
        before: Its inputs as they were, without the wire's marks.
        now: Its inputs as they will be.
        differences: What differs between them.
    """
    from twin.differences import spelt, within

    asked = tuple(spelt(rule) for rule in resource.replace_on_changes)
    rules = (*asked, *(spelt(rule) for rule in _rules(resource, before, now)))
    found = [rule for rule in rules if any(within(each.path, rule) for each in differences)]
    return tuple(dict.fromkeys(_written(rule) for rule in found))


def _written(rule: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in rule).replace(".*", "[*]")


def _rules(resource: "Resource", before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    provider, _, kind = resource.type.partition(":")
    if provider == "kubernetes":
        return _of_object(kind)
    if provider == "aws":
        return _of_aws(resource.type, before, now)
    if resource.type == f"{_PROVIDER}kubernetes":
        # An identifier that stays keeps the rest of the connection from counting.
        old, new = before.get("clusterIdentifier"), now.get("clusterIdentifier")
        if old and new:
            return ("clusterIdentifier",)
        return () if new and not old else ("kubeconfig", "context", "cluster")
    return ("region",) if resource.type == f"{_PROVIDER}aws" else ()


def _of_object(kind: str) -> tuple[str, ...]:
    if kind == _RELEASE:
        return ("name", "namespace")
    return (*_NAMED, *_KUBERNETES.get(kind, ()), *_FROZEN.get(kind, ()))


def _of_aws(type_: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    from twin.aws.rows import ROWS

    if type_ not in ROWS:
        return ()
    row = ROWS[type_]
    too = row.replaced_too(before, now) if row.replaced_too else ()
    return tuple(sorted({*row.replaced, *too}))
