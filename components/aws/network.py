"""The network of a cluster: made, or looked up and checked."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.component import Component
from model.aws import endpoints, region, subnets, tags
from model.aws.partitions import partition
from model.environment import Environment

_LOAD_BALANCERS = {
    "private": {"kubernetes.io/role/internal-elb": "1"},
    "public": {"kubernetes.io/role/elb": "1"},
    "gpu": {},
}
"""Tags by which controllers of load balancers find subnets
(https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html)."""


@pulumi.type_token("gangline:index:Network")
class Network(Component):
    """A network with private subnets for nodes in each zone, and no public addresses on nodes.

    Attributes:
        vpc_id: Id of the VPC.
        private: Ids of the subnets for nodes, by zone.
        gpu: Ids of the subnets for GPU nodes, by zone; where there are none of their own, those of `private`.
    """

    vpc_id: pulumi.Output[str]
    private: Mapping[str, pulumi.Output[str]]
    gpu: Mapping[str, pulumi.Output[str]]

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions) -> None:
        """Args: name: logical name; environment: the document; opts: with the AWS provider."""
        network = environment.cluster.network
        super().__init__(name, {"network": network.model_dump(mode="json", by_alias=True, exclude_unset=True)}, opts)
        self._name = name
        self._environment = environment
        if network.vpc is not None:
            self._look_up(network.vpc)
        else:
            self._make()
        self.register_outputs({"vpcId": self.vpc_id})

    def _inside(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(depends_on))

    def _tags(self, what: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**tags(self._environment, f"{self._environment.cluster.name}-{what}"), **(more or {})}

    def _make(self) -> None:
        environment, name = self._environment, self._name
        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=str(subnets.network(environment)),
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags("vpc"),
            opts=self._inside(),
        )
        self.vpc_id = vpc.id
        made: dict[tuple[str, str], pulumi.Output[str]] = {}
        for subnet in subnets.subnets(environment):
            made[subnet.kind, subnet.zone] = aws.ec2.Subnet(
                f"{name}-{subnet.name}",
                vpc_id=vpc.id,
                cidr_block=str(subnet.cidr),
                availability_zone=subnet.zone,
                map_public_ip_on_launch=False,
                tags=self._tags(subnet.name, _LOAD_BALANCERS[subnet.kind]),
                opts=self._inside(),
            ).id
        self.private = {zone: subnet for (kind, zone), subnet in made.items() if kind == "private"}
        self.gpu = {zone: subnet for (kind, zone), subnet in made.items() if kind == "gpu"}
        public = {zone: subnet for (kind, zone), subnet in made.items() if kind == "public"}
        gateways = self._way_out(public) if public else {}
        tables = {zone: self._table(zone, gateways) for zone in environment.cluster.zones}
        for (kind, zone), subnet in made.items():
            if kind != "public":
                self._joined(f"{kind}-{zone}", tables[zone].id, subnet)
        self._gateways([table.id for table in tables.values()])
        if environment.cluster.network.endpoints:
            self._endpoints()

    def _way_out(self, public: Mapping[str, pulumi.Output[str]]) -> dict[str, aws.ec2.NatGateway]:
        """Make the internet gateway, the route to it, and the NAT gateway of each zone."""
        name = self._name
        gateway = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=self.vpc_id, tags=self._tags("internet"), opts=self._inside()
        )
        table = aws.ec2.RouteTable(f"{name}-public", vpc_id=self.vpc_id, tags=self._tags("public"), opts=self._inside())
        route = aws.ec2.Route(
            f"{name}-public-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=gateway.id,
            opts=self._inside(),
        )
        for zone, subnet in public.items():
            self._joined(f"public-{zone}", table.id, subnet)
        zonal = self._environment.cluster.network.nat == "zonal"
        made: dict[str, aws.ec2.NatGateway] = {}
        for zone, subnet in list(public.items())[: None if zonal else 1]:
            address = aws.ec2.Eip(
                f"{name}-nat-{zone}-address", domain="vpc", tags=self._tags(f"nat-{zone}"), opts=self._inside(gateway)
            )
            made[zone] = aws.ec2.NatGateway(
                f"{name}-nat-{zone}",
                allocation_id=address.id,
                subnet_id=subnet,
                tags=self._tags(f"nat-{zone}"),
                opts=self._inside(route),
            )
        return made if zonal else dict.fromkeys(public, next(iter(made.values())))

    def _table(self, zone: str, gateways: Mapping[str, aws.ec2.NatGateway]) -> aws.ec2.RouteTable:
        table = aws.ec2.RouteTable(
            f"{self._name}-private-{zone}-routes",
            vpc_id=self.vpc_id,
            tags=self._tags(f"private-{zone}"),
            opts=self._inside(),
        )
        if zone in gateways:
            aws.ec2.Route(
                f"{self._name}-private-{zone}-out",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=gateways[zone].id,
                opts=self._inside(),
            )
        return table

    def _joined(self, what: str, table: pulumi.Input[str], subnet: pulumi.Input[str]) -> None:
        aws.ec2.RouteTableAssociation(
            f"{self._name}-{what}-routed", route_table_id=table, subnet_id=subnet, opts=self._inside()
        )

    def _gateways(self, tables: list[pulumi.Output[str]]) -> None:
        """Lead the way to S3 past the NAT gateways: it costs nothing, and they take money for each gigabyte."""
        place = region(self._environment)
        for service in endpoints.GATEWAYS:
            aws.ec2.VpcEndpoint(
                f"{self._name}-endpoint-{service}",
                vpc_id=self.vpc_id,
                service_name=partition(place).endpoint(place, service),
                vpc_endpoint_type="Gateway",
                route_table_ids=tables,
                tags=self._tags(f"endpoint-{service}"),
                opts=self._inside(),
            )

    def _endpoints(self) -> None:
        place = region(self._environment)
        called = partition(place).endpoint
        group = aws.ec2.SecurityGroup(
            f"{self._name}-endpoints",
            vpc_id=self.vpc_id,
            description="End points of AWS's services, for what is in the network",
            tags=self._tags("endpoints"),
            opts=self._inside(),
        )
        aws.vpc.SecurityGroupIngressRule(
            f"{self._name}-endpoints-in",
            security_group_id=group.id,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=str(subnets.network(self._environment)),
            description="HTTPS from the network",
            opts=self._inside(),
        )
        for service in endpoints.interfaces(self._environment):
            aws.ec2.VpcEndpoint(
                f"{self._name}-endpoint-{service.replace('.', '-')}",
                vpc_id=self.vpc_id,
                service_name=called(place, service),
                vpc_endpoint_type="Interface",
                subnet_ids=list(self.private.values()),
                security_group_ids=[group.id],
                private_dns_enabled=True,
                tags=self._tags(f"endpoint-{service}"),
                opts=self._inside(),
            )

    def _look_up(self, vpc_id: str) -> None:
        network = self._environment.cluster.network
        self.vpc_id = aws.ec2.Vpc.get(f"{self._name}-vpc", vpc_id, opts=self._inside()).id
        self.private = {zone: self._found("private", zone, subnet) for zone, subnet in network.subnets.items()}
        own = {zone: self._found("gpu", zone, subnet) for zone, subnet in network.gpu_subnets.items()}
        self.gpu = {**self.private, **own}

    def _found(self, kind: str, zone: str, subnet_id: str) -> pulumi.Output[str]:
        """Give the id of a subnet that is there, once it is seen to be what the document says."""
        subnet = aws.ec2.Subnet.get(f"{self._name}-{kind}-{zone}", subnet_id, opts=self._inside())
        vpc = str(self._environment.cluster.network.vpc)
        key = "gpuSubnets" if kind == "gpu" else "subnets"

        def check(found: list[object]) -> str:
            has_zone, has_vpc, public = found
            wrong = subnets.mismatches(vpc, zone, vpc=str(has_vpc), zone=str(has_zone), public=bool(public))
            if wrong:
                raise pulumi.RunError(
                    f"environment.cluster.network.{key}.{zone}\n"
                    f"  {subnet_id}: {'; '.join(wrong)}\n  allowed: a private subnet of {vpc} in {zone}"
                )
            return subnet_id

        return pulumi.Output.all(subnet.availability_zone, subnet.vpc_id, subnet.map_public_ip_on_launch).apply(check)
