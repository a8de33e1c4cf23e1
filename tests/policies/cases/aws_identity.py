"""Who may do what in an account of AWS."""

import json
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, secret

AWS = "arn:aws:iam::aws:policy/"
CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
ADMIN = f"{AWS}AdministratorAccess"
BUCKET = "arn:aws:s3:::checkpoints/research/*"
GROUPS = "arn:aws:autoscaling:us-east-2:123456789012:autoScalingGroup:*:autoScalingGroupName/"
ROLE = "arn:aws:iam::123456789012:role/nodes"
TAG = "aws:ResourceTag/gangline.dev/cluster"
ISSUER = "token.actions.githubusercontent.com"
PROVIDER = {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{ISSUER}"}


def with_options(**rules: Any) -> Resource:
    """Give a platform whose document sets options of rules, by their ids."""
    options = {rule.replace("_", "-"): values for rule, values in rules.items()}
    return platform(document("aws-training") | {"policies": {"options": options}})


SUBJECTS = with_options(iam_trust={"subjects": ["repo:example/*"]})
ASSOCIATING = with_options(iam_escalation={"allowed": ["eks:CreatePodIdentityAssociation"]})
ANYWHERE = with_options(iam_wildcards={"anywhere": ["elasticloadbalancing:*"]})


def text(*statements: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def policy(actions: Any, resources: Any = "*", kind: str = "rolePolicy:RolePolicy", **more: Any) -> Resource:
    return Resource(f"aws:iam/{kind}", {"policy": text(allow(actions, resources, **more))})


def passing(**tests: str) -> Resource:
    return policy("iam:PassRole", ROLE, Condition={test: {"iam:PassedToService": it} for test, it in tests.items()})


def bounded(test: str, value: str, action: str = "iam:PutRolePolicy", key: str = "iam:PermissionsBoundary") -> Resource:
    return policy(action, ROLE, Condition={test: {key: value}})


def role(**inputs: Any) -> Resource:
    return Resource("aws:iam/role:Role", inputs)


def trust(principal: Any, **condition: Any) -> Resource:
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    return role(assumeRolePolicy=text(statement | ({"Condition": condition} if condition else {})))


def attached(arn: Any, kind: str = "rolePolicyAttachment:RolePolicyAttachment") -> Resource:
    return Resource(f"aws:iam/{kind}", {"policyArn": arn})


def of_queue(principal: Any, **more: Any) -> Resource:
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sqs:SendMessage", "Resource": "*", **more}
    return Resource("aws:sqs/queuePolicy:QueuePolicy", {"policy": text(statement)})


BREAKS: Breaks = {
    "iam-wildcards": [
        (policy("s3:*", "arn:aws:s3:::checkpoints"), "policy.Statement[0]: s3:*: allows actions that nobody named"),
        (policy("s3:PutObject"), "policy.Statement[0]: s3:PutObject on *: names no resource"),
        (
            policy(["s3:GetObject", "s3:PutObject"], "arn:aws:s3:::*"),
            "s3:GetObject and 1 more on arn:aws:s3:::*: names",
        ),
        (policy("s3:GetObject", "arn:aws:s3:::*/research/*"), "s3:GetObject on arn:aws:s3:::*/research/*: names no"),
        # Everything of a kind has no name.
        (policy("iam:GetRole", "arn:aws:iam::123456789012:role/*"), "iam:GetRole on arn"),
        (policy("autoscaling:SetDesiredCapacity", f"{GROUPS}*"), "autoscaling:SetDesiredCapacity on arn"),
        (policy("ec2:CreateTags", ["arn:aws:ec2:*:*:network-interface/*", "arn:aws:ec2:*:*:instance/*"]), "instance/*"),
        # What only looks may have wildcards; what gets needs a name.
        (policy("secretsmanager:Get*"), "secretsmanager:Get* on *: names no resource"),
        (policy("kms:D*", "arn:aws:kms:us-east-2:123456789012:key/0a1b"), "kms:D*: allows actions that nobody named"),
        (policy("s3:PutObject", "arn:aws:s3:::a", NotAction="s3:*"), "NotAction: allows all but what it names"),
        # A Sid is free text, whatever the statements of ours are called.
        (policy("ec2:TerminateInstances", "*", Sid="CniRead"), "ec2:TerminateInstances on *: names no resource"),
        (policy(["iam:CreateUser", "s3:DeleteBucket"], "*", Sid="ArchiveObjects"), "iam:CreateUser and 1 more on *"),
        # Conditions that nearly every request meets, or that one without the tag meets.
        (policy("ec2:DeleteVolume", Condition={"Bool": {"aws:SecureTransport": "true"}}), "ec2:DeleteVolume on *"),
        (policy("ec2:DeleteVolume", Condition={"StringEqualsIfExists": {TAG: "atlas"}}), "ec2:DeleteVolume on *"),
        (policy("ec2:DeleteVolume", Condition={"Null": {TAG: "true"}}), "ec2:DeleteVolume on *"),
        (role(inlinePolicies=[{"policy": text(allow("s3:*", "arn"))}]), "inlinePolicies[0].policy.Statement[0]: s3:*"),
        (
            Resource("aws:iam/policy:Policy", {"policy": secret(text(allow("s3:*", "arn:aws:s3:::a")))}),
            "policy.Statement[0]: [secret]: allows actions",
        ),
        (
            Resource("aws:iam/policy:Policy", {"policy": {"Statement": allow("ec2:*", "arn")}}),
            "policy.Statement: ec2:*",
        ),
        (
            Resource(
                "aws:ssoadmin/permissionSetInlinePolicy:PermissionSetInlinePolicy", {"inlinePolicy": text(allow("*"))}
            ),
            "inlinePolicy.Statement[0]: *: allows actions that nobody named",
        ),
        (
            [ANYWHERE, policy(["elasticloadbalancing:DeleteRule", "ec2:CreateSecurityGroup"])],
            "policy.Statement[0]: ec2:CreateSecurityGroup on *",
        ),
    ],
    "iam-pass-role": [
        (policy("iam:PassRole"), "policy.Statement[0]: passes any role on"),
        (policy("iam:*", "arn:aws:iam::123456789012:role/*"), "policy.Statement[0]: passes any role on"),
        (policy("iam:PassRole", "arn:aws:iam::*:role/*"), "policy.Statement[0]: passes any role on"),
        (policy("iam:Pass*", ROLE), "policy.Statement[0]: passes a role on to any service"),
        (policy("*", ROLE), "policy.Statement[0]: passes a role on to any service"),
        (passing(StringLike="*"), "policy.Statement[0]: passes a role on to any service"),
        (passing(StringNotEquals="ec2.amazonaws.com"), "passes a role on to any service"),
        (passing(StringEqualsIfExists="ec2.amazonaws.com"), "passes a role on to any service"),
    ],
    "iam-escalation": [
        (policy("iam:PutRolePolicy", ROLE), "policy.Statement[0]: allows iam:PutRolePolicy"),
        (policy(["iam:get*", "IAM:attach*"], ROLE), "policy.Statement[0]: allows iam:AttachGroupPolicy and 2 more"),
        (policy("eks:CreateAccessEntry", "arn"), "policy.Statement[0]: allows eks:CreateAccessEntry"),
        (policy("eks:Update*", "arn"), "policy.Statement[0]: allows eks:UpdateAccessEntry and 1 more"),
        ([ASSOCIATING, policy(["eks:CreatePodIdentityAssociation", "eks:CreateAccessEntry"], "arn")], "eks:CreateAcc"),
        (policy("iam:*UserPermissionsBoundary", ROLE), "allows iam:DeleteUserPermissionsBoundary and 1 more"),
        # Bound by what is no bound.
        (bounded("Null", "true"), "policy.Statement[0]: allows iam:PutRolePolicy"),
        (bounded("Null", "false"), "policy.Statement[0]: allows iam:PutRolePolicy"),
        (bounded("ArnEquals", ADMIN), "policy.Statement[0]: allows iam:PutRolePolicy"),
        (bounded("ArnLike", f"{AWS}A*", "iam:AttachRolePolicy", "iam:PolicyARN"), "allows iam:AttachRolePolicy"),
        (
            bounded("ArnEquals", CLUSTER_ADMIN, "eks:AssociateAccessPolicy", "eks:policyArn"),
            "allows eks:AssociateAccessPolicy",
        ),
        (policy("iam:AttachRolePolicy", ROLE, Condition={"StringNotEquals": {"iam:PolicyARN": ADMIN}}), "Statement[0]"),
        (policy("iam:AttachRolePolicy", ROLE, Condition={"ArnLike": {"iam:PolicyARN": f"{AWS}*"}}), "Statement[0]"),
        (policy("iam:CreatePolicyVersion", ROLE, Condition={"Bool": {"aws:SecureTransport": "true"}}), "Statement[0]"),
    ],
    "iam-managed-policies": [
        (attached("arn:aws:iam::aws:policy/AdministratorAccess"), "policyArn: arn:aws:iam::aws:policy/Admin"),
        (
            attached("arn:aws-cn:iam::aws:policy/AmazonS3FullAccess"),
            "policyArn: arn:aws-cn:iam::aws:policy/AmazonS3Full",
        ),
        (attached("arn:aws:iam::aws:policy/PowerUserAccess", "userPolicyAttachment:UserPolicyAttachment"), "policyArn"),
        (role(managedPolicyArns=["arn:aws:iam::aws:policy/job-function/AdministratorAccess"]), "managedPolicyArns[0]"),
        (
            attached("arn:aws:iam::aws:policy/job-function/SystemAdministrator"),
            "policyArn: arn:aws:iam::aws:policy/job",
        ),
    ],
    "iam-trust": [
        (trust("*"), "assumeRolePolicy.Statement[0].Principal: anybody may take the role"),
        (trust({"AWS": ["arn:aws:iam::1:root", "*"]}), "assumeRolePolicy.Statement[0].Principal: anybody"),
        (trust("*", StringLike={"aws:PrincipalArn": "arn:aws:iam::*:role/ci"}), "Principal: anybody may take the role"),
        (trust("*", StringNotEquals={"aws:PrincipalOrgID": "o-1"}), "Principal: anybody may take the role"),
        (
            role(assumeRolePolicy=text({"Effect": "Allow", "NotPrincipal": {"AWS": ROLE}, "Action": "sts:AssumeRole"})),
            "assumeRolePolicy.Statement[0].NotPrincipal: anybody may take the role",
        ),
        (trust({"*": "*"}), "assumeRolePolicy.Statement[0].Principal: anybody may take the role"),
        (trust("*", StringEquals={"aws:username": "alice"}), "Principal: anybody may take the role"),
        (trust("*", StringLike={"aws:PrincipalOrgID": "o-*"}), "Principal: anybody may take the role"),
        (trust(PROVIDER), "assumeRolePolicy.Statement[0]: no condition compares the subject of the token"),
        (trust(PROVIDER, StringLike={"api.pulumi.com/oidc:sub": "pulumi:deploy:org:a:*"}), "lets many subjects in"),
        (trust(PROVIDER, StringEquals={f"{ISSUER}:aud": "sts.amazonaws.com"}), "no condition compares the subject"),
        (trust(PROVIDER, StringNotEquals={f"{ISSUER}:sub": "repo:a/b:ref:refs/heads/main"}), "no condition compares"),
        (trust(PROVIDER, StringEqualsIfExists={f"{ISSUER}:sub": "repo:a/b:ref:refs/heads/main"}), "no condition"),
        (trust(PROVIDER, **{"ForAllValues:StringLike": {f"{ISSUER}:sub": "repo:a/b:*"}}), "no condition compares"),
        (
            trust(PROVIDER, StringLike={f"{ISSUER}:sub": "repo:example/*"}),
            f'Condition.StringLike["{ISSUER}:sub"]: repo:example/* lets many subjects in',
        ),
        (trust(PROVIDER, StringLike={"oidc.eks.example:sub": "system:serviceaccount:*:*"}), "lets many subjects in"),
    ],
    "open-policies": [
        (of_queue("*"), "policy.Statement[0].Principal: allows it to everybody"),
        (of_queue({"AWS": "*"}), "policy.Statement[0].Principal: allows it to everybody"),
        # Conditions that everybody meets.
        (of_queue("*", Condition={"Bool": {"aws:SecureTransport": "true"}}), "Principal: allows it to everybody"),
        (of_queue("*", Condition={"IpAddress": {"aws:SourceIp": ["192.0.2.0/24", "0.0.0.0/0"]}}), "Principal: allows"),
        (of_queue("*", Condition={"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:*"}}), "Principal: allows it to"),
        (of_queue("*", Condition={"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-1"}}), "Principal: allows it to"),
        (
            Resource(
                "aws:s3/bucketPolicy:BucketPolicy",
                {"policy": text({"Effect": "Allow", "NotPrincipal": {"AWS": ROLE}, "Action": "s3:*", "Resource": "*"})},
            ),
            "policy.Statement[0].NotPrincipal: allows it to everybody",
        ),
        (
            Resource("aws:s3/bucket:Bucket", {"policy": text(allow("s3:GetObject", Principal="*"))}),
            "policy.Statement[0].Principal: allows it to everybody",
        ),
        (Resource("aws:lambda/permission:Permission", {"principal": "*"}), "principal: allows it to everybody"),
        (Resource("aws:lambda/functionUrl:FunctionUrl", {"authorizationType": "NONE"}), "authorizationType: allows it"),
        (
            Resource("aws:ec2/amiLaunchPermission:AmiLaunchPermission", {"group": "all"}),
            "group: allows it to everybody",
        ),
        (
            Resource("aws:opensearch/domain:Domain", {"accessPolicies": text(allow("es:*", Principal={"AWS": "*"}))}),
            "accessPolicies.Statement[0].Principal: allows it to everybody",
        ),
        (
            Resource("aws:s3/accessPoint:AccessPoint", {"policy": text(allow("s3:GetObject", Principal="*"))}),
            "policy.Statement[0].Principal: allows it to everybody",
        ),
        (
            Resource("aws:kms/key:Key", {"policy": text(allow("kms:Decrypt", Principal="*"))}),
            "policy.Statement[0].Principal: allows it to everybody",
        ),
    ],
    "iam-access-keys": [
        (Resource("aws:iam/accessKey:AccessKey", {"user": "ci"}), "user: ci gets a key that lasts"),
        (Resource("aws:iam/userLoginProfile:UserLoginProfile", {"user": "ann"}), "user: ann gets a key that lasts"),
    ],
}

