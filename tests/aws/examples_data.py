"""Examples of keys, notices and the registry."""

from collections.abc import Mapping

from examples import Example, names, policy
from provider_client import ACCOUNT, REGION

TAGS = {"Name": "example", "team": "research"}
ROOT = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", '
    '"Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "kms:*", "Resource": "*"}]}'
)


KEYS: Mapping[str, Example] = {
    "aws:kms/key:Key": Example(
        inputs=lambda place: {
            "description": "secrets",
            "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
            "keyUsage": "ENCRYPT_DECRYPT",
            "multiRegion": False,
            "enableKeyRotation": True,
            "deletionWindowInDays": 7,
            "policy": ROOT,
            "tags": TAGS,
        },
        change=lambda place: {
            "description": "other",
            "enableKeyRotation": False,
            "policy": ROOT.replace("kms:*", "kms:Decrypt"),
        },
        replace=lambda place: {"multiRegion": True},
        drift=lambda place, made: place.client("kms").disable_key_rotation(KeyId=made.id),
        drifted=names("enableKeyRotation"),
    ),
    "aws:kms/alias:Alias": Example(
        inputs=lambda place: {
            "name": "alias/example",
            "targetKeyId": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{place.key}",
        },
        change=lambda place: {"targetKeyId": place.other_key},
        replace=lambda place: {"name": "alias/other"},
        drift=lambda place, made: place.client("kms").update_alias(AliasName=made.id, TargetKeyId=place.other_key),
        drifted=names("targetKeyId"),
    ),
    "aws:secretsmanager/secret:Secret": Example(
        inputs=lambda place: {
            "name": "ecr-pullthroughcache/hub",
            "description": "registry",
            "kmsKeyId": place.key,
            "recoveryWindowInDays": 0,
            "tags": TAGS,
        },
        change=lambda place: {"description": "other"},
        replace=lambda place: {"name": "ecr-pullthroughcache/other"},
        drift=lambda place, made: place.client("secretsmanager").update_secret(SecretId=made.id, Description="drifted"),
        drifted=names("description"),
    ),
    "aws:secretsmanager/secretVersion:SecretVersion": Example(
        inputs=lambda place: {"secretId": place.secret, "secretString": "one"},
        change=lambda place: {"secretString": "two"},
        replace=lambda place: {"secretId": f"{place.secret}x"},
        drift=lambda place, made: place.client("secretsmanager").put_secret_value(
            SecretId=place.secret, SecretString="three"
        ),
        drifted=names("secretString"),
        mortal=False,
    ),
    "aws:ssm/parameter:Parameter": Example(
        inputs=lambda place: {"type": "SecureString", "value": "one", "description": "a word", "tags": TAGS},
        change=lambda place: {"value": "two"},
        replace=lambda place: {"name": "other"},
        drift=lambda place, made: place.client("ssm").put_parameter(
            Name=made.id, Value="three", Type="SecureString", Overwrite=True, Description="a word"
        ),
        drifted=names("value"),
    ),
}

