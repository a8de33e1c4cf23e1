"""What a team needs once in an AWS account: a key, a bucket for states, and a role for its CI.

Each part says what has to be done so that it is as it should be. So a second run finds nothing to do, and one that was
killed half-way goes on where it stopped.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model.aws import ci
from model.aws.ci_permissions import Place, policies
from model.aws.statements import policy

from . import bucket
from .account import Account, absent
from .changes import MAKE, Change

SESSION = 4 * 3600
"""Seconds of a session of the CI role, at most. Credentials must outlive an `up`; the provider alone waits up to half
an hour for a cluster and an hour for a node group."""


@dataclass(frozen=True)
class Names:
    """How the parts are called.

    Attributes:
        prefix: What all names begin with.
        account: The account's number.
        region: The region.
        partition: Such as `aws`.
        repository: The repository whose CI may be the role, as its tokens name it; None: no role.
        branch: The branch whose runs may.
    """

    prefix: str
    account: str
    region: str
    partition: str
    repository: str | None
    branch: str

    @property
    def alias(self) -> str:
        """The key's alias."""
        return f"alias/{self.prefix}"

    @property
    def bucket(self) -> str:
        """The bucket. Names of buckets are shared by all accounts of the world."""
        return f"{self.prefix}-state-{self.account}-{self.region}"

    @property
    def role(self) -> str:
        """The role's name. Roles are the account's, whatever the region."""
        return f"{self.prefix}-ci-{self.region}"

    @property
    def role_arn(self) -> str:
        """The role's ARN."""
        return f"arn:{self.partition}:iam::{self.account}:role/{self.role}"

    def policy_arn(self, topic: str) -> str:
        """The ARN of one of the role's policies."""
        return f"arn:{self.partition}:iam::{self.account}:policy/{self.role}-{topic}"

    @property
    def provider_arn(self) -> str:
        """The ARN of GitHub's tokens as an identity provider of the account."""
        return f"arn:{self.partition}:iam::{self.account}:oidc-provider/{ci.ISSUER}"

    @property
    def login(self) -> str:
        """The state bucket as `pulumi login` wants it."""
        return f"s3://{self.bucket}?region={self.region}"

    @property
    def secrets_provider(self) -> str:
        """The key as `pulumi stack init --secrets-provider` wants it."""
        return f"awskms://{self.alias}?region={self.region}"


def parts(account: Account, names: Names) -> tuple[tuple[str, Callable[[], Iterator[Change]]], ...]:
    """Give the parts in the order in which they need each other: what each is, and what has to be done to it.

    What has to be done depends on what was done before: ask for the changes of a part when its turn has come.
    """
    found = [
        (f"key {names.alias}", lambda: _key(account, names)),
        (f"bucket {names.bucket}", lambda: bucket.changes(account, names.bucket, _key_arn(account, names))),
    ]
    if names.repository:
        found += [
            (f"identity provider {ci.ISSUER}", lambda: _provider(account, names)),
            (f"role {names.role}", lambda: _role(account, names)),
        ]
    return tuple(found)


def _found_key(account: Account, names: Names) -> Mapping[str, Any] | None:
    kms = account.client("kms")
    answer = absent(kms.describe_key, "NotFoundException", KeyId=names.alias)
    return answer and answer["KeyMetadata"]


def _key_arn(account: Account, names: Names) -> str | None:
    there = _found_key(account, names)
    return there["Arn"] if there else None


def _key(account: Account, names: Names) -> Iterator[Change]:
    kms, there = account.client("kms"), _found_key(account, names)
    if there is None:
        # A run that was killed may have made the key, and not its name yet.
        description = f"Pulumi's states and secrets ({names.prefix})"
        known = [key["KeyId"] for page in kms.get_paginator("list_keys").paginate() for key in page["Keys"]]
        # A key may be closed to everybody but its owner: then it is none of these.
        told = (absent(kms.describe_key, "AccessDeniedException", KeyId=each) for each in known)
        nameless = [
            key["KeyId"]
            for key in (each["KeyMetadata"] for each in told if each)
            if key.get("Description") == description and key["KeyState"] == "Enabled"
        ]

        def make() -> None:
            made = nameless[0] if nameless else kms.create_key(Description=description)["KeyMetadata"]["KeyId"]
            kms.create_alias(AliasName=names.alias, TargetKeyId=made)
            kms.enable_key_rotation(KeyId=made)

        yield Change(f"{'name the one that is there' if nameless else MAKE}, with yearly rotation", make)
        return
    identity = there["KeyId"]
    if there["KeyState"] == "PendingDeletion":
        yield Change("it is about to be deleted: keep it", lambda: kms.cancel_key_deletion(KeyId=identity))
    if there["KeyState"] in ("PendingDeletion", "Disabled"):
        yield Change("enable it", lambda: kms.enable_key(KeyId=identity))
    elif not kms.get_key_rotation_status(KeyId=identity)["KeyRotationEnabled"]:
        yield Change("rotate it yearly", lambda: kms.enable_key_rotation(KeyId=identity))


