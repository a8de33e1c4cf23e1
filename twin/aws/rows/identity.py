"""Rows of identity: roles, policies, profiles, providers of identity."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Callable, Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

_GONE = words("NoSuchEntity")


def _tags(kind: str, key: str, value: str = "$id") -> Tags:
    return Tags(
        add=Call(f"tag_{kind}", {key: value, "Tags": "$tags"}),
        remove=Call(f"untag_{kind}", {key: value, "TagKeys": "$keys"}),
    )


def _members(
    name: str, parameter: str, *, new: bool
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], list[dict[str, Any]]]:
    """Give a call for each entry of a list that came, or that went."""

    def parameters(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
        old, wanted = set(before.get(name) or ()), set(now.get(name) or ())
        return [{parameter: entry} for entry in sorted(wanted - old if new else old - wanted)]

    return parameters


ROWS: Mapping[str, Row] = {
    "aws:iam/role:Role": Row(
        service="iam",
        create=Call("create_role"),
        id="Role.RoleName",
        reads=(Read("get_role", {"RoleName": "$id"}, result="Role"),),
        delete=(Call("delete_role", {"RoleName": "$id"}),),
        updates=(
            Update(
                "update_assume_role_policy",
                {"RoleName": "$id"},
                properties=("assumeRolePolicy",),
                parameters_of=lambda before, now: [{"PolicyDocument": now["assumeRolePolicy"]}],
            ),
            Update(
                "update_role",
                {"RoleName": "$id"},
                properties=("description", "maxSessionDuration"),
                resets={"description": "", "maxSessionDuration": 3600},
            ),
        ),
        replaced=words("name path"),
        tags=_tags("role", "RoleName"),
        renames={"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
        outputs={"uniqueId": "RoleId", "assumeRolePolicy": "AssumeRolePolicyDocument"},
        defaults={"maxSessionDuration": 3600},
        autoname="name",
        longest=64,
        gone=_GONE,
    ),
    "aws:iam/policy:Policy": Row(
        service="iam",
        create=Call("create_policy"),
        id="Policy.Arn",
        reads=(
            Read("get_policy", {"PolicyArn": "$id"}, result="Policy"),
            Read(
                "get_policy_version",
                {"PolicyArn": "$id", "VersionId": lambda context: context["actual"]["DefaultVersionId"]},
                result="PolicyVersion.Document",
                into="policy",
            ),
        ),
        delete=(
            Call(
                "delete_policy_version",
                {"PolicyArn": "$id", "VersionId": "$each"},
                each=Read(
                    "list_policy_versions", {"PolicyArn": "$id"}, result="Versions[?!IsDefaultVersion].VersionId"
                ),
            ),
            Call("delete_policy", {"PolicyArn": "$id"}),
        ),
        updates=(
            Update("create_policy_version", {"PolicyArn": "$id", "SetAsDefault": True}, properties=("policy",)),
            # There are five versions at most; only the last one is of use.
            Update(
                "delete_policy_version",
                {"PolicyArn": "$id", "VersionId": "$each"},
                properties=("policy",),
                parameters_of=lambda before, now: [{}] if before else [],
                each=Read(
                    "list_policy_versions", {"PolicyArn": "$id"}, result="Versions[?!IsDefaultVersion].VersionId"
                ),
            ),
        ),
        replaced=words("name path description"),
        tags=_tags("policy", "PolicyArn"),
        renames={"name": "PolicyName", "policy": "PolicyDocument"},
        outputs={"policy": "policy"},
        autoname="name",
        longest=128,
        gone=_GONE,
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Row(
        service="iam",
        create=Call("attach_role_policy"),
        id="{role}/{policyArn}",
        reads=(
            Read(
                "list_attached_role_policies",
                {"RoleName": "$role", "MaxItems": 1000},
                result="AttachedPolicies[?PolicyArn == '${policyArn}'] | [0]",
            ),
        ),
        delete=(Call("detach_role_policy", {"RoleName": "$role", "PolicyArn": "$policyArn"}),),
        replaced=words("role policyArn"),
        renames={"role": "RoleName"},
        outputs={"role": lambda actual, context: context["role"]},
        gone=_GONE,
    ),
    "aws:iam/rolePolicy:RolePolicy": Row(
        service="iam",
        create=Call("put_role_policy"),
        id="{role}:{name}",
        reads=(Read("get_role_policy", {"RoleName": "$role", "PolicyName": "$name"}),),
        delete=(Call("delete_role_policy", {"RoleName": "$role", "PolicyName": "$name"}),),
        updates=(Update("put_role_policy", {"RoleName": "$role", "PolicyName": "$name"}, properties=("policy",)),),
        replaced=words("role name"),
        renames={"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"},
        autoname="name",
        longest=128,
        gone=_GONE,
    ),
    "aws:iam/instanceProfile:InstanceProfile": Row(
        service="iam",
        create=Call("create_instance_profile"),
        id="InstanceProfile.InstanceProfileName",
        reads=(Read("get_instance_profile", {"InstanceProfileName": "$id"}, result="InstanceProfile"),),
        delete=(
            Call(
                "remove_role_from_instance_profile",
                {"InstanceProfileName": "$id", "RoleName": "$each"},
                each=Read(
                    "get_instance_profile", {"InstanceProfileName": "$id"}, result="InstanceProfile.Roles[].RoleName"
                ),
            ),
            Call("delete_instance_profile", {"InstanceProfileName": "$id"}),
        ),
        updates=(
            Update(
                "remove_role_from_instance_profile",
                {"InstanceProfileName": "$id"},
                properties=("role",),
                parameters_of=lambda before, now: [{"RoleName": before["role"]}] if before.get("role") else [],
            ),
            Update(
                "add_role_to_instance_profile",
                {"InstanceProfileName": "$id"},
                properties=("role",),
                parameters_of=lambda before, now: [{"RoleName": now["role"]}] if now.get("role") else [],
            ),
        ),
        replaced=words("name path"),
        tags=_tags("instance_profile", "InstanceProfileName"),
        renames={"name": "InstanceProfileName"},
        outputs={"uniqueId": "InstanceProfileId", "role": "Roles[0].RoleName"},
        autoname="name",
        longest=128,
        gone=_GONE,
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Row(
        service="iam",
        create=Call("create_open_id_connect_provider"),
        id="OpenIDConnectProviderArn",
        reads=(Read("get_open_id_connect_provider", {"OpenIDConnectProviderArn": "$id"}),),
        delete=(Call("delete_open_id_connect_provider", {"OpenIDConnectProviderArn": "$id"}),),
        updates=(
            Update(
                "add_client_id_to_open_id_connect_provider",
                {"OpenIDConnectProviderArn": "$id"},
                properties=("clientIdLists",),
                parameters_of=_members("clientIdLists", "ClientID", new=True),
            ),
            Update(
                "remove_client_id_from_open_id_connect_provider",
                {"OpenIDConnectProviderArn": "$id"},
                properties=("clientIdLists",),
                parameters_of=_members("clientIdLists", "ClientID", new=False),
            ),
            Update(
                "update_open_id_connect_provider_thumbprint",
                {"OpenIDConnectProviderArn": "$id"},
                properties=("thumbprintLists",),
                resets={"thumbprintLists": []},
            ),
        ),
        replaced=words("url"),
        tags=_tags("open_id_connect_provider", "OpenIDConnectProviderArn"),
        renames={"clientIdLists": "ClientIDList", "thumbprintLists": "ThumbprintList"},
        # AWS keeps it without the scheme that it wants to be given.
        outputs={
            "arn": lambda actual, context: context["id"],
            "url": lambda actual, context: f"https://{actual['Url'].removeprefix('https://')}",
        },
        gone=_GONE,
    ),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": Row(
        service="iam",
        create=Call("create_service_linked_role"),
        id="Role.Arn",
        reads=(Read("get_role", {"RoleName": lambda context: context["id"].rpartition("/")[2]}, result="Role"),),
        delete=(Call("delete_service_linked_role", {"RoleName": lambda context: context["id"].rpartition("/")[2]}),),
        updates=(
            Update(
                "update_role",
                {"RoleName": lambda context: context["id"].rpartition("/")[2]},
                properties=("description",),
                resets={"description": ""},
            ),
        ),
        replaced=words("awsServiceName customSuffix"),
        outputs={
            "name": "RoleName",
            "uniqueId": "RoleId",
            "customSuffix": lambda actual, context: actual["RoleName"].partition("_")[2] or None,
            "awsServiceName": lambda actual, context: context["id"].split("/")[-2],
        },
        gone=_GONE,
    ),
}
