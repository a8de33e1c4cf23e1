"""The control plane of EKS and its logs."""

from dataclasses import replace
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, referring

CLOSED = {"endpointPrivateAccess": True, "endpointPublicAccess": False}


def cluster(**inputs: Any) -> Resource:
    return Resource("aws:eks/cluster:Cluster", inputs, "cluster", protect=True)


def reached(**network: Any) -> Resource:
    return cluster(vpcConfig=CLOSED | network)


def encrypted(*resources: Any, key: Any = "arn:aws:kms:us-east-2:1:key/1") -> Resource:
    return cluster(encryptionConfig={"resources": list(resources), "provider": {"keyArn": key}})


ROLE = "arn:aws:iam::123456789012:role/"
ADMINS = platform(document("aws-training"))
PRINCIPALS = platform(
    document("aws-training")
    | {"policies": {"options": {"cluster-administrators": {"principals": ["arn:aws:iam::*:role/breakglass-*"]}}}}
)
ENTRY = Resource("aws:eks/accessEntry:AccessEntry", {"principalArn": f"{ROLE}ops"}, "entry")


def administers(role: str, policy: Any = "AmazonEKSClusterAdminPolicy", scope: str = "cluster") -> Resource:
    inputs = {
        "principalArn": f"{ROLE}{role}",
        "policyArn": f"arn:aws:eks::aws:cluster-access-policy/{policy}" if policy != UNKNOWN else UNKNOWN,
        "accessScope": {"type": scope},
    }
    return Resource("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", inputs, "association")


def later(policy: str) -> Resource:
    """Give one whose principal is known only from its entry."""
    made = administers("", policy)
    return referring(replace(made, inputs=made.inputs | {"principalArn": UNKNOWN}), principalArn=ENTRY)


def logs(**inputs: Any) -> Resource:
    return Resource("aws:cloudwatch/logGroup:LogGroup", inputs, "logs")


BREAKS: Breaks = {
    "cluster-endpoint": [
        (reached(endpointPrivateAccess=False), "vpcConfig.endpointPrivateAccess: is not true"),
        (reached(endpointPrivateAccess=None), "vpcConfig.endpointPrivateAccess: is not true"),
        (reached(endpointPublicAccess=True), "vpcConfig.publicAccessCidrs: names no networks"),
        # AWS's default is public.
        (reached(endpointPublicAccess=None), "vpcConfig.publicAccessCidrs: names no networks"),
        (
            reached(endpointPublicAccess=True, publicAccessCidrs=["192.0.2.0/24", "0.0.0.0/0"]),
            "vpcConfig.publicAccessCidrs[1]: 0.0.0.0/0 is the whole internet",
        ),
        # Two halves are the whole.
        (
            reached(endpointPublicAccess=True, publicAccessCidrs=["17.0.0.0/8", "128.0.0.0/1"]),
            "vpcConfig.publicAccessCidrs[1]: 128.0.0.0/1 is the whole internet, or a large part of it",
        ),
    ],
    "cluster-secrets": [
        (cluster(), "encryptionConfig: does not name secrets"),
        (encrypted(), "encryptionConfig: does not name secrets"),
        (encrypted("secrets", key=None), "encryptionConfig.provider.keyArn: names no key"),
    ],
    "cluster-logs": [
        (cluster(), "enabledClusterLogTypes: lacks audit and authenticator"),
        (cluster(enabledClusterLogTypes=["api", "audit"]), "enabledClusterLogTypes: lacks authenticator"),
    ],
    "cluster-entry": [
        (cluster(), "accessConfig.authenticationMode: is not set, which means CONFIG_MAP"),
        (
            cluster(accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"}),
            "accessConfig.authenticationMode: is API_AND_CONFIG_MAP",
        ),
    ],
    "cluster-administrators": [
        (administers("ops"), f"principalArn: {ROLE}ops administers the cluster"),
        ([ADMINS, administers("ops")], f"principalArn: {ROLE}ops administers the cluster"),
        # Named in the document, and with less.
        ([ADMINS, administers("research")], f"principalArn: {ROLE}research administers the cluster"),
        ([ADMINS, ENTRY, later("AmazonEKSClusterAdminPolicy")], f"principalArn: {ROLE}ops administers the cluster"),
    ],
    "log-retention": [
        (logs(name="/aws/fsx/logs"), "retentionInDays: is not set"),
        (logs(name="/aws/fsx/logs", retentionInDays=0), "retentionInDays: is not set"),
        (
            logs(name="/aws/eks/atlas/cluster", retentionInDays=30),
            "retentionInDays: is 30, and logs of a control plane",
        ),
    ],
}

PASSES: Passes = {
    "cluster-endpoint": [
        reached(),
        reached(endpointPublicAccess=True, publicAccessCidrs=["192.0.2.0/24"]),
        reached(publicAccessCidrs=UNKNOWN),
    ],
    "cluster-secrets": [encrypted("secrets"), encrypted("secrets", key=UNKNOWN)],
    "cluster-logs": [cluster(enabledClusterLogTypes=["api", "audit", "authenticator"])],
    "cluster-entry": [cluster(accessConfig={"authenticationMode": "API"})],
    "cluster-administrators": [
        [ADMINS, administers("platform")],
        [PRINCIPALS, administers("breakglass-eu")],
        administers("ops", "AmazonEKSAdminPolicy"),
        administers("ops", scope="namespace"),
        ENTRY,
    ],
    "log-retention": [
        logs(name="/aws/eks/atlas/cluster", retentionInDays=90),
        logs(name="/aws/fsx/logs", retentionInDays=14),
        logs(retentionInDays=1),
    ],
}

UNKNOWNS: Unknowns = {
    "cluster-endpoint": [
        (reached(endpointPrivateAccess=UNKNOWN), "vpcConfig.endpointPrivateAccess"),
        (reached(endpointPublicAccess=UNKNOWN), "vpcConfig.endpointPublicAccess"),
        (reached(endpointPublicAccess=True, publicAccessCidrs=[UNKNOWN]), "vpcConfig.publicAccessCidrs[0]"),
        (reached(endpointPublicAccess=True, publicAccessCidrs=["office"]), "vpcConfig.publicAccessCidrs[0]"),
    ],
    "cluster-secrets": [(cluster(encryptionConfig=UNKNOWN), "encryptionConfig")],
    "cluster-logs": [(cluster(enabledClusterLogTypes=["audit", UNKNOWN]), "enabledClusterLogTypes[1]")],
    "cluster-entry": [(cluster(accessConfig={"authenticationMode": UNKNOWN}), "accessConfig.authenticationMode")],
    "cluster-administrators": [
        (administers("ops", UNKNOWN), "policyArn"),
        (replace(later("AmazonEKSClusterAdminPolicy"), references={}), "principalArn"),
    ],
    "log-retention": [
        (logs(retentionInDays=UNKNOWN), "retentionInDays"),
        (logs(name=UNKNOWN, retentionInDays=7), "name"),
    ],
}
