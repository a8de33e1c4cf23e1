"""Changes and deletion of VPC end points: the routes to a gateway end point come and go with its route tables."""

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.ec2.responses import EC2Response

from twin.aws.moto_gaps.patching import wrap


def _modify(inner: Any, self: Any, **asked: Any) -> None:
    endpoint = self.describe_vpc_endpoints(vpc_end_point_ids=[asked["vpc_id"]])[0]
    before = set(endpoint.route_table_ids or ())
    inner(self, **asked)
    listed = endpoint.destination_prefix_list_id
    for table in sorted(set(endpoint.route_table_ids or ()) - before):
        self.create_route(table, None, gateway_id=endpoint.id, destination_prefix_list_id=listed)
    for table in sorted(before - set(endpoint.route_table_ids or ())):
        self.delete_route(table, listed)


def _answer(inner: Any, self: Any) -> ActionResult:
    result = inner(self)
    if self.params.get("PrivateDnsEnabled") is not None:
        endpoint = self.ec2_backend.describe_vpc_endpoints(vpc_end_point_ids=[self.params["VpcEndpointId"]])[0]
        endpoint.private_dns_enabled = self.params["PrivateDnsEnabled"]
    return result


def _delete(inner: Any, self: Any, vpce_ids: list[str] | None = None) -> None:
    there = [identity for identity in vpce_ids or () if identity in self.vpc_end_points]
    inner(self, there)
    for identity in there:
        del self.vpc_end_points[identity]


def install() -> None:
    """Put it around moto's action."""
    wrap(EC2Backend, "modify_vpc_endpoint", _modify)
    wrap(EC2Backend, "delete_vpc_endpoints", _delete)
    wrap(EC2Response, "modify_vpc_endpoint", _answer)
