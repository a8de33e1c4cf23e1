"""Which machines a stack may have, and how many GPUs."""

from typing import Any

from tests.policies.cases.aws_capacity import (
    BLOCK,
    GPU,
    allowing,
    group,
    must,
    node_pool,
    pool_of,
    template,
)
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, referring

BUDGET = allowing("gpu-budget", gpus=64)
APPROVED = allowing("instance-types", allowed=["m7i.*", "p5.48xlarge"])
FAMILY = "karpenter.k8s.aws/instance-family"
CATEGORY = "karpenter.k8s.aws/instance-category"
COUNT = "karpenter.k8s.aws/instance-gpu-count"
NINE = {"nodes": "9"}


def sized(most: Any, *types: Any, name: str = "group") -> Resource:
    return group(name=name, instanceTypes=list(types), scalingConfig={"maxSize": most})


def reservation(count: Any = 9, **outputs: Any) -> Resource:
    inputs = {"id": "cr-1", "instanceType": GPU, "instanceCount": count} | outputs
    return Resource("aws:ec2/capacityReservation:CapacityReservation", inputs, "reserved")


def offered(**outputs: Any) -> Resource:
    inputs = {"capacityBlockOfferingId": "cbo-1"} | outputs
    return Resource("aws:ec2/capacityBlockReservation:CapacityBlockReservation", inputs, "bought")


def auto_scaling(made: Resource | None = None, **inputs: Any) -> Resource:
    asg = Resource("aws:autoscaling/group:Group", {"maxSize": 9} | inputs, "scaling")
    return referring(asg, launchTemplate=made) if made else asg


def mixed(*types: str) -> dict[str, Any]:
    return {"launchTemplate": {"overrides": [{"instanceType": each} for each in types]}}


MADE = template(instanceType=GPU)
CHOSEN = template(instanceRequirements={"memoryMib": {"min": 1}})

BREAKS: Breaks = {
    "instance-types": [
        ([APPROVED, group(instanceTypes=["m7i.large", "p4d.24xlarge"])], "instanceTypes[1]: p4d.24xlarge was not"),
        ([APPROVED, template(instanceType="p5en.48xlarge")], "instanceType: p5en.48xlarge was not approved"),
        ([APPROVED, CHOSEN], "instanceRequirements: leaves the type to AWS"),
        ([APPROVED, reservation(instanceType="p5en.48xlarge")], "instanceType: p5en.48xlarge was not approved"),
        ([APPROVED, node_pool("m7i.large", "g6.xlarge")], "spec.template.spec.requirements[1].values[1]: g6.xlarge"),
        (
            [APPROVED, pool_of(must(FAMILY, "In", "m7i", "p5"))],
            "requirements[1].values[1]: p5 was not approved, or not",
        ),
        ([APPROVED, pool_of(must(CATEGORY, "In", "g"))], "requirements[1].values[0]: g was not approved"),
        ([APPROVED, pool_of(must(COUNT, "Gt", "0"))], "spec.template.spec.requirements: leave the type to Karpenter"),
        ([APPROVED, pool_of(must(FAMILY, "NotIn", "p5"))], "spec.template.spec.requirements: leave the type"),
        ([APPROVED, pool_of()], "spec.template.spec.requirements: leave the type to Karpenter"),
    ],
    "gpu-budget": [
        ([BUDGET, sized(9, GPU)], "gpus: 72 at most, and 64 were approved: group 72", ""),
        (
            [BUDGET, sized(5, GPU), sized(4, GPU, name="more")],
            "gpus: 72 at most, and 64 were approved: group 40, mor",
            "",
        ),
        ([BUDGET, node_pool(GPU, limits=NINE)], "gpus: 72 at most", ""),
        ([BUDGET, node_pool(GPU, limits={"nvidia.com/gpu": 65})], "gpus: 65 at most", ""),
        ([BUDGET, node_pool(GPU)], "spec.limits: has no limit of nodes or GPUs"),
        # Written as people write them.
        ([BUDGET, pool_of(must(FAMILY, "In", "p5"), limits=NINE)], "gpus: 72 at most", ""),
        ([BUDGET, pool_of(must(CATEGORY, "In", "g", "p"), limits=NINE)], "gpus: 72 at most", ""),
        ([BUDGET, pool_of(must(COUNT, "Gt", "0"))], "spec.limits: has no limit of nodes or GPUs"),
        ([BUDGET, pool_of(must("eks.amazonaws.com/instance-gpu-name", "In", "h100"), limits=NINE)], "gpus: 72", ""),
        ([BUDGET, pool_of(limits=NINE)], "gpus: 72 at most", ""),
        (
            [BUDGET, BLOCK, group(BLOCK, scalingConfig={"maxSize": 9}), Resource("aws:ec2/instance:Instance", {})],
            "gpus: 72 at most",
            "",
        ),
        # Paid for from the beginning, with and without machines.
        ([BUDGET, reservation()], "gpus: 72 at most, and 64 were approved: reserved 72", ""),
        ([BUDGET, reservation(), BLOCK, group(BLOCK, scalingConfig={"maxSize": 9})], "approved: reserved 72", ""),
        ([BUDGET, offered(instanceType=GPU, instanceCount=9)], "gpus: 72 at most", ""),
        ([BUDGET, MADE, auto_scaling(MADE, launchTemplate={"id": UNKNOWN})], "approved: scaling 72", ""),
        ([BUDGET, CHOSEN, auto_scaling(CHOSEN, launchTemplate={"id": UNKNOWN})], "approved: scaling 72", ""),
        ([BUDGET, auto_scaling(mixedInstancesPolicy=mixed("m7i.large", GPU))], "approved: scaling 72", ""),
        (
            [
                BUDGET,
                Resource(
                    "aws:ec2/fleet:Fleet",
                    {
                        "targetCapacitySpecification": {"totalTargetCapacity": 9},
                        "launchTemplateConfigs": [{"overrides": [{"instanceType": GPU}]}],
                    },
                ),
            ],
            "gpus: 72 at most",
            "",
        ),
    ],
}

