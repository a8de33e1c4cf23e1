"""What the role of CI may do: read, and make and change what belongs to a cluster.

What it changes is limited by the tag that everything of a cluster carries: with it alone may things be made, and only
what has it may be changed. Which action takes which resources and conditions:
https://docs.aws.amazon.com/service-authorization/latest/reference/.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import CLUSTER_TAG
from .statements import Statement

BUCKETS = "platform-archive-"
"""What the names of buckets begin with that a stack makes, unless a document gives another."""
ROLES = "platform-"
"""What the names of all roles begin with that a stack makes: the engine makes them from logical names. IAM lets whoever
may tag roles at their making tag any, so the tag alone would open all roles of the account."""

_NEW = {"Null": {f"aws:RequestTag/{CLUSTER_TAG}": "false"}}
_OURS = {"Null": {f"aws:ResourceTag/{CLUSTER_TAG}": "false"}}

_NO_RESOURCES = "AWS knows no single resources for these reads"
_IDS = "ids and names are not known before; the condition keeps to what carries the tag of a cluster"
_TAGGED = "ids and names are not known before; the condition wants the tag of a cluster"

EXCEPTIONS: Mapping[str, str] = {
    "Read": _NO_RESOURCES,
    "ReadEach": "ids and names are not known before; it only reads",
    "Make": _TAGGED,
    "MakeInVpc": "a VPC that was there before carries no tag; what is made in it does",
    "MakeGatewayIn": "subnets and addresses are limited where they are made; the gateway carries the tag",
    "MakeEndpointIn": "what an end point names is limited where it is made; the end point carries the tag",
    "EndpointNames": "the zone is AWS's own, made with the end point",
    "Tag": "the condition keeps to what is made in the same call",
    "Change": _IDS,
    "Rules": "a rule is changed by way of its group, which `Groups` and `GroupsOfEks` limit",
    "Groups": _IDS,
    "GroupsOfEks": "the condition keeps to the groups that EKS makes for clusters",
    "Launch": "EKS wants whoever makes a node group to be allowed to start it; the condition wants a launch template",
    "MakeCluster": _TAGGED,
    "ChangeCluster": _IDS,
    "TagGroups": "names of Auto Scaling groups are EKS's own; the condition keeps to those of its node groups",
    "MakeKey": _TAGGED,
    "ChangeKey": _IDS,
    "Aliases": "setting an alias takes the permission for its key, too, which `ChangeKey` limits",
    "Logs": "the names of clusters are chosen by people; the path is that of EKS alone",
    "MakeQueue": _TAGGED,
    "ChangeQueue": _IDS,
    "Caches": "the account has one registry, whose rules have no names that a policy could tell",
    "CacheSecrets": "it only reads, below the prefix that ECR wants",
    "MakeRole": _TAGGED,
    "ChangeRole": _IDS,
    "AttachPolicy": "the condition keeps to roles of clusters, and to AWS's own policies for nodes and clusters",
    "PassRole": "names end in what the engine invents; the condition names who may get the role",
    "ServiceRoles": "the condition names the services",
    "ReadData": _NO_RESOURCES,
    "MakeData": _TAGGED,
    "ChangeData": _IDS,
    "Archives": "names end in what the engine invents; what is in them nobody but jobs and rules may change",
    "MountTargets": "ids are not known before; the condition keeps to what EFS does on behalf of the role",
    "LinkRoles": "AWS names the role of a link after its file system; the path is that of such roles alone",
    "States": "all that is below it is states, histories and locks",
}
"""Why a statement may hold wildcards in its resources, by its Sid."""

UNCONDITIONED = (
    "MakeInVpc",
    "MakeGatewayIn",
    "MakeEndpointIn",
    "EndpointNames",
    "Rules",
    "Aliases",
    "Logs",
    "Caches",
    "Archives",
    "LinkRoles",
    "States",
)
"""Those of them that change something without a condition, for the reason that stands above."""

_MADE = """elastic-ip internet-gateway launch-template natgateway placement-group route-table security-group
security-group-rule subnet vpc vpc-endpoint"""
_MAKE = """AllocateAddress CreateInternetGateway CreateLaunchTemplate CreateNatGateway CreatePlacementGroup
CreateRouteTable CreateSecurityGroup CreateSubnet CreateVpc CreateVpcEndpoint"""
_RULES = """ec2: AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress ModifySecurityGroupRules
RevokeSecurityGroupEgress RevokeSecurityGroupIngress UpdateSecurityGroupRuleDescriptionsEgress
UpdateSecurityGroupRuleDescriptionsIngress"""
_POLICIES = """AmazonEKSClusterPolicy AmazonEKSWorkerNodePolicy AmazonEC2ContainerRegistryPullOnly
AmazonSSMManagedInstanceCore"""
_RECEIVERS = "ec2.amazonaws.com ec2.amazonaws.com.cn ecr.amazonaws.com eks.amazonaws.com pods.eks.amazonaws.com"
_LINK = "s3.data-source.lustre.fsx.amazonaws.com"
_SERVICES = f"""autoscaling.amazonaws.com eks.amazonaws.com eks-nodegroup.amazonaws.com elasticfilesystem.amazonaws.com
fsx.amazonaws.com pullthroughcache.ecr.amazonaws.com {_LINK} spot.amazonaws.com"""


@dataclass(frozen=True)
class Place:
    """Where the role works.

    Attributes:
        partition: Such as `aws`.
        account: Twelve digits.
        region: The region of its clusters.
    """

    partition: str
    account: str
    region: str

    def arns(self, service: str, resources: str, owner: str | None = None) -> list[str]:
        """The ARNs of resources in the region, those of IAM without one.

        Args:
            service: Such as `ec2`.
            resources: Their last parts, such as `subnet/* vpc/*`.
            owner: The account that owns them: this one, unless said otherwise.
        """
        region = "" if service == "iam" else self.region
        owner = self.account if owner is None else owner
        return [f"arn:{self.partition}:{service}:{region}:{owner}:{each}" for each in resources.split()]


def policies(at: Place, bucket: str, key: str | None) -> dict[str, list[Statement]]:
    """What the role may do, by topic.

    Args:
        at: Where it works.
        bucket: Name of the state bucket.
        key: ARN of the key of states and secrets; None before it is made.
    """
    return {
        "state": _state(f"arn:{at.partition}:s3:::{bucket}", key),
        "reads": _reads(at),
        "network": _network(at),
        "cluster": _cluster(at),
        "identity": _identity(at),
        "storage": _storage(at),
    }


def _state(bucket: str, key: str | None) -> list[Statement]:
    """States, histories and locks, all objects below one name, and the key that seals them.

    Source: pkg/backend/diy of https://github.com/pulumi/pulumi: a lock is written, and deleted in the end.
    """
    return [
        _allow("ListStates", "s3: ListBucket", [bucket]),
        _allow("States", "s3: DeleteObject GetObject PutObject", [f"{bucket}/.pulumi/*"]),
        *([_allow("Secrets", "kms: Decrypt Encrypt GenerateDataKey", [key])] if key else []),
        # With the tag of a cluster it could be deleted, and the tag may be set on any key that is made.
        *([{**_allow("KeyStays", "kms: TagResource", [key]), "Effect": "Deny"}] if key else []),
    ]


def _reads(at: Place) -> list[Statement]:
    each = """
    eks: DescribeAccessEntry DescribeAddon DescribeCluster DescribeNodegroup DescribePodIdentityAssociation
    DescribeUpdate ListAccessEntries ListAddons ListAssociatedAccessPolicies ListNodegroups
    ListPodIdentityAssociations ListTagsForResource ListUpdates
    events: DescribeRule ListTagsForResource ListTargetsByRule
    iam: GetInstanceProfile GetRole GetRolePolicy ListAttachedRolePolicies ListInstanceProfileTags
    ListInstanceProfilesForRole ListRolePolicies ListRoleTags
    kms: DescribeKey GetKeyPolicy GetKeyRotationStatus ListResourceTags
    logs: ListTagsForResource
    sqs: GetQueueAttributes GetQueueUrl ListQueueTags
    ssm: GetParameter
    """
    everything = """
    autoscaling: DescribeAutoScalingGroups DescribeScalingActivities DescribeTags
    ec2: DescribeAddresses DescribeAddressesAttribute DescribeAvailabilityZones DescribeCapacityReservations
    DescribeImages DescribeInstanceTypeOfferings DescribeInstanceTypes DescribeInstances DescribeInternetGateways
    DescribeLaunchTemplateVersions DescribeLaunchTemplates DescribeNatGateways DescribeNetworkAcls
    DescribeNetworkInterfaces DescribePlacementGroups DescribePrefixLists DescribeRouteTables
    DescribeSecurityGroupRules DescribeSecurityGroups DescribeSubnets DescribeTags DescribeVpcAttribute
    DescribeVpcEndpointServices DescribeVpcEndpoints DescribeVpcs
    ecr: DescribePullThroughCacheRules DescribeRepositoryCreationTemplates
    eks: DescribeAddonConfiguration DescribeAddonVersions DescribeClusterVersions ListClusters
    kms: ListAliases
    logs: DescribeLogGroups
    servicequotas: GetServiceQuota
    sts: GetCallerIdentity
    """
    within = [
        *at.arns("eks", "*"),
        *at.arns("events", "rule/*"),
        *at.arns("iam", f"role/{ROLES}* instance-profile/{ROLES}* role/aws-service-role/*"),
        *at.arns("kms", "key/*"),
        *at.arns("logs", "log-group:*"),
        *at.arns("sqs", "*"),
        # Amazon's public parameters belong to no account.
        *at.arns("ssm", "parameter/aws/service/*", owner=""),
    ]
    return [_allow("Read", everything, ["*"]), _allow("ReadEach", each, within)]


def _network(at: Place) -> list[Statement]:
    made = _kinds(at, _MADE)
    change = """
    ec2: AssociateRouteTable AttachInternetGateway CreateLaunchTemplateVersion CreateRoute CreateTags
    DeleteInternetGateway DeleteLaunchTemplate DeleteLaunchTemplateVersions DeleteNatGateway DeletePlacementGroup
    DeleteRoute DeleteRouteTable DeleteSecurityGroup DeleteSubnet DeleteTags DeleteVpc DeleteVpcEndpoints
    DetachInternetGateway DisassociateAddress DisassociateRouteTable ModifyLaunchTemplate ModifySubnetAttribute
    ModifyVpcAttribute ModifyVpcEndpoint ReleaseAddress ReplaceRoute ReplaceRouteTableAssociation
    """
    in_call = [*_MAKE.split(), "AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress"]
    of_eks = {"Null": {"aws:ResourceTag/aws:eks:cluster-name": "false"}}
    groups = _kinds(at, "security-group")
    return [
        _allow("Make", f"ec2: {_MAKE}", made, _NEW),
        # EC2 asks for the thing that is made, and again for what it is made in.
        _allow("MakeInVpc", "ec2: CreateRouteTable CreateSecurityGroup CreateSubnet", _kinds(at, "vpc")),
        _allow("MakeGatewayIn", "ec2: CreateNatGateway", _kinds(at, "elastic-ip subnet")),
        _allow("MakeEndpointIn", "ec2: CreateVpcEndpoint", _kinds(at, "route-table security-group subnet vpc")),
        # Names of an interface end point are in a hosted zone of AWS's own.
        _allow("EndpointNames", "route53: AssociateVPCWithHostedZone", [f"arn:{at.partition}:route53:::hostedzone/*"]),
        _allow("Tag", "ec2: CreateTags", made, {"StringEquals": {"ec2:CreateAction": in_call}}),
        _allow("Change", change, made, _OURS),
        _allow("Groups", _RULES, groups, _OURS),
        _allow("GroupsOfEks", _RULES, groups, of_eks),
        _allow("Rules", _RULES, _kinds(at, "security-group-rule")),
    ]


def _cluster(at: Place) -> list[Statement]:
    make = "CreateAccessEntry CreateAddon CreateNodegroup CreatePodIdentityAssociation TagResource"
    kinds = at.arns("eks", "cluster/* nodegroup/* addon/* access-entry/* podidentityassociation/*")
    change = f"""
    eks: {make} AssociateAccessPolicy AssociateEncryptionConfig DeleteAccessEntry DeleteAddon DeleteCluster
    DeleteNodegroup DeletePodIdentityAssociation DisassociateAccessPolicy UntagResource UpdateAccessEntry UpdateAddon
    UpdateClusterConfig UpdateClusterVersion UpdateNodegroupConfig UpdateNodegroupVersion UpdatePodIdentityAssociation
    """
    # https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    launched = """capacity-reservation instance launch-template network-interface placement-group security-group
    subnet volume"""
    template = {"ArnLike": {"ec2:LaunchTemplate": _kinds(at, "launch-template")}}
    scaling = at.arns("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*")
    of_eks = {"Null": {"aws:ResourceTag/eks:cluster-name": "false"}}
    key = """
    kms: CreateAlias CreateGrant DeleteAlias DisableKeyRotation EnableKeyRotation PutKeyPolicy ScheduleKeyDeletion
    TagResource UntagResource UpdateAlias UpdateKeyDescription
    """
    queues = [*at.arns("sqs", "*"), *at.arns("events", "rule/*")]
    queue = """
    events: DeleteRule PutRule PutTargets RemoveTargets TagResource UntagResource
    sqs: DeleteQueue SetQueueAttributes TagQueue UntagQueue
    """
    caches = """
    ecr: CreatePullThroughCacheRule CreateRepositoryCreationTemplate DeletePullThroughCacheRule
    DeleteRepositoryCreationTemplate UpdatePullThroughCacheRule UpdateRepositoryCreationTemplate
    """
    logs = "logs: CreateLogGroup DeleteLogGroup DeleteRetentionPolicy PutRetentionPolicy TagResource UntagResource"
    secrets = at.arns("secretsmanager", "secret:ecr-pullthroughcache/*")
    return [
        _allow("MakeCluster", f"eks: CreateCluster {make}", kinds, _NEW),
        _allow("ChangeCluster", change, kinds, _OURS),
        _allow(
            "Launch",
            "ec2: RunInstances",
            [*_kinds(at, launched), *at.arns("ec2", "image/* snapshot/*", owner="")],
            template,
        ),
        _allow("TagGroups", "autoscaling: CreateOrUpdateTags DeleteTags", scaling, of_eks),
        _allow("MakeKey", "kms: CreateKey TagResource", ["*"], _NEW),
        _allow("ChangeKey", key, at.arns("kms", "key/*"), _OURS),
        _allow("Aliases", "kms: CreateAlias DeleteAlias UpdateAlias", at.arns("kms", "alias/*")),
        _allow("Logs", logs, at.arns("logs", "log-group:/aws/eks/*")),
        _allow("MakeQueue", "events: PutRule TagResource sqs: CreateQueue TagQueue", queues, _NEW),
        _allow("ChangeQueue", queue, queues, _OURS),
        _allow("Caches", caches, ["*"]),
        _allow("CacheSecrets", "secretsmanager: DescribeSecret GetSecretValue", secrets),
    ]


def _identity(at: Place) -> list[Statement]:
    roles = at.arns("iam", f"role/{ROLES}*")
    kinds = at.arns("iam", f"role/{ROLES}* instance-profile/{ROLES}*")
    change = """
    iam: AddRoleToInstanceProfile DeleteInstanceProfile DeleteRole DeleteRolePolicy DetachRolePolicy PutRolePolicy
    RemoveRoleFromInstanceProfile TagInstanceProfile TagRole UntagInstanceProfile UntagRole UpdateAssumeRolePolicy
    UpdateRole UpdateRoleDescription
    """
    attachable = [f"arn:{at.partition}:iam::aws:policy/{name}" for name in _POLICIES.split()]
    return [
        _allow("MakeRole", "iam: CreateInstanceProfile CreateRole TagInstanceProfile TagRole", kinds, _NEW),
        _allow("ChangeRole", change, kinds, _OURS),
        _allow("AttachPolicy", "iam: AttachRolePolicy", roles, {**_OURS, "ArnEquals": {"iam:PolicyARN": attachable}}),
        # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
        _allow("PassRole", "iam: PassRole", roles, {"StringEquals": {"iam:PassedToService": _RECEIVERS.split()}}),
        _allow(
            "ServiceRoles",
            "iam: CreateServiceLinkedRole",
            at.arns("iam", "role/aws-service-role/*"),
            {"StringEquals": {"iam:AWSServiceName": _SERVICES.split()}},
        ),
    ]


def _storage(at: Place) -> list[Statement]:
    """File systems, and the buckets of archives: all but what is in them."""
    everything = """
    elasticfilesystem: DescribeAccessPoints DescribeBackupPolicy DescribeFileSystemPolicy DescribeFileSystems
    DescribeLifecycleConfiguration DescribeMountTargetSecurityGroups DescribeMountTargets ListTagsForResource
    fsx: DescribeDataRepositoryAssociations DescribeFileSystems ListTagsForResource
    """
    make = """
    elasticfilesystem: CreateAccessPoint CreateFileSystem TagResource
    fsx: CreateDataRepositoryAssociation CreateFileSystem TagResource
    """
    change = """
    elasticfilesystem: CreateMountTarget DeleteAccessPoint DeleteFileSystem DeleteFileSystemPolicy DeleteMountTarget
    ModifyMountTargetSecurityGroups PutBackupPolicy PutFileSystemPolicy PutLifecycleConfiguration TagResource
    UntagResource UpdateFileSystem
    fsx: DeleteDataRepositoryAssociation DeleteFileSystem TagResource UntagResource UpdateDataRepositoryAssociation
    UpdateFileSystem
    """
    # The provider reads all there is of a bucket. Which call takes which of these:
    # https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
    archives = """
    s3: CreateBucket DeleteBucket DeleteBucketPolicy GetAccelerateConfiguration GetBucketAcl GetBucketCORS
    GetBucketLocation GetBucketLogging GetBucketObjectLockConfiguration GetBucketOwnershipControls GetBucketPolicy
    GetBucketPublicAccessBlock GetBucketRequestPayment GetBucketTagging GetBucketVersioning GetBucketWebsite
    GetEncryptionConfiguration GetLifecycleConfiguration GetReplicationConfiguration ListBucket ListBucketVersions
    ListTagsForResource PutBucketOwnershipControls PutBucketPolicy PutBucketPublicAccessBlock PutBucketTagging
    PutBucketVersioning PutEncryptionConfiguration PutLifecycleConfiguration TagResource UntagResource
    """
    kinds = [
        *at.arns("elasticfilesystem", "access-point/* file-system/*"),
        *at.arns("fsx", "association/* backup/* file-system/*"),
    ]
    # https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html
    interfaces = "ec2: CreateNetworkInterface DeleteNetworkInterface ModifyNetworkInterfaceAttribute"
    for_role = {"Bool": {"aws:ViaAWSService": "true"}}
    return [
        _allow("ReadData", everything, ["*"]),
        _allow("MakeData", make, kinds, _NEW),
        _allow("ChangeData", change, kinds, _OURS),
        _allow("Archives", archives, [f"arn:{at.partition}:s3:::{BUCKETS}*"]),
        _allow("MountTargets", interfaces, _kinds(at, "network-interface security-group subnet"), for_role),
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/setting-up.html (permissions to use data repositories)
        _allow("LinkRoles", "iam: AttachRolePolicy PutRolePolicy", at.arns("iam", f"role/aws-service-role/{_LINK}/*")),
    ]


def _kinds(at: Place, kinds: str) -> list[str]:
    return at.arns("ec2", " ".join(f"{kind}/*" for kind in kinds.split()))


def _allow(sid: str, actions: str, resources: Sequence[str], condition: Mapping[str, Any] | None = None) -> Statement:
    """Allow actions that stand after the name of their service, as in `ec2: CreateVpc DeleteVpc sqs: TagQueue`."""
    named, service = [], ""
    for word in actions.split():
        if word.endswith(":"):
            service = word
        else:
            named.append(f"{service}{word}")
    statement: Statement = {"Sid": sid, "Effect": "Allow", "Action": named, "Resource": list(resources)}
    return statement | ({"Condition": dict(condition)} if condition else {})
