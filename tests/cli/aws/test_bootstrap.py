"""`init aws` on moto, read back with plain boto3."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from cli import app
from cli.aws import bootstrap, initialising
from cli.aws.account import Account
from cli.aws.bootstrap import Names
from cli.refusals import RefusedError
from model.aws import ci_permissions, wildcards

REGION = "us-east-2"
BUCKET = {"Bucket": "team-state-123456789012-us-east-2"}
ROLE = {"RoleName": "team-ci-us-east-2"}
POLICY = "arn:aws:iam::123456789012:policy/team-ci-us-east-2-state"
ADMIN = "arn:aws:iam::aws:policy/AdministratorAccess"
_STATEMENT = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::other"}
OTHER = json.dumps({"Version": "2012-10-17", "Statement": [_STATEMENT]})
OTHER_TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}],
    }
)


def names(prefix: str, repository: str | None = "acme/clusters") -> Names:
    return Names(prefix, "123456789012", REGION, "aws", repository, "main")


def todo(account: Account, wanted: Names) -> list[str]:
    return [change.text for _, changes in bootstrap.parts(account, wanted) for change in changes()]


def make(account: Account, wanted: Names, most: int = 1000) -> None:
    """Do what has to be done, at most so many things of it."""
    done = 0
    for _, changes in bootstrap.parts(account, wanted):
        for change in changes():
            if done == most:
                return
            change.do()
            done += 1


@pytest.fixture(scope="module")
def made(address: str) -> Account:
    account = Account(REGION, address)
    make(account, names("team"))
    return account


def key_of(account: Account) -> str:
    return account.client("kms").describe_key(KeyId="alias/team")["KeyMetadata"]["KeyId"]


def test_the_bucket_is_closed_versioned_and_sealed(made: Account) -> None:
    s3 = made.client("s3")
    assert s3.get_bucket_versioning(**BUCKET)["Status"] == "Enabled"
    [rule] = s3.get_bucket_encryption(**BUCKET)["ServerSideEncryptionConfiguration"]["Rules"]
    key = made.client("kms").describe_key(KeyId="alias/team")["KeyMetadata"]["Arn"]
    assert rule["ApplyServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    assert rule["BucketKeyEnabled"] is True
    assert set(s3.get_public_access_block(**BUCKET)["PublicAccessBlockConfiguration"].values()) == {True}
    [statement] = json.loads(s3.get_bucket_policy(**BUCKET)["Policy"])["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    [rule] = s3.get_bucket_lifecycle_configuration(**BUCKET)["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}


def test_the_key_rotates(made: Account) -> None:
    assert made.client("kms").get_key_rotation_status(KeyId=key_of(made))["KeyRotationEnabled"] is True


def test_the_role_is_taken_by_one_branch_and_holds_ours_only(made: Account) -> None:
    iam = made.client("iam")
    [statement] = iam.get_role(**ROLE)["Role"]["AssumeRolePolicyDocument"]["Statement"]
    provider = statement["Principal"]["Federated"]
    assert "sts.amazonaws.com" in iam.get_open_id_connect_provider(OpenIDConnectProviderArn=provider)["ClientIDList"]
    assert statement["Condition"]["StringEquals"] == {
        "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
        "token.actions.githubusercontent.com:sub": "repo:acme/clusters:ref:refs/heads/main",
    }
    attached = iam.list_attached_role_policies(**ROLE)["AttachedPolicies"]
    topics = {each["PolicyName"].rpartition("-")[2] for each in attached}
    assert topics == {"state", "reads", "network", "cluster", "identity", "storage"}
    assert iam.list_role_policies(**ROLE)["PolicyNames"] == []


def test_no_policy_of_the_role_holds_a_wildcard_without_a_reason(made: Account) -> None:
    iam = made.client("iam")
    for each in iam.list_attached_role_policies(**ROLE)["AttachedPolicies"]:
        arn = each["PolicyArn"]
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        policy = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
        found = wildcards.unreasoned(policy, ci_permissions.EXCEPTIONS, ci_permissions.UNCONDITIONED)
        assert list(found) == []


def test_a_second_run_has_nothing_to_do(made: Account) -> None:
    assert todo(made, names("team")) == []


DRIFTS: dict[str, tuple[Callable[[Account], object], str]] = {
    "versioning": (
        lambda it: it.client("s3").put_bucket_versioning(**BUCKET, VersioningConfiguration={"Status": "Suspended"}),
        "keep older versions of states",
    ),
    "encryption": (lambda it: it.client("s3").delete_bucket_encryption(**BUCKET), "encrypt it with the key"),
    "public": (lambda it: it.client("s3").delete_public_access_block(**BUCKET), "close it to the public"),
    "owner": (lambda it: it.client("s3").delete_bucket_ownership_controls(**BUCKET), "no access lists"),
    "tls": (lambda it: it.client("s3").delete_bucket_policy(**BUCKET), "refuse connections without TLS"),
    "lifecycle": (lambda it: it.client("s3").delete_bucket_lifecycle(**BUCKET), "keep older versions for 90 days"),
    "disabled": (lambda it: it.client("kms").disable_key(KeyId=key_of(it)), "enable it"),
    "rotation": (lambda it: it.client("kms").disable_key_rotation(KeyId=key_of(it)), "rotate it yearly"),
    "trust": (
        lambda it: it.client("iam").update_assume_role_policy(**ROLE, PolicyDocument=OTHER_TRUST),
        "let it be taken by runs of acme/clusters on main, and by nobody else",
    ),
    "attached": (
        lambda it: it.client("iam").attach_role_policy(**ROLE, PolicyArn=ADMIN),
        f"take back {ADMIN}, which is not ours",
    ),
    "inline": (
        lambda it: it.client("iam").put_role_policy(**ROLE, PolicyName="extra", PolicyDocument=OTHER),
        "take back extra, which is not ours",
    ),
    "policy": (
        lambda it: it.client("iam").create_policy_version(PolicyArn=POLICY, PolicyDocument=OTHER, SetAsDefault=True),
        "repair policy team-ci-us-east-2-state",
    ),
    "detached": (lambda it: it.client("iam").detach_role_policy(**ROLE, PolicyArn=POLICY), "allow state"),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_is_found_and_repaired(made: Account, drift: str) -> None:
    change, told = DRIFTS[drift]
    change(made)
    assert todo(made, names("team")) == [told]
    make(made, names("team"))
    assert todo(made, names("team")) == []


def test_repairs_of_a_policy_do_not_run_out_of_versions(made: Account) -> None:
    for _ in range(6):  # it has five at most
        made.client("iam").create_policy_version(PolicyArn=POLICY, PolicyDocument=OTHER, SetAsDefault=True)
        make(made, names("team"))


def test_a_key_that_was_to_be_deleted_is_kept(made: Account) -> None:
    made.client("kms").schedule_key_deletion(KeyId=key_of(made))
    assert todo(made, names("team")) == ["it is about to be deleted: keep it", "enable it"]
    make(made, names("team"))
    make(made, names("team"))  # rotation cannot be asked of a key that is about to be deleted
    assert todo(made, names("team")) == []


def test_what_a_team_added_to_the_bucket_stays(made: Account) -> None:
    s3 = made.client("s3")
    own = {"Sid": "Own", "Effect": "Deny", "Principal": "*", "Action": "s3:DeleteBucket", "Resource": "*"}
    s3.put_bucket_policy(**BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [own]}))
    make(made, names("team"))
    statements = json.loads(s3.get_bucket_policy(**BUCKET)["Policy"])["Statement"]
    assert [each["Sid"] for each in statements] == ["Own", "TlsOnly"]
    assert todo(made, names("team")) == []


@pytest.mark.parametrize("step", [1, 2, 5, 9, 10, 11, 17])
def test_a_run_that_was_killed_goes_on(account: Account, step: int) -> None:
    wanted, kms = names(f"kill{step}"), account.client("kms")
    before = len(kms.list_keys()["Keys"])
    make(account, wanted, most=step)
    make(account, wanted)
    assert todo(account, wanted) == []
    assert len(kms.list_keys()["Keys"]) == before + 1


def test_a_key_without_its_name_is_taken(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, kms = names("nameless"), account.client("kms")
    before = len(kms.list_keys()["Keys"])

    def killed(**_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kms, "create_alias", killed)
        with pytest.raises(KeyboardInterrupt):
            make(account, wanted)
    assert todo(account, wanted)[0].startswith("name the one that is there")
    make(account, wanted)
    assert todo(account, wanted) == []
    assert len(kms.list_keys()["Keys"]) == before + 1


def test_a_bucket_of_somebody_else_is_refused(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "403", "Message": "Forbidden"}}, "HeadBucket")

    monkeypatch.setattr(account.client("s3"), "head_bucket", forbidden)
    with pytest.raises(RefusedError, match=r"belongs to somebody else[\s\S]*another --name"):
        todo(account, names("taken"))


@pytest.fixture
def run(account: Account, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Give the command as a function of its further arguments."""
    monkeypatch.setattr(initialising, "_account", lambda region, *, twin: account)
    return lambda *arguments: CliRunner().invoke(app.app, ["init", "aws", "--region", REGION, *arguments])