PASSES: Passes = {
    "instance-types": [
        [APPROVED, group(instanceTypes=["m7i.large", GPU]), node_pool("m7i.2xlarge")],
        group(instanceTypes=["p4d.24xlarge"]),
        [APPROVED, pool_of(must(FAMILY, "In", "m7i"))],
        [APPROVED, pool_of(must(FAMILY, "In", "p5"), must("karpenter.k8s.aws/instance-size", "In", "48xlarge"))],
        [allowing("instance-types", allowed=["p*"]), pool_of(must(CATEGORY, "In", "p"))],
    ],
    "gpu-budget": [
        [BUDGET, sized(8, GPU), sized(100, "m7i.large", name="more")],
        [BUDGET, node_pool(GPU, limits={"nvidia.com/gpu": 64}), node_pool("m7i.large", name="more")],
        [BUDGET, pool_of(must(CATEGORY, "In", "c", "m", "r")), pool_of(limits={"nvidia.com/gpu": "0"}, name="any")],
        [BUDGET, pool_of(must(FAMILY, "In", "g5"), must(COUNT, "Lt", "2"), limits={"nodes": 64})],
        [BUDGET, pool_of(must(CATEGORY, "NotIn", "g", "gr", "p"))],
        [BUDGET, reservation(8), BLOCK, group(BLOCK, scalingConfig={"maxSize": 8})],
        [BUDGET, made := template(instanceRequirements={"allowedInstanceTypes": ["m7i.*"]}), auto_scaling(made)],
        sized(100, GPU),
    ],
}

UNKNOWNS: Unknowns = {
    "instance-types": [
        ([APPROVED, template(instanceType=UNKNOWN)], "instanceType"),
        ([APPROVED, pool_of(must(FAMILY, "In", UNKNOWN))], "spec.template.spec.requirements[1].values[0]"),
    ],
    "gpu-budget": [
        ([BUDGET, sized(UNKNOWN, GPU)], "scalingConfig.maxSize"),
        ([BUDGET, sized(1, "p9.48xlarge")], "instanceTypes[0]"),
        ([BUDGET, pool_of(must(FAMILY, "In", "p9"))], "spec.template.spec.requirements[1].values[0]"),
        ([BUDGET, offered()], "instanceType"),
        ([BUDGET, group(launchTemplate={"id": "lt-elsewhere"}, scalingConfig={"maxSize": 1})], "launchTemplate"),
    ],
}