NOTICES: Mapping[str, Example] = {
    "aws:cloudwatch/logGroup:LogGroup": Example(
        inputs=lambda place: {
            "name": "/aws/eks/atlas/cluster",
            "retentionInDays": 30,
            "kmsKeyId": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{place.key}",
            "tags": TAGS,
        },
        change=lambda place: {"retentionInDays": None, "tags": {"Name": "other"}},
        replace=lambda place: {"name": "/aws/eks/other/cluster"},
        drift=lambda place, made: place.client("logs").put_retention_policy(logGroupName=made.id, retentionInDays=1),
        drifted=names("retentionInDays"),
    ),
    "aws:cloudwatch/eventRule:EventRule": Example(
        inputs=lambda place: {
            "description": "spot",
            "eventPattern": '{"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]}',
            "state": "ENABLED",
            "tags": TAGS,
        },
        change=lambda place: {"description": "other", "eventPattern": None, "scheduleExpression": "rate(5 minutes)"},
        replace=lambda place: {"name": "other"},
        drift=lambda place, made: place.client("events").disable_rule(Name=made.id),
        drifted=names("state"),
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Example(
        inputs=lambda place: {
            "rule": place.rule,
            "targetId": "queue",
            "arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:place",
            "input": '{"a": 1}',
            "roleArn": place.role,
        },
        change=lambda place: {"arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:other", "input": None, "inputPath": "$.detail"},
        replace=lambda place: {"targetId": "other"},
        drift=lambda place, made: place.client("events").put_targets(
            Rule=place.rule, Targets=[{"Id": "queue", "Arn": made.inputs["arn"], "RoleArn": place.role}]
        ),
        drifted=names("input"),
    ),
    "aws:sqs/queue:Queue": Example(
        inputs=lambda place: {
            "name": "atlas",
            "messageRetentionSeconds": 300,
            "sqsManagedSseEnabled": True,
            "delaySeconds": 1,
            "maxMessageSize": 2048,
            "receiveWaitTimeSeconds": 10,
            "visibilityTimeoutSeconds": 60,
            "tags": TAGS,
        },
        change=lambda place: {"messageRetentionSeconds": 600, "kmsMasterKeyId": place.key},
        replace=lambda place: {"name": "other"},
        drift=lambda place, made: place.client("sqs").set_queue_attributes(
            QueueUrl=made.id, Attributes={"VisibilityTimeout": "30"}
        ),
        drifted=names("visibilityTimeoutSeconds"),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Example(
        inputs=lambda place: {
            "queueUrl": place.queue,
            "policy": policy("sqs:SendMessage", principal="events.amazonaws.com"),
        },
        change=lambda place: {"policy": policy("sqs:*", principal="events.amazonaws.com")},
        replace=lambda place: {"queueUrl": f"{place.queue}x"},
        drift=lambda place, made: place.client("sqs").set_queue_attributes(
            QueueUrl=place.queue, Attributes={"Policy": policy("sqs:*", principal="sqs.amazonaws.com")}
        ),
        drifted=names("policy"),
    ),
}

_LIFECYCLE = (
    '{"rules": [{"rulePriority": 1, "selection": {"tagStatus": "untagged", "countType": "imageCountMoreThan", '
    '"countNumber": %d}, "action": {"type": "expire"}}]}'
)

REGISTRY: Mapping[str, Example] = {
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": Example(
        inputs=lambda place: {
            "ecrRepositoryPrefix": "nvcr",
            "upstreamRegistryUrl": "nvcr.io",
            "credentialArn": place.secret,
        },
        change=lambda place: {"credentialArn": f"{place.secret}x"},
        replace=lambda place: {"upstreamRegistryUrl": "registry.k8s.io"},
        drift=lambda place, made: place.client("ecr").update_pull_through_cache_rule(
            ecrRepositoryPrefix="nvcr", credentialArn=f"{place.secret}y"
        ),
        drifted=names("credentialArn"),
    ),
    "aws:ecr/repository:Repository": Example(
        inputs=lambda place: {
            "name": "team/trainer",
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
            "encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": place.key}],
            "forceDelete": True,
            "tags": TAGS,
        },
        change=lambda place: {
            "imageTagMutability": "MUTABLE",
            "imageScanningConfiguration": {"scanOnPush": False},
        },
        replace=lambda place: {"name": "team/other"},
        drift=lambda place, made: place.client("ecr").put_image_tag_mutability(
            repositoryName=made.id, imageTagMutability="MUTABLE"
        ),
        drifted=names("imageTagMutability"),
    ),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": Example(
        inputs=lambda place: {"repository": place.repository, "policy": _LIFECYCLE % 5},
        change=lambda place: {"policy": _LIFECYCLE % 6},
        replace=lambda place: {"repository": "other"},
        drift=lambda place, made: place.client("ecr").put_lifecycle_policy(
            repositoryName=place.repository, lifecyclePolicyText=_LIFECYCLE % 7
        ),
        drifted=names("policy"),
    ),
}
