"""EKS clusters: what moto drops of what it was told, and the updates that it lacks.

https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html. The twin gives a cluster its own end point
and certificate authority, so that a kubeconfig made of a cluster's outputs reaches the twin's API server.
"""

# ruff: noqa: ARG001, D103 (actions have the names and the form that moto wants; the API describes them)

import base64
import os
from pathlib import Path
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.eks.exceptions import InvalidRequestException, ResourceInUseException, ResourceNotFoundException
from moto.eks.models import EKSBackend
from moto.eks.responses import EKSResponse
from moto.eks.urls import url_paths

from twin.aws.moto_gaps.patching import add, body, hexadecimal, paged, wrap
from twin.aws.names import AUTHORITY, ENDPOINT

VERSIONS = ("1.33", "1.34", "1.35", "1.36")
PLATFORM = "eks.1"

# Members of a cluster that moto does not keep, with what AWS has when nothing is said.
_LOST: dict[str, Any] = {
    "accessConfig": {"authenticationMode": "CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": True},
    "upgradePolicy": {"supportType": "EXTENDED"},
    "zonalShiftConfig": {"enabled": False},
    "computeConfig": None,
    "storageConfig": None,
    "deletionProtection": False,
    "controlPlaneScalingConfig": {"tier": "standard"},
    "kubeSchedulerConfig": None,
    "kubeApiServerConfig": None,
    "kubeControllerManagerConfig": None,
}
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def attribute(name: str) -> str:
    """Spell a member of an answer as moto's serializer looks for it: accessConfig is access_config."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def cluster_of(response: Any) -> Any:
    """Give the cluster that a request names in its path.

    Raises:
        ResourceNotFoundException: There is none of that name.
    """
    return response.eks_backend.describe_cluster(name=response._get_param("name"))


def missing(message: str) -> ResourceNotFoundException:
    """Say that something is not there, as EKS does."""
    return ResourceNotFoundException(clusterName=None, nodegroupName=None, addonName=None, message=message)


def in_use(message: str) -> ResourceInUseException:
    """Say that something is there already, or is needed, as EKS does."""
    return ResourceInUseException(clusterName=None, nodegroupName=None, addonName=None, message=message)


def update_of(cluster: Any, kind: str, asked: dict[str, Any]) -> ActionResult:
    """Record an update, which is over as soon as it began."""
    update = {
        "id": f"{hexadecimal(8)}-{hexadecimal(4)}-{hexadecimal(4)}-{hexadecimal(4)}-{hexadecimal(12)}",
        "status": "Successful",
        "type": kind,
        "params": [{"type": name, "value": str(value)} for name, value in sorted(asked.items())],
        "createdAt": utcnow(),
        "errors": [],
    }
    cluster.__dict__.setdefault("updates", {})[update["id"]] = update
    return ActionResult({"update": update})


def _create_cluster(inner: Any, self: Any) -> ActionResult:
    asked = body(self)
    result = inner(self)
    cluster = self.eks_backend.clusters[asked["name"]]
    for name, default in _LOST.items():
        given = asked.get(name)
        merged = {**default, **(given or {})} if isinstance(default, dict) else default if given is None else given
        setattr(cluster, attribute(name), merged)
    cluster.platform_version = PLATFORM
    cluster.kubernetes_network_config = {
        "serviceIpv4Cidr": "172.20.0.0/16",
        "ipFamily": "ipv4",
        **(asked.get("kubernetesNetworkConfig") or {}),
    }
    cluster.version = asked.get("version") or VERSIONS[-2]
    cluster.logging = _logging(asked.get("logging"))
    _connect(cluster)
    cluster.resources_vpc_config = _network(self, asked["name"], asked.get("resourcesVpcConfig") or {})
    return result


def _logging(asked: dict[str, Any] | None) -> dict[str, Any]:
    on = {name for setup in (asked or {}).get("clusterLogging", ()) if setup.get("enabled") for name in setup["types"]}
    setups = [([name for name in _LOGS if name in on], True), ([name for name in _LOGS if name not in on], False)]
    return {"clusterLogging": [{"types": names, "enabled": enabled} for names, enabled in setups if names]}


def _connect(cluster: Any) -> None:
    """Let the cluster have the twin's end point and authority, if the twin told them."""
    if endpoint := os.environ.get(ENDPOINT):
        cluster.endpoint = endpoint
    if authority := os.environ.get(AUTHORITY):
        cluster.certificate_authority = {"data": base64.b64encode(Path(authority).read_bytes()).decode()}


