"""Examples of buckets and file systems."""

from collections.abc import Callable, Mapping

from examples import Example, names, policy
from place import Place
from provider_client import ACCOUNT, REGION, Made

TAGS = {"Name": "example", "team": "research"}


def files(action: str) -> str:
    """Give the policy of a file system."""
    return policy(f"elasticfilesystem:{action}", principal="ec2.amazonaws.com")


def _s3(call: str, **parameters: object) -> Callable[[Place, Made], None]:
    def drift(place: Place, made: Made) -> None:
        getattr(place.client("s3"), call)(Bucket="place", **parameters)

    return drift


S3: Mapping[str, Example] = {
    "aws:s3/bucket:Bucket": Example(
        inputs=lambda place: {"bucket": "checkpoints", "tags": TAGS},
        change=lambda place: {"tags": {"Name": "other"}, "forceDestroy": True},
        replace=lambda place: {"bucket": "others"},
        drift=lambda place, made: place.client("s3").put_bucket_tagging(
            Bucket=made.id, Tagging={"TagSet": [{"Key": "Name", "Value": "somebody's"}]}
        ),
        drifted=names("tags"),
    ),
    "aws:s3/bucketVersioning:BucketVersioning": Example(
        inputs=lambda place: {"bucket": place.bucket, "versioningConfiguration": {"status": "Enabled"}},
        change=lambda place: {"versioningConfiguration": {"status": "Suspended"}},
        replace=lambda place: {"bucket": "others"},
        drift=_s3("put_bucket_versioning", VersioningConfiguration={"Status": "Suspended"}),
        drifted=names("versioningConfiguration"),
        mortal=False,
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": Example(
        inputs=lambda place: {
            "bucket": place.bucket,
            "rules": [
                {
                    "applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": place.key},
                    "bucketKeyEnabled": True,
                }
            ],
        },
        change=lambda place: {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]},
        replace=lambda place: {"bucket": "others"},
        drift=_s3(
            "put_bucket_encryption",
            ServerSideEncryptionConfiguration={
                "Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
            },
        ),
        drifted=names("rules"),
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Example(
        inputs=lambda place: {
            "bucket": place.bucket,
            "rules": [
                {
                    "id": "cold",
                    "status": "Enabled",
                    "filter": {"prefix": "checkpoints/"},
                    "transitions": [
                        {"days": 30, "storageClass": "STANDARD_IA"},
                        {"days": 60, "storageClass": "GLACIER_IR"},
                    ],
                    "noncurrentVersionExpiration": {"noncurrentDays": 7},
                    "abortIncompleteMultipartUpload": {"daysAfterInitiation": 1},
                }
            ],
        },
        change=lambda place: {
            "rules": [{"id": "gone", "status": "Enabled", "filter": {"prefix": ""}, "expiration": {"days": 90}}]
        },
        replace=lambda place: {"bucket": "others"},
        drift=_s3(
            "put_bucket_lifecycle_configuration",
            LifecycleConfiguration={
                "Rules": [
                    {
                        "ID": "cold",
                        "Status": "Disabled",
                        "Filter": {"Prefix": "checkpoints/"},
                        "Expiration": {"Days": 1},
                    }
                ]
            },
        ),
        drifted=names("rules"),
    ),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Example(
        inputs=lambda place: {
            "bucket": place.bucket,
            "blockPublicAcls": True,
            "blockPublicPolicy": True,
            "ignorePublicAcls": True,
            "restrictPublicBuckets": True,
        },
        change=lambda place: {"blockPublicPolicy": False},
        replace=lambda place: {"bucket": "others"},
        drift=_s3(
            "put_public_access_block",
            PublicAccessBlockConfiguration={
                "BlockPublicAcls": False,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
        ),
        drifted=names("blockPublicAcls"),
    ),
    "aws:s3/bucketPolicy:BucketPolicy": Example(
        inputs=lambda place: {
            "bucket": place.bucket,
            "policy": policy("s3:GetObject", "arn:aws:s3:::place/*", "fsx.amazonaws.com"),
        },
        change=lambda place: {"policy": policy("s3:PutObject", "arn:aws:s3:::place/*", "fsx.amazonaws.com")},
        replace=lambda place: {"bucket": "others"},
        drift=_s3("put_bucket_policy", Policy=policy("s3:*", "arn:aws:s3:::place/*", "fsx.amazonaws.com")),
        drifted=names("policy"),
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": Example(
        inputs=lambda place: {"bucket": place.bucket, "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        change=lambda place: {"rule": {"objectOwnership": "BucketOwnerPreferred"}},
        replace=lambda place: {"bucket": "others"},
        drift=_s3("put_bucket_ownership_controls", OwnershipControls={"Rules": [{"ObjectOwnership": "ObjectWriter"}]}),
        drifted=names("rule"),
    ),
}

FILES: Mapping[str, Example] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": Example(
        inputs=lambda place: {
            "subnetIds": place.subnets[0],
            "securityGroupIds": [place.group],
            "deploymentType": "PERSISTENT_2",
            "storageType": "SSD",
            "storageCapacity": 4800,
            "perUnitStorageThroughput": 500,
            "efaEnabled": True,
            "metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 6000},
            "dataCompressionType": "LZ4",
            "fileSystemTypeVersion": "2.15",
            "automaticBackupRetentionDays": 0,
            "weeklyMaintenanceStartTime": "7:03:00",
            "kmsKeyId": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{place.key}",
            "logConfiguration": {
                "level": "WARN_ERROR",
                "destination": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/fsx/x",
            },
            "rootSquashConfiguration": {"rootSquash": "365534:65534", "noSquashNids": ["10.0.1.6@tcp"]},
            "tags": TAGS,
        },
        change=lambda place: {
            "storageCapacity": 9600,
            "dataCompressionType": "NONE",
            "metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 12000},
            "skipFinalBackup": False,
        },
        replace=lambda place: {"deploymentType": "PERSISTENT_1", "storageType": "HDD", "driveCacheType": "READ"},
        drift=lambda place, made: place.client("fsx").update_file_system(
            FileSystemId=made.id, LustreConfiguration={"DataCompressionType": "NONE"}
        ),
        drifted=names("dataCompressionType"),
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Example(
        inputs=lambda place: {
            "fileSystemId": place.lustre,
            "fileSystemPath": "/checkpoints",
            "dataRepositoryPath": "s3://place/checkpoints/",
            "batchImportMetaDataOnCreate": True,
            "importedFileChunkSize": 2048,
            "s3": {
                "autoImportPolicy": {"events": ["NEW", "CHANGED"]},
                "autoExportPolicy": {"events": ["NEW", "CHANGED", "DELETED"]},
            },
            "tags": TAGS,
        },
        change=lambda place: {
            "importedFileChunkSize": 1024,
            "s3": {"autoExportPolicy": {"events": ["NEW"]}},
            "deleteDataInFilesystem": True,
        },
        replace=lambda place: {"fileSystemPath": "/data"},
        drift=lambda place, made: place.client("fsx").update_data_repository_association(
            AssociationId=made.id, ImportedFileChunkSize=512
        ),
        drifted=names("importedFileChunkSize"),
    ),
    "aws:efs/fileSystem:FileSystem": Example(
        inputs=lambda place: {
            "availabilityZoneName": f"{REGION}a",
            "encrypted": True,
            "kmsKeyId": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{place.key}",
            "performanceMode": "generalPurpose",
            "throughputMode": "elastic",
            "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
            "tags": TAGS,
        },
        change=lambda place: {"lifecyclePolicies": [{"transitionToIa": "AFTER_60_DAYS"}], "tags": {"Name": "other"}},
        replace=lambda place: {"performanceMode": "maxIO"},
        drift=lambda place, made: place.client("efs").put_lifecycle_configuration(
            FileSystemId=made.id, LifecyclePolicies=[{"TransitionToIA": "AFTER_7_DAYS"}]
        ),
        drifted=names("lifecyclePolicies"),
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Example(
        inputs=lambda place: {"fileSystemId": place.efs, "policy": files("ClientMount")},
        change=lambda place: {"policy": files("ClientWrite")},
        replace=lambda place: {"fileSystemId": "fs-0a1b2c3d4e5f67890"},
        drift=lambda place, made: place.client("efs").put_file_system_policy(
            FileSystemId=made.id, Policy=files("ClientRootAccess")
        ),
        drifted=names("policy"),
    ),
    "aws:efs/backupPolicy:BackupPolicy": Example(
        inputs=lambda place: {"fileSystemId": place.efs, "backupPolicy": {"status": "ENABLED"}},
        change=lambda place: {"backupPolicy": {"status": "DISABLED"}},
        replace=lambda place: {"fileSystemId": "fs-0a1b2c3d4e5f67890"},
        drift=lambda place, made: place.client("efs").put_backup_policy(
            FileSystemId=made.id, BackupPolicy={"Status": "DISABLED"}
        ),
        drifted=names("backupPolicy"),
        mortal=False,
    ),
    "aws:efs/mountTarget:MountTarget": Example(
        inputs=lambda place: {
            "fileSystemId": place.efs,
            "subnetId": place.subnets[0],
            "ipAddress": "10.0.0.200",
            "securityGroups": [place.group],
        },
        change=lambda place: {"securityGroups": [place.other_group]},
        replace=lambda place: {"subnetId": place.subnets[1], "ipAddress": None},
        replaced=names("subnetId ipAddress"),
        drift=lambda place, made: place.client("efs").modify_mount_target_security_groups(
            MountTargetId=made.id, SecurityGroups=[place.group, place.other_group]
        ),
        drifted=names("securityGroups"),
    ),
    "aws:efs/accessPoint:AccessPoint": Example(
        inputs=lambda place: {
            "fileSystemId": place.efs,
            "posixUser": {"uid": 1000, "gid": 1000},
            "rootDirectory": {
                "path": "/home",
                "creationInfo": {"ownerUid": 1000, "ownerGid": 1000, "permissions": "0755"},
            },
            "tags": TAGS,
        },
        change=lambda place: {"tags": {"Name": "other"}},
        replace=lambda place: {"posixUser": {"uid": 1001, "gid": 1000}},
        drift=lambda place, made: place.client("efs").tag_resource(
            ResourceId=made.id, Tags=[{"Key": "team", "Value": "somebody"}]
        ),
        drifted=names("tags"),
    ),
}
