"""What holds data on AWS."""

from dataclasses import replace
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, secret

KEPT = platform(document("aws-training"))
TRIAL = platform(document("aws-training") | {"data": "delete"})
UNSURE = platform(document("aws-training") | {"data": UNKNOWN})

BY_DEFAULT = Resource("aws:ebs/encryptionByDefault:EncryptionByDefault", {"enabled": True}, "default")
ENCRYPTING = platform(document("aws-training") | {"policies": {"options": {"node-disks": {"default": True}}}})


def efs(**inputs: Any) -> Resource:
    return Resource("aws:efs/fileSystem:FileSystem", inputs, "files", protect=True)


def volume(**inputs: Any) -> Resource:
    return Resource("aws:ebs/volume:Volume", inputs, "volume", protect=True)


def database(kind: str = "instance:Instance", **inputs: Any) -> Resource:
    return Resource(f"aws:rds/{kind}", {"engine": "postgres", **inputs}, "database", protect=True)


def template(**ebs: Any) -> Resource:
    mappings = [{"deviceName": "/dev/sdc", "virtualName": "ephemeral0"}, {"deviceName": "/dev/xvda", "ebs": ebs}]
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", {"blockDeviceMappings": mappings}, "template")


def node_class(**ebs: Any) -> Resource:
    mappings = [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi", **ebs}}]
    return Resource(
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": {"blockDeviceMappings": mappings}}, "class"
    )


def storage_class(provisioner: Any, **parameters: Any) -> Resource:
    inputs = {"provisioner": provisioner, "parameters": parameters}
    return Resource("kubernetes:storage.k8s.io/v1:StorageClass", inputs, "class")


def bucket(**inputs: Any) -> Resource:
    return Resource("aws:s3/bucket:Bucket", inputs, "bucket", protect=True)


def cluster(**inputs: Any) -> Resource:
    return Resource("aws:eks/cluster:Cluster", inputs, "cluster", protect=True)


def open_(resource: Resource) -> Resource:
    return replace(resource, protect=False)


BREAKS: Breaks = {
    "data-encryption": [
        (efs(), "encrypted: is not true"),
        (efs(encrypted=False), "encrypted: is not true"),
        (volume(size=100), "encrypted: is not true"),
        (database(), "storageEncrypted: is not true"),
        (database("cluster:Cluster", encrypted=True), "storageEncrypted: is not true"),
    ],
    "node-disks": [
        (template(encrypted="false"), "blockDeviceMappings[1].ebs.encrypted: is not true"),
        (template(volumeSize=100), "blockDeviceMappings[1].ebs.encrypted: is not true"),
        (node_class(), "spec.blockDeviceMappings[0].ebs.encrypted: is not true"),
        (Resource("aws:ec2/instance:Instance", {"rootBlockDevice": {"volumeSize": 8}}), "rootBlockDevice.encrypted"),
        (
            Resource("aws:ec2/instance:Instance", {"ebsBlockDevices": [{"encrypted": True}, {"encrypted": False}]}),
            "ebsBlockDevices[1].encrypted: is not true",
        ),
        # Nothing is said, so that the first disk is as the image has it.
        (Resource("aws:ec2/launchTemplate:LaunchTemplate", {}), "blockDeviceMappings: says nothing of the first disk"),
        (Resource("aws:ec2/instance:Instance", {}), "rootBlockDevice: says nothing of the first disk"),
        (Resource("aws:eks/nodeGroup:NodeGroup", {"diskSize": 100}), "launchTemplate: is missing: only it can say"),
        ([BY_DEFAULT, template(encrypted=False)], "blockDeviceMappings[1].ebs.encrypted: is not true"),
    ],
    "class-encryption": [
        (storage_class("ebs.csi.aws.com", type="gp3"), "parameters.encrypted: is not true"),
        (storage_class("ebs.csi.aws.com", encrypted="false"), "parameters.encrypted: is not true"),
    ],
    "data-protected": [
        (open_(bucket()), "protect: the engine would delete it"),
        ([KEPT, open_(efs(encrypted=True))], "protect: the engine would delete it"),
        ([KEPT, bucket(), open_(cluster())], "protect: the engine would delete it"),
        (Resource("aws:fsx/lustreFileSystem:LustreFileSystem", {}), "protect"),
        (Resource("aws:kms/key:Key", {}), "protect"),
        (Resource("aws:dynamodb/table:Table", {}), "protect"),
    ],
    "data-deletion": [
        (bucket(forceDestroy=True), "forceDestroy: lets a delete take the data too"),
        ([KEPT, bucket(forceDestroy=True)], "forceDestroy"),
        (Resource("aws:ecr/repository:Repository", {"forceDelete": True}), "forceDelete"),
        (database(skipFinalSnapshot=True, deletionProtection=True), "skipFinalSnapshot"),
        (database(), "deletionProtection: is not true"),
        ([KEPT, cluster(deletionProtection=False)], "deletionProtection: is not true"),
        (Resource("aws:dynamodb/table:Table", {}, protect=True), "deletionProtectionEnabled: is not true"),
    ],
}

PASSES: Passes = {
    "data-encryption": [efs(encrypted=True), volume(encrypted=True), database(storageEncrypted=secret(True))],
    "node-disks": [
        template(encrypted="true"),
        template(encrypted=True),
        node_class(encrypted=True),
        Resource("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": {}}),
        [BY_DEFAULT, template(volumeSize=100)],
        [BY_DEFAULT, Resource("aws:ec2/launchTemplate:LaunchTemplate", {})],
        [ENCRYPTING, Resource("aws:eks/nodeGroup:NodeGroup", {"diskSize": 100})],
        Resource("aws:eks/nodeGroup:NodeGroup", {"launchTemplate": {"id": UNKNOWN}}),
    ],
    "class-encryption": [
        storage_class("ebs.csi.aws.com", encrypted="true"),
        storage_class("efs.csi.aws.com"),
        storage_class("kubernetes.io/no-provisioner"),
    ],
    "data-protected": [
        [KEPT, bucket(), cluster()],
        [TRIAL, open_(bucket()), open_(cluster())],
        [UNSURE, bucket()],
        Resource("aws:s3/bucketVersioning:BucketVersioning", {}),
    ],
    "data-deletion": [
        [KEPT, bucket(), cluster(deletionProtection=True)],
        [TRIAL, bucket(forceDestroy=True), cluster()],
        [UNSURE, bucket(forceDestroy=False)],
    ],
}

UNKNOWNS: Unknowns = {
    "data-encryption": [
        (efs(encrypted=UNKNOWN), "encrypted"),
        (database(storageEncrypted=UNKNOWN), "storageEncrypted"),
    ],
    "node-disks": [
        (template(encrypted=UNKNOWN), "blockDeviceMappings[1].ebs.encrypted"),
        (Resource("aws:ec2/launchTemplate:LaunchTemplate", {"blockDeviceMappings": UNKNOWN}), "blockDeviceMappings"),
    ],
    "class-encryption": [
        (storage_class("ebs.csi.aws.com", encrypted=UNKNOWN), "parameters.encrypted"),
        (storage_class(UNKNOWN), "provisioner"),
    ],
    "data-protected": [([UNSURE, open_(bucket())], "environment.data", "")],
    "data-deletion": [
        (bucket(forceDestroy=UNKNOWN), "forceDestroy"),
        ([UNSURE, bucket(forceDestroy=True)], "environment.data", ""),
    ],
}
