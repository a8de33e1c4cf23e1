"""Rows of logs, queues and events: what Karpenter hears of its nodes, and what a cluster writes down."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

_QUEUE = {
    "delaySeconds": "DelaySeconds",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "maxMessageSize": "MaximumMessageSize",
    "messageRetentionSeconds": "MessageRetentionPeriod",
    "receiveWaitTimeSeconds": "ReceiveMessageWaitTimeSeconds",
    "sqsManagedSseEnabled": "SqsManagedSseEnabled",
    "visibilityTimeoutSeconds": "VisibilityTimeout",
}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _attributes(values: Mapping[str, Any]) -> dict[str, str]:
    return {member: _text(values[name]) for name, member in _QUEUE.items() if values.get(name) is not None}


def _target(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    names = {"targetId": "Id", "arn": "Arn", "roleArn": "RoleArn", "input": "Input", "inputPath": "InputPath"}
    return [{member: values[name] for name, member in names.items() if values.get(name)}]


ROWS: Mapping[str, Row] = {
    "aws:cloudwatch/logGroup:LogGroup": Row(
        service="logs",
        create=Call("create_log_group"),
        id="{name}",
        reads=(
            Read(
                "describe_log_groups", {"logGroupNamePrefix": "$id"}, result="logGroups[?logGroupName == '${id}'] | [0]"
            ),
            Read("list_tags_log_group", {"logGroupName": "$id"}, result="tags", into="tags"),
        ),
        delete=(
            Call("delete_log_group", {"logGroupName": "$id"}, when=lambda context: not context.get("skipDestroy")),
        ),
        updates=(
            Update(
                "put_retention_policy",
                {"logGroupName": "$id"},
                properties=("retentionInDays",),
                parameters_of=lambda before, now: (
                    [{"retentionInDays": now["retentionInDays"]}] if now.get("retentionInDays") else []
                ),
            ),
            Update(
                "delete_retention_policy",
                {"logGroupName": "$id"},
                properties=("retentionInDays",),
                parameters_of=lambda before, now: (
                    [{}] if before.get("retentionInDays") and not now.get("retentionInDays") else []
                ),
            ),
        ),
        replaced=words("name kmsKeyId"),
        tags=Tags(
            add=Call("tag_log_group", {"logGroupName": "$id", "tags": "$tags"}),
            remove=Call("untag_log_group", {"logGroupName": "$id", "tags": "$keys"}),
            create="tags",
            keys=(),
            read="tags",
        ),
        renames={"name": "logGroupName"},
        outputs={"arn": lambda actual, context: actual["arn"].removesuffix(":*")},
        echo=words("skipDestroy"),
        defaults={"skipDestroy": False},
        autoname="name",
        longest=512,
        gone=words("ResourceNotFoundException"),
    ),
    "aws:cloudwatch/eventRule:EventRule": Row(
        service="events",
        create=Call("put_rule"),
        id="{name}",
        reads=(
            Read("describe_rule", {"Name": "$id"}),
            Read(
                "list_tags_for_resource",
                {"ResourceARN": lambda context: context["actual"]["Arn"]},
                result="Tags",
                into="Tags",
            ),
        ),
        delete=(Call("delete_rule", {"Name": "$id"}),),
        updates=(
            Update(
                "put_rule",
                {"Name": "$id"},
                properties=("description", "eventPattern", "scheduleExpression", "state"),
                whole=True,
            ),
        ),
        replaced=words("name"),
        tags=Tags(
            add=Call("tag_resource", {"ResourceARN": "$arn", "Tags": "$tags"}),
            remove=Call("untag_resource", {"ResourceARN": "$arn", "TagKeys": "$keys"}),
        ),
        autoname="name",
        longest=64,
        gone=words("ResourceNotFoundException"),
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Row(
        service="events",
        create=Call("put_targets", {"Targets": _target}),
        id="{rule}-{targetId}",
        reads=(Read("list_targets_by_rule", {"Rule": "$rule"}, result="Targets[?Id == '${targetId}'] | [0]"),),
        delete=(Call("remove_targets", {"Rule": "$rule", "Ids": ["$targetId"]}),),
        updates=(
            Update(
                "put_targets",
                {"Rule": "$rule"},
                properties=("arn", "roleArn", "input", "inputPath"),
                parameters_of=lambda before, now: [{"Targets": _target(now)}],
            ),
        ),
        replaced=words("rule targetId"),
        composed=words("arn roleArn input inputPath targetId"),
        outputs={"rule": lambda actual, context: context["rule"], "targetId": "Id"},
        autoname="targetId",
        longest=64,
        gone=words("ResourceNotFoundException"),
    ),
    "aws:sqs/queue:Queue": Row(
        service="sqs",
        create=Call("create_queue", {"Attributes": _attributes}),
        id="QueueUrl",
        reads=(
            Read("get_queue_attributes", {"QueueUrl": "$id", "AttributeNames": ["All"]}, result="Attributes"),
            Read("list_queue_tags", {"QueueUrl": "$id"}, result="Tags", into="tags"),
        ),
        delete=(Call("delete_queue", {"QueueUrl": "$id"}),),
        updates=(
            Update(
                "set_queue_attributes",
                {"QueueUrl": "$id"},
                properties=tuple(_QUEUE),
                parameters_of=lambda before, now: [{"Attributes": _attributes(now)}],
            ),
        ),
        replaced=words("name"),
        tags=Tags(
            add=Call("tag_queue", {"QueueUrl": "$id", "Tags": "$tags"}),
            remove=Call("untag_queue", {"QueueUrl": "$id", "TagKeys": "$keys"}),
            create="tags",
            keys=(),
            read="tags",
        ),
        composed=frozenset(_QUEUE),
        renames={"name": "QueueName"},
        outputs={
            **_QUEUE,
            "arn": "QueueArn",
            "url": lambda actual, context: context["id"],
            "name": lambda actual, context: actual["QueueArn"].rpartition(":")[2],
            "policy": "Policy",
        },
        autoname="name",
        longest=80,
        gone=words("AWS.SimpleQueueService.NonExistentQueue QueueDoesNotExist"),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Row(
        service="sqs",
        create=Call("set_queue_attributes", {"Attributes": lambda context: {"Policy": context["policy"]}}),
        id="{queueUrl}",
        reads=(
            Read(
                "get_queue_attributes",
                {"QueueUrl": "$queueUrl", "AttributeNames": ["Policy"]},
                result="Attributes.Policy && Attributes",
            ),
        ),
        delete=(Call("set_queue_attributes", {"QueueUrl": "$queueUrl", "Attributes": {"Policy": ""}}),),
        updates=(
            Update(
                "set_queue_attributes",
                {"QueueUrl": "$queueUrl"},
                properties=("policy",),
                parameters_of=lambda before, now: [{"Attributes": {"Policy": now["policy"]}}],
            ),
        ),
        replaced=words("queueUrl"),
        composed=words("policy"),
        outputs={"queueUrl": lambda actual, context: context["queueUrl"]},
        gone=words("AWS.SimpleQueueService.NonExistentQueue QueueDoesNotExist"),
    ),
}
