"""What was added to moto, seen with plain boto3."""

import datetime
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.core.responses import BaseResponse
from place import Place
from provider_client import ACCOUNT, REGION

from twin.aws.moto_gaps.patching import add


def code(caught: pytest.ExceptionInfo[ClientError]) -> str:
    return caught.value.response["Error"]["Code"]  # pyright: ignore[reportTypedDictNotRequiredAccess]


@pytest.fixture
def eks(place: Place) -> Any:
    return place.client("eks")


@pytest.fixture
def ec2(place: Place) -> Any:
    return place.client("ec2")


def test_a_subnet_in_use_stays(place: Place, ec2: Any) -> None:
    for subnet, user in ((place.subnets[0], place.nat), (place.subnets[2], "node group place")):
        with pytest.raises(ClientError, match=user) as caught:
            ec2.delete_subnet(SubnetId=subnet)
        assert code(caught) == "DependencyViolation"


def test_a_nat_gateway_leaves_nothing_in_its_subnet(place: Place, ec2: Any) -> None:
    subnet = ec2.create_subnet(VpcId=place.other_vpc, CidrBlock="10.9.1.0/24")["Subnet"]["SubnetId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    with pytest.raises(ClientError, match=gateway):
        ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_nat_gateway(NatGatewayId=gateway)
    ec2.release_address(AllocationId=address)
    ec2.delete_subnet(SubnetId=subnet)


def test_a_security_group_in_use_stays(place: Place, ec2: Any, eks: Any) -> None:
    cluster = eks.describe_cluster(name=place.cluster)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    with pytest.raises(ClientError, match="cluster place") as caught:
        ec2.delete_security_group(GroupId=cluster)
    assert code(caught) == "DependencyViolation"
    one, other = (
        ec2.create_security_group(GroupName=name, Description=name, VpcId=place.vpc)["GroupId"]
        for name in ("one", "two")
    )
    ec2.authorize_security_group_ingress(
        GroupId=other, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": one}]}]
    )
    with pytest.raises(ClientError, match=other):
        ec2.delete_security_group(GroupId=one)
    ec2.delete_security_group(GroupId=other)
    ec2.delete_security_group(GroupId=one)


def test_a_vpc_with_something_in_it_stays(ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    with pytest.raises(ClientError, match=gateway) as caught:
        ec2.delete_vpc(VpcId=vpc)
    assert code(caught) == "DependencyViolation"
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    group = ec2.create_security_group(GroupName="left", Description="left", VpcId=vpc)["GroupId"]
    with pytest.raises(ClientError, match=group):
        ec2.delete_vpc(VpcId=vpc)
    ec2.delete_security_group(GroupId=group)
    ec2.delete_vpc(VpcId=vpc)


def test_placement_groups_are_there_once(ec2: Any) -> None:
    tags = [{"ResourceType": "placement-group", "Tags": [{"Key": "a", "Value": "b"}]}]
    ec2.create_placement_group(GroupName="gaps", Strategy="cluster", TagSpecifications=tags)
    with pytest.raises(ClientError) as caught:
        ec2.create_placement_group(GroupName="gaps", Strategy="cluster")
    assert code(caught) == "InvalidPlacementGroup.Duplicate"
    [found] = ec2.describe_placement_groups(Filters=[{"Name": "tag:a", "Values": ["b"]}])["PlacementGroups"]
    assert (found["GroupName"], found["Strategy"], found["State"]) == ("gaps", "cluster", "available")
    for name, value, there in (
        ("group-name", "ga?s", True),
        ("group-name", "ga", False),
        ("strategy", "clus*", True),
        ("spread-level", "rack", False),
        ("tag-key", "a", True),
        ("tag:a", "c", False),
    ):
        groups = ec2.describe_placement_groups(Filters=[{"Name": name, "Values": [value]}])["PlacementGroups"]
        assert ("gaps" in {group["GroupName"] for group in groups}) is there, (name, value)
    with pytest.raises(ClientError, match="The filter 'colour' is invalid") as caught:
        ec2.describe_placement_groups(Filters=[{"Name": "colour", "Values": ["red"]}])
    assert code(caught) == "InvalidParameterValue"
    ec2.delete_placement_group(GroupName="gaps")
    with pytest.raises(ClientError) as caught:
        ec2.describe_placement_groups(GroupNames=["gaps"])
    assert code(caught) == "InvalidPlacementGroup.Unknown"


def test_a_capacity_block_is_offered_bought_and_not_cancelled(ec2: Any) -> None:
    [offer] = ec2.describe_capacity_block_offerings(
        InstanceType="p5en.48xlarge", InstanceCount=16, CapacityDurationHours=48
    )["CapacityBlockOfferings"]
    assert offer["EndDate"] - offer["StartDate"] == datetime.timedelta(hours=48)
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    identity = bought["CapacityReservationId"]
    [found] = ec2.describe_capacity_reservations(CapacityReservationIds=[identity])["CapacityReservations"]
    assert found["ReservationType"] == "capacity-block"
    assert found["State"] == "active"
    assert found["TotalInstanceCount"] == 16
    assert found["EndDate"] == offer["EndDate"]
    for name, value, there in (("instance-type", "p5en.*", True), ("state", "expired", False), ("owner-id", "*", True)):
        told = ec2.describe_capacity_reservations(Filters=[{"Name": name, "Values": [value]}])["CapacityReservations"]
        assert (identity in [each["CapacityReservationId"] for each in told]) is there, name
    with pytest.raises(ClientError) as caught:
        ec2.cancel_capacity_reservation(CapacityReservationId=identity)
    assert code(caught) == "OperationNotPermitted"


def test_a_cluster_keeps_what_it_was_told_and_is_protected(place: Place, eks: Any) -> None:
    eks.create_cluster(
        name="gaps",
        roleArn=place.role,
        version="1.35",
        resourcesVpcConfig={"subnetIds": list(place.subnets)},
        accessConfig={"authenticationMode": "API"},
        deletionProtection=True,
    )
    found = eks.describe_cluster(name="gaps")["cluster"]
    assert found["accessConfig"]["authenticationMode"] == "API"
    assert found["resourcesVpcConfig"]["vpcId"] == place.vpc
    assert found["deletionProtection"] is True
    with pytest.raises(ClientError, match="deletion protection"):
        eks.delete_cluster(name="gaps")
    with pytest.raises(ClientError, match=r"from 1\.35 to 1\.37"):
        eks.update_cluster_version(name="gaps", version="1.37")
    update = eks.update_cluster_config(name="gaps", deletionProtection=False)["update"]
    assert eks.describe_update(name="gaps", updateId=update["id"])["update"]["status"] == "Successful"
    group = found["resourcesVpcConfig"]["clusterSecurityGroupId"]
    eks.delete_cluster(name="gaps")
    with pytest.raises(ClientError, match=group):
        place.client("ec2").describe_security_groups(GroupIds=[group])


def test_a_node_group_lets_its_nodes_in_and_has_an_autoscaling_group(place: Place, eks: Any) -> None:
    made = eks.create_nodegroup(
        clusterName=place.cluster,
        nodegroupName="gaps",
        nodeRole=f"arn:aws:iam::{ACCOUNT}:role/gaps",
        subnets=[place.subnets[0]],
        scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 3},
        launchTemplate={"id": place.template, "version": "1"},
    )["nodegroup"]
    assert "remoteAccess" not in made
    assert "diskSize" not in made
    [group] = place.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[made["resources"]["autoScalingGroups"][0]["name"]]
    )["AutoScalingGroups"]
    assert (group["DesiredCapacity"], group["Instances"]) == (3, [])
    entry = eks.describe_access_entry(clusterName=place.cluster, principalArn=made["nodeRole"])["accessEntry"]
    assert entry["type"] == "EC2_LINUX"
    eks.delete_nodegroup(clusterName=place.cluster, nodegroupName="gaps")
    with pytest.raises(ClientError):
        eks.describe_access_entry(clusterName=place.cluster, principalArn=made["nodeRole"])


