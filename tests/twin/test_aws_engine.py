"""The AWS stand-in under the real engine: a small network with a cluster in it, on moto in a process of its own."""

import json
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from aws_engine import REGION, client, plan, serving_moto
from test_language_host_engine import Engine, gone, wait_for

from twin.aws.names import VARIABLE
from twin.paths import CHECKOUT

PROGRAM = """
import json
import pulumi
import pulumi_aws as aws

config = pulumi.Config()
zones = aws.get_availability_zones(state="available")
vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, tags={"Name": "atlas"})
subnets = [
    aws.ec2.Subnet(f"subnet-{n}", vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone=zones.names[n])
    for n in range(2)
]
group = aws.ec2.SecurityGroup("efa", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule(
    "self", security_group_id=group.id, ip_protocol="-1", referenced_security_group_id=group.id
)
trust = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "eks.amazonaws.com"}}],
}
role = aws.iam.Role("role", assume_role_policy=json.dumps(trust), tags={"note": config.require_secret("word")})
cluster = aws.eks.Cluster(
    "atlas",
    name="atlas",
    role_arn=role.arn,
    version=config.get("version") or "1.34",
    vpc_config={"subnet_ids": [subnet.id for subnet in subnets], "endpoint_private_access": True},
    access_config={"authentication_mode": "API"},
)
template = aws.ec2.LaunchTemplate("nodes", instance_type="p5.48xlarge", image_id=config.get("image") or "ami-1")
nodes = aws.eks.NodeGroup(
    "train",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=[subnets[0].id],
    scaling_config={"min_size": 0, "max_size": 4, "desired_size": 2},
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
)
pulumi.export("vpc", vpc.id)
pulumi.export("group", group.id)
pulumi.export("endpoint", cluster.endpoint)
pulumi.export("scaling", nodes.resources[0].autoscaling_groups[0].name)
"""
RESOURCES = 9  # and the stack


@pytest.fixture
def address() -> Iterator[str]:
    with serving_moto() as where:
        yield where


@pytest.fixture
def engine(tmp_path: Path, address: str) -> Engine:
    made = Engine(tmp_path)
    (made.project / "__main__.py").write_text(PROGRAM)
    made.environment["PATH"] += f":{CHECKOUT / 'twin' / 'aws' / 'bin'}"
    made.environment[VARIABLE] = address
    made.run("config", "set-all", "--plaintext", f"aws:region={REGION}", "--secret", "word=hidden-word")
    return made


def test_up_again_drift_changes_and_destroy(engine: Engine, address: str) -> None:
    ec2, eks = client(address, "ec2"), client(address, "eks")
    said = engine.run("up", "--yes", "--skip-preview")
    assert "AWS is a stand-in" in said
    assert f"+ {RESOURCES + 1} created" in said
    outputs = json.loads(engine.run("stack", "output", "--json"))
    assert outputs["scaling"].startswith("eks-train-")
    assert "hidden-word" not in engine.run("stack", "export")
    assert eks.describe_cluster(name="atlas")["cluster"]["resourcesVpcConfig"]["vpcId"] == outputs["vpc"]
    assert f"{RESOURCES + 1} unchanged" in engine.run("up", "--yes", "--skip-preview", "--expect-no-changes")

    # Somebody closes the group and scales the nodes by hand: it is found and repaired.
    [rule] = [
        one
        for one in ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [outputs["group"]]}])[
            "SecurityGroupRules"
        ]
        if not one["IsEgress"]
    ]
    ec2.revoke_security_group_ingress(GroupId=outputs["group"], SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]])
    [name] = eks.list_nodegroups(clusterName="atlas")["nodegroups"]
    eks.update_nodegroup_config(clusterName="atlas", nodegroupName=name, scalingConfig={"desiredSize": 0})
    said = engine.run("up", "--yes", "--skip-preview", "--refresh")
    assert "+ 1 created" in said
    assert "~ 1 updated" in said
    group = eks.describe_nodegroup(clusterName="atlas", nodegroupName=name)["nodegroup"]
    assert group["scalingConfig"]["desiredSize"] == 2

    # A new image is a new version of the template, in place; the next release of Kubernetes, too.
    engine.run("config", "set", "image", "ami-2")
    engine.run("config", "set", "version", "1.35")
    assert plan(engine) == {"nodes": "update", "atlas": "update", "train": "update"}
    engine.run("up", "--yes", "--skip-preview")
    group = eks.describe_nodegroup(clusterName="atlas", nodegroupName=name)["nodegroup"]
    assert group["launchTemplate"]["version"] == "2"
    assert eks.describe_cluster(name="atlas")["cluster"]["version"] == "1.35"

    engine.run("destroy", "--yes", "--skip-preview")
    assert eks.list_clusters()["clusters"] == []
    assert [vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if not vpc["IsDefault"]] == []
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []


def test_what_the_stand_in_does_not_carry_fails_before_anything_is_made(engine: Engine, address: str) -> None:
    (engine.project / "__main__.py").write_text(
        "import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block='10.0.0.0/16', ipv4_ipam_pool_id='x')\n"
    )
    said = engine.run("preview", fails=True)
    assert "ipv4IpamPoolId: not carried by the stand-in" in said
    assert not [vpc for vpc in client(address, "ec2").describe_vpcs()["Vpcs"] if not vpc["IsDefault"]]


def test_without_a_twin_it_refuses_to_work(engine: Engine) -> None:
    del engine.environment[VARIABLE]
    said = engine.run("preview", fails=True)
    assert "no twin asked for it" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_engine_leaves_no_plugin(engine: Engine, number: signal.Signals) -> None:
    process = engine.start("up", "--yes", "--skip-preview")
    below: list[psutil.Process] = []

    def plugin_runs() -> bool:
        below[:] = psutil.Process(process.pid).children(recursive=True)
        for child in below:
            with suppress(psutil.NoSuchProcess):  # ended meanwhile
                if "twin.aws.plugin" in child.cmdline():
                    return True
        return False

    assert wait_for(plugin_runs)
    process.send_signal(number)
    said = process.communicate(timeout=60)[0]
    assert "Traceback" not in said
    assert wait_for(lambda: all(gone(child) for child in below), 20)
