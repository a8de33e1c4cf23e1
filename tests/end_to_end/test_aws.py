"""An environment of AWS on the twin, as a person takes it: `up`, no change, a cloud that forgot, `destroy`.

The tests share one checkout and one twin, and run in the order of this file.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from lightkube import Client, KubeConfig
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import Node, Pod

from model import document, nodes
from model.aws import wildcards
from model.namespaces import AGENTS
from model.topology import AWS_LAYERS

from .conftest import ROOT, Checkout
from .test_up import HyperNode, PodGroup, eventually

STACK = "aws-training"
ENVIRONMENT = document.read(ROOT / "stacks" / f"Pulumi.{STACK}.yaml").load()
GPU_AGENTS = {"efa", "device-plugin", "dcgm-exporter"}
SIZES = {name: pool.initial for name, pool in ENVIRONMENT.pools.items()}

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def client(checkout: Checkout) -> Iterator[Client]:
    config = KubeConfig.from_file(checkout.root / ".twin" / "kubeconfig")
    with Client(config=config.get("gangline-twin")) as connected:
        yield connected


def cloud(checkout: Checkout, service: str) -> Any:
    """boto3 on the twin's cloud, told where that is by nothing but `twin env`."""
    settings = checkout.settings()
    return boto3.client(
        service,
        region_name="us-east-2",
        endpoint_url=settings["AWS_ENDPOINT_URL"],
        aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
    )


def by_pool(client: Client) -> dict[str, int]:
    """Nodes by pool."""
    found: dict[str, int] = {}
    for node in client.list(Node):
        pool = labels(node).get(nodes.POOL_LABEL, "?")
        found[pool] = found.get(pool, 0) + 1
    return found


def name(node: Any) -> str:
    return (node.metadata and node.metadata.name) or "?"


def labels(node: Any) -> Mapping[str, str]:
    return (node.metadata and node.metadata.labels) or {}


def test_up_makes_the_cluster_its_nodes_and_the_platform_on_them(checkout: Checkout) -> None:
    said = checkout.run("up", STACK, "--twin").stdout
    assert "AWS is a stand-in" in said
    assert "nodes follow the node groups" in said
    eks = cloud(checkout, "eks")
    assert eks.list_clusters()["clusters"] == [ENVIRONMENT.cluster.name]
    assert set(eks.list_nodegroups(clusterName=ENVIRONMENT.cluster.name)["nodegroups"])


def test_the_nodes_are_those_of_the_groups_and_agents_run_on_exactly_theirs(client: Client) -> None:
    assert by_pool(client) == SIZES
    gpu = {name(node) for node in client.list(Node) if labels(node).get(nodes.POOL_LABEL) == "train"}
    agents = [found.metadata.name or "" for found in client.list(DaemonSet, namespace=AGENTS) if found.metadata]
    on_gpu = [agent for agent in agents if any(part in agent for part in GPU_AGENTS)]
    assert len(on_gpu) >= len(GPU_AGENTS), agents
    pods = list(client.list(Pod, namespace=AGENTS))
    for agent in on_gpu:
        hosts = [
            pod.spec.nodeName
            for pod in pods
            if pod.spec and pod.metadata and any(owner.name == agent for owner in pod.metadata.ownerReferences or [])
        ]
        assert sorted(filter(None, hosts)) == sorted(gpu), agent


def test_the_gang_stands_in_one_zone_and_one_closest_layer(client: Client) -> None:
    place = {name(node): labels(node) for node in client.list(Node)}
    workers = list(client.list(Pod, namespace="research", labels={"ray.io/node-type": "worker"}))
    hosts = [place[pod.spec.nodeName] for pod in workers if pod.spec and pod.spec.nodeName]
    assert len(hosts) == 4
    for label in ("topology.kubernetes.io/zone", AWS_LAYERS[-1]):
        assert len({host[label] for host in hosts}) == 1, label


def test_the_file_system_stands_in_the_nodes_zone_and_is_linked_with_the_archive(checkout: Checkout) -> None:
    fsx, ec2 = cloud(checkout, "fsx"), cloud(checkout, "ec2")
    [files] = fsx.describe_file_systems()["FileSystems"]
    lustre = files["LustreConfiguration"]
    assert (files["StorageCapacity"], lustre["DeploymentType"]) == (48000, "PERSISTENT_2")
    assert lustre["PerUnitStorageThroughput"] == 500
    [subnet] = ec2.describe_subnets(SubnetIds=files["SubnetIds"])["Subnets"]
    assert subnet["AvailabilityZone"] == ENVIRONMENT.pools["train"].zone
    [group] = ec2.describe_security_groups(
        Filters=[{"Name": "description", "Values": ["Lustre, between file servers and nodes"]}]
    )["SecurityGroups"]
    ports = {(rule["FromPort"], rule["ToPort"]) for rule in group["IpPermissions"]}
    assert ports == {(988, 988), (1018, 1023)}
    [bucket] = [one["Name"] for one in cloud(checkout, "s3").list_buckets()["Buckets"]]
    links = fsx.describe_data_repository_associations()["Associations"]
    assert {(one["FileSystemPath"], one["DataRepositoryPath"], "AutoExportPolicy" in one["S3"]) for one in links} == {
        ("/research/datasets", f"s3://{bucket}/datasets/", False),
        ("/research/results", f"s3://{bucket}/results/", True),
    }
    key = cloud(checkout, "kms").describe_key(KeyId=files["KmsKeyId"])["KeyMetadata"]
    assert key["Description"] == f"Data of the cluster {ENVIRONMENT.cluster.name}"


