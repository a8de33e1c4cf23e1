"""What the resources of the examples stand in, made with plain boto3."""

import json
from dataclasses import dataclass
from typing import Any

from twin.aws.cloud import Cloud

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)


@dataclass(frozen=True)
class Place:
    """A network, a cluster and what else the examples name."""

    cloud: Cloud
    vpc: str
    other_vpc: str
    subnets: tuple[str, str, str]
    group: str
    other_group: str
    table: str
    other_table: str
    gateway: str
    nat: str
    nats: tuple[str, str]
    address: str
    role: str
    other_role: str
    template: str
    cluster: str
    principal: str
    autoscaling: str
    bucket: str
    key: str
    other_key: str
    queue: str
    rule: str
    lustre: str
    efs: str
    secret: str
    repository: str
    offering: str

    def client(self, service: str) -> Any:
        return self.cloud.client(service)

    @classmethod
    def make(cls, cloud: Cloud) -> "Place":
        ec2, iam, eks = (cloud.client(service) for service in ("ec2", "iam", "eks"))
        vpc, other_vpc = (ec2.create_vpc(CidrBlock=block)["Vpc"]["VpcId"] for block in ("10.0.0.0/16", "10.9.0.0/16"))
        subnets = tuple(
            ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"{cloud.region}{zone}")[
                "Subnet"
            ]["SubnetId"]
            for number, zone in enumerate("abc")
        )
        groups = [
            ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
            for name in ("place", "other")
        ]
        tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        addresses = [ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(3)]
        nats = [
            ec2.create_nat_gateway(SubnetId=subnets[number], AllocationId=addresses[number])["NatGateway"][
                "NatGatewayId"
            ]
            for number in range(2)
        ]
        roles = [
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"] for name in ("place", "other")
        ]
        template = ec2.create_launch_template(
            LaunchTemplateName="place", LaunchTemplateData={"InstanceType": "p5.48xlarge"}
        )
        identity = template["LaunchTemplate"]["LaunchTemplateId"]
        ec2.create_launch_template_version(
            LaunchTemplateId=identity, LaunchTemplateData={"InstanceType": "p5.48xlarge"}
        )
        eks.create_cluster(
            name="place",
            version="1.34",
            roleArn=roles[0],
            resourcesVpcConfig={"subnetIds": list(subnets[:2])},
            accessConfig={"authenticationMode": "API"},
        )
        group = eks.create_nodegroup(
            clusterName="place",
            nodegroupName="place",
            nodeRole=roles[1],
            subnets=[subnets[2]],
            scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 1},
        )
        entry = eks.create_access_entry(clusterName="place", principalArn=roles[0])
        cloud.client("s3").create_bucket(Bucket="place", CreateBucketConfiguration={"LocationConstraint": cloud.region})
        keys = [cloud.client("kms").create_key()["KeyMetadata"]["KeyId"] for _ in range(2)]
        cloud.client("events").put_rule(Name="place", EventPattern='{"source": ["aws.ec2"]}')
        lustre = cloud.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[subnets[0]],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        )
        cloud.client("ecr").create_repository(repositoryName="place")
        offers = ec2.describe_capacity_block_offerings(
            InstanceType="p5.48xlarge", InstanceCount=2, CapacityDurationHours=24
        )
        return cls(
            cloud=cloud,
            vpc=vpc,
            other_vpc=other_vpc,
            subnets=(subnets[0], subnets[1], subnets[2]),
            group=groups[0],
            other_group=groups[1],
            table=tables[0],
            other_table=tables[1],
            gateway=gateway,
            nat=nats[0],
            nats=(nats[0], nats[1]),
            address=addresses[2],
            role=roles[0],
            other_role=roles[1],
            template=identity,
            cluster="place",
            principal=entry["accessEntry"]["principalArn"],
            autoscaling=group["nodegroup"]["resources"]["autoScalingGroups"][0]["name"],
            bucket="place",
            key=keys[0],
            other_key=keys[1],
            queue=cloud.client("sqs").create_queue(QueueName="place")["QueueUrl"],
            rule="place",
            lustre=lustre["FileSystem"]["FileSystemId"],
            efs=cloud.client("efs").create_file_system(CreationToken="place")["FileSystemId"],
            secret=cloud.client("secretsmanager").create_secret(Name="place", SecretString="first")["ARN"],
            repository="place",
            offering=offers["CapacityBlockOfferings"][0]["CapacityBlockOfferingId"],
        )
