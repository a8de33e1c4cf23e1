"""Who may do what in an EKS cluster: access entries, access policies, and identities of pods.

https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html and
.../API_CreatePodIdentityAssociation.html.
"""

# ruff: noqa: ARG001, D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any
from urllib.parse import unquote

from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.eks.exceptions import InvalidParameterException, InvalidRequestException
from moto.eks.responses import EKSResponse
from moto.eks.urls import url_paths

from twin.aws.moto_gaps.clusters import cluster_of, in_use, missing
from twin.aws.moto_gaps.patching import add, body, hexadecimal, paged, picked

POLICIES = (
    "AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy", "AmazonEKSAutoNodePolicy",
)  # fmt: skip
_PREFIX = "arn:aws:eks::aws:cluster-access-policy/"


def entries(cluster: Any) -> dict[str, dict[str, Any]]:
    """Give a cluster's access entries by principal."""
    return cluster.__dict__.setdefault("access_entries", {})


def identities(cluster: Any) -> dict[str, dict[str, Any]]:
    """Give a cluster's associations of pods with roles, by id."""
    return cluster.__dict__.setdefault("pod_identities", {})


def _mode(cluster: Any) -> str:
    return (getattr(cluster, "access_config", None) or {}).get("authenticationMode", "CONFIG_MAP")


def _arns(response: Any) -> tuple[str, str]:
    """Give the principal and the policy in the path of a request."""
    principal, _, policy = unquote(response.path).partition("/access-entries/")[2].partition("/access-policies")
    return principal, policy.removeprefix("/")


def _entry(response: Any, cluster: Any) -> dict[str, Any]:
    principal = _arns(response)[0]
    if principal not in entries(cluster):
        raise missing(f"The specified principalArn could not be found: {principal}")
    return entries(cluster)[principal]


def _enter(cluster: Any, principal: str, **members: Any) -> dict[str, Any]:
    region, account = cluster.arn.split(":")[3:5]
    kind, name = principal.split(":")[-1].partition("/")[::2]
    entry = {
        "clusterName": cluster.name,
        "principalArn": principal,
        "kubernetesGroups": [],
        "username": principal,
        "type": "STANDARD",
        "accessEntryArn": (
            f"arn:aws:eks:{region}:{account}:access-entry/{cluster.name}/{kind}/{account}/{name}/{hexadecimal(32)}"
        ),
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "tags": {},
        **members,
    }
    entries(cluster)[principal] = entry
    return entry


def join_nodes(cluster: Any, role: str) -> None:
    """Let the nodes of a node group in: EKS makes the entry of their role, where entries count."""
    if _mode(cluster) != "CONFIG_MAP" and role not in entries(cluster):
        _enter(cluster, role, type="EC2_LINUX", username="system:node:{{EC2PrivateDNSName}}", ofNodes=True)


def leave_nodes(cluster: Any, role: str) -> None:
    """Take the entry away with the last node group of the role."""
    others = any(group.node_role == role for group in cluster.nodegroups.values())
    if not others and entries(cluster).get(role, {}).get("ofNodes"):
        del entries(cluster)[role]


