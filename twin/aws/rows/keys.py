"""Rows of keys and secrets."""

# ruff: noqa: ARG001, ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words


def _rotation(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{}] if now.get("enableKeyRotation") else []


def _no_rotation(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{}] if before.get("enableKeyRotation") and not now.get("enableKeyRotation") else []


ROWS: Mapping[str, Row] = {
    "aws:kms/key:Key": Row(
        service="kms",
        create=Call("create_key"),
        id="KeyMetadata.KeyId",
        reads=(
            Read("describe_key", {"KeyId": "$id"}, result="[KeyMetadata][?KeyState != 'PendingDeletion'] | [0]"),
            Read("get_key_policy", {"KeyId": "$id", "PolicyName": "default"}, result="Policy", into="policy"),
            Read("get_key_rotation_status", {"KeyId": "$id"}, result="KeyRotationEnabled", into="enableKeyRotation"),
            Read("list_resource_tags", {"KeyId": "$id"}, result="Tags", into="Tags"),
        ),
        delete=(
            Call(
                "schedule_key_deletion",
                {"KeyId": "$id", "PendingWindowInDays": lambda context: context.get("deletionWindowInDays", 30)},
            ),
        ),
        updates=(
            Update("update_key_description", {"KeyId": "$id"}, properties=("description",), resets={"description": ""}),
            Update("put_key_policy", {"KeyId": "$id", "PolicyName": "default"}, properties=("policy",)),
            Update("enable_key_rotation", {"KeyId": "$id"}, properties=("enableKeyRotation",), parameters_of=_rotation),
            Update(
                "disable_key_rotation", {"KeyId": "$id"}, properties=("enableKeyRotation",), parameters_of=_no_rotation
            ),
        ),
        replaced=words("customerMasterKeySpec keyUsage multiRegion"),
        tags=Tags(
            add=Call("tag_resource", {"KeyId": "$id", "Tags": "$tags"}),
            remove=Call("untag_resource", {"KeyId": "$id", "TagKeys": "$keys"}),
            keys=("TagKey", "TagValue"),
        ),
        echo=words("deletionWindowInDays"),
        defaults={"description": "Managed by Pulumi"},
        gone=words("NotFoundException KMSInvalidStateException"),
    ),
    "aws:kms/alias:Alias": Row(
        service="kms",
        create=Call("create_alias"),
        id="{name}",
        reads=(Read("list_aliases", {"Limit": 100}, result="Aliases[?AliasName == '${id}'] | [0]"),),
        delete=(Call("delete_alias", {"AliasName": "$id"}),),
        updates=(Update("update_alias", {"AliasName": "$id"}, properties=("targetKeyId",)),),
        replaced=words("name"),
        renames={"name": "AliasName"},
        outputs={
            "arn": "AliasArn",
            "targetKeyArn": lambda actual, context: (
                f"arn:aws:kms:{context['region']}:{context['account']}:key/{actual['TargetKeyId']}"
            ),
            # A key is named by its id or by its ARN; AWS tells the id.
            "targetKeyId": lambda actual, context: (
                context["targetKeyId"]
                if str(context.get("targetKeyId", "")).endswith(f"/{actual['TargetKeyId']}")
                else actual["TargetKeyId"]
            ),
        },
        gone=words("NotFoundException"),
    ),
    "aws:secretsmanager/secret:Secret": Row(
        service="secretsmanager",
        create=Call("create_secret"),
        id="ARN",
        reads=(Read("describe_secret", {"SecretId": "$id"}, result="DeletedDate && `null` || @"),),
        delete=(
            Call(
                "delete_secret",
                {
                    "SecretId": "$id",
                    "RecoveryWindowInDays": lambda context: context.get("recoveryWindowInDays", 30) or None,
                    "ForceDeleteWithoutRecovery": lambda context: context.get("recoveryWindowInDays") == 0 or None,
                },
            ),
        ),
        updates=(Update("update_secret", {"SecretId": "$id"}, properties=("description", "kmsKeyId"), whole=True),),
        replaced=words("name"),
        tags=Tags(
            add=Call("tag_resource", {"SecretId": "$id", "Tags": "$tags"}),
            remove=Call("untag_resource", {"SecretId": "$id", "TagKeys": "$keys"}),
        ),
        echo=words("recoveryWindowInDays"),
        defaults={"recoveryWindowInDays": 30},
        autoname="name",
        longest=512,
        gone=words("ResourceNotFoundException"),
    ),
    "aws:secretsmanager/secretVersion:SecretVersion": Row(
        service="secretsmanager",
        create=Call("put_secret_value"),
        id="{secretId}|AWSCURRENT",
        reads=(Read("get_secret_value", {"SecretId": "$secretId"}),),
        # A version leaves with its secret.
        updates=(Update("put_secret_value", {"SecretId": "$secretId"}, properties=("secretString",)),),
        replaced=words("secretId"),
        outputs={"secretId": lambda actual, context: context["secretId"], "secretArn": "ARN"},
        fresh=words("versionId"),
        gone=words("ResourceNotFoundException InvalidRequestException"),
    ),
    "aws:ssm/parameter:Parameter": Row(
        service="ssm",
        create=Call("put_parameter"),
        id="{name}",
        reads=(
            Read("get_parameter", {"Name": "$id", "WithDecryption": True}, result="Parameter"),
            Read(
                "describe_parameters",
                {"ParameterFilters": [{"Key": "Name", "Values": ["$id"]}]},
                result="Parameters[0].Description",
                into="Description",
            ),
            Read(
                "list_tags_for_resource",
                {"ResourceType": "Parameter", "ResourceId": "$id"},
                result="TagList",
                into="Tags",
            ),
        ),
        delete=(Call("delete_parameter", {"Name": "$id"}),),
        updates=(
            Update(
                "put_parameter",
                {"Name": "$id", "Overwrite": True},
                properties=("value", "type", "description"),
                whole=True,
            ),
        ),
        replaced=words("name"),
        tags=Tags(
            add=Call("add_tags_to_resource", {"ResourceType": "Parameter", "ResourceId": "$id", "Tags": "$tags"}),
            remove=Call(
                "remove_tags_from_resource", {"ResourceType": "Parameter", "ResourceId": "$id", "TagKeys": "$keys"}
            ),
        ),
        autoname="name",
        longest=1011,
        fresh=words("version"),
        gone=words("ParameterNotFound"),
    ),
}
