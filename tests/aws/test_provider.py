"""What the provider says and does beside the life of a resource: refusals, secrets, half-made things, tags, its end."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from place import TRUST, Place
from provider_client import REGION, Engine, half_made, plain, properties, urn
from pulumi.runtime.proto import provider_pb2 as pb

from twin.aws import sdk, sdk_source
from twin.aws.cloud import Cloud, CloudError
from twin.aws.names import VARIABLE
from twin.aws.plugin import serve
from twin.aws.provider import Provider
from twin.aws.wire import UNKNOWN, encode

VPC, ROLE, PROFILE = "aws:ec2/vpc:Vpc", "aws:iam/role:Role", "aws:iam/instanceProfile:InstanceProfile"
Fresh = tuple[Engine, Provider]


@pytest.fixture
def fresh(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, Provider]]:
    """A provider of a test's own, not yet configured."""
    monkeypatch.setenv(VARIABLE, address)
    provider = Provider("")
    server, port = serve(provider)
    yield Engine(port), provider
    server.stop(None)


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return str(caught.value.details())  # pyright: ignore[reportAttributeAccessIssue]


def test_it_runs_only_where_a_twin_asked_for_it(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = fresh
    monkeypatch.delenv(VARIABLE)
    assert "no twin asked for it" in refused(lambda: engine.configure({"region": REGION}))


def test_it_works_on_loopback_only(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = fresh
    monkeypatch.setenv(VARIABLE, "http://192.0.2.1:5000")
    assert "works on loopback only" in refused(lambda: engine.configure({"region": REGION}))
    with pytest.raises(CloudError, match="loopback"):
        Cloud("http://example.com", REGION)


def test_a_region_is_needed(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = fresh
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert "pulumi config set aws:region" in refused(lambda: engine.configure({}))


def test_settings_that_it_does_not_carry_are_refused(fresh: Fresh) -> None:
    engine, _ = fresh
    request = pb.CheckRequest(urn=urn("pulumi:providers:aws", "p"), news=encode({"region": REGION, "ignoreTags": "{}"}))
    [failure] = engine.stub.CheckConfig(request).failures
    assert failure.property == "ignoreTags"


def test_another_region_is_another_provider(engine: Engine) -> None:
    request = pb.DiffRequest(
        urn=urn("pulumi:providers:aws", "p"), olds=encode({"region": REGION}), news=encode({"region": "x"})
    )
    assert list(engine.stub.DiffConfig(request).replaces) == ["region"]


@pytest.mark.parametrize(
    ("inputs", "where", "what"),
    [
        ({"cidrBlok": "10.0.0.0/16"}, "cidrBlok", "no such property"),
        ({"ipv4IpamPoolId": "x"}, "ipv4IpamPoolId", "not carried by the stand-in"),
        ({"enableDnsSupport": "yes"}, "enableDnsSupport", "not of type boolean"),
        ({"instanceTenancy": "shared"}, "instanceTenancy", "none of"),
        ({"tags": ["a"]}, "tags", "not a mapping"),
        ({"region": "eu-west-1"}, "region", REGION),
    ],
)
def test_inputs_that_are_not_sound_are_told(engine: Engine, inputs: dict[str, Any], where: str, what: str) -> None:
    assert what in engine.failures(VPC, {"cidrBlock": "10.0.0.0/16", **inputs})[where]


def test_what_is_missing_and_what_is_deep_inside_is_told(engine: Engine) -> None:
    assert engine.failures("aws:ec2/subnet:Subnet", {}) == {"vpcId": "vpcId: missing"}
    found = engine.failures(
        "aws:ec2/launchTemplate:LaunchTemplate",
        {"networkInterfaces": [{"interfaceTyp": "efa"}], "placement": {"groupName": "a", "spreadDomain": "x"}},
    )
    assert "no such property" in found["networkInterfaces[0].interfaceTyp"]


def test_a_type_without_a_row_is_told(engine: Engine) -> None:
    request = pb.CheckRequest(urn=urn("aws:lambda/function:Function", "one"), news=encode({}))
    assert "has no row for this type" in refused(lambda: engine.stub.Check(request))


def test_a_function_that_is_not_carried_is_told(engine: Engine) -> None:
    assert "no such function" in refused(lambda: engine.invoke("aws:ec2/getNatGateway:getNatGateway", {}))
    told = refused(lambda: engine.invoke("aws:ec2/getVpc:getVpc", {"cidrBlock": "10.0.0.0/8"}))
    assert "cidrBlock: not carried" in told


def test_a_change_without_a_rule_is_told(engine: Engine, place: Place) -> None:
    inputs = {
        "name": "norule",
        "version": "1.34",
        "roleArn": place.role,
        "vpcConfig": {"subnetIds": list(place.subnets)},
    }
    made = engine.create("aws:eks/cluster:Cluster", "norule", inputs)
    changed = {name: value for name, value in made.inputs.items() if name != "version"}
    assert "version: the stand-in has no rule for taking it away" in refused(lambda: engine.diff(made, changed))
    engine.delete(made)


def test_secrets_stay_sealed_also_where_they_are_derived(engine: Engine) -> None:
    # The engine sends secrets as marked values: those of tags come back in tagsAll, too.
    token, name = ROLE, "sealed"
    news = encode(
        {"assumeRolePolicy": TRUST, "tags": {"word": "so-secret"}, "description": "so-secret indeed"}, ["tags"]
    )
    checked = engine.stub.Check(pb.CheckRequest(urn=urn(token, name), news=news, randomSeed=b"s"))
    assert properties(checked.inputs).sealed == {"tags"}
    answer = engine.stub.Create(pb.CreateRequest(urn=urn(token, name), properties=checked.inputs))
    assert properties(answer.properties).sealed == {"tags", "tagsAll", "description"}
    read = engine.stub.Read(
        pb.ReadRequest(id=answer.id, urn=urn(token, name), inputs=checked.inputs, properties=answer.properties)
    )
    assert {"tags", "tagsAll"} <= properties(read.properties).sealed
    assert "tags" in properties(read.inputs).sealed
    engine.stub.Delete(pb.DeleteRequest(id=answer.id, urn=urn(token, name), properties=answer.properties))


def test_a_preview_seals_and_keeps_unknowns(engine: Engine) -> None:
    news = encode({"vpcId": UNKNOWN, "cidrBlock": "10.0.3.0/24", "tags": {"a": "b"}}, ["tags"])
    checked = engine.stub.Check(pb.CheckRequest(urn=urn("aws:ec2/subnet:Subnet", "s"), news=news))
    request = pb.CreateRequest(urn=urn("aws:ec2/subnet:Subnet", "s"), properties=checked.inputs, preview=True)
    answer = properties(engine.stub.Create(request).properties)
    assert answer.values["vpcId"] is UNKNOWN
    assert answer.values["arn"] is UNKNOWN
    assert answer.values["cidrBlock"] == "10.0.3.0/24"
    assert answer.sealed == {"tags", "tagsAll"}


def test_what_the_sdk_calls_secret_is_sealed(engine: Engine) -> None:
    inputs = {"type": "SecureString", "value": "plain"}
    made = engine.create("aws:ssm/parameter:Parameter", "word", inputs)
    request = pb.ReadRequest(id=made.id, urn=urn(made.token, "word"), inputs=encode(made.inputs))
    assert "value" in properties(engine.stub.Read(request).properties).sealed
    engine.delete(made)


def test_a_refusal_does_not_tell_a_secret(engine: Engine) -> None:
    news = encode({"policy": "so-secret", "name": "veiled"}, ["policy"])
    told = refused(lambda: engine.stub.Create(pb.CreateRequest(urn=urn("aws:iam/policy:Policy", "v"), properties=news)))
    assert "create_policy" in told
    assert "so-secret" not in told


def test_what_is_made_in_part_keeps_its_id(engine: Engine, place: Place) -> None:
    checked = engine.check(PROFILE, "part", {"role": "nobody"})
    request = pb.CreateRequest(urn=urn(PROFILE, "part"), properties=encode(checked))
    with pytest.raises(grpc.RpcError) as caught:
        engine.stub.Create(request)
    half = half_made(caught.value)
    assert half.id == checked["name"]
    assert "nobody" in half.reasons[0]
    profiles = place.client("iam").list_instance_profiles()["InstanceProfiles"]
    assert half.id in [profile["InstanceProfileName"] for profile in profiles]
    engine.stub.Delete(pb.DeleteRequest(id=half.id, urn=urn(PROFILE, "part"), properties=half.properties))


def test_a_change_that_fails_in_part_tells_what_is_there(engine: Engine) -> None:
    made = engine.create(PROFILE, "half", {"role": "place"})
    checked = engine.check(PROFILE, "half", {"role": "nobody"}, made.inputs)
    with pytest.raises(grpc.RpcError) as caught:
        engine.update(made, checked)
    half = half_made(caught.value)
    assert half.id == made.id
    assert "role" not in plain(half.inputs)
    engine.delete(made)


def test_tags_of_the_provider_come_to_every_resource(fresh: Fresh) -> None:
    engine, _ = fresh
    engine.configure({"region": REGION, "defaultTags": json.dumps({"tags": {"owner": "team", "stage": "test"}})})
    made = engine.create(VPC, "tagged", {"cidrBlock": "10.7.0.0/16", "tags": {"stage": "own"}})
    assert made.outputs["tagsAll"] == {"owner": "team", "stage": "own"}
    assert made.outputs["tags"] == {"stage": "own"}
    assert list(engine.diff(made, made.inputs).diffs) == []
    engine.configure({"region": REGION, "defaultTags": json.dumps({"tags": {"owner": "other"}})})
    assert list(engine.diff(made, made.inputs).diffs) == ["tagsAll"]
    changed = engine.update(made, made.inputs)
    assert changed.outputs["tagsAll"] == {"owner": "other", "stage": "own"}
    engine.delete(changed)


def test_invented_names_stay_and_own_names_go_first(engine: Engine) -> None:
    first = engine.check(ROLE, "loader", {"assumeRolePolicy": TRUST})
    assert first["name"].startswith("loader-")
    assert first == engine.check(ROLE, "loader", {"assumeRolePolicy": TRUST})
    made = engine.create(ROLE, "loader", {"assumeRolePolicy": TRUST})
    again = engine.check(ROLE, "loader", {"assumeRolePolicy": TRUST, "path": "/other/"}, made.inputs)
    assert again["name"] == made.inputs["name"]
    assert not engine.diff(made, again).deleteBeforeReplace
    engine.delete(made)
    own = engine.create(ROLE, "own", {"name": "own", "assumeRolePolicy": TRUST})
    changed = engine.check(ROLE, "own", {"name": "own", "assumeRolePolicy": TRUST, "path": "/other/"}, own.inputs)
    assert engine.diff(own, changed).deleteBeforeReplace
    engine.delete(own)


def test_after_cancel_nothing_new_is_begun(fresh: Fresh) -> None:
    engine, provider = fresh
    engine.configure({"region": REGION})
    engine.stub.Cancel(empty_pb2.Empty())
    assert "cancelled" in refused(lambda: engine.create(VPC, "late", {"cidrBlock": "10.8.0.0/16"}))
    provider.drain(1)


def test_the_sdk_file_is_fresh() -> None:
    assert sdk.FILE.read_text() == sdk_source.text(), "run: python -m twin.aws.sdk_source"
