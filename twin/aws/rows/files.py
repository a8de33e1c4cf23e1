"""Rows of file systems."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import words

_LUSTRE = (
    "automaticBackupRetentionDays", "dataCompressionType", "metadataConfiguration", "perUnitStorageThroughput",
    "rootSquashConfiguration", "logConfiguration", "weeklyMaintenanceStartTime",
)  # fmt: skip


def _lower_version(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """A newer version of Lustre is an upgrade in place; there is no way back."""
    name = "fileSystemTypeVersion"
    old, new = (tuple(map(int, values.get(name, "0").split("."))) for values in (before, now))
    return frozenset({name}) if now.get(name) and new < old else frozenset()


def _fsx_tags() -> Tags:
    return Tags(
        add=Call("tag_resource", {"ResourceARN": "$arn", "Tags": "$tags"}),
        remove=Call("untag_resource", {"ResourceARN": "$arn", "TagKeys": "$keys"}),
    )


def _efs_tags() -> Tags:
    return Tags(
        add=Call("tag_resource", {"ResourceId": "$id", "Tags": "$tags"}),
        remove=Call("untag_resource", {"ResourceId": "$id", "TagKeys": "$keys"}),
    )


ROWS: Mapping[str, Row] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": Row(
        service="fsx",
        create=Call("create_file_system", {"FileSystemType": "LUSTRE"}),
        id="FileSystem.FileSystemId",
        reads=(
            Read(
                "describe_file_systems",
                {"FileSystemIds": ["$id"]},
                result="FileSystems[*].merge(LustreConfiguration || `{}`, @) | [0]",
            ),
        ),
        delete=(Call("delete_file_system", {"FileSystemId": "$id"}),),
        updates=(
            Update(
                "update_file_system",
                {"FileSystemId": "$id"},
                properties=("storageCapacity", "fileSystemTypeVersion", *_LUSTRE),
                whole=True,
            ),
        ),
        replaced=words("deploymentType driveCacheType efaEnabled kmsKeyId securityGroupIds storageType subnetIds"),
        replaced_too=_lower_version,
        tags=_fsx_tags(),
        inside="LustreConfiguration",
        renames={"logConfiguration.destination": "Destination"},
        outputs={"arn": "ResourceARN", "dnsName": "DNSName"},
        echo=words("securityGroupIds skipFinalBackup"),
        defaults={"skipFinalBackup": True},
        gone=words("FileSystemNotFound"),
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Row(
        service="fsx",
        create=Call("create_data_repository_association"),
        id="Association.AssociationId",
        reads=(Read("describe_data_repository_associations", {"AssociationIds": ["$id"]}, result="Associations[0]"),),
        delete=(
            Call(
                "delete_data_repository_association",
                {
                    "AssociationId": "$id",
                    "DeleteDataInFileSystem": lambda context: bool(context.get("deleteDataInFilesystem")),
                },
            ),
        ),
        updates=(
            Update(
                "update_data_repository_association",
                {"AssociationId": "$id"},
                properties=("importedFileChunkSize", "s3"),
                whole=True,
            ),
        ),
        replaced=words("fileSystemId fileSystemPath dataRepositoryPath batchImportMetaDataOnCreate"),
        tags=_fsx_tags(),
        outputs={"arn": "ResourceARN"},
        echo=words("deleteDataInFilesystem"),
        defaults={"deleteDataInFilesystem": False},
        gone=words("DataRepositoryAssociationNotFound"),
    ),
    "aws:efs/fileSystem:FileSystem": Row(
        service="efs",
        create=Call("create_file_system"),
        id="FileSystemId",
        reads=(
            Read("describe_file_systems", {"FileSystemId": "$id"}, result="FileSystems[0]"),
            Read(
                "describe_lifecycle_configuration",
                {"FileSystemId": "$id"},
                result="LifecyclePolicies",
                into="LifecyclePolicies",
            ),
        ),
        delete=(Call("delete_file_system", {"FileSystemId": "$id"}),),
        updates=(
            Update(
                "put_lifecycle_configuration",
                {"FileSystemId": "$id"},
                properties=("lifecyclePolicies",),
                resets={"lifecyclePolicies": []},
            ),
        ),
        replaced=words("availabilityZoneName creationToken encrypted kmsKeyId performanceMode throughputMode"),
        tags=_efs_tags(),
        outputs={
            "arn": "FileSystemArn",
            "dnsName": lambda actual, context: f"{context['id']}.efs.{context['region']}.amazonaws.com",
            "sizeInBytes": "[SizeInBytes]",
        },
        autoname="creationToken",
        longest=64,
        gone=words("FileSystemNotFound"),
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Row(
        service="efs",
        create=Call("put_file_system_policy"),
        id="FileSystemId",
        reads=(Read("describe_file_system_policy", {"FileSystemId": "$id"}),),
        delete=(Call("delete_file_system_policy", {"FileSystemId": "$id"}),),
        updates=(Update("put_file_system_policy", {"FileSystemId": "$id"}, properties=("policy",)),),
        replaced=words("fileSystemId"),
        alone=True,
        gone=words("FileSystemNotFound PolicyNotFound"),
    ),
    "aws:efs/backupPolicy:BackupPolicy": Row(
        service="efs",
        create=Call("put_backup_policy"),
        id="{fileSystemId}",
        reads=(Read("describe_backup_policy", {"FileSystemId": "$id"}),),
        # What is not backed up any more says so: there is no other end of it.
        delete=(Call("put_backup_policy", {"FileSystemId": "$id", "BackupPolicy": {"Status": "DISABLED"}}),),
        updates=(Update("put_backup_policy", {"FileSystemId": "$id"}, properties=("backupPolicy",)),),
        replaced=words("fileSystemId"),
        alone=True,
        outputs={"fileSystemId": lambda actual, context: context["id"]},
        gone=words("FileSystemNotFound PolicyNotFound"),
    ),
    "aws:efs/mountTarget:MountTarget": Row(
        service="efs",
        create=Call("create_mount_target"),
        id="MountTargetId",
        reads=(
            Read("describe_mount_targets", {"MountTargetId": "$id"}, result="MountTargets[0]"),
            Read(
                "describe_mount_target_security_groups",
                {"MountTargetId": "$id"},
                result="SecurityGroups",
                into="SecurityGroups",
            ),
        ),
        delete=(Call("delete_mount_target", {"MountTargetId": "$id"}),),
        updates=(
            Update("modify_mount_target_security_groups", {"MountTargetId": "$id"}, properties=("securityGroups",)),
        ),
        replaced=words("fileSystemId subnetId ipAddress"),
        alone=True,
        outputs={
            "dnsName": lambda actual, context: f"{actual['FileSystemId']}.efs.{context['region']}.amazonaws.com",
            "fileSystemArn": lambda actual, context: (
                f"arn:aws:elasticfilesystem:{context['region']}:{context['account']}:file-system/{actual['FileSystemId']}"
            ),
        },
        gone=words("MountTargetNotFound"),
    ),
    "aws:efs/accessPoint:AccessPoint": Row(
        service="efs",
        create=Call("create_access_point"),
        id="AccessPointId",
        reads=(Read("describe_access_points", {"AccessPointId": "$id"}, result="AccessPoints[0]"),),
        delete=(Call("delete_access_point", {"AccessPointId": "$id"}),),
        replaced=words("fileSystemId posixUser rootDirectory"),
        tags=_efs_tags(),
        outputs={"arn": "AccessPointArn"},
        gone=words("AccessPointNotFound"),
    ),
}
