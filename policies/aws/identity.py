"""Laws about who may do what in an account of AWS."""

import re

from policies.aws.reading import listed
from policies.aws.statements import POLICIES, allowed, documents
from policies.fields import Field
from policies.rules import Option, Report, ResourceRule, Severity, rule

_ROLE = "aws:iam/role:Role"
_ATTACHMENTS = (
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
)
_BROAD = re.compile(
    r"arn:[^:]+:iam::aws:policy/(?:.*/)?(AdministratorAccess.*|PowerUserAccess|.*FullAccess(?:V[0-9])?)"
)
_OF_RESOURCES = (
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:kms/key:Key",
    "aws:kms/keyPolicy:KeyPolicy",
    "aws:sqs/queue:Queue",
    "aws:sqs/queuePolicy:QueuePolicy",
    "aws:sns/topic:Topic",
    "aws:sns/topicPolicy:TopicPolicy",
    "aws:ecr/repositoryPolicy:RepositoryPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:secretsmanager/secret:Secret",
    "aws:secretsmanager/secretPolicy:SecretPolicy",
)
_ESCALATIONS = (
    # By any of these somebody gives himself, or a role that he may take, what he was not given.
    "iam:AddUserToGroup",
    "iam:AttachGroupPolicy",
    "iam:AttachRolePolicy",
    "iam:AttachUserPolicy",
    "iam:CreateAccessKey",
    "iam:CreateLoginProfile",
    "iam:CreatePolicyVersion",
    "iam:DeleteRolePermissionsBoundary",
    "iam:PutGroupPolicy",
    "iam:PutRolePermissionsBoundary",
    "iam:PutRolePolicy",
    "iam:PutUserPolicy",
    "iam:SetDefaultPolicyVersion",
    "iam:UpdateAssumeRolePolicy",
    "iam:UpdateLoginProfile",
    "eks:AssociateAccessPolicy",
    "eks:CreateAccessEntry",
)


