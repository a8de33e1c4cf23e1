"""The control plane of EKS and its logs."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

CLOSED = {"endpointPrivateAccess": True, "endpointPublicAccess": False}


def cluster(**inputs: Any) -> Resource:
    return Resource("aws:eks/cluster:Cluster", inputs, "cluster", protect=True)


def reached(**network: Any) -> Resource:
    return cluster(vpcConfig=CLOSED | network)


def encrypted(*resources: Any, key: Any = "arn:aws:kms:us-east-2:1:key/1") -> Resource:
    return cluster(encryptionConfig={"resources": list(resources), "provider": {"keyArn": key}})


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
    "log-retention": [
        (logs(retentionInDays=UNKNOWN), "retentionInDays"),
        (logs(name=UNKNOWN, retentionInDays=7), "name"),
    ],
}
