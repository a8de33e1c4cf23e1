"""How machines are had, for how long, and what they cost."""

import json
from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, referring

RESERVED = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
TAGS = {"Name": "it", "gangline.dev/cluster": "atlas"}
TRAINING = document("aws-training")


def template(**inputs: Any) -> Resource:
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", inputs, "template")


def group(made: Resource | None = None, name: str = "group", **inputs: Any) -> Resource:
    named = inputs | ({"launchTemplate": {"id": UNKNOWN}} if made else {})
    group = Resource("aws:eks/nodeGroup:NodeGroup", named, name)
    return referring(group, launchTemplate=made) if made else group


BLOCK = template(instanceType="p5.48xlarge", capacityReservationSpecification=RESERVED)
ELSEWHERE = {"placement": {"groupName": "made-elsewhere"}}
OTHER = template(instanceType="p5.48xlarge", capacityReservationSpecification=RESERVED, **ELSEWHERE)


_USUAL: dict[str, Any] = {
    "capacityType": "CAPACITY_BLOCK",
    "updateConfig": {"updateStrategy": "MINIMAL"},
    "subnetIds": [UNKNOWN],
}
PLACE = Resource("aws:ec2/placementGroup:PlacementGroup", {"strategy": "cluster"}, "place")


def block(made: Resource, **changed: Any) -> Resource:
    """Give a group of a block, and what is changed about it."""
    return group(made, **(_USUAL | changed))


def held(**changed: Any) -> Resource:
    """Give one whose launch template, if any, is made elsewhere."""
    return group(None, **(_USUAL | changed))


def placed(made: Resource, place: Resource) -> Resource:
    inputs: dict[str, Any] = made.inputs | {"placement": {"groupName": UNKNOWN}}
    return referring(template(**inputs), placement=place)


def bought(ends: Any) -> Resource:
    inputs = {"capacityBlockOfferingId": "cbo-1", "id": "cr-1", "endDate": ends}
    return Resource("aws:ec2/capacityBlockReservation:CapacityBlockReservation", inputs, "bought")


BOUGHT = [
    [bought("2096-01-01T11:30:00Z"), BLOCK, group(BLOCK, scalingConfig={"desiredSize": 4})],
    [bought("2026-01-01T11:30:00Z"), BLOCK, group(BLOCK, scalingConfig={"desiredSize": 0})],
    # Of another block, and one that this update buys.
    [bought("2026-01-01T11:30:00Z"), made := template(instanceType="p5.48xlarge"), group(made)],
    [bought(UNKNOWN), BLOCK, group(BLOCK, scalingConfig={"desiredSize": 4})],
]
FABRIC = template(networkInterfaces=[{"interfaceType": "efa"}])
KEPT = platform(TRAINING)
LOST = platform(TRAINING | {"storage": {}})


def ending(ends: Any, size: Any = 32) -> Resource:
    train = TRAINING["pools"]["train"] | {"size": size}
    pools = TRAINING["pools"] | {"train": train | {"capacity": train["capacity"] | {"ends": ends}}}
    # Without what its 32 nodes are for, so that the document holds with none.
    short = {key: TRAINING[key] for key in ("cluster",)}
    return platform(short | {"pools": pools})


def allowing(rule: str, **options: Any) -> Resource:
    return platform(TRAINING | {"policies": {"options": {rule: options}}})


def pool_of(*required: dict[str, Any], name: str = "pool", **spec: Any) -> Resource:
    """Give a NodePool with some requirements."""
    spot = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
    inside = {"nodeClassRef": {"name": "gpus"}, "requirements": [spot, *required]}
    return Resource("kubernetes:karpenter.sh/v1:NodePool", {"spec": {"template": {"spec": inside}, **spec}}, name)


def must(key: str, operator: str, *values: Any) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def node_pool(*types: Any, name: str = "pool", **spec: Any) -> Resource:
    return pool_of(must("node.kubernetes.io/instance-type", "In", *types), name=name, **spec)


def node_class(*terms: Any) -> Resource:
    inputs = {"metadata": {"name": "gpus"}, "spec": {"amiSelectorTerms": list(terms)}}
    return Resource("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", inputs, "class")


def budgets(*given: Any) -> dict[str, Any]:
    return {"disruption": {"budgets": list(given)}}


def provider(default: Any) -> Resource:
    return Resource("pulumi:providers:aws", {"region": "us-east-2", "defaultTags": default}, "provider")


def launched(tags: Any = TAGS, *kinds: str, **inputs: Any) -> Resource:
    given = [{"resourceType": kind, "tags": tags} for kind in kinds]
    return template(tags=TAGS, blockDeviceMappings=[], tagSpecifications=given, **inputs)


GPU = "p5.48xlarge"
HELD = {"nodes": "0", "reasons": ["Drifted"]}