def create_access_entry(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    if _mode(cluster) == "CONFIG_MAP":
        raise InvalidRequestException(
            message="The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] "
            "to perform this operation."
        )
    if asked["principalArn"] in entries(cluster):
        raise in_use("The specified access entry resource is already in use on this cluster.")
    if asked.get("type", "STANDARD") != "STANDARD" and (asked.get("username") or asked.get("kubernetesGroups")):
        raise InvalidParameterException(message="Only entries of type STANDARD may have a user name or groups")
    entry = _enter(cluster, asked["principalArn"], **picked(asked, "kubernetesGroups username type tags"))
    return ActionResult({"accessEntry": entry})


def describe_access_entry(self: Any) -> ActionResult:
    return ActionResult({"accessEntry": _entry(self, cluster_of(self))})


def update_access_entry(self: Any) -> ActionResult:
    entry = _entry(self, cluster_of(self))
    asked = body(self)
    entry |= picked(asked, "kubernetesGroups")
    if "username" in asked:
        entry["username"] = asked["username"] or entry["principalArn"]
    entry["modifiedAt"] = utcnow()
    return ActionResult({"accessEntry": entry})


def delete_access_entry(self: Any) -> EmptyResult:
    cluster = cluster_of(self)
    del entries(cluster)[_entry(self, cluster)["principalArn"]]
    return EmptyResult()


def list_access_entries(self: Any) -> ActionResult:
    return paged("accessEntries", sorted(entries(cluster_of(self))))


def associate_access_policy(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    entry = _entry(self, cluster)
    policy = asked["policyArn"]
    if policy.removeprefix(_PREFIX) not in POLICIES:
        raise InvalidParameterException(message=f"The policyArn parameter format is not valid: {policy}")
    if entry["type"] != "STANDARD":
        raise InvalidRequestException(message="Only entries of type STANDARD may have access policies")
    found = {"policyArn": policy, "accessScope": asked["accessScope"], "associatedAt": utcnow(), "modifiedAt": utcnow()}
    entry.setdefault("policies", {})[policy] = found
    return ActionResult(
        {"clusterName": cluster.name, "principalArn": entry["principalArn"], "associatedAccessPolicy": found}
    )


def disassociate_access_policy(self: Any) -> EmptyResult:
    entry = _entry(self, cluster_of(self))
    policy = _arns(self)[1]
    if policy not in entry.get("policies", {}):
        raise missing(f"No associated access policy found: {policy}")
    del entry["policies"][policy]
    return EmptyResult()


def list_associated_access_policies(self: Any) -> ActionResult:
    cluster = cluster_of(self)
    entry = _entry(self, cluster)
    return ActionResult(
        {
            "clusterName": cluster.name,
            "principalArn": entry["principalArn"],
            "associatedAccessPolicies": list(entry.get("policies", {}).values()),
        }
    )


def list_access_policies(self: Any) -> ActionResult:
    return paged("accessPolicies", [{"name": name, "arn": f"{_PREFIX}{name}"} for name in POLICIES])


def associate(response: Any, cluster: Any, asked: dict[str, Any], owner: str | None = None) -> dict[str, Any]:
    """Let the pods of a service account have a role.

    Raises:
        ResourceInUseException: The service account has one.
    """
    place = (asked["namespace"], asked["serviceAccount"])
    if any((one["namespace"], one["serviceAccount"]) == place for one in identities(cluster).values()):
        raise in_use(f"Association already exists: {'/'.join(place)}")
    identity = f"a-{hexadecimal()}"
    region, account = cluster.arn.split(":")[3:5]
    made = {
        **picked(asked, "namespace serviceAccount roleArn targetRoleArn policy"),
        "clusterName": cluster.name,
        "associationId": identity,
        "associationArn": f"arn:aws:eks:{region}:{account}:podidentityassociation/{cluster.name}/{identity}",
        "disableSessionTags": bool(asked.get("disableSessionTags")),
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "tags": asked.get("tags") or {},
        **({"ownerArn": owner} if owner else {}),
    }
    identities(cluster)[identity] = made
    return made


def dissociate(cluster: Any, arn: str) -> None:
    """Take an association away by its ARN."""
    identities(cluster).pop(arn.rpartition("/")[2], None)


def _identity(response: Any, cluster: Any) -> dict[str, Any]:
    identity = response._get_param("associationId")
    if identity not in identities(cluster):
        raise missing(f"No association found for id: {identity}")
    return identities(cluster)[identity]


def create_pod_identity_association(self: Any) -> ActionResult:
    return ActionResult({"association": associate(self, cluster_of(self), body(self))})


def describe_pod_identity_association(self: Any) -> ActionResult:
    return ActionResult({"association": _identity(self, cluster_of(self))})


def update_pod_identity_association(self: Any) -> ActionResult:
    found = _identity(self, cluster_of(self))
    asked = body(self)
    found |= picked(asked, "roleArn disableSessionTags targetRoleArn policy")
    if asked.get("targetRoleArn") == "":
        found.pop("targetRoleArn")
    found["modifiedAt"] = utcnow()
    return ActionResult({"association": found})


def delete_pod_identity_association(self: Any) -> ActionResult:
    cluster = cluster_of(self)
    found = _identity(self, cluster)
    del identities(cluster)[found["associationId"]]
    return ActionResult({"association": found})


def list_pod_identity_associations(self: Any) -> ActionResult:
    found = identities(cluster_of(self)).values()
    for name in ("namespace", "serviceAccount"):
        wanted = self.querystring.get(name)
        found = [one for one in found if not wanted or one[name] in wanted]
    return paged("associations", found)


def install() -> None:
    """Add the actions to moto."""
    add(
        EKSResponse,
        create_access_entry,
        describe_access_entry,
        update_access_entry,
        delete_access_entry,
        list_access_entries,
        associate_access_policy,
        disassociate_access_policy,
        list_associated_access_policies,
        list_access_policies,
        create_pod_identity_association,
        describe_pod_identity_association,
        update_pod_identity_association,
        delete_pod_identity_association,
        list_pod_identity_associations,
    )
    cluster = "{0}/clusters/(?P<name>[^/]+)"
    for path in (
        f"{cluster}/access-entries$",
        # ARNs hold slashes: what stands where is read from the path.
        f"{cluster}/access-entries/(?P<rest>.+)$",
        "{0}/access-policies$",
        f"{cluster}/pod-identity-associations$",
        f"{cluster}/pod-identity-associations/(?P<associationId>[^/]+)$",
    ):
        url_paths[path] = EKSResponse.dispatch