def test_a_service_account_has_one_role(place: Place, eks: Any) -> None:
    asked = {"clusterName": place.cluster, "namespace": "gaps", "serviceAccount": "one", "roleArn": place.role}
    made = eks.create_pod_identity_association(**asked)["association"]
    with pytest.raises(ClientError) as caught:
        eks.create_pod_identity_association(**asked)
    assert code(caught) == "ResourceInUseException"
    [found] = eks.list_pod_identity_associations(clusterName=place.cluster, namespace="gaps")["associations"]
    assert found["associationId"] == made["associationId"]
    eks.delete_pod_identity_association(clusterName=place.cluster, associationId=made["associationId"])


def test_an_addon_brings_its_identities(place: Place, eks: Any) -> None:
    identity = {"serviceAccount": "ebs-csi-controller-sa", "roleArn": place.role}
    eks.create_addon(clusterName=place.cluster, addonName="aws-ebs-csi-driver", podIdentityAssociations=[identity])
    addon = eks.describe_addon(clusterName=place.cluster, addonName="aws-ebs-csi-driver")["addon"]
    [association] = eks.list_pod_identity_associations(
        clusterName=place.cluster, namespace="kube-system", serviceAccount="ebs-csi-controller-sa"
    )["associations"]
    assert addon["podIdentityAssociations"] == [association["associationArn"]]
    eks.delete_addon(clusterName=place.cluster, addonName="aws-ebs-csi-driver")
    assert not eks.list_pod_identity_associations(clusterName=place.cluster, namespace="kube-system")["associations"]
    with pytest.raises(ClientError, match="not supported"):
        eks.create_addon(clusterName=place.cluster, addonName="no-such-addon")


