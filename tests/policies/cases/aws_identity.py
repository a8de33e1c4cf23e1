"""Who may do what in an account of AWS."""

import json
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, secret

BUCKET = "arn:aws:s3:::checkpoints/research/*"
ROLE = "arn:aws:iam::123456789012:role/nodes"
ISSUER = "token.actions.githubusercontent.com"
PROVIDER = {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{ISSUER}"}


def text(*statements: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def policy(actions: Any, resources: Any = "*", kind: str = "rolePolicy:RolePolicy", **more: Any) -> Resource:
    return Resource(f"aws:iam/{kind}", {"policy": text(allow(actions, resources, **more))})


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
        (policy("s3:*", "arn:aws:s3:::checkpoints"), "policy.Statement[0]: s3:*: no wildcard is allowed in an action"),
        (policy("s3:PutObject", BUCKET), f"policy.Statement[0]: {BUCKET}: has no reason"),
        (policy(["s3:Get*"], "arn:aws:s3:::a", kind="policy:Policy"), "s3:Get*: no wildcard"),
        (policy("s3:PutObject", "arn:aws:s3:::a", NotAction="s3:*"), "NotAction: allows all but what it names"),
        # Its reason is that of a read, and this is none.
        (policy("ec2:TerminateInstances", "*", Sid="CniRead"), "*: changes things without a condition"),
        (role(inlinePolicies=[{"policy": text(allow("s3:*", "arn"))}]), "inlinePolicies[0].policy.Statement[0]: s3:*"),
        (
            Resource("aws:iam/policy:Policy", {"policy": secret(text(allow("s3:*", "arn:aws:s3:::a")))}),
            "policy.Statement[0]: [secret]: no wildcard",
        ),
        (
            Resource("aws:iam/policy:Policy", {"policy": {"Statement": allow("ec2:*", "arn")}}),
            "policy.Statement: ec2:*",
        ),
    ],
    "iam-pass-role": [
        (policy("iam:PassRole"), "policy.Statement[0]: passes any role on"),
        (policy("iam:*", "arn:aws:iam::123456789012:role/*"), "policy.Statement[0]: passes any role on"),
        (policy("iam:Pass*", ROLE), "policy.Statement[0]: passes a role on to any service"),
        (policy("*", ROLE), "policy.Statement[0]: passes a role on to any service"),
    ],
    "iam-escalation": [
        (policy("iam:PutRolePolicy", ROLE), "policy.Statement[0]: allows iam:PutRolePolicy"),
        (policy(["iam:get*", "IAM:attach*"], ROLE), "policy.Statement[0]: allows iam:AttachGroupPolicy and 2 more"),
        (policy("eks:CreateAccessEntry", "arn"), "policy.Statement[0]: allows eks:CreateAccessEntry"),
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
    ],
    "iam-trust": [
        (trust("*"), "assumeRolePolicy.Statement[0].Principal: anybody may take the role"),
        (trust({"AWS": ["arn:aws:iam::1:root", "*"]}), "assumeRolePolicy.Statement[0].Principal: anybody"),
        (trust(PROVIDER), "assumeRolePolicy.Statement[0]: no condition compares the subject of the token"),
        (trust(PROVIDER, StringEquals={f"{ISSUER}:aud": "sts.amazonaws.com"}), "no condition compares the subject"),
        (
            trust(PROVIDER, StringLike={f"{ISSUER}:sub": "repo:example/*"}),
            f'Condition.StringLike["{ISSUER}:sub"]: repo:example/* lets many subjects in',
        ),
        (trust(PROVIDER, StringLike={"oidc.eks.example:sub": "system:serviceaccount:*:*"}), "lets many subjects in"),
    ],
    "open-policies": [
        (of_queue("*"), "policy.Statement[0].Principal: allows it to everybody"),
        (of_queue({"AWS": "*"}), "policy.Statement[0].Principal: allows it to everybody"),
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
        policy("ec2:DescribeInstances", "*", Sid="CniRead"),
        policy("s3:PutObject", BUCKET, Sid="ArchiveObjects"),
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
        policy("iam:PutRolePolicy", ROLE, Condition={"StringEquals": {"iam:PermissionsBoundary": "arn"}}),
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
    ],
    "open-policies": [
        of_queue({"Service": "events.amazonaws.com"}),
        of_queue("*", Condition={"ArnEquals": {"aws:SourceArn": "arn"}}),
        of_queue("*", Effect="Deny"),
        Resource("aws:kms/key:Key", {}),
    ],
    "iam-access-keys": [
        Resource("aws:iam/user:User", {"name": "ci"}),
        [
            platform(document("aws-training") | {"policies": {"options": {"iam-access-keys": {"users": ["ci"]}}}}),
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