PASSES: Passes = {
    "iam-wildcards": [
        policy("s3:PutObject", "arn:aws:s3:::checkpoints/a"),
        policy(["s3:GetObject", "s3:Get*"], ["arn:aws:s3:::checkpoints", "arn:aws:s3:::checkpoints/*", BUCKET]),
        policy("sqs:ReceiveMessage", "arn:aws:sqs:*:123456789012:karpenter-*"),
        policy("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-2:1:secret:research/token-??????"),
        policy("logs:PutLogEvents", "arn:aws:logs:us-east-2:123456789012:log-group:/aws/eks/*"),
        policy("autoscaling:SetDesiredCapacity", f"{GROUPS}eks-train-*"),
        policy(["ec2:Describe*", "route53:ListHostedZones", "ecr:GetAuthorizationToken"]),
        policy("ec2:DeleteVolume", Condition={"StringEquals": {TAG: "atlas"}}),
        policy("ec2:CreateTags", Condition={"Null": {"aws:RequestTag/gangline.dev/cluster": "false"}}),
        policy(["ec2:AttachVolume", "ec2:DetachVolume"], "arn:aws:ec2:*:*:volume/*"),
        [ANYWHERE, policy(["elasticloadbalancing:DeleteRule", "elasticloadbalancing:Set*"])],
        Resource("aws:iam/policy:Policy", {"policy": text({"Effect": "Deny", "Action": "*", "Resource": "*"})}),
        role(assumeRolePolicy=text(allow("sts:*"))),
    ],
    "iam-pass-role": [
        policy("iam:PassRole", ROLE, Condition={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}),
        policy("iam:GetRole", "*"),
        policy(["iam:PassRoleX", "s3:*"], "*"),
    ],
    "iam-escalation": [
        policy("iam:GetRolePolicy", ROLE),
        [ASSOCIATING, policy("eks:CreatePodIdentityAssociation", "arn")],
        policy("iam:PutRolePolicy", ROLE, Condition={"StringEquals": {"iam:PermissionsBoundary": "arn"}}),
        policy("iam:AttachRolePolicy", ROLE, Condition={"ArnEquals": {"iam:PolicyARN": f"{AWS}AmazonEKS_CNI_Policy"}}),
        bounded("ArnEquals", VIEW, "eks:AssociateAccessPolicy", "eks:policyArn"),
    ],
    "iam-managed-policies": [
        attached("arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"),
        attached("arn:aws:iam::123456789012:policy/AdministratorAccess"),
        role(),
    ],
    "iam-trust": [
        trust({"Service": "ec2.amazonaws.com"}),
        trust({"AWS": ROLE}),
        trust(PROVIDER, StringEquals={f"{ISSUER}:sub": "repo:example/fleet:ref:refs/heads/main"}),
        trust(PROVIDER, StringLike={f"{ISSUER}:sub": "repo:example/fleet:ref:refs/tags/*"}),
        trust(PROVIDER, **{"ForAnyValue:StringLike": {f"{ISSUER}:sub": ["repo:example/fleet:*"]}}),
        trust(PROVIDER, StringLike={"gitlab.com:sub": "project_path:example/fleet:ref_type:branch:ref:*"}),
        trust(PROVIDER, StringLike={"oidc.eks.example:sub": "system:serviceaccount:research:*"}),
        trust(PROVIDER, StringLike={"api.pulumi.com/oidc:sub": "pulumi:deploy:org:a:project:b:*"}),
        [SUBJECTS, trust(PROVIDER, StringLike={f"{ISSUER}:sub": "repo:example/*"})],
        trust(PROVIDER, StringLike={"app.terraform.io:sub": "organization:a:project:b:workspace:c:run_phase:*"}),
        trust(
            {"Federated": "cognito-identity.amazonaws.com"}, StringEquals={"cognito-identity.amazonaws.com:aud": "a"}
        ),
        trust({"AWS": "*"}, StringEquals={"aws:PrincipalOrgID": "o-1"}),
    ],
    "open-policies": [
        of_queue({"Service": "events.amazonaws.com"}),
        of_queue("*", Condition={"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:checkpoints"}}),
        of_queue(
            "*", Condition={"StringEquals": {"AWS:PrincipalOrgID": "o-1"}, "Bool": {"aws:SecureTransport": "true"}}
        ),
        of_queue("*", Condition={"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}}),
        Resource("aws:lambda/permission:Permission", {"principal": "*", "principalOrgId": "o-1"}),
        Resource("aws:lambda/permission:Permission", {"principal": "events.amazonaws.com"}),
        Resource("aws:lambda/functionUrl:FunctionUrl", {"authorizationType": "AWS_IAM"}),
        of_queue("*", Effect="Deny"),
        Resource("aws:kms/key:Key", {}),
    ],
    "iam-access-keys": [
        Resource("aws:iam/user:User", {"name": "ci"}),
        [
            with_options(iam_access_keys={"users": ["ci"]}),
            Resource("aws:iam/accessKey:AccessKey", {"user": "ci"}),
        ],
    ],
}

UNKNOWNS: Unknowns = {
    "iam-wildcards": [
        (Resource("aws:iam/policy:Policy", {"policy": UNKNOWN}), "policy"),
        (Resource("aws:iam/policy:Policy", {"policy": "{"}), "policy"),
        (policy({"s3:PutObject": 1}, "arn"), "policy.Statement[0].Action"),
    ],
    "iam-pass-role": [(Resource("aws:iam/rolePolicy:RolePolicy", {"policy": UNKNOWN}), "policy")],
    "iam-escalation": [(role(inlinePolicies=[{"policy": UNKNOWN}]), "inlinePolicies[0].policy")],
    "iam-managed-policies": [(attached(UNKNOWN), "policyArn"), (role(managedPolicyArns=UNKNOWN), "managedPolicyArns")],
    "iam-trust": [(role(assumeRolePolicy=UNKNOWN), "assumeRolePolicy")],
    "open-policies": [(Resource("aws:sqs/queuePolicy:QueuePolicy", {"policy": UNKNOWN}), "policy")],
    "iam-access-keys": [(Resource("aws:iam/accessKey:AccessKey", {"user": UNKNOWN}), "user")],
}
