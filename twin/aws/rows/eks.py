"""Rows of EKS: clusters, node groups, add-ons, and who may enter."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

_GONE = words("ResourceNotFoundException")
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def _tags(arn: str) -> Tags:
    return Tags(
        add=Call("tag_resource", {"resourceArn": arn, "tags": "$tags"}),
        remove=Call("untag_resource", {"resourceArn": arn, "tagKeys": "$keys"}),
        create="tags",
        keys=(),
        read="tags",
    )


def _logging(types: list[str] | None) -> dict[str, Any]:
    on = [name for name in _LOGS if name in (types or ())]
    off = [name for name in _LOGS if name not in on]
    setups = [{"types": names, "enabled": enabled} for names, enabled in ((on, True), (off, False)) if names]
    return {"logging": {"clusterLogging": setups}}


def _cluster_setting(*names: str) -> Update:
    """EKS takes one setting in a call."""
    return Update("update_cluster_config", {"name": "$id"}, properties=names, resets={name: {} for name in names})


def _labels(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    old, new = before.get("labels") or {}, now.get("labels") or {}
    change: dict[str, Any] = {"addOrUpdateLabels": {key: text for key, text in new.items() if old.get(key) != text}}
    if gone := sorted(old.keys() - new.keys()):
        change["removeLabels"] = gone
    return [{"labels": change}]


def _taints(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    old, new = list(before.get("taints") or ()), list(now.get("taints") or ())
    places = {(taint["key"], taint["effect"]) for taint in new}
    change: dict[str, Any] = {"addOrUpdateTaints": [taint for taint in new if taint not in old]}
    if gone := [taint for taint in old if (taint["key"], taint["effect"]) not in places]:
        change["removeTaints"] = gone
    return [{"taints": change}]


def _group_version(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    parameters = {
        name: now[name] for name in ("version", "releaseVersion") if now.get(name) and now[name] != before.get(name)
    }
    if now.get("launchTemplate") and now["launchTemplate"] != before.get("launchTemplate"):
        template = now["launchTemplate"]
        which = "id" if template.get("id") else "name"
        parameters["launchTemplate"] = {which: template[which], "version": str(template["version"])}
    return [{**parameters, "force": bool(now.get("forceUpdateVersion"))}] if parameters else []


_GROUP = {"clusterName": "$clusterName", "nodegroupName": "$nodeGroupName"}
_ADDON = {"clusterName": "$clusterName", "addonName": "$addonName"}
_ENTRY = {"clusterName": "$clusterName", "principalArn": "$principalArn"}
_ASSOCIATION = {"clusterName": "$clusterName", "associationId": "$associationId"}

ROWS: Mapping[str, Row] = {
    "aws:eks/cluster:Cluster": Row(
        service="eks",
        create=Call("create_cluster"),
        id="{name}",
        reads=(Read("describe_cluster", {"name": "$id"}, result="cluster"),),
        delete=(Call("delete_cluster", {"name": "$id"}),),
        updates=(
            Update("update_cluster_version", {"name": "$id"}, properties=("version",)),
            Update(
                "update_cluster_config",
                {"name": "$id"},
                properties=("enabledClusterLogTypes",),
                resets={"enabledClusterLogTypes": []},
            ),
            _cluster_setting("vpcConfig"),
            Update(
                "update_cluster_config",
                {"name": "$id"},
                properties=("accessConfig",),
                parameters_of=lambda before, now: [
                    {
                        "accessConfig": {
                            "authenticationMode": (now.get("accessConfig") or {}).get(
                                "authenticationMode", "CONFIG_MAP"
                            )
                        }
                    }
                ],
            ),
            _cluster_setting("computeConfig", "kubernetesNetworkConfig", "storageConfig"),
            _cluster_setting("upgradePolicy"),
            _cluster_setting("zonalShiftConfig"),
            _cluster_setting("kubeSchedulerConfig"),
            _cluster_setting("controlPlaneScalingConfig"),
            Update(
                "update_cluster_config",
                {"name": "$id"},
                properties=("deletionProtection",),
                resets={"deletionProtection": False},
            ),
        ),
        replaced=words(
            "name roleArn encryptionConfig bootstrapSelfManagedAddons "
            "accessConfig.bootstrapClusterCreatorAdminPermissions "
            "kubernetesNetworkConfig.ipFamily kubernetesNetworkConfig.serviceIpv4Cidr"
        ),
        tags=_tags("$arn"),
        renames={"vpcConfig": "resourcesVpcConfig"},
        encoders={"enabledClusterLogTypes": _logging},
        outputs={
            "enabledClusterLogTypes": "logging.clusterLogging[?enabled].types[]",
            "identities": "[{oidcs: [identity.oidc]}]",
            "clusterId": "nothing",
        },
        # AWS takes it, and does not tell it.
        echo=words("bootstrapSelfManagedAddons"),
        defaults={"bootstrapSelfManagedAddons": True},
        autoname="name",
        longest=100,
        gone=_GONE,
    ),
    "aws:eks/nodeGroup:NodeGroup": Row(
        service="eks",
        create=Call("create_nodegroup"),
        id="{clusterName}:{nodeGroupName}",
        reads=(Read("describe_nodegroup", _GROUP, result="nodegroup"),),
        delete=(Call("delete_nodegroup", _GROUP),),
        updates=(
            Update(
                "update_nodegroup_version",
                _GROUP,
                properties=("version", "releaseVersion", "launchTemplate"),
                parameters_of=_group_version,
            ),
            Update("update_nodegroup_config", _GROUP, properties=("labels",), parameters_of=_labels),
            Update("update_nodegroup_config", _GROUP, properties=("taints",), parameters_of=_taints),
            Update(
                "update_nodegroup_config",
                _GROUP,
                properties=("scalingConfig", "updateConfig", "nodeRepairConfig"),
                whole=True,
            ),
        ),
        replaced=words(
            "clusterName nodeGroupName nodeRoleArn subnetIds amiType capacityType diskSize instanceTypes "
            "launchTemplate.id launchTemplate.name"
        ),
        tags=_tags("$arn"),
        renames={
            "nodeGroupName": "nodegroupName",
            "nodeRoleArn": "nodeRole",
            "subnetIds": "subnets",
        },
        outputs={
            "resources": (
                "[{autoscalingGroups: resources.autoScalingGroups, "
                "remoteAccessSecurityGroupId: resources.remoteAccessSecurityGroup}]"
            ),
        },
        echo=words("forceUpdateVersion"),
        autoname="nodeGroupName",
        fresh=words("version releaseVersion"),
        gone=_GONE,
    ),
    "aws:eks/addon:Addon": Row(
        service="eks",
        create=Call("create_addon", {"resolveConflicts": "$resolveConflictsOnCreate"}),
        id="{clusterName}:{addonName}",
        reads=(Read("describe_addon", _ADDON, result="addon"),),
        delete=(Call("delete_addon", {**_ADDON, "preserve": "$preserve"}),),
        updates=(
            Update(
                "update_addon",
                {**_ADDON, "resolveConflicts": "$resolveConflictsOnUpdate"},
                properties=("addonVersion", "configurationValues", "serviceAccountRoleArn", "podIdentityAssociations"),
                whole=True,
            ),
        ),
        replaced=words("clusterName addonName"),
        tags=_tags("$arn"),
        outputs={
            "arn": "addonArn",
            "podIdentityAssociations": "podIdentityAssociationsGiven",
        },
        echo=words("preserve resolveConflictsOnCreate resolveConflictsOnUpdate podIdentityAssociations"),
        gone=_GONE,
    ),
    "aws:eks/accessEntry:AccessEntry": Row(
        service="eks",
        create=Call("create_access_entry"),
        id="{clusterName}:{principalArn}",
        reads=(Read("describe_access_entry", _ENTRY, result="accessEntry"),),
        delete=(Call("delete_access_entry", _ENTRY),),
        updates=(
            Update("update_access_entry", _ENTRY, properties=("kubernetesGroups",), resets={"kubernetesGroups": []}),
            Update("update_access_entry", _ENTRY, properties=("userName",), resets={"userName": ""}),
        ),
        replaced=words("clusterName principalArn type"),
        tags=_tags("$accessEntryArn"),
        defaults={"type": "STANDARD"},
        gone=_GONE,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Row(
        service="eks",
        create=Call("associate_access_policy"),
        id="{clusterName}#{principalArn}#{policyArn}",
        reads=(
            Read(
                "list_associated_access_policies",
                _ENTRY,
                result="associatedAccessPolicies[?policyArn == '${policyArn}'] | [0]",
            ),
        ),
        delete=(Call("disassociate_access_policy", {**_ENTRY, "policyArn": "$policyArn"}),),
        replaced=words("clusterName principalArn policyArn accessScope"),
        alone=True,
        outputs={
            "clusterName": lambda actual, context: context["clusterName"],
            "principalArn": lambda actual, context: context["principalArn"],
        },
        gone=_GONE,
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Row(
        service="eks",
        create=Call("create_pod_identity_association"),
        id="{clusterName},{associationId}",
        reads=(Read("describe_pod_identity_association", _ASSOCIATION, result="association"),),
        delete=(Call("delete_pod_identity_association", _ASSOCIATION),),
        updates=(
            Update(
                "update_pod_identity_association",
                _ASSOCIATION,
                properties=("roleArn", "targetRoleArn", "disableSessionTags"),
                resets={"targetRoleArn": "", "disableSessionTags": False},
            ),
        ),
        replaced=words("clusterName namespace serviceAccount"),
        alone=True,
        tags=_tags("$associationArn"),
        gone=_GONE,
    ),
}