def _network(response: Any, name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Fill in what AWS adds: the VPC of the subnets, and the security group of the cluster, which is a real one."""
    ec2 = ec2_backends[response.current_account][response.region]
    vpc = ec2.get_subnet(asked["subnetIds"][0]).vpc_id
    group = ec2.create_security_group(
        f"eks-cluster-sg-{name}-{hexadecimal(10)}",
        "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
        "as well as any managed workloads.",
        vpc_id=vpc,
        tags={"aws:eks:cluster-name": name, f"kubernetes.io/cluster/{name}": "owned"},
    )
    return {
        "securityGroupIds": [],
        "endpointPublicAccess": True,
        "endpointPrivateAccess": False,
        "publicAccessCidrs": ["0.0.0.0/0"] if asked.get("endpointPublicAccess", True) else [],
        **{member: value for member, value in asked.items() if value is not None},
        "vpcId": vpc,
        "clusterSecurityGroupId": group.id,
    }


def _update_cluster_config(inner: Any, self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    if not asked:
        raise InvalidRequestException(message="No changes needed for the cluster")
    for name, value in asked.items():
        if name == "resourcesVpcConfig":
            cluster.resources_vpc_config = {**cluster.resources_vpc_config, **value}
            if value.get("endpointPublicAccess") is False:
                cluster.resources_vpc_config["publicAccessCidrs"] = []
        elif name == "logging":
            cluster.logging = _logging(value)
        elif isinstance(value, dict) and isinstance(getattr(cluster, attribute(name), None), dict):
            setattr(cluster, attribute(name), {**getattr(cluster, attribute(name)), **value})
        else:
            setattr(cluster, attribute(name), value)
    return update_of(cluster, "ConfigUpdate", asked)


def update_cluster_version(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    before, now = (tuple(map(int, version.split("."))) for version in (cluster.version, asked["version"]))
    if now != (before[0], before[1] + 1):
        raise InvalidRequestException(
            message=f"Unsupported Kubernetes minor version update from {cluster.version} to {asked['version']}"
        )
    cluster.version = asked["version"]
    return update_of(cluster, "VersionUpdate", asked)


def associate_encryption_config(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    if cluster.encryption_config:
        raise InvalidRequestException(message="Encryption is already enabled for the cluster")
    cluster.encryption_config = asked["encryptionConfig"]
    return update_of(cluster, "AssociateEncryptionConfig", asked)


def describe_update(self: Any) -> ActionResult:
    update = cluster_of(self).__dict__.get("updates", {}).get(self._get_param("updateId"))
    if update is None:
        raise missing(f"No update found for id: {self._get_param('updateId')}")
    return ActionResult({"update": update})


def describe_cluster_versions(self: Any) -> ActionResult:
    members = {"clusterType": "eks", "versionStatus": "STANDARD_SUPPORT"}
    return paged("clusterVersions", [{"clusterVersion": version, **members} for version in VERSIONS])


def _delete_cluster(inner: Any, self: Any, name: str) -> Any:
    cluster = self.describe_cluster(name)
    if getattr(cluster, "deletion_protection", False):
        raise InvalidRequestException(message=f"Cluster {name} has deletion protection enabled")
    result = inner(self, name)
    group = cluster.resources_vpc_config.get("clusterSecurityGroupId")
    if group:
        ec2_backends[self.account_id][self.region_name].delete_security_group(group_id=group)
    return result


def _tagged(response: Any) -> dict[str, str]:
    """Give the tags of whatever in EKS has the ARN of the request; moto knows those of clusters only."""
    arn = response._extract_arn_from_path()
    for cluster in response.eks_backend.clusters.values():
        if cluster.arn == arn:
            return cluster.tags
        for group in cluster.nodegroups.values():
            if group.arn == arn:
                return group.tags
        for kept in ("addons", "access_entries", "pod_identities"):
            for entry in cluster.__dict__.get(kept, {}).values():
                if arn in (entry.get("addonArn"), entry.get("accessEntryArn"), entry.get("associationArn")):
                    return entry.setdefault("tags", {})
    raise missing(f"No resource found with ARN: {arn}")


def _tag_resource(inner: Any, self: Any) -> EmptyResult:
    _tagged(self).update(body(self)["tags"])
    return EmptyResult()


def _untag_resource(inner: Any, self: Any) -> EmptyResult:
    tags = _tagged(self)
    for key in self.querystring.get("tagKeys", []):
        tags.pop(key, None)
    return EmptyResult()


def _list_tags_for_resource(inner: Any, self: Any) -> ActionResult:
    return ActionResult({"tags": _tagged(self)})


def install() -> None:
    """Add the actions to moto."""
    wrap(EKSResponse, "create_cluster", _create_cluster)
    wrap(EKSResponse, "update_cluster_config", _update_cluster_config)
    wrap(EKSResponse, "tag_resource", _tag_resource)
    wrap(EKSResponse, "untag_resource", _untag_resource)
    wrap(EKSResponse, "list_tags_for_resource", _list_tags_for_resource)
    wrap(EKSBackend, "delete_cluster", _delete_cluster)
    add(EKSResponse, update_cluster_version, associate_encryption_config, describe_update, describe_cluster_versions)
    for path in (
        "clusters/(?P<name>[^/]+)/updates$",
        "clusters/(?P<name>[^/]+)/updates/(?P<updateId>[^/]+)$",
        "clusters/(?P<name>[^/]+)/encryption-config/associate$",
        "cluster-versions$",
    ):
        url_paths[f"{{0}}/{path}"] = EKSResponse.dispatch
