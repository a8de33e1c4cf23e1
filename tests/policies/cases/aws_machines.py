"""The machines that become nodes."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform, referring

TWO_HOPS = platform(document("aws-training") | {"policies": {"options": {"instance-metadata": {"hops": 2}}}})
NIC = {"deviceIndex": 0, "securityGroups": ["sg-1"]}


def template(**inputs: Any) -> Resource:
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", inputs, "template")


def metadata(**options: Any) -> Resource:
    return template(metadataOptions=options)


def node_class(**spec: Any) -> Resource:
    return Resource("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", {"spec": {"role": "nodes", **spec}})


def group(**inputs: Any) -> Resource:
    return Resource("aws:eks/nodeGroup:NodeGroup", inputs, "group")


def pair(of_group: dict[str, Any], **of_template: Any) -> list[Resource]:
    """A node group and its template, whose id is not known yet."""
    made = template(**of_template)
    named = group(launchTemplate={"id": UNKNOWN, "version": UNKNOWN}, **of_group)
    return [referring(named, launchTemplate=made), made]


GPUS = {"instanceTypes": ["p5en.48xlarge"]}
BLOCK = {"capacityType": "CAPACITY_BLOCK"}

BREAKS: Breaks = {
    "instance-metadata": [
        (metadata(httpPutResponseHopLimit=1), "metadataOptions.httpTokens: is not `required`"),
        (metadata(httpTokens="optional", httpPutResponseHopLimit=1), "metadataOptions.httpTokens: is not `required`"),
        (metadata(httpTokens="required"), "metadataOptions.httpPutResponseHopLimit: is not said, and images of AL2023"),
        (metadata(httpTokens="required", httpPutResponseHopLimit=2), "metadataOptions.httpPutResponseHopLimit: is 2"),
        (
            Resource("aws:ec2/instance:Instance", {"metadataOptions": {"httpPutResponseHopLimit": 1}}),
            "metadataOptions.httpTokens: is not `required`",
        ),
        (node_class(metadataOptions={"httpTokens": "optional"}), "spec.metadataOptions.httpTokens: is not `required`"),
        (node_class(metadataOptions={"httpPutResponseHopLimit": 2}), "spec.metadataOptions.httpPutResponseHopLimit"),
    ],
    "node-group": [
        (group(launchTemplate={"id": "lt-1", "version": "1"}, diskSize=100), "diskSize: belongs into the launch"),
        (
            group(launchTemplate={"id": "lt-1", "version": "1"}, remoteAccess={"ec2SshKey": "a"}),
            "remoteAccess: belongs",
        ),
        (group(launchTemplate={"id": "lt-1", "version": "$Latest"}), "launchTemplate.version: $Latest is another"),
        (
            group(labels={"team": "a", "node-role.kubernetes.io/worker": "true"}),
            'labels["node-role.kubernetes.io/worker"]: EKS keeps labels under kubernetes.io for itself',
        ),
        (group(labels={"karpenter.sh/nodepool": "a"}), "Karpenter keeps labels under karpenter.sh"),
    ],
    "node-group-template": [
        (pair(GPUS, instanceType="p5.48xlarge"), "instanceType: the node group names instance types too"),
        (pair({}), "instanceType: neither it nor the node group names an instance type"),
        (
            pair(GPUS | {"amiType": "AL2023_x86_64_NVIDIA"}, imageId="ami-1"),
            "imageId: the node group takes EKS's image",
        ),
        (pair(GPUS, iamInstanceProfile={"name": "nodes"}), "iamInstanceProfile: EKS makes it"),
        (pair(GPUS, networkInterfaces=[NIC, {"subnetId": "subnet-1"}]), "networkInterfaces[1].subnetId: EKS takes"),
        (pair(GPUS, networkInterfaces=[NIC], vpcSecurityGroupIds=["sg-2"]), "vpcSecurityGroupIds: stands beside"),
        (pair(GPUS, instanceMarketOptions={"marketType": "spot"}), "instanceMarketOptions.marketType: is spot"),
        (pair(GPUS, instanceMarketOptions={"marketType": "capacity-block"}), "marketType: is capacity-block, and"),
        (pair(BLOCK, instanceType="p5.48xlarge"), "instanceMarketOptions.marketType: is not capacity-block, and"),
        (
            [group(launchTemplate={"name": "gpus"}, **GPUS), template(name="gpus", instanceType="p5.48xlarge")],
            "instanceType: the node group names instance types too",
        ),
    ],
}

PASSES: Passes = {
    "instance-metadata": [
        metadata(httpTokens="required", httpPutResponseHopLimit=1),
        [TWO_HOPS, metadata(httpTokens="required")],
        metadata(httpEndpoint="disabled"),
        node_class(),
        node_class(metadataOptions={"httpTokens": "required"}),
    ],
    "node-group": [
        group(launchTemplate={"id": UNKNOWN, "version": UNKNOWN}, labels={"example.org/team": "a"}),
        group(diskSize=100, remoteAccess={"ec2SshKey": "a"}),
    ],
    "node-group-template": [
        pair(GPUS, networkInterfaces=[NIC]),
        pair({}, instanceType="m7i.large", vpcSecurityGroupIds=["sg-1"]),
        pair(GPUS | {"amiType": "CUSTOM"}, imageId="ami-1"),
        pair(BLOCK, instanceType="p5.48xlarge", instanceMarketOptions={"marketType": "capacity-block"}),
        [group(launchTemplate={"id": "lt-elsewhere"}), template()],
        [group(), template()],
    ],
}

UNKNOWNS: Unknowns = {
    "instance-metadata": [
        (metadata(httpTokens=UNKNOWN, httpPutResponseHopLimit=1), "metadataOptions.httpTokens"),
        (metadata(httpTokens="required", httpPutResponseHopLimit=UNKNOWN), "metadataOptions.httpPutResponseHopLimit"),
    ],
    "node-group": [(group(labels=UNKNOWN), "labels"), (group(launchTemplate=UNKNOWN), "launchTemplate")],
    "node-group-template": [
        ([template(), group(launchTemplate={"id": UNKNOWN})], "launchTemplate.id"),
        (pair(GPUS, instanceType=UNKNOWN), "instanceType"),
    ],
}
