"""Examples of identity and of EKS."""

import json
from collections.abc import Mapping

from examples import Example, names, policy
from place import TRUST
from provider_client import ACCOUNT, REGION

TAGS = {"Name": "example", "team": "research"}
PODS = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["pods.eks.amazonaws.com"]},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
            }
        ],
    }
)
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

IDENTITY: Mapping[str, Example] = {
    "aws:iam/role:Role": Example(
        inputs=lambda place: {
            "name": "loader",
            "path": "/gangline/",
            "assumeRolePolicy": PODS,
            "description": "reads data",
            "maxSessionDuration": 7200,
            "tags": TAGS,
        },
        change=lambda place: {
            "assumeRolePolicy": TRUST,
            "description": None,
            "maxSessionDuration": 3600,
            "tags": {"team": "other"},
        },
        replace=lambda place: {"path": "/"},
        drift=lambda place, made: place.client("iam").update_assume_role_policy(RoleName=made.id, PolicyDocument=TRUST),
        drifted=names("assumeRolePolicy"),
    ),
    "aws:iam/policy:Policy": Example(
        inputs=lambda place: {
            "path": "/gangline/",
            "description": "data",
            "policy": policy("s3:GetObject"),
            "tags": TAGS,
        },
        change=lambda place: {"policy": policy("s3:PutObject")},
        replace=lambda place: {"description": "other"},
        drift=lambda place, made: place.client("iam").create_policy_version(
            PolicyArn=made.id, PolicyDocument=policy("s3:*"), SetAsDefault=True
        ),
        drifted=names("policy"),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Example(
        inputs=lambda place: {"role": "place", "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"},
        replace=lambda place: {"role": "other"},
    ),
    "aws:iam/rolePolicy:RolePolicy": Example(
        inputs=lambda place: {"role": "place", "policy": policy("s3:GetObject")},
        change=lambda place: {"policy": policy("s3:PutObject")},
        replace=lambda place: {"role": "other"},
        drift=lambda place, made: place.client("iam").put_role_policy(
            RoleName="place", PolicyName=made.inputs["name"], PolicyDocument=policy("s3:*")
        ),
        drifted=names("policy"),
    ),
    "aws:iam/instanceProfile:InstanceProfile": Example(
        inputs=lambda place: {"path": "/gangline/", "role": "place", "tags": TAGS},
        change=lambda place: {"role": "other"},
        replace=lambda place: {"path": "/"},
        drift=lambda place, made: place.client("iam").remove_role_from_instance_profile(
            InstanceProfileName=made.id, RoleName="place"
        ),
        drifted=names("role"),
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Example(
        inputs=lambda place: {
            "url": f"https://oidc.eks.{REGION}.amazonaws.com/id/ABC",
            "clientIdLists": ["sts.amazonaws.com"],
            "thumbprintLists": ["0123456789012345678901234567890123456789"],
            "tags": TAGS,
        },
        change=lambda place: {
            "clientIdLists": ["other"],
            "thumbprintLists": ["9876543210987654321098765432109876543210"],
        },
        replace=lambda place: {"url": f"https://oidc.eks.{REGION}.amazonaws.com/id/DEF"},
        drift=lambda place, made: place.client("iam").add_client_id_to_open_id_connect_provider(
            OpenIDConnectProviderArn=made.id, ClientID="more"
        ),
        drifted=names("clientIdLists"),
    ),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": Example(
        inputs=lambda place: {
            "awsServiceName": "autoscaling.amazonaws.com",
            "customSuffix": "gangline",
            "description": "groups",
        },
        change=lambda place: {"description": "other"},
        replace=lambda place: {"customSuffix": "other"},
        drift=lambda place, made: place.client("iam").update_role(
            RoleName=made.id.rpartition("/")[2], Description="drifted"
        ),
        drifted=names("description"),
    ),
}

EKS: Mapping[str, Example] = {
    "aws:eks/cluster:Cluster": Example(
        inputs=lambda place: {
            "name": "atlas",
            "version": "1.34",
            "roleArn": place.role,
            "vpcConfig": {
                "subnetIds": list(place.subnets),
                "securityGroupIds": [place.group],
                "endpointPrivateAccess": True,
                "endpointPublicAccess": False,
            },
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
            "bootstrapSelfManagedAddons": False,
            "enabledClusterLogTypes": ["authenticator", "audit"],
            "encryptionConfig": {
                "provider": {"keyArn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{place.key}"},
                "resources": ["secrets"],
            },
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
            "kubeSchedulerConfig": {
                "nodeResourcesFit": {
                    "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "nvidia.com/gpu", "weight": 5}]}
                }
            },
            "upgradePolicy": {"supportType": "STANDARD"},
            "zonalShiftConfig": {"enabled": False},
            "controlPlaneScalingConfig": {"tier": "standard"},
            "computeConfig": {"enabled": False},
            "storageConfig": {"blockStorage": {"enabled": False}},
            "deletionProtection": True,
            "tags": TAGS,
        },
        change=lambda place: {
            "version": "1.35",
            "vpcConfig": {
                "subnetIds": list(place.subnets),
                "securityGroupIds": [place.group],
                "endpointPrivateAccess": True,
                "endpointPublicAccess": True,
                "publicAccessCidrs": ["192.0.2.0/24"],
            },
            "enabledClusterLogTypes": ["audit"],
            "accessConfig": {
                "authenticationMode": "API_AND_CONFIG_MAP",
                "bootstrapClusterCreatorAdminPermissions": False,
            },
            "upgradePolicy": {"supportType": "EXTENDED"},
            "deletionProtection": None,
            "tags": {"Name": "other"},
        },
        replace=lambda place: {
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True}
        },
        drift=lambda place, made: place.client("eks").update_cluster_config(
            name=made.id, resourcesVpcConfig={"endpointPublicAccess": True}
        ),
        drifted=names("vpcConfig"),
    ),
    "aws:eks/nodeGroup:NodeGroup": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "nodeRoleArn": place.role,
            "subnetIds": [place.subnets[0]],
            "scalingConfig": {"minSize": 0, "maxSize": 8, "desiredSize": 4},
            "amiType": "AL2023_x86_64_NVIDIA",
            "capacityType": "ON_DEMAND",
            "launchTemplate": {"id": place.template, "version": "1"},
            "labels": {"gangline.dev/pool": "train"},
            "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
            "updateConfig": {"maxUnavailable": 1},
            "nodeRepairConfig": {"enabled": True},
            "tags": TAGS,
        },
        change=lambda place: {
            "launchTemplate": {"id": place.template, "version": "2"},
            "labels": {"gangline.dev/pool": "train", "more": "yes"},
            "taints": [{"key": "other", "effect": "NO_EXECUTE"}],
            "scalingConfig": {"minSize": 0, "maxSize": 8, "desiredSize": 0},
            "version": "1.35",
        },
        replace=lambda place: {"amiType": "BOTTLEROCKET_x86_64_NVIDIA"},
        drift=lambda place, made: place.client("eks").update_nodegroup_config(
            clusterName=place.cluster,
            nodegroupName=made.inputs["nodeGroupName"],
            scalingConfig={"desiredSize": 1},
            labels={"removeLabels": ["gangline.dev/pool"]},
        ),
        drifted=names("scalingConfig labels"),
    ),
    "aws:eks/nodeGroup:NodeGroup plain": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "nodeGroupName": "system",
            "nodeRoleArn": place.role,
            "subnetIds": list(place.subnets[:2]),
            "scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 2},
            "instanceTypes": ["m7i.2xlarge"],
            "diskSize": 100,
            "forceUpdateVersion": True,
        },
        change=lambda place: {"releaseVersion": "1.34.1-20261115"},
        replace=lambda place: {"instanceTypes": ["m7i.4xlarge"]},
        drift=lambda place, made: place.client("eks").update_nodegroup_config(
            clusterName=place.cluster, nodegroupName="system", scalingConfig={"maxSize": 4}
        ),
        drifted=names("scalingConfig"),
    ),
    "aws:eks/addon:Addon": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "addonName": "aws-fsx-csi-driver",
            "addonVersion": "v1.9.0-eksbuild.1",
            "configurationValues": '{"controller": {"replicas": 1}}',
            "serviceAccountRoleArn": place.role,
            "resolveConflictsOnCreate": "OVERWRITE",
            "resolveConflictsOnUpdate": "PRESERVE",
            "podIdentityAssociations": [{"serviceAccount": "fsx-csi-controller-sa", "roleArn": place.role}],
            "preserve": False,
            "tags": TAGS,
        },
        change=lambda place: {
            "addonVersion": "v1.10.0-eksbuild.1",
            "configurationValues": None,
            "podIdentityAssociations": [{"serviceAccount": "fsx-csi-controller-sa", "roleArn": place.other_role}],
        },
        replace=lambda place: {"addonName": "aws-efs-csi-driver"},
        drift=lambda place, made: place.client("eks").update_addon(
            clusterName=place.cluster, addonName="aws-fsx-csi-driver", addonVersion="v1.8.0-eksbuild.1"
        ),
        drifted=names("addonVersion"),
    ),
    "aws:eks/accessEntry:AccessEntry": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "principalArn": f"arn:aws:iam::{ACCOUNT}:role/team/admins",
            "type": "STANDARD",
            "kubernetesGroups": ["researchers"],
            "userName": "admin",
            "tags": TAGS,
        },
        change=lambda place: {"kubernetesGroups": None, "userName": "other"},
        replace=lambda place: {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/team/others"},
        drift=lambda place, made: place.client("eks").update_access_entry(
            clusterName=place.cluster, principalArn=made.inputs["principalArn"], kubernetesGroups=["masters"]
        ),
        drifted=names("kubernetesGroups"),
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "principalArn": place.principal,
            "policyArn": ADMIN,
            "accessScope": {"type": "namespace", "namespaces": ["research"]},
        },
        replace=lambda place: {"accessScope": {"type": "cluster"}},
        drift=lambda place, made: place.client("eks").associate_access_policy(
            clusterName=place.cluster, principalArn=place.principal, policyArn=ADMIN, accessScope={"type": "cluster"}
        ),
        drifted=names("accessScope"),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Example(
        inputs=lambda place: {
            "clusterName": place.cluster,
            "namespace": "research",
            "serviceAccount": "loader",
            "roleArn": place.role,
            "targetRoleArn": f"arn:aws:iam::{ACCOUNT}:role/target",
            "disableSessionTags": True,
            "tags": TAGS,
        },
        change=lambda place: {"roleArn": place.other_role, "targetRoleArn": None, "disableSessionTags": False},
        replace=lambda place: {"serviceAccount": "writer"},
        drift=lambda place, made: place.client("eks").update_pod_identity_association(
            clusterName=place.cluster, associationId=made.outputs["associationId"], roleArn=place.other_role
        ),
        drifted=names("roleArn"),
    ),
}