def test_entries_count_only_where_the_cluster_says_so(place: Place, eks: Any) -> None:
    eks.create_cluster(name="old", roleArn=place.role, resourcesVpcConfig={"subnetIds": list(place.subnets)})
    with pytest.raises(ClientError, match="authentication mode"):
        eks.create_access_entry(clusterName="old", principalArn=place.role)
    eks.delete_cluster(name="old")


def test_a_file_system_tells_where_it_is_and_its_associations_do_not_overlap(place: Place) -> None:
    fsx = place.client("fsx")
    [system] = fsx.describe_file_systems(FileSystemIds=[place.lustre])["FileSystems"]
    assert system["Lifecycle"] == "AVAILABLE"
    assert system["VpcId"] == place.vpc
    assert system["LustreConfiguration"]["MountName"]
    with pytest.raises(ClientError, match="decreased"):
        fsx.update_file_system(FileSystemId=place.lustre, StorageCapacity=600)
    made = fsx.create_data_repository_association(
        FileSystemId=place.lustre, FileSystemPath="/a", DataRepositoryPath="s3://place/a/"
    )["Association"]
    with pytest.raises(ClientError, match="overlaps"):
        fsx.create_data_repository_association(
            FileSystemId=place.lustre, FileSystemPath="/a/b", DataRepositoryPath="s3://place/b/"
        )
    fsx.delete_data_repository_association(AssociationId=made["AssociationId"])
    [image] = [system["DNSName"]]
    assert image.endswith(f".fsx.{REGION}.amazonaws.com")


def test_what_moto_cannot_do_is_told_in_words(ec2: Any) -> None:
    with pytest.raises(ClientError, match="secondary_network action has not been implemented") as caught:
        ec2.create_secondary_network(NetworkType="rdma", Ipv4CidrBlock="10.0.0.0/16")
    assert code(caught) == "MotoFailure"


def test_a_gap_that_moto_has_closed_is_told() -> None:
    class Responses(BaseResponse):
        def create_thing(self) -> None:
            pass

    def create_thing(self: Any) -> None:
        pass

    with pytest.raises(RuntimeError, match="the gap is closed"):
        add(Responses, create_thing)


def test_quotas_are_granted_and_may_be_raised(place: Place) -> None:
    quotas = place.client("service-quotas")
    asked = {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"}
    before = quotas.get_service_quota(**asked)["Quota"]
    assert before["QuotaName"] == "Running On-Demand P instances"
    quotas.request_service_quota_increase(**asked, DesiredValue=before["Value"] + 192)
    assert quotas.get_service_quota(**asked)["Quota"]["Value"] == before["Value"] + 192
    with pytest.raises(ClientError) as caught:
        quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000")
    assert code(caught) == "NoSuchResourceException"


def test_a_bucket_for_tls_only_is_open_on_loopback_and_closed_to_what_is_denied(place: Place) -> None:
    s3 = place.client("s3")
    s3.create_bucket(Bucket="sealed", CreateBucketConfiguration={"LocationConstraint": REGION})
    sealed = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "arn:aws:s3:::sealed/*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    s3.put_bucket_policy(Bucket="sealed", Policy=json.dumps({"Version": "2012-10-17", "Statement": [sealed]}))
    s3.put_object(Bucket="sealed", Key="one", Body=b"1")
    assert s3.get_object(Bucket="sealed", Key="one")["Body"].read() == b"1"
    del sealed["Condition"]
    s3.put_bucket_policy(Bucket="sealed", Policy=json.dumps({"Version": "2012-10-17", "Statement": [sealed]}))
    with pytest.raises(ClientError):
        s3.get_object(Bucket="sealed", Key="one")


def test_a_vpc_takes_its_access_list_with_it(place: Place) -> None:
    ec2 = place.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.40.0.0/16")["Vpc"]["VpcId"]
    mine = [{"Name": "vpc-id", "Values": [vpc]}]
    assert len(ec2.describe_network_acls(Filters=mine)["NetworkAcls"]) == 1
    ec2.delete_vpc(VpcId=vpc)
    assert ec2.describe_network_acls(Filters=mine)["NetworkAcls"] == []


def test_the_address_of_a_nat_gateway_is_free_after_it(place: Place) -> None:
    ec2 = place.client("ec2")
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    for _ in range(2):
        made = ec2.create_nat_gateway(SubnetId=place.subnets[0], AllocationId=address)["NatGateway"]["NatGatewayId"]
        assert "AssociationId" in ec2.describe_addresses(AllocationIds=[address])["Addresses"][0]
        ec2.delete_nat_gateway(NatGatewayId=made)
        assert "AssociationId" not in ec2.describe_addresses(AllocationIds=[address])["Addresses"][0]
    ec2.release_address(AllocationId=address)