BREAKS: Breaks = {
    "block-capacity": [
        (
            [block(made := template(instanceType=GPU)), made],
            "capacityReservationSpecification.capacityReservationTarget: names no block",
        ),
        (
            [block(made := template(capacityReservationSpecification=RESERVED)), made],
            "instanceType: a block wants it here",
        ),
        ([BLOCK, block(BLOCK, subnetIds=["a", "b"])], "subnetIds: are several"),
        ([BLOCK, block(BLOCK, updateConfig={})], "updateConfig.updateStrategy: is not MINIMAL"),
        ([BLOCK, group(BLOCK, capacityType="ON_DEMAND", subnetIds=["a"])], "updateConfig.updateStrategy: is not MIN"),
        (held(), "launchTemplate: is missing, and only it can name a block"),
        (held(launchTemplate={"id": "lt-1"}, subnetIds=["a", "b"]), "subnetIds: are several"),
        ([PLACE, made := placed(BLOCK, PLACE), block(made)], "placement: is a placement group of this", "template"),
    ],
    "block-end": [
        (ending("2026-01-01T11:30:00Z"), "environment.pools.train.capacity.ends: 2026-01-01T11:30:00Z", ""),
        (
            [bought("2026-01-01T11:30:00Z"), BLOCK, group(BLOCK, scalingConfig={"desiredSize": 4})],
            "scalingConfig.desiredSize: is 4, and its block is over",
        ),
    ],
    "spot-checkpoints": [
        ([FABRIC, group(FABRIC, capacityType="SPOT")], "capacityType: is SPOT, and nothing says where checkpoints"),
        ([LOST, FABRIC, group(FABRIC, capacityType="SPOT")], "capacityType: is SPOT"),
    ],
    "karpenter-limits": [
        (node_pool(GPU), "spec.limits: is empty"),
        (node_pool(GPU, limits={}), "spec.limits: is empty"),
    ],
    "karpenter-drift": [
        (node_pool(GPU), "spec.disruption.budgets: let nodes be replaced that have drifted"),
        ([node_class({"alias": "al2023@latest"}), node_pool(GPU, **budgets({"nodes": "10%"}))], "spec.disruption"),
        (node_pool(GPU, **budgets({"nodes": "0", "reasons": ["Empty"]})), "spec.disruption.budgets"),
        (node_pool(GPU, **budgets(HELD | {"schedule": "0 9 * * *"})), "spec.disruption.budgets"),
        ([node_class({"tags": {"os": "ours"}}), node_pool(GPU)], "spec.disruption.budgets"),
        (pool_of(must("karpenter.k8s.aws/instance-family", "In", "p5")), "spec.disruption.budgets"),
        (pool_of(must("karpenter.k8s.aws/instance-gpu-count", "Gt", "3")), "spec.disruption.budgets"),
    ],
    "cost-tags": [
        (Resource("aws:s3/bucket:Bucket", {}, protect=True), "tags: lacks gangline.dev/cluster"),
        (Resource("aws:ec2/natGateway:NatGateway", {"tags": {"Name": "a"}}), "tags: lacks gangline.dev/cluster"),
        ([allowing("cost-tags", keys=["team"]), Resource("aws:ec2/eip:Eip", {"tags": TAGS})], "tags: lacks team"),
        ([provider({"tags": {"team": "a"}}), Resource("aws:ec2/eip:Eip", {})], "tags: lacks gangline.dev/cluster"),
        ([provider({"tags": TAGS}), launched(TAGS, "instance")], "tagSpecifications: gives volumes no tags"),
        (launched(TAGS, "volume"), "tagSpecifications: gives instances no tags"),
    ],
}

PASSES: Passes = {
    "block-capacity": [
        [BLOCK, block(BLOCK)],
        [made := template(instanceType=GPU), group(made, capacityType="ON_DEMAND", subnetIds=["a", "b"])],
        held(launchTemplate={"id": "lt-1"}),
        [OTHER, block(OTHER)],
    ],
    "block-end": [ending("2096-01-01T11:30:00Z"), platform(document("twin")), group(), *BOUGHT],
    "spot-checkpoints": [
        [KEPT, FABRIC, group(FABRIC, capacityType="SPOT")],
        [LOST, FABRIC, group(FABRIC, capacityType="ON_DEMAND")],
        [made := template(), group(made, capacityType="SPOT")],
    ],
    "karpenter-limits": [node_pool(GPU, limits={"nodes": "8"}), node_pool(GPU, replicas=8)],
    "karpenter-drift": [
        node_pool(GPU, **budgets({"nodes": "10%"}, HELD)),
        node_pool(GPU, **budgets({"nodes": "0"})),
        [node_class({"alias": "al2023@v20261112"}), node_pool(GPU)],
        [node_class({"id": "ami-1"}), node_pool(GPU)],
        node_pool("m7i.large"),
        # Of any type: no pool of GPUs.
        pool_of(),
        pool_of(must("karpenter.k8s.aws/instance-category", "In", "c", "m", "r")),
    ],
    "cost-tags": [
        Resource("aws:s3/bucket:Bucket", {"tags": TAGS}, protect=True),
        launched(TAGS, "instance", "volume", "network-interface"),
        template(tags=TAGS),
        # The provider gives them to all.
        [provider({"tags": TAGS}), Resource("aws:s3/bucket:Bucket", {}, protect=True)],
        [provider(json.dumps({"tags": TAGS})), Resource("aws:s3/bucket:Bucket", {}, protect=True)],
    ],
}

UNKNOWNS: Unknowns = {
    "block-capacity": [([BLOCK, group(BLOCK, capacityType=UNKNOWN)], "capacityType")],
    "block-end": [
        (ending(UNKNOWN), "environment.pools.train.capacity.ends", ""),
        (bought("soon"), "endDate"),
    ],
    "spot-checkpoints": [([FABRIC, group(FABRIC, capacityType=UNKNOWN)], "capacityType")],
    "karpenter-limits": [(node_pool(GPU, limits=UNKNOWN), "spec.limits")],
    "karpenter-drift": [(node_pool(UNKNOWN), "spec.template.spec.requirements[1].values[0]")],
    "cost-tags": [
        (Resource("aws:s3/bucket:Bucket", {"tags": UNKNOWN}, protect=True), "tags"),
        (provider(UNKNOWN), "defaultTags"),
        (template(tags=TAGS, blockDeviceMappings=[], tagSpecifications=UNKNOWN), "tagSpecifications"),
    ],
}
