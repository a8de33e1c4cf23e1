"""Laws about what holds data on AWS, whatever service keeps it."""

from collections.abc import Mapping

from policies.aws.reading import BUCKETS, LAUNCH_TEMPLATES, NODE_CLASS, NODE_GROUPS, STORAGE_CLASS, flag, kept
from policies.fields import Field
from policies.rules import Option, Report, ResourceRule, Severity, Stack, StackRule, rule

_DATABASE = "aws:rds/instance:Instance"
_DATABASES = "aws:rds/cluster:Cluster"
_EFS = "aws:efs/fileSystem:FileSystem"
_INSTANCE = "aws:ec2/instance:Instance"
_DEFAULT_ENCRYPTION = "aws:ebs/encryptionByDefault:EncryptionByDefault"
_VOLUME = "aws:ebs/volume:Volume"
KEEPERS = (
    *BUCKETS,
    _EFS,
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/ontapFileSystem:OntapFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:fsx/windowsFileSystem:WindowsFileSystem",
    _VOLUME,
    _DATABASE,
    _DATABASES,
    "aws:dynamodb/table:Table",
    "aws:kms/key:Key",
    "aws:eks/cluster:Cluster",
)
"""What holds data or work, or the key without which data cannot be read."""
_EMPTIED: Mapping[str, str] = dict.fromkeys(BUCKETS, "forceDestroy") | {
    "aws:ecr/repository:Repository": "forceDelete",
    _DATABASE: "skipFinalSnapshot",
    _DATABASES: "skipFinalSnapshot",
}
"""What lets a delete take the data with it."""
_GUARDS: Mapping[str, str] = {
    "aws:eks/cluster:Cluster": "deletionProtection",
    _DATABASE: "deletionProtection",
    _DATABASES: "deletionProtection",
    "aws:dynamodb/table:Table": "deletionProtectionEnabled",
}
"""AWS's own refusal to delete; it also holds in the console."""


@rule(
    ResourceRule,
    types=(_EFS, _VOLUME, _DATABASE, _DATABASES),
    id="data-encryption",
    severity=Severity.HIGH,
    what="File systems, volumes and databases are encrypted.",
    why=(
        "Backups and retired disks leave the place that guarded them. Encryption cannot be added to what is there: all "
        "data would have to be copied."
    ),
    fix="Say that it is encrypted when it is made, and name the key of the cluster's data.",
    link="https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html",
)
def data_encryption(keeper: Field, report: Report) -> None:
    """Judge what is not encrypted unless it says so."""
    # Databases have another word for it, and are told by what only they must have.
    database = keeper["engine"].value is not None or keeper["instanceClass"].value is not None
    encrypted = keeper["storageEncrypted" if database else "encrypted"]
    if not encrypted.boolean():
        report.violation(encrypted, "is not true")


@rule(
    StackRule,
    id="node-disks",
    severity=Severity.HIGH,
    what="The disks of nodes are encrypted.",
    why=(
        "They hold images, what pods write to `/tmp`, and the credentials that the kubelet keeps. Where nothing is "
        "said the first disk is as the image has it: plain."
    ),
    fix=(
        "Say `encrypted: true` in each mapping of a block device, the first one (`/dev/xvda`) included, or make an "
        "`EncryptionByDefault` for the account; where it has that already set the option `default`."
    ),
    link="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
    options={"default": Option(bool, False, "Whether the account encrypts all volumes by default.")},
)
def node_disks(stack: Stack, report: Report) -> None:
    """Judge each volume that is declared, and machines of which nothing is said; Karpenter's default is encrypted."""
    default = report.options["default"] or any(
        each.inputs["enabled"].value is not False for each in stack.of(_DEFAULT_ENCRYPTION)
    )
    for machine in stack.of(*LAUNCH_TEMPLATES, _INSTANCE, NODE_CLASS):
        with report.reading(machine.urn):
            volumes = _volumes(machine.inputs)
            for volume in volumes:
                with report.reading(machine.urn):
                    encrypted = volume["encrypted"]
                    if not flag(encrypted) and not (default and encrypted.value is None):
                        report.violation(encrypted, "is not true", machine.urn)
            if machine.type != NODE_CLASS and not volumes and not default:
                place = "rootBlockDevice" if machine.type == _INSTANCE else "blockDeviceMappings"
                report.violation(machine.inputs[place], "says nothing of the first disk", machine.urn)
    for group in stack.of(*NODE_GROUPS):
        with report.reading(group.urn):
            template = group.inputs["launchTemplate"]
            if not default and not template.members():
                report.violation(template, "is missing: only it can say that disks are encrypted", group.urn)


