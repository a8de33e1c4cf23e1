"""Add-ons of EKS: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html."""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.eks.exceptions import InvalidParameterException
from moto.eks.responses import EKSResponse
from moto.eks.urls import url_paths

from catalog import reader as catalog
from twin.aws.moto_gaps.access import associate, dissociate
from twin.aws.moto_gaps.clusters import VERSIONS, cluster_of, in_use, missing, update_of
from twin.aws.moto_gaps.patching import add, body, hexadecimal, paged, picked

NAMES = (
    "vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent", "aws-ebs-csi-driver", "aws-efs-csi-driver",
    "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "eks-node-monitoring-agent", "snapshot-controller",
    "metrics-server",
)  # fmt: skip
_KEPT = "addonName addonVersion serviceAccountRoleArn configurationValues namespaceConfig"


def _addons(cluster: Any) -> dict[str, dict[str, Any]]:
    return cluster.__dict__.setdefault("addons", {})


def _addon(response: Any, cluster: Any) -> dict[str, Any]:
    name = response._get_param("addonName")
    if name not in _addons(cluster):
        raise missing(f"No addon: {name} found in cluster: {cluster.name}")
    return _addons(cluster)[name]


def create_addon(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    name = asked["addonName"]
    if name not in NAMES:
        raise InvalidParameterException(message=f"Addon {name} is not supported")
    if name in _addons(cluster):
        raise in_use(f"Addon already exists with name: {name}")
    addon = {
        **picked(asked, _KEPT),
        "clusterName": cluster.name,
        "status": "ACTIVE",
        "health": {"issues": []},
        "addonVersion": asked.get("addonVersion") or "v1.0.0-eksbuild.1",
        "addonArn": f"arn:aws:eks:{self.region}:{self.current_account}:addon/{cluster.name}/{name}/{hexadecimal(32)}",
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "tags": asked.get("tags") or {},
    }
    _addons(cluster)[name] = addon
    _identities(self, cluster, addon, asked.get("podIdentityAssociations") or [])
    return ActionResult({"addon": addon})


def _identities(response: Any, cluster: Any, addon: dict[str, Any], asked: list[dict[str, Any]]) -> None:
    """Let the associations that belong to an add-on be those that are asked for."""
    for arn in addon.pop("podIdentityAssociations", ()):
        dissociate(cluster, arn)
    namespace = (addon.get("namespaceConfig") or {}).get("namespace", "kube-system")
    made = [
        associate(response, cluster, {**one, "namespace": namespace}, owner=addon["addonArn"])["associationArn"]
        for one in asked
    ]
    if made:
        addon["podIdentityAssociations"] = made


def describe_addon(self: Any) -> ActionResult:
    return ActionResult({"addon": _addon(self, cluster_of(self))})


def update_addon(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    addon = _addon(self, cluster)
    addon |= picked(asked, "addonVersion serviceAccountRoleArn configurationValues")
    if "podIdentityAssociations" in asked:
        _identities(self, cluster, addon, asked["podIdentityAssociations"])
    addon["modifiedAt"] = utcnow()
    return update_of(cluster, "AddonUpdate", asked)


def delete_addon(self: Any) -> ActionResult:
    cluster = cluster_of(self)
    addon = _addon(self, cluster)
    _identities(self, cluster, addon, [])
    del _addons(cluster)[addon["addonName"]]
    return ActionResult({"addon": {**addon, "status": "DELETING"}})


def list_addons(self: Any) -> ActionResult:
    return paged("addons", sorted(_addons(cluster_of(self))))


def describe_addon_versions(self: Any) -> ActionResult:
    """The versions of the catalogue, which it has from EKS; of add-ons that it does not have, one."""
    wanted = self.querystring.get("addonName") or NAMES
    minors = self.querystring.get("kubernetesVersion") or VERSIONS
    told = []
    for name in (name for name in NAMES if name in wanted):
        known = catalog.addons()[name].versions if name in catalog.addons() else {}
        versions: dict[str, list[dict[str, Any]]] = {}
        for minor in (minor for minor in VERSIONS if minor in minors):
            fits = {"clusterVersion": minor, "defaultVersion": True}
            versions.setdefault(known.get(minor, "v1.0.0-eksbuild.1"), []).append(fits)
        of_name = [{"addonVersion": version, "compatibilities": fits} for version, fits in versions.items()]
        told.append({"addonName": name, "addonVersions": of_name})
    return paged("addons", told)


def install() -> None:
    """Add the actions to moto."""
    add(
        EKSResponse,
        create_addon,
        describe_addon,
        update_addon,
        delete_addon,
        list_addons,
        describe_addon_versions,
    )
    cluster = "{0}/clusters/(?P<name>[^/]+)"
    for path in (
        f"{cluster}/addons$",
        f"{cluster}/addons/(?P<addonName>[^/]+)$",
        f"{cluster}/addons/(?P<addonName>[^/]+)/update$",
        "{0}/addons/supported-versions$",
    ):
        url_paths[path] = EKSResponse.dispatch
