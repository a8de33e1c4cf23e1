"""What AWS refuses to delete because something stands in it: subnets, security groups and VPCs in use.

moto refuses some of it (a VPC with subnets, a route table in use); the rest is here, so that an order of deletion that
only works on moto is found.
"""

from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import DependencyViolationError
from moto.ec2.models import EC2Backend
from moto.efs.models import efs_backends
from moto.eks.models import eks_backends
from moto.fsx.models import fsx_backends

from twin.aws.moto_gaps.patching import wrap


def _in_subnet(ec2: Any, subnet: str) -> Iterator[str]:
    for gateway in ec2.nat_gateways.values():
        if gateway.subnet_id == subnet and gateway.state != "deleted":
            yield gateway.id
    for endpoint in ec2.vpc_end_points.values():
        if subnet in (endpoint.subnet_ids or ()) and endpoint.state != "deleted":
            yield endpoint.id
    for interface in ec2.enis.values():
        if interface.subnet.id == subnet:
            yield interface.id
    yield from _clusters(ec2, subnet)
    yield from _files(ec2, "subnet_ids", "subnet_id", subnet)


def _clusters(ec2: Any, subnet: str) -> Iterator[str]:
    for cluster in eks_backends[ec2.account_id][ec2.region_name].clusters.values():
        if subnet in cluster.resources_vpc_config.get("subnetIds", ()):
            yield f"cluster {cluster.name}"
        for group in cluster.nodegroups.values():
            if subnet in group.subnets:
                yield f"node group {group.nodegroup_name}"


def _files(ec2: Any, many: str, one: str, identity: str) -> Iterator[str]:
    for system in fsx_backends[ec2.account_id][ec2.region_name].file_systems.values():
        if identity in (getattr(system, many, None) or ()):
            yield system.file_system_id
    for target in efs_backends[ec2.account_id][ec2.region_name].mount_targets_by_id.values():
        found = getattr(target, one, None)
        if found is not None and (found == identity or (isinstance(found, list) and identity in found)):
            yield target.mount_target_id


def _with_group(ec2: Any, group: str) -> Iterator[str]:
    for interface in ec2.enis.values():
        if any(one.id == group for one in interface.group_set):
            yield interface.id
    for endpoint in ec2.vpc_end_points.values():
        if group in (endpoint.security_group_ids or ()) and endpoint.state != "deleted":
            yield endpoint.id
    for cluster in eks_backends[ec2.account_id][ec2.region_name].clusters.values():
        network = cluster.resources_vpc_config
        if group in (*network.get("securityGroupIds", ()), network.get("clusterSecurityGroupId")):
            yield f"cluster {cluster.name}"
    yield from _files(ec2, "security_group_ids", "security_groups", group)
    for groups in ec2.groups.values():
        for other in groups.values():
            rules = [*other.ingress_rules, *other.egress_rules]
            if other.id != group and any(_names(rule, group) for rule in rules):
                yield other.id


def _names(rule: Any, group: str) -> bool:
    return (rule.source_group or {}).get("GroupId") == group


def _refuse(kind: str, identity: str, users: Iterator[str]) -> None:
    found = sorted(set(users))
    if found:
        raise DependencyViolationError(
            f"The {kind} '{identity}' has dependencies and cannot be deleted: {', '.join(found)}."
        )


def _delete_subnet(inner: Any, self: Any, subnet_id: str) -> Any:
    _refuse("subnet", subnet_id, _in_subnet(self, subnet_id))
    return inner(self, subnet_id)


def _delete_security_group(inner: Any, self: Any, name: str | None = None, group_id: str | None = None) -> Any:
    if group_id:
        _refuse("resource", group_id, _with_group(self, group_id))
    return inner(self, name=name, group_id=group_id)


def _delete_vpc(inner: Any, self: Any, vpc_id: str) -> Any:
    gateways = (gateway.id for gateway in self.internet_gateways.values() if gateway.vpc and gateway.vpc.id == vpc_id)
    groups = (one.id for one in self.groups.get(vpc_id, {}).values() if one.name != "default")
    endpoints = (one.id for one in self.vpc_end_points.values() if one.vpc_id == vpc_id and one.state != "deleted")
    _refuse("vpc", vpc_id, (user for users in (gateways, groups, endpoints) for user in users))
    vpc = inner(self, vpc_id)
    # The access list that came with it goes with it; moto keeps it.
    for identity in [one.id for one in self.network_acls.values() if one.vpc_id == vpc_id]:
        del self.network_acls[identity]
    return vpc


def _delete_nat_gateway(inner: Any, self: Any, nat_gateway_id: str) -> Any:
    """Let the interface go with the gateway, and its address be free: moto keeps both in use."""
    gateway = inner(self, nat_gateway_id)
    for address in [one for one in self.addresses if one.eni is gateway._eni]:
        self.disassociate_address(association_id=address.association_id)
    self.enis.pop(gateway._eni.id, None)
    return gateway


def install() -> None:
    """Put the refusals around moto's deletions."""
    wrap(EC2Backend, "delete_nat_gateway", _delete_nat_gateway)
    wrap(EC2Backend, "delete_subnet", _delete_subnet)
    wrap(EC2Backend, "delete_security_group", _delete_security_group)
    wrap(EC2Backend, "delete_vpc", _delete_vpc)
