"""How machines are had, for how long, and what they cost."""

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


def node_pool(*types: Any, name: str = "pool", **spec: Any) -> Resource:
    required = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(types)},
    ]
    inside = {"nodeClassRef": {"name": "gpus"}, "requirements": required}
    return Resource("kubernetes:karpenter.sh/v1:NodePool", {"spec": {"template": {"spec": inside}, **spec}}, name)


def node_class(*terms: Any) -> Resource:
    inputs = {"metadata": {"name": "gpus"}, "spec": {"amiSelectorTerms": list(terms)}}
    return Resource("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", inputs, "class")


def sized(most: Any, *types: Any, name: str = "group") -> Resource:
    return group(name=name, instanceTypes=list(types), scalingConfig={"maxSize": most})


def budgets(*given: Any) -> dict[str, Any]:
    return {"disruption": {"budgets": list(given)}}


def launched(tags: Any = TAGS, *kinds: str, **inputs: Any) -> Resource:
    given = [{"resourceType": kind, "tags": tags} for kind in kinds]
    return template(tags=TAGS, blockDeviceMappings=[], tagSpecifications=given, **inputs)


GPU = "p5.48xlarge"
BUDGET = allowing("gpu-budget", gpus=64)
APPROVED = allowing("instance-types", allowed=["m7i.*", "p5.48xlarge"])
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
    ],
    "spot-checkpoints": [
        ([FABRIC, group(FABRIC, capacityType="SPOT")], "capacityType: is SPOT, and nothing says where checkpoints"),
        ([LOST, FABRIC, group(FABRIC, capacityType="SPOT")], "capacityType: is SPOT"),
    ],
    "instance-types": [
        ([APPROVED, group(instanceTypes=["m7i.large", "p4d.24xlarge"])], "instanceTypes[1]: p4d.24xlarge was not"),
        ([APPROVED, template(instanceType="p5en.48xlarge")], "instanceType: p5en.48xlarge was not approved"),
        ([APPROVED, node_pool("m7i.large", "g6.xlarge")], "spec.template.spec.requirements[1].values[1]: g6.xlarge"),
    ],
    "gpu-budget": [
        ([BUDGET, sized(9, GPU)], "gpus: 72 at most, and 64 were approved: group 72", ""),
        (
            [BUDGET, sized(5, GPU), sized(4, GPU, name="more")],
            "gpus: 72 at most, and 64 were approved: group 40, mor",
            "",
        ),
        ([BUDGET, node_pool(GPU, limits={"nodes": "9"})], "gpus: 72 at most", ""),
        ([BUDGET, node_pool(GPU, limits={"nvidia.com/gpu": 65})], "gpus: 65 at most", ""),
        ([BUDGET, node_pool(GPU)], "spec.limits: has no limit of nodes or GPUs"),
        (
            [BUDGET, BLOCK, group(BLOCK, scalingConfig={"maxSize": 9}), Resource("aws:ec2/instance:Instance", {})],
            "gpus: 72 at most",
            "",
        ),
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
    ],
    "cost-tags": [
        (Resource("aws:s3/bucket:Bucket", {}, protect=True), "tags: lacks gangline.dev/cluster"),
        (Resource("aws:ec2/natGateway:NatGateway", {"tags": {"Name": "a"}}), "tags: lacks gangline.dev/cluster"),
        ([allowing("cost-tags", keys=["team"]), Resource("aws:ec2/eip:Eip", {"tags": TAGS})], "tags: lacks team"),
        (launched(TAGS, "instance"), "tagSpecifications: gives volumes no tags"),
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
    "block-end": [ending("2096-01-01T11:30:00Z"), platform(document("twin")), group()],
    "spot-checkpoints": [
        [KEPT, FABRIC, group(FABRIC, capacityType="SPOT")],
        [LOST, FABRIC, group(FABRIC, capacityType="ON_DEMAND")],
        [made := template(), group(made, capacityType="SPOT")],
    ],
    "instance-types": [
        [APPROVED, group(instanceTypes=["m7i.large", GPU]), node_pool("m7i.2xlarge")],
        group(instanceTypes=["p4d.24xlarge"]),
    ],
    "gpu-budget": [
        [BUDGET, sized(8, GPU), sized(100, "m7i.large", name="more")],
        [BUDGET, node_pool(GPU, limits={"nvidia.com/gpu": 64}), node_pool("m7i.large", name="more")],
        sized(100, GPU),
    ],
    "karpenter-limits": [node_pool(GPU, limits={"nodes": "8"}), node_pool(GPU, replicas=8)],
    "karpenter-drift": [
        node_pool(GPU, **budgets({"nodes": "10%"}, HELD)),
        node_pool(GPU, **budgets({"nodes": "0"})),
        [node_class({"alias": "al2023@v20261112"}), node_pool(GPU)],
        [node_class({"id": "ami-1"}), node_pool(GPU)],
        node_pool("m7i.large"),
    ],
    "cost-tags": [
        Resource("aws:s3/bucket:Bucket", {"tags": TAGS}, protect=True),
        launched(TAGS, "instance", "volume", "network-interface"),
        template(tags=TAGS),
    ],
}

UNKNOWNS: Unknowns = {
    "block-capacity": [([BLOCK, group(BLOCK, capacityType=UNKNOWN)], "capacityType")],
    "block-end": [(ending(UNKNOWN), "environment.pools.train.capacity.ends", "")],
    "spot-checkpoints": [([FABRIC, group(FABRIC, capacityType=UNKNOWN)], "capacityType")],
    "instance-types": [([APPROVED, template(instanceType=UNKNOWN)], "instanceType")],
    "gpu-budget": [
        ([BUDGET, sized(UNKNOWN, GPU)], "scalingConfig.maxSize"),
        ([BUDGET, sized(1, "p9.48xlarge")], "instanceTypes[0]"),
    ],
    "karpenter-limits": [(node_pool(GPU, limits=UNKNOWN), "spec.limits")],
    "karpenter-drift": [(node_pool(UNKNOWN), "spec.template.spec.requirements[1].values[0]")],
    "cost-tags": [
        (Resource("aws:s3/bucket:Bucket", {"tags": UNKNOWN}, protect=True), "tags"),
        (template(tags=TAGS, blockDeviceMappings=[], tagSpecifications=UNKNOWN), "tagSpecifications"),
    ],
}