def test_the_archive_is_as_the_document_says_and_jobs_reach_their_part_of_it(checkout: Checkout) -> None:
    s3, iam, kms = (cloud(checkout, service) for service in ("s3", "iam", "kms"))
    [name] = [one["Name"] for one in s3.list_buckets()["Buckets"]]
    [rule] = s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
    key = rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    assert (rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"], rule["BucketKeyEnabled"]) == ("aws:kms", True)
    assert kms.get_key_rotation_status(KeyId=key)["KeyRotationEnabled"] is True
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert set(s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"].values()) == {True}
    [owned] = s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
    assert owned == {"ObjectOwnership": "BucketOwnerEnforced"}
    [rule] = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert [(one["Days"], one["StorageClass"]) for one in rule["Transitions"]] == [
        (30, "STANDARD_IA"),
        (90, "GLACIER_IR"),
    ]
    assert rule["NoncurrentVersionExpiration"]["NoncurrentDays"] == 30
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    [deny] = json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])["Statement"]
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    [role] = [one["RoleName"] for one in iam.list_roles()["Roles"] if "-archive-research-" in one["RoleName"]]
    [policy] = iam.list_role_policies(RoleName=role)["PolicyNames"]
    statements = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]["Statement"]
    assert [one["Resource"] for one in statements] == [
        [f"arn:aws:s3:::{name}/research/*"],
        [f"arn:aws:s3:::{name}"],
        [key],
    ]
    # An archive with something in it goes all the same, since this is a trial.
    s3.put_object(Bucket=name, Key="research/kept", Body=b"1")


def test_no_policy_in_the_cloud_has_a_wildcard_without_a_reason(checkout: Checkout) -> None:
    iam, seen = cloud(checkout, "iam"), 0
    for role in iam.list_roles()["Roles"]:
        name = role["RoleName"]
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            found = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            assert list(wildcards.unreasoned(found)) == [], name
            seen += 1
    assert seen >= 3


def test_a_second_up_changes_nothing(checkout: Checkout) -> None:
    said = checkout.run("up", STACK, "--twin").stdout
    assert " unchanged" in said
    for word in (" created", " updated", " deleted", " replaced"):
        assert f"{word}\n" not in said.partition("Resources:")[2].partition("Duration")[0]


def test_a_cloud_that_forgot_is_made_anew_and_the_cluster_keeps_what_it_has(checkout: Checkout) -> None:
    checkout.run("twin", "stop")
    said = checkout.run("up", STACK, "--twin").stdout
    assert "are not in its cloud any more; the stack forgets them, too" in said
    config = KubeConfig.from_file(checkout.root / ".twin" / "kubeconfig")
    with Client(config=config.get("gangline-twin")) as connected:
        assert eventually(lambda: by_pool(connected) == SIZES)
        assert eventually(lambda: phases(connected) == ["Running"] * 4, 120), standing(connected)


def phases(client: Client) -> list[str | None]:
    """Phases of the Ray workers."""
    workers = client.list(Pod, namespace="research", labels={"ray.io/node-type": "worker"})
    return [pod.status.phase if pod.status else None for pod in workers]


def standing(client: Client) -> str:
    """What says why a gang does not run: its pods, what the scheduler wrote about it, and the topology it sees."""
    pods = [
        f"{pod.metadata.name} {pod.status.phase} on {pod.spec.nodeName}"
        for pod in client.list(Pod, namespace="research")
        if pod.metadata and pod.spec and pod.status
    ]
    groups = [f"{group.metadata.name} {group.status}" for group in client.list(PodGroup, namespace="research")]
    topology = [f"{node.metadata.name} {node.metadata.labels}" for node in client.list(HyperNode)]
    return "\n".join([*pods, *groups, *topology])


def test_destroy_leaves_nothing_in_the_cloud_but_its_own_defaults(checkout: Checkout) -> None:
    checkout.run("destroy", STACK, "--twin")
    ec2 = cloud(checkout, "ec2")
    [vpc] = ec2.describe_vpcs()["Vpcs"]
    assert vpc["IsDefault"]
    assert all(subnet["VpcId"] == vpc["VpcId"] for subnet in ec2.describe_subnets()["Subnets"])
    assert all(group["VpcId"] == vpc["VpcId"] for group in ec2.describe_security_groups()["SecurityGroups"])
    left = {
        "addresses": ec2.describe_addresses()["Addresses"],
        "NAT gateways": [one for one in ec2.describe_nat_gateways()["NatGateways"] if one["State"] != "deleted"],
        "templates": ec2.describe_launch_templates()["LaunchTemplates"],
        "interfaces": ec2.describe_network_interfaces()["NetworkInterfaces"],
        "clusters": cloud(checkout, "eks").list_clusters()["clusters"],
        "groups": cloud(checkout, "autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"],
        "roles": [one["RoleName"] for one in cloud(checkout, "iam").list_roles()["Roles"]],
        "logs": cloud(checkout, "logs").describe_log_groups()["logGroups"],
        "queues": cloud(checkout, "sqs").list_queues().get("QueueUrls", []),
        "repositories": cloud(checkout, "ecr").describe_repositories()["repositories"],
        "file systems": cloud(checkout, "fsx").describe_file_systems()["FileSystems"],
        "links": cloud(checkout, "fsx").describe_data_repository_associations()["Associations"],
        "buckets": cloud(checkout, "s3").list_buckets()["Buckets"],
    }
    assert {what: found for what, found in left.items() if found} == {}
    config = KubeConfig.from_file(checkout.root / ".twin" / "kubeconfig")
    with Client(config=config.get("gangline-twin")) as connected:
        assert eventually(lambda: list(connected.list(Node)) == []) is True
