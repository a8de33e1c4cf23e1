"""What a cluster on AWS gets beside its nodes: add-ons, permissions, Karpenter, the autoscaler, a cache of images."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest

from components.aws.addons import Addons
from components.aws.autoscaler import Autoscaler
from components.aws.karpenter import Karpenter
from components.aws.registry import Registry
from components.sources import Sources
from model.aws import CLUSTER_TAG, addons, node_pools, wildcards
from model.environment import Environment
from model.releases import upstream
from tests.aws_answers import ARN
from twin.aws import plans
from twin.aws.cloud import Cloud
from twin.aws.resources import Resource as Carried
from twin.aws.rows import ROWS
from twin.monitor import Resource

Made = Callable[[Callable[[pulumi.ResourceOptions], object]], dict[str, Resource]]
Resources = Mapping[str, Resource]

QUEUE = "arn:aws:sqs:us-east-2:123456789012:queue/platform-karpenter-queue"
NODE_ROLE = "arn:aws:iam::123456789012:role/platform-karpenter-node-role"


def everything(env: Environment, opts: pulumi.ResourceOptions) -> None:
    for wave, which in (("first", addons.before_nodes(env)), ("second", addons.after_nodes(env))):
        Addons(f"platform-{wave}", environment=env, wave=which, cluster="atlas", arn=ARN, vpc="vpc-1", opts=opts)
    karpenter = Karpenter(
        "platform-karpenter",
        environment=env,
        cluster="atlas",
        arn=ARN,
        endpoint="https://x",
        security_groups=["sg-1"],
        private={"us-east-2a": "subnet-a", "us-east-2b": "subnet-b"},
        gpu={"us-east-2b": "subnet-gpu-b"},
        upstream=upstream(env, "karpenter"),
        sources=Sources(rehearsal=True),
        opts=opts,
    )
    Autoscaler(
        "platform-autoscaler",
        environment=env,
        cluster="atlas",
        arn=ARN,
        upstream=upstream(env, "cluster-autoscaler"),
        opts=opts,
    )
    Registry(
        "platform-registry",
        environment=env,
        arn=ARN,
        roles={"managed": "nodes", "karpenter": karpenter.node_role.name},
        opts=opts,
    )


@pytest.fixture(scope="module")
def resources(made: Made, env: Environment) -> Resources:
    return made(lambda opts: everything(env, opts))


def policies(resources: Resources) -> dict[str, Any]:
    """All policies that are made, by the name of what holds them."""
    return {
        name: json.loads(resource.inputs[key])
        for name, resource in resources.items()
        for key in ("policy", "assumeRolePolicy")
        if isinstance(resource.inputs.get(key), str)
    }


def test_no_policy_has_a_wildcard_without_a_reason(resources: Resources) -> None:
    found = policies(resources)
    for policy in found.values():
        assert list(wildcards.unreasoned(policy)) == []
    used = {statement.get("Sid") for policy in found.values() for statement in policy["Statement"]}
    of_storage = {"ArchiveObjects", "FilesByMountTarget", "KeyAccount", "KeyLinks"}  # in test_storage.py
    assert set(wildcards.EXCEPTIONS) <= used | of_storage, "a reason for a statement that nobody makes"
    # Two add-ons, Karpenter's controller, its nodes and its queue, the autoscaler, and images for two roles of nodes.
    assert len([name for name in found if name.endswith(("-policy", "-import"))]) == 7
    assert len([name for name in found if name.endswith("-role")]) == 5


def test_everything_carries_the_cluster_s_name(resources: Resources) -> None:
    tagged = [resource for resource in resources.values() if "tags" in resource.inputs]
    assert len(tagged) > 15
    assert all(resource.inputs["tags"][CLUSTER_TAG] == "atlas" for resource in tagged)


def test_add_ons_are_exact_and_have_their_permissions_first(resources: Resources, env: Environment) -> None:
    for wave in ("first", "second"):
        for name in addons.before_nodes(env) if wave == "first" else addons.after_nodes(env):
            made = resources[f"platform-{wave}-{name.name}-addon"]
            assert made.inputs["addonVersion"] == name.version
            assert made.inputs.get("configurationValues") == name.configuration
    cni = resources["platform-first-vpc-cni-addon"]
    association = resources["platform-first-vpc-cni-association"]
    assert association.inputs["serviceAccount"] == "aws-node"
    assert association.urn in cni.dependencies
    assert resources["platform-first-vpc-cni-policy"].urn in association.dependencies


def test_a_role_of_pods_is_for_its_own_account(resources: Resources) -> None:
    for name, resource in resources.items():
        if resource.type != "aws:eks/podIdentityAssociation:PodIdentityAssociation":
            continue
        role = json.loads(resources[name.replace("-association", "-role")].inputs["assumeRolePolicy"])
        said = role["Statement"][0]["Condition"]["StringEquals"]
        assert said["aws:RequestTag/kubernetes-service-account"] == resource.inputs["serviceAccount"]
        assert said["aws:RequestTag/kubernetes-namespace"] == resource.inputs["namespace"]


def test_nodes_of_karpenter_may_enter_and_nobody_gets_more_for_it(resources: Resources) -> None:
    entry = resources["platform-karpenter-node-entry"].inputs
    assert (entry["type"], entry["principalArn"]) == ("EC2_LINUX", NODE_ROLE)
    assert "kubernetesGroups" not in entry
    attached = {
        resource.inputs["policyArn"]
        for name, resource in resources.items()
        if name.startswith("platform-karpenter-node-Amazon")
    }
    assert attached == {
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    }


def test_karpenter_may_launch_in_its_own_subnets_only(resources: Resources) -> None:
    policy = json.loads(resources["platform-karpenter-controller-policy"].inputs["policy"])
    (where,) = [each for each in policy["Statement"] if each["Sid"] == "KarpenterLaunchIn"]
    assert {each.rpartition(":")[2] for each in where["Resource"]} == {
        "subnet/subnet-a",
        "subnet/subnet-b",
        "subnet/subnet-gpu-b",
        "security-group/sg-1",
    }
    (passes,) = [each for each in policy["Statement"] if each["Sid"] == "KarpenterPassRole"]
    assert passes["Resource"] == [NODE_ROLE]
    (reads,) = [each for each in policy["Statement"] if each["Sid"] == "KarpenterQueue"]
    assert reads["Resource"] == [QUEUE]


def test_karpenter_hears_of_nodes_that_are_about_to_end(resources: Resources) -> None:
    patterns = {
        name: json.loads(resource.inputs["eventPattern"])
        for name, resource in resources.items()
        if resource.type == "aws:cloudwatch/eventRule:EventRule"
    }
    heard = {(pattern["source"][0], pattern["detail-type"][0]) for pattern in patterns.values()}
    assert heard == set(node_pools.EVENTS.values())
    for name in patterns:
        target = resources[name.replace("-rule", "-target")].inputs
        assert target["arn"] == QUEUE
    queue = resources["platform-karpenter-queue"].inputs
    assert (queue["messageRetentionSeconds"], queue["sqsManagedSseEnabled"]) == (300, True)
    release = resources["platform-karpenter-release"]
    assert release.inputs["values"]["settings"]["interruptionQueue"] == queue["name"]
    assert resources["platform-karpenter-queue-policy"].urn in release.dependencies


def test_pools_of_karpenter_come_after_it_and_go_before_it(resources: Resources) -> None:
    release = resources["platform-karpenter-release"].urn
    for pool in ("serve", "plain"):
        node_class = resources[f"platform-karpenter-{pool}-class"]
        assert release in node_class.dependencies
        assert node_class.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
        assert node_class.urn in resources[f"platform-karpenter-{pool}-pool"].dependencies
    assert [name for name in resources if name.endswith("-overlay")] == ["platform-karpenter-serve-overlay"]


def test_nodes_with_gpus_stand_in_their_subnets(resources: Resources) -> None:
    specs = {pool: resources[f"platform-karpenter-{pool}-class"].inputs["spec"] for pool in ("serve", "plain")}
    assert specs["serve"]["subnetSelectorTerms"] == [{"id": "subnet-gpu-b"}]
    assert specs["plain"]["subnetSelectorTerms"] == [{"id": "subnet-a"}, {"id": "subnet-b"}]
    assert specs["serve"]["securityGroupSelectorTerms"] == [{"id": "sg-1"}]
    assert specs["serve"]["instanceProfile"] == "platform-karpenter-node-profile"


def test_the_autoscaler_is_of_the_cluster_s_minor_and_knows_its_groups_only(resources: Resources) -> None:
    pod = resources["platform-autoscaler-deployment"].inputs["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.2"
    found = [each for each in container["args"] if each.startswith("--node-group-auto-discovery=")]
    assert found == [
        "--node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/atlas"
    ]
    assert {each["name"]: each["value"] for each in container["env"]} == {"AWS_REGION": "us-east-2"}
    # It must not wait for the nodes that it is to bring.
    assert pod["priorityClassName"] == "system-cluster-critical"
    (away,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert away["matchExpressions"] == [{"key": "gangline.dev/pool", "operator": "NotIn", "values": ["serve"]}]


def test_the_autoscaler_writes_little_of_the_cluster(resources: Resources) -> None:
    rules = resources["platform-autoscaler-cluster-role"].inputs["rules"]
    writes = {
        (kind, verb)
        for rule in rules
        for kind in rule["resources"]
        for verb in rule["verbs"]
        if verb not in ("get", "list", "watch")
    }
    assert writes == {("nodes", "update"), ("pods/eviction", "create"), ("events", "create"), ("events", "patch")}
    assert "*" not in json.dumps(rules)
    assert not any("secrets" in rule["resources"] for rule in rules)


def test_images_come_by_way_of_the_cache(resources: Resources) -> None:
    rules = {
        resource.inputs["ecrRepositoryPrefix"]: resource.inputs["upstreamRegistryUrl"]
        for resource in resources.values()
        if resource.type == "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
    }
    assert rules == {"atlas/quay": "quay.io", "atlas/kubernetes": "registry.k8s.io"}
    for maker in ("managed", "karpenter"):
        (statement,) = json.loads(resources[f"platform-registry-{maker}-import"].inputs["policy"])["Statement"]
        assert {each.rpartition(":")[2] for each in statement["Resource"]} == {
            "repository/atlas/quay/*",
            "repository/atlas/kubernetes/*",
        }


def test_the_cloud_of_the_twin_carries_all_of_it(resources: Resources) -> None:
    """It refuses what it does not carry, and that would be in the middle of an `up`."""
    cloud = Cloud("http://127.0.0.1:1", "us-east-2")
    judged = 0
    for resource in resources.values():
        if resource.custom and resource.type.startswith("aws:"):
            carried = Carried(resource.type, ROWS[resource.type], cloud, {})
            assert list(plans.failures(carried, resource.inputs)) == []
            judged += 1
    assert judged > 30