def test_it_asks_before_it_makes_anything(account: Account, run: Callable[..., Any]) -> None:
    done = run("--name", "asks", "--repository", "acme/clusters")
    assert done.exit_code == 1
    assert "no terminal" in str(done.exception)
    assert "make it" in todo(account, names("asks"))


def test_without_a_repository_there_is_no_role(account: Account, run: Callable[..., Any]) -> None:
    assert run("--name", "alone", "--yes").exit_code == 0
    assert todo(account, names("alone", None)) == []
    assert any("acme/clusters" in text for text in todo(account, names("alone")))


def test_what_may_not_be_read_is_told_without_a_traceback(
    account: Account, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not authorized"}}, "DescribeKey")

    monkeypatch.setattr(account.client("kms"), "describe_key", denied)
    done = run("--name", "denied", "--yes")
    assert done.exit_code == 1
    assert str(done.exception) == (
        "key alias/denied: AccessDeniedException: not authorized\n  fix: allow it to whoever runs this"
    )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--repository", "acme"),
        ("--repository", "acme/*"),
        ("--repository", "acme@1/clusters"),
        ("--branch", "*"),
        ("--name", "Team"),
        ("--name", "a" * 21),
        ("--name", "platform"),
        ("--name", "platform-two"),
    ],
)
def test_what_could_let_others_in_is_refused(run: Callable[..., Any], option: str, value: str) -> None:
    done = run(option, value)
    assert done.exit_code == 1
    assert str(done.exception).startswith(f"{option} {value}: is none\n  allowed: ")
