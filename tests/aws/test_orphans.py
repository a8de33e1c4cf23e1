"""What a killed run left behind."""

from place import Place
from provider_client import Engine, urn

from twin.aws import orphans

VPC, GROUP, RULE = (
    "aws:ec2/vpc:Vpc",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
)


def test_what_the_state_does_not_know_is_deleted_last_made_first(engine: Engine, place: Place) -> None:
    address = place.cloud.address
    kept = engine.create(VPC, "kept", {"cidrBlock": "10.30.0.0/16"})
    lost = engine.create(VPC, "lost", {"cidrBlock": "10.31.0.0/16"})
    group = engine.create(GROUP, "lost-group", {"vpcId": lost.id})
    inputs = {"securityGroupId": group.id, "ipProtocol": "-1", "cidrIpv4": "10.0.0.0/8"}
    engine.create(RULE, "lost-rule", inputs)
    others = [(entry["urn"], entry["id"]) for entry in orphans.noted(address) if "lost" not in entry["urn"]]
    assert (urn(VPC, "kept"), kept.id) in others
    assert orphans.sweep(address, "another", "gangline", []) == []
    gone = orphans.sweep(address, "test", "gangline", others)
    assert gone == [urn(RULE, "lost-rule"), urn(GROUP, "lost-group"), urn(VPC, "lost")]
    assert engine.read(lost) is None
    assert engine.read(kept) is not None
    assert orphans.sweep(address, "test", "gangline", others) == []
    engine.delete(kept)
    assert kept.id not in [entry["id"] for entry in orphans.noted(address)]


def test_what_is_gone_already_is_forgotten(engine: Engine, place: Place) -> None:
    address = place.cloud.address
    made = engine.create(VPC, "vanished", {"cidrBlock": "10.32.0.0/16"})
    place.client("ec2").delete_vpc(VpcId=made.id)
    others = [(entry["urn"], entry["id"]) for entry in orphans.noted(address) if entry["id"] != made.id]
    assert orphans.sweep(address, "test", "gangline", others) == [urn(VPC, "vanished")]
    assert made.id not in [entry["id"] for entry in orphans.noted(address)]