def _volumes(machine: Field) -> list[Field]:
    mappings = [*machine["blockDeviceMappings"].items(), *machine.at("spec", "blockDeviceMappings").items()]
    found = [each["ebs"] for each in mappings] + [machine["rootBlockDevice"], *machine["ebsBlockDevices"].items()]
    return [each for each in found if each.members()]


@rule(
    ResourceRule,
    types=(STORAGE_CLASS,),
    id="class-encryption",
    severity=Severity.HIGH,
    what="Volumes that pods claim of EBS are encrypted.",
    why="A class says it for all volumes that are ever made of it; those that are there stay as they are.",
    fix='Add `encrypted: "true"` to the parameters of the class.',
    link="https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/parameters.md",
)
def class_encryption(storage_class: Field, report: Report) -> None:
    """Judge the parameters of classes of the EBS driver."""
    if storage_class["provisioner"].text() == "ebs.csi.aws.com":
        encrypted = storage_class.at("parameters", "encrypted")
        if not flag(encrypted):
            report.violation(encrypted, "is not true")


@rule(
    StackRule,
    id="data-protected",
    severity=Severity.HIGH,
    what="What holds data or work is protected from a `destroy`, unless the document says `data: delete`.",
    why=(
        "A `destroy` in the wrong stack, or a change that replaces a file system, would take all checkpoints. The "
        "engine refuses to delete or to replace what is protected."
    ),
    fix="Give it `protect=True`; for a trial say `data: delete` in the document.",
    link="https://www.pulumi.com/docs/iac/concepts/options/protect/",
)
def data_protected(stack: Stack, report: Report) -> None:
    """Judge the option of each keeper of data."""
    keepers = [each for each in stack.of(*KEEPERS) if not each.protect]
    if keepers and kept(stack):
        for each in keepers:
            report.violation("protect", "the engine would delete it", each.urn)


@rule(
    StackRule,
    id="data-deletion",
    severity=Severity.HIGH,
    what="Nothing that holds data is emptied in order to be deleted, unless the document says `data: delete`.",
    why=(
        "Protection ends where somebody lifts it, or deletes in the console. AWS refuses to delete a bucket that holds "
        "anything, or a cluster that guards itself, and that is the last chance."
    ),
    fix="Leave out `forceDestroy` and its like, and set `deletionProtection`; for a trial say `data: delete`.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html",
)
def data_deletion(stack: Stack, report: Report) -> None:
    """Judge what lets a delete take the data with it, and what AWS itself would refuse."""
    wrong = list[tuple[Field, str, str]]()
    for resource in stack.of(*dict.fromkeys((*_EMPTIED, *_GUARDS))):
        with report.reading(resource.urn):
            emptied = resource.inputs[_EMPTIED.get(resource.type, "")]
            if emptied.boolean():
                wrong.append((emptied, "lets a delete take the data too", resource.urn))
        with report.reading(resource.urn):
            guard = _GUARDS.get(resource.type)
            if guard and not resource.inputs[guard].boolean():
                wrong.append((resource.inputs[guard], "is not true", resource.urn))
    if wrong and kept(stack):
        for where, message, urn in wrong:
            report.violation(where, message, urn)


RULES = (data_encryption, node_disks, class_encryption, data_protected, data_deletion)
