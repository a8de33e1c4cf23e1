"""Rows of the image registry."""

from collections.abc import Mapping

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

ROWS: Mapping[str, Row] = {
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": Row(
        service="ecr",
        create=Call("create_pull_through_cache_rule"),
        id="{ecrRepositoryPrefix}",
        reads=(
            Read(
                "describe_pull_through_cache_rules",
                {"ecrRepositoryPrefixes": ["$id"]},
                result="pullThroughCacheRules[0]",
            ),
        ),
        delete=(Call("delete_pull_through_cache_rule", {"ecrRepositoryPrefix": "$id"}),),
        updates=(
            Update("update_pull_through_cache_rule", {"ecrRepositoryPrefix": "$id"}, properties=("credentialArn",)),
        ),
        replaced=words("ecrRepositoryPrefix upstreamRegistryUrl"),
        gone=words("PullThroughCacheRuleNotFoundException"),
    ),
    "aws:ecr/repository:Repository": Row(
        service="ecr",
        create=Call("create_repository"),
        id="repository.repositoryName",
        reads=(
            Read("describe_repositories", {"repositoryNames": ["$id"]}, result="repositories[0]"),
            Read(
                "list_tags_for_resource",
                {"resourceArn": lambda context: context["actual"]["repositoryArn"]},
                result="tags",
                into="tags",
            ),
        ),
        delete=(Call("delete_repository", {"repositoryName": "$id", "force": "$forceDelete"}),),
        updates=(
            Update("put_image_tag_mutability", {"repositoryName": "$id"}, properties=("imageTagMutability",)),
            Update(
                "put_image_scanning_configuration",
                {"repositoryName": "$id"},
                properties=("imageScanningConfiguration",),
            ),
        ),
        replaced=words("name encryptionConfigurations"),
        tags=Tags(
            add=Call("tag_resource", {"resourceArn": "$arn", "tags": "$tags"}),
            remove=Call("untag_resource", {"resourceArn": "$arn", "tagKeys": "$keys"}),
            create="tags",
            read="tags",
        ),
        renames={
            "name": "repositoryName",
            "encryptionConfigurations": "encryptionConfiguration",
            "encryptionConfigurations.kmsKey": "kmsKey",
        },
        outputs={"arn": "repositoryArn", "repositoryUrl": "repositoryUri"},
        echo=words("forceDelete"),
        defaults={"imageTagMutability": "MUTABLE"},
        autoname="name",
        longest=256,
        gone=words("RepositoryNotFoundException"),
    ),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": Row(
        service="ecr",
        create=Call("put_lifecycle_policy"),
        id="{repository}",
        reads=(Read("get_lifecycle_policy", {"repositoryName": "$id"}),),
        delete=(Call("delete_lifecycle_policy", {"repositoryName": "$id"}),),
        updates=(Update("put_lifecycle_policy", {"repositoryName": "$id"}, properties=("policy",)),),
        replaced=words("repository"),
        renames={"repository": "repositoryName", "policy": "lifecyclePolicyText"},
        gone=words("RepositoryNotFoundException LifecyclePolicyNotFoundException"),
    ),
}
