"""Laws about who may do what in an account of AWS."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from policies.aws.reading import BUCKETS, listed
from policies.aws.statements import POLICIES, Statement, allowed, documents
from policies.fields import UNKNOWN, Field
from policies.rules import Option, Report, ResourceRule, Severity, rule

_ROLE = "aws:iam/role:Role"
_ATTACHMENTS = (
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
    "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive",
    "aws:iam/groupPolicyAttachmentsExclusive:GroupPolicyAttachmentsExclusive",
    "aws:iam/userPolicyAttachmentsExclusive:UserPolicyAttachmentsExclusive",
    "aws:ssoadmin/managedPolicyAttachment:ManagedPolicyAttachment",
)
_BROAD = re.compile(
    r"arn:[^:]+:iam::aws:policy/(?:.*/)?"
    r"(AdministratorAccess.*|PowerUserAccess|.*FullAccess(?:V[0-9])?|(?:Database|Network|System)Administrator)"
)
_OF_RESOURCES = (
    *BUCKETS,
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/accessPoint:AccessPoint",
    "aws:s3control/accessPointPolicy:AccessPointPolicy",
    "aws:backup/vaultPolicy:VaultPolicy",
    "aws:opensearch/domain:Domain",
    "aws:opensearch/domainPolicy:DomainPolicy",
    "aws:kms/key:Key",
    "aws:kms/keyPolicy:KeyPolicy",
    "aws:sqs/queue:Queue",
    "aws:sqs/queuePolicy:QueuePolicy",
    "aws:sns/topic:Topic",
    "aws:sns/topicPolicy:TopicPolicy",
    "aws:ecr/registryPolicy:RegistryPolicy",
    "aws:ecr/repositoryPolicy:RepositoryPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:secretsmanager/secret:Secret",
    "aws:secretsmanager/secretPolicy:SecretPolicy",
)
_DOORS = {
    # What has no policy and is open to everybody by one word: the property, and the word.
    "aws:lambda/functionUrl:FunctionUrl": ("authorizationType", "NONE"),
    "aws:ec2/amiLaunchPermission:AmiLaunchPermission": ("group", "all"),
    "aws:lambda/permission:Permission": ("principal", "*"),
}
_ESCALATIONS = (
    # By any of these somebody gives himself, or a role that he may take, what he was not given.
    "iam:AddUserToGroup",
    "iam:AttachGroupPolicy",
    "iam:AttachRolePolicy",
    "iam:AttachUserPolicy",
    "iam:CreateAccessKey",
    "iam:CreateLoginProfile",
    "iam:CreatePolicyVersion",
    "iam:CreateServiceSpecificCredential",
    "iam:DeleteRolePermissionsBoundary",
    "iam:DeleteUserPermissionsBoundary",
    "iam:PutGroupPolicy",
    "iam:PutRolePermissionsBoundary",
    "iam:PutRolePolicy",
    "iam:PutUserPermissionsBoundary",
    "iam:PutUserPolicy",
    "iam:SetDefaultPolicyVersion",
    "iam:UpdateAccessKey",
    "iam:UpdateAssumeRolePolicy",
    "iam:UpdateLoginProfile",
    "eks:AssociateAccessPolicy",
    "eks:CreateAccessEntry",
    "eks:CreatePodIdentityAssociation",
    "eks:UpdateAccessEntry",
    "eks:UpdatePodIdentityAssociation",
)
_BOUND = frozenset({"iam:permissionsboundary", "iam:policyarn", "eks:policyarn"})
"""What says how much may be given."""
_STRONGEST = (
    "iam::aws:policy/administratoraccess",
    "iam::aws:policy/iamfullaccess",
    "iam::aws:policy/poweruseraccess",
    "eks::aws:cluster-access-policy/amazoneksclusteradminpolicy",
)
"""What is no bound: the ends of ARNs, behind the partition."""


@rule(
    ResourceRule,
    types=POLICIES,
    id="iam-wildcards",
    severity=Severity.HIGH,
    what="A policy names the actions that it allows, and what it allows them on.",
    why=(
        "An action with a wildcard also allows what AWS adds tomorrow; a resource without a name is that of every "
        "other team in the account. Whoever takes over one pod has it all."
    ),
    fix=(
        "Name actions, and begin resources with a name: `arn:aws:s3:::bucket/*` is one. Where ids cannot be known "
        "before, keep to a tag by a condition; what has to be allowed on anything goes into the option `anywhere`."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    options={
        "anywhere": Option(
            list,
            (),
            "Actions that may be allowed on anything, such as those of a controller: `elasticloadbalancing:*`.",
        )
    },
)
def iam_wildcards(holder: Field, report: Report) -> None:
    """Judge each statement by the model, which knows what has a name and what needs none."""
    # Not at the top: the pack starts without what few stacks need.
    from model.aws import reach

    for policy in documents(holder):
        for statement in allowed(policy, report):
            for text, fault in reach.excess(statement.plain, report.options["anywhere"]):
                report.violation(statement.field, f"{_shown(text, policy)}: {fault}")


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
    # Not at the top: the pack starts without what few stacks need.
    from model.aws import conditions, reach

    for policy in documents(holder):
        for statement in allowed(policy, report):
            if not statement.allows(["iam:PassRole"]):
                continue
            if not all(map(reach.names_something, statement.resources)):
                report.violation(statement.field, "passes any role on")
            elif not any(
                key == "iam:passedtoservice"
                and test != "null"
                and all(re.match(r"[a-z0-9-]+\.", each) for each in values)
                for test, key, values in conditions.binding(statement.condition)
            ):
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
        "`iam:PolicyARN` or `eks:policyArn`. What a controller of yours has to do goes into the option `allowed`."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html",
    options={
        "allowed": Option(list, (), "Such actions that policies may allow, such as `eks:CreatePodIdentityAssociation`.")
    },
)
def iam_escalation(holder: Field, report: Report) -> None:
    """Judge the statements that allow it, by wildcards too, and without a condition that binds it."""
    # Not at the top: the pack starts without what few stacks need.
    from model.aws import conditions, reach

    judged = [each for each in _ESCALATIONS if each not in report.options["allowed"]]
    for policy in documents(holder):
        for statement in allowed(policy, report):
            found = statement.allows(judged)
            bound = any(
                test != "null" and key in _BOUND and all(map(reach.names_something, values)) and not _strong(values)
                for test, key, values in conditions.binding(statement.condition)
            )
            if found and not bound:
                report.violation(statement.field, f"allows {found[0]}{_more(found)}")


def _strong(patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(policy, each.split(":", 2)[-1]) for each in patterns for policy in _STRONGEST)


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
        several = [*holder["managedPolicyArns"].items(), *holder["policyArns"].items()]
        for each in [holder["policyArn"], holder["managedPolicyArn"], *several]:
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
        "Name the principal, or your organization by a condition on `aws:PrincipalOrgID`; compare `sub` of an identity "
        "provider by `StringEquals`. `repo:ORG/REPOSITORY:*` lets in whoever may push a branch or open a pull request "
        "from one: for what deploys name the branch."
    ),
    link="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
    options={"subjects": Option(list, (), "Subjects with wildcards that may be let in, as they are written.")},
)
def iam_trust(role: Field, report: Report) -> None:
    """Judge the principals of each statement that lets somebody take the role."""
    for statement in allowed(role["assumeRolePolicy"], report):
        with report.reading():
            principal = statement.field["Principal"]
            everybody = _everybody(statement, "anybody may take the role", report)
            if not everybody and _named(principal) and principal["Federated"].value is not None:
                _federated(statement.field, report)


def _everybody(statement: Statement, message: str, report: Report) -> bool:
    """Tell of a statement that is for everybody, unless a condition says for whom; and whether it is for everybody."""
    # Not at the top: the pack starts without what few stacks need.
    from model.aws import conditions

    named, others = statement.field["Principal"], statement.field["NotPrincipal"]
    where = named if others.value is None else others
    # S3 also takes a map whose key is `*`.
    principals = [*listed(named["AWS"]), *listed(named["*"])] if _named(named) else listed(named)
    if others.value is None and not any(each.text() == "*" for each in principals):
        return False
    if not conditions.names_callers(statement.condition):
        report.violation(where, message)
    return True


def _named(principal: Field) -> bool:
    return isinstance(principal.value, dict)


_SUBJECTS = (":sub", "saml:aud", "cognito-identity.amazonaws.com:aud")
"""Ends of the keys that say whose a token is. Cognito's is that of a pool of identities."""
_OWNED = re.compile(
    r"((?:(?:repo|project_path|system:serviceaccount):[^*?:]+"
    r"|pulumi:deploy:org:[^*?:]+:project:[^*?:]+"
    r"|organization:[^*?:]+:project:[^*?:]+:workspace:[^*?:]+):).*"
)
"""Subjects that name a repository, a project, a workspace or a namespace, whatever comes behind it: whoever may run
anything there can run it as any of these. As GitHub, GitLab, Kubernetes, Pulumi and Terraform write them."""
_EQUAL = re.compile(r"(?:ForAnyValue:)?String(Equals|EqualsIgnoreCase|Like)", re.IGNORECASE)
"""Tests that a token without the right subject does not meet."""