def _provider(account: Account, names: Names) -> Iterator[Change]:
    iam = account.client("iam")
    there = absent(iam.get_open_id_connect_provider, "NoSuchEntity", OpenIDConnectProviderArn=names.provider_arn)
    if there is None:
        yield Change(
            f"{MAKE}: tokens of GitHub for {ci.AUDIENCE}",
            lambda: iam.create_open_id_connect_provider(Url=f"https://{ci.ISSUER}", ClientIDList=[ci.AUDIENCE]),
        )
    elif ci.AUDIENCE not in there["ClientIDList"]:
        yield Change(
            f"take tokens for {ci.AUDIENCE}",
            lambda: iam.add_client_id_to_open_id_connect_provider(
                OpenIDConnectProviderArn=names.provider_arn, ClientID=ci.AUDIENCE
            ),
        )


def _role(account: Account, names: Names) -> Iterator[Change]:
    iam, name = account.client("iam"), names.role
    assert names.repository  # noqa: S101 - without one there is no role
    trust = ci.trust(names.provider_arn, names.repository, names.branch)
    answer = absent(iam.get_role, "NoSuchEntity", RoleName=name)
    if answer is None:
        yield Change(
            f"{MAKE}, for runs of {names.repository} on {names.branch} only",
            lambda: iam.create_role(
                RoleName=name,
                AssumeRolePolicyDocument=json.dumps(trust),
                MaxSessionDuration=SESSION,
                Description=f"CI of {names.repository}: brings clusters up",
            ),
        )
    else:
        there = answer["Role"]
        if there["AssumeRolePolicyDocument"] != trust:
            yield Change(
                f"let it be taken by runs of {names.repository} on {names.branch}, and by nobody else",
                lambda: iam.update_assume_role_policy(RoleName=name, PolicyDocument=json.dumps(trust)),
            )
        if there["MaxSessionDuration"] != SESSION:
            yield Change(
                f"sessions of up to {SESSION // 3600} hours",
                lambda: iam.update_role(RoleName=name, MaxSessionDuration=SESSION),
            )
    yield from _permissions(account, names, made=answer is not None)


def _permissions(account: Account, names: Names, *, made: bool) -> Iterator[Change]:
    """What the role may do: ours, and nothing beside it."""
    iam, role = account.client("iam"), names.role
    attached = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] if made else []
    there = {each["PolicyArn"] for each in attached}
    wanted = {names.policy_arn(topic): topic for topic in _policies(account, names)}
    for arn, topic in wanted.items():
        yield from _policy(account, names, arn, topic)
        if arn not in there:
            yield Change(f"allow {topic}", lambda arn=arn: iam.attach_role_policy(RoleName=role, PolicyArn=arn))
    for arn in sorted(there - wanted.keys()):
        yield Change(
            f"take back {arn}, which is not ours",
            lambda arn=arn: iam.detach_role_policy(RoleName=role, PolicyArn=arn),
        )
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"] if made else ():
        yield Change(
            f"take back {name}, which is not ours",
            lambda name=name: iam.delete_role_policy(RoleName=role, PolicyName=name),
        )


def _policy(account: Account, names: Names, arn: str, topic: str) -> Iterator[Change]:
    """One policy, apart from the role: what a role holds within itself is bounded to 10,240 characters in all.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    """
    iam = account.client("iam")
    wanted = _policies(account, names)[topic]
    text = json.dumps(wanted, separators=(",", ":"))
    found = absent(iam.get_policy, "NoSuchEntity", PolicyArn=arn)
    if found is None:
        name = arn.rpartition("/")[2]
        yield Change(f"{MAKE}: policy {name}", lambda: iam.create_policy(PolicyName=name, PolicyDocument=text))
        return
    version = found["Policy"]["DefaultVersionId"]
    if iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"] != wanted:

        def repair() -> None:
            # A policy has at most five versions.
            for old in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
                if not old["IsDefaultVersion"]:
                    iam.delete_policy_version(PolicyArn=arn, VersionId=old["VersionId"])
            iam.create_policy_version(PolicyArn=arn, PolicyDocument=text, SetAsDefault=True)

        yield Change(f"repair policy {arn.rpartition('/')[2]}", repair)


def _policies(account: Account, names: Names) -> dict[str, Any]:
    place = Place(names.partition, names.account, names.region)
    found = policies(place, names.bucket, _key_arn(account, names))
    return {topic: policy(statements) for topic, statements in found.items()}