@rule(
    ResourceRule,
    types=POLICIES,
    id="iam-wildcards",
    severity=Severity.HIGH,
    what="A policy names the actions and the resources that it allows.",
    why=(
        "A wildcard also allows what AWS adds tomorrow, and the buckets and keys of every other team in the account. "
        "Whoever takes over one pod has it all."
    ),
    fix=(
        "Name actions and resources. Where ids cannot be known before, keep to tags by a condition, give the statement "
        "a Sid, and write the reason into `model/aws/wildcards.py`."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
)
def iam_wildcards(holder: Field, report: Report) -> None:
    """Judge each statement by the model's rules about wildcards, which know the reasons of those that are needed."""
    # Not at the top: the pack starts without what few stacks need.
    from model.aws.wildcards import unreasoned

    for policy in documents(holder):
        for statement in allowed(policy, report):
            for wildcard in unreasoned({"Statement": [statement.plain]}):
                report.violation(statement.field, f"{_shown(wildcard.text, policy)}: {wildcard.fault}")


def _shown(text: str, policy: Field) -> str:
    return "[secret]" if policy.secret else text


@rule(
    ResourceRule,
    types=POLICIES,
    id="iam-pass-role",
    severity=Severity.HIGH,
    what="A role is passed on by name only, and to a service that is named.",
    why=(
        "Whoever may pass any role to an instance or a pod has what the strongest role of the account has: he starts "
        "one with it, and asks it for its credentials."
    ),
    fix="Name the ARN of the role in `Resource`, and the service in a condition on `iam:PassedToService`.",
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html",
)
def iam_pass_role(holder: Field, report: Report) -> None:
    """Judge the statements that allow it, by wildcards too."""
    for policy in documents(holder):
        for statement in allowed(policy, report):
            if not statement.allows(["iam:PassRole"]):
                continue
            if statement.anywhere:
                report.violation(statement.field, "passes any role on")
            elif "iam:passedtoservice" not in statement.keys:
                report.violation(statement.field, "passes a role on to any service")


@rule(
    ResourceRule,
    types=POLICIES,
    id="iam-escalation",
    severity=Severity.CRITICAL,
    what="Nobody may give himself more than he has.",
    why=(
        "Who may write policies of roles, or entries of a cluster, is an administrator whatever else his own policy "
        "says: one more call makes him one."
    ),
    fix=(
        "Leave it to the role of CI that makes the stack, or bind it by a condition on `iam:PermissionsBoundary`, "
        "`iam:PolicyARN` or `eks:policyArn`."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html",
)
def iam_escalation(holder: Field, report: Report) -> None:
    """Judge the statements that allow it, by wildcards too, and without a condition that binds it."""
    bound = {"iam:permissionsboundary", "iam:policyarn", "eks:policyarn"}
    for policy in documents(holder):
        for statement in allowed(policy, report):
            found = statement.allows(_ESCALATIONS)
            if found and not statement.keys & bound:
                report.violation(statement.field, f"allows {found[0]}{_more(found)}")


def _more(found: list[str]) -> str:
    return f" and {len(found) - 1} more" if len(found) > 1 else ""


@rule(
    ResourceRule,
    types=(*_ATTACHMENTS, _ROLE),
    id="iam-managed-policies",
    severity=Severity.HIGH,
    what="Nobody gets AWS's policies for administrators, or for all of a service.",
    why="They allow far more than a node, a pod or a pipeline needs, and AWS adds to them when it likes.",
    fix="Write a policy of what is needed, or name one of AWS's that is made for the purpose, such as those of EKS.",
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html",
    options={"allowed": Option(list, (), "Names of such policies that may be given, such as `AmazonFSxFullAccess`.")},
)
def iam_managed_policies(holder: Field, report: Report) -> None:
    """Judge the policy that is attached, and those that a role has from the beginning."""
    with report.reading():
        for each in [holder["policyArn"], *holder["managedPolicyArns"].items()]:
            with report.reading():
                broad = _BROAD.fullmatch(each.text() or "")
                if broad and broad[1] not in report.options["allowed"]:
                    report.violation(each, f"{each} is a policy for administrators")


@rule(
    ResourceRule,
    types=(_ROLE,),
    id="iam-trust",
    severity=Severity.CRITICAL,
    what="A role says exactly who may take it.",
    why=(
        "A role that anybody may take is taken by anybody, from any account. The same holds for tokens of an identity "
        "provider whose subject is not compared: every repository of the world has one from the same provider."
    ),
    fix=(
        "Name the principal; compare `sub` of an identity provider by `StringEquals`, down to branch or service "
        "account."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
)
def iam_trust(role: Field, report: Report) -> None:
    """Judge the principals of each statement that lets somebody take the role."""
    for statement in allowed(role["assumeRolePolicy"], report):
        with report.reading():
            principal = statement.field["Principal"]
            if _everybody(principal):
                report.violation(principal, "anybody may take the role")
            elif isinstance(principal.value, dict) and principal["Federated"].value is not None:
                _federated(statement.field, report)


def _everybody(principal: Field) -> bool:
    return any(each.text() == "*" for each in listed(principal["AWS"] if _named(principal) else principal))


def _named(principal: Field) -> bool:
    return isinstance(principal.value, dict)


def _federated(statement: Field, report: Report) -> None:
    subjects = [
        value
        for test in statement["Condition"].members().values()
        for key, values in test.members().items()
        if key.lower().endswith((":sub", "saml:aud"))
        for value in listed(values)
    ]
    if not subjects:
        report.violation(statement, "no condition compares the subject of the token")
    for each in subjects:
        # A job of a repository ends in what started it; what comes before says whose it is.
        if "*" in re.sub(r"^(repo:[^*?:]+:).*", r"\1", each.text() or "*"):
            report.violation(each, f"{each} lets many subjects in")


@rule(
    ResourceRule,
    types=_OF_RESOURCES,
    id="open-policies",
    severity=Severity.CRITICAL,
    what="The policy of a resource lets nobody in unconditionally but whom it names.",
    why=(
        "A bucket, a key, a queue or a registry of images whose policy allows `*` is open to every account of the "
        "world."
    ),
    fix="Name the principals, or add a condition on the organization, the account or the way in.",
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
)
def open_policies(holder: Field, report: Report) -> None:
    """Judge the principals of each statement that allows something without a condition."""
    for statement in allowed(holder["policy"], report):
        with report.reading():
            principal = statement.field["Principal"]
            if not statement.keys and _everybody(principal):
                report.violation(principal, "allows it to everybody")


@rule(
    ResourceRule,
    types=("aws:iam/accessKey:AccessKey", "aws:iam/userLoginProfile:UserLoginProfile"),
    id="iam-access-keys",
    severity=Severity.HIGH,
    what="Nobody gets keys that last: machines and people take roles.",
    why=(
        "A key works until somebody deletes it, from anywhere, and it is in the state of the stack, in logs and in "
        "files."
    ),
    fix="Use EKS Pod Identity for pods, the identity provider of CI for pipelines, and IAM Identity Center for people.",
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    options={
        "users": Option(list, (), "Users that may have keys all the same, such as one of a system without roles.")
    },
)
def iam_access_keys(key: Field, report: Report) -> None:
    """Judge whose key it is."""
    user = key["user"]
    if user.text() not in report.options["users"]:
        report.violation(user, f"{user} gets a key that lasts")


RULES = (iam_wildcards, iam_pass_role, iam_escalation, iam_managed_policies, iam_trust, open_policies, iam_access_keys)