def _federated(statement: Field, report: Report) -> None:
    subjects = [
        (test.lower().endswith("like"), value)
        for test, keys in statement["Condition"].members().items()
        if _EQUAL.fullmatch(test)
        for key, values in keys.members().items()
        if key.lower().endswith(_SUBJECTS)
        for value in listed(values)
    ]
    if not subjects:
        report.violation(statement, "no condition compares the subject of the token")
    for pattern, each in subjects:
        text = each.text() or "*"
        if pattern and text not in report.options["subjects"] and re.search(r"[*?]", _OWNED.sub(r"\1", text)):
            report.violation(each, f"{each} lets many subjects in")


@rule(
    ResourceRule,
    types=(*_OF_RESOURCES, *_DOORS),
    id="open-policies",
    severity=Severity.CRITICAL,
    what="The policy of a resource lets nobody in but whom it names, by principal or by condition.",
    why=(
        "A bucket, a key, a queue or a registry of images whose policy allows `*` is open to every account of the "
        "world; so is one with a condition that everybody meets, such as `aws:SecureTransport`."
    ),
    fix="Name the principals, or add a condition on the organization, the account, the network or the source.",
    link="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
)
def open_policies(holder: Field, report: Report) -> None:
    """Judge the principals of each statement that allows something, and of permissions to call a function."""
    for place in ("policy", "accessPolicies"):
        for statement in allowed(holder[place], report):
            with report.reading():
                _everybody(statement, "allows it to everybody", report)
    narrow = ("sourceArn", "sourceAccount", "principalOrgId")
    for place, word in _DOORS.values():
        with report.reading():
            if holder[place].value == word and all(holder[each].value is None for each in narrow):
                report.violation(holder[place], "allows it to everybody")
            elif holder[place].value is UNKNOWN:
                holder[place].text()


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
