"""Node groups of EKS: what moto makes up or drops, updates of their version, and their Auto Scaling group.

https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html. No instances are started in moto: the twin
makes nodes of node groups.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.eks.exceptions import InvalidParameterException
from moto.eks.models import EKSBackend
from moto.eks.responses import EKSResponse
from moto.eks.urls import url_paths

from twin.aws.moto_gaps.access import join_nodes, leave_nodes
from twin.aws.moto_gaps.clusters import attribute, cluster_of, missing, update_of
from twin.aws.moto_gaps.patching import add, body, wrap

_LOST = ("updateConfig", "nodeRepairConfig", "warmPoolConfig")


def release(version: str) -> str:
    """Give the release of the images of a Kubernetes version."""
    return f"{version}.0-20261101"


def _create_nodegroup(inner: Any, self: Any) -> ActionResult:
    asked = body(self)
    cluster = cluster_of(self)
    template = asked.get("launchTemplate")
    result = inner(self)
    group = cluster.nodegroups[asked["nodegroupName"]]
    for name in _LOST:
        setattr(group, attribute(name), asked.get(name))
    group.update_config = group.update_config or {"maxUnavailable": 1}
    group.version = asked.get("version") or cluster.version
    group.release_version = asked.get("releaseVersion") or release(group.version)
    group.ami_type = asked.get("amiType") or "AL2023_x86_64_STANDARD"
    # moto makes these up where nothing was said; AWS does not, or says so in the launch template.
    group.remote_access = asked.get("remoteAccess")
    group.disk_size = asked.get("diskSize") or (None if template else 20)
    group.instance_types = asked.get("instanceTypes") or (None if template else ["t3.medium"])
    group.resources = {"autoScalingGroups": [{"name": f"eks-{group.nodegroup_name}-{group.uuid}"}]}
    try:
        _group_of(self, group)
    except Exception:
        cluster.nodegroups.pop(asked["nodegroupName"])
        cluster.nodegroup_count -= 1
        raise
    join_nodes(cluster, group.node_role)
    return result


def _group_of(response: Any, group: Any) -> None:
    """Make the Auto Scaling group, so that tags can be put on it. It starts nothing."""
    ec2 = ec2_backends[response.current_account][response.region]
    template = group.launch_template
    if template:
        found = ec2.get_launch_template(template["id"]).get_version(template.get("version", "$Default"))
        if found.instance_type and group.instance_types:
            raise InvalidParameterException(
                message="Instance types must be specified in the launch template or the node group, not in both"
            )
        template = {"LaunchTemplateId": template["id"], "Version": str(template.get("version", "$Default"))}
    else:
        made = ec2.create_launch_template(
            f"eks-{group.uuid}", "", {"InstanceType": group.instance_types[0]}, {"launch-template": {}}
        )
        template = {"LaunchTemplateId": made.id, "Version": "1"}
    backend: Any = autoscaling_backends[response.current_account][response.region]
    name = group.resources["autoScalingGroups"][0]["name"]
    made = backend.create_auto_scaling_group(
        name=name,
        availability_zones=[],
        desired_capacity=0,
        max_size=group.scaling_config["maxSize"],
        min_size=0,
        launch_config_name=None,
        launch_template=template,
        mixed_instances_policy=None,
        vpc_zone_identifier=",".join(group.subnets),
        default_cooldown=300,
        health_check_period=15,
        health_check_type="EC2",
        load_balancers=[],
        target_group_arns=[],
        placement_group=None,
        termination_policies=["Default"],
        instance_id=None,
        tags=[
            {
                "ResourceId": name,
                "ResourceType": "auto-scaling-group",
                "Key": key,
                "Value": text,
                "PropagateAtLaunch": True,
            }
            for key, text in {
                "eks:cluster-name": group.cluster_name,
                "eks:nodegroup-name": group.nodegroup_name,
            }.items()
        ],
        capacity_rebalance=False,
        new_instances_protected_from_scale_in=False,
    )
    _sizes(made, group.scaling_config)


def _sizes(made: Any, sizes: dict[str, int]) -> None:
    made.min_size, made.max_size, made.desired_capacity = sizes["minSize"], sizes["maxSize"], sizes["desiredSize"]


def _scaled(response: Any, group: Any) -> None:
    backend = autoscaling_backends[response.current_account][response.region]
    found = backend.autoscaling_groups.get(group.resources["autoScalingGroups"][0]["name"])
    if found is not None:
        _sizes(found, group.scaling_config)


def _update_nodegroup_config(inner: Any, self: Any) -> ActionResult:
    result = inner(self)
    cluster, asked = cluster_of(self), body(self)
    group = cluster.nodegroups[self._get_param("nodegroupName")]
    if asked.get("warmPoolConfig"):
        group.warm_pool_config = asked["warmPoolConfig"]
    _scaled(self, group)
    return result


def update_nodegroup_version(self: Any) -> ActionResult:
    cluster, asked = cluster_of(self), body(self)
    group = cluster.nodegroups.get(self._get_param("nodegroupName"))
    if group is None:
        raise missing(f"No node group found for name: {self._get_param('nodegroupName')}.")
    if asked.get("launchTemplate"):
        template = {**asked["launchTemplate"]}
        ec2: Any = ec2_backends[self.current_account][self.region]
        ec2.get_launch_template((group.launch_template or {}).get("id")).get_version(template["version"])
        group.launch_template = {**(group.launch_template or {}), **template}
    if asked.get("version"):
        group.version = asked["version"]
        group.release_version = asked.get("releaseVersion") or release(group.version)
    elif asked.get("releaseVersion"):
        group.release_version = asked["releaseVersion"]
    group.modified_at = utcnow()
    return update_of(cluster, "VersionUpdate", asked)


def _delete_nodegroup(inner: Any, self: Any, cluster_name: str, nodegroup_name: str) -> Any:
    group = inner(self, cluster_name, nodegroup_name)
    backend = autoscaling_backends[self.account_id][self.region_name]
    backend.autoscaling_groups.pop(group.resources["autoScalingGroups"][0]["name"], None)
    ec2 = ec2_backends[self.account_id][self.region_name]
    if f"eks-{group.uuid}" in ec2.launch_template_name_to_ids:
        ec2.delete_launch_template(f"eks-{group.uuid}", None)
    leave_nodes(self.clusters[cluster_name], group.node_role)
    return group


def install() -> None:
    """Add the actions to moto."""
    wrap(EKSResponse, "create_nodegroup", _create_nodegroup)
    wrap(EKSResponse, "update_nodegroup_config", _update_nodegroup_config)
    wrap(EKSBackend, "delete_nodegroup", _delete_nodegroup)
    add(EKSResponse, update_nodegroup_version)
    path = "{0}/clusters/(?P<name>[^/]+)/node-groups/(?P<nodegroupName>[^/]+)/update-version$"
    url_paths[path] = EKSResponse.dispatch
