"""Rows of compute: launch templates, placement groups, reserved capacity, tags of groups for the autoscaler."""

# ruff: noqa: ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Tags, Update
from twin.aws.rows.common import ec2_tags, words

_TEMPLATE = (
    "blockDeviceMappings capacityReservationSpecification cpuOptions disableApiTermination ebsOptimized "
    "iamInstanceProfile imageId instanceInitiatedShutdownBehavior instanceMarketOptions instanceType keyName "
    "metadataOptions monitoring networkInterfaces placement tagSpecifications userData vpcSecurityGroupIds description"
)


def _arn(kind: str) -> Any:
    return lambda actual, context: f"arn:aws:ec2:{context['region']}:{context['account']}:{kind}/{context['id']}"


ROWS: Mapping[str, Row] = {
    "aws:ec2/launchTemplate:LaunchTemplate": Row(
        service="ec2",
        create=Call("create_launch_template"),
        id="LaunchTemplate.LaunchTemplateId",
        reads=(
            Read("describe_launch_templates", {"LaunchTemplateIds": ["$id"]}, result="LaunchTemplates[0]"),
            Read(
                "describe_launch_template_versions",
                {"LaunchTemplateId": "$id", "Versions": lambda context: ["$Latest"]},
                result=(
                    "LaunchTemplateVersions[*]"
                    ".merge(LaunchTemplateData, {VersionDescription: VersionDescription}) | [0]"
                ),
            ),
        ),
        delete=(Call("delete_launch_template", {"LaunchTemplateId": "$id"}),),
        updates=(
            Update(
                "create_launch_template_version",
                {"LaunchTemplateId": "$id"},
                properties=tuple(_TEMPLATE.split()),
                whole=True,
            ),
            Update(
                "modify_launch_template",
                {"LaunchTemplateId": "$id", "DefaultVersion": lambda context: str(context["each"])},
                properties=(*_TEMPLATE.split(), "updateDefaultVersion"),
                parameters_of=lambda before, now: [{}] if now.get("updateDefaultVersion") else [],
                each=Read(
                    "describe_launch_templates",
                    {"LaunchTemplateIds": ["$id"]},
                    result="LaunchTemplates[].LatestVersionNumber",
                ),
            ),
        ),
        replaced=words("name"),
        tags=ec2_tags("launch-template"),
        inside="LaunchTemplateData",
        renames={
            "name": "LaunchTemplateName",
            "description": "VersionDescription",
            "vpcSecurityGroupIds": "SecurityGroupIds",
            "networkInterfaces.securityGroups": "Groups",
        },
        outputs={
            "arn": _arn("launch-template"),
            "defaultVersion": "DefaultVersionNumber",
            "latestVersion": "LatestVersionNumber",
            "tagSpecifications": "TagSpecifications[?ResourceType != 'launch-template']",
        },
        echo=words("updateDefaultVersion"),
        autoname="name",
        longest=128,
        fresh=words("defaultVersion latestVersion"),
        gone=words("InvalidLaunchTemplateId.NotFound InvalidLaunchTemplateName.NotFoundException"),
    ),
    "aws:ec2/placementGroup:PlacementGroup": Row(
        service="ec2",
        create=Call("create_placement_group"),
        id="{name}",
        reads=(Read("describe_placement_groups", {"GroupNames": ["$id"]}, result="PlacementGroups[0]"),),
        delete=(Call("delete_placement_group", {"GroupName": "$id"}),),
        replaced=words("name strategy partitionCount spreadLevel"),
        # Tags are kept by id, while the provider knows a group by its name.
        tags=Tags(
            add=Call("create_tags", {"Resources": ["$placementGroupId"], "Tags": "$tags"}),
            remove=Call(
                "delete_tags",
                {"Resources": ["$placementGroupId"], "Tags": lambda context: [{"Key": key} for key in context["keys"]]},
            ),
            create="TagSpecifications",
            specification="placement-group",
        ),
        renames={"name": "GroupName"},
        outputs={"arn": "GroupArn", "placementGroupId": "GroupId"},
        autoname="name",
        longest=255,
        gone=words("InvalidPlacementGroup.Unknown"),
    ),
    "aws:ec2/capacityReservation:CapacityReservation": Row(
        service="ec2",
        create=Call("create_capacity_reservation"),
        id="CapacityReservation.CapacityReservationId",
        reads=(
            Read(
                "describe_capacity_reservations",
                {"CapacityReservationIds": ["$id"]},
                result="CapacityReservations[?State != 'cancelled' && State != 'expired'] | [0]",
            ),
        ),
        delete=(Call("cancel_capacity_reservation", {"CapacityReservationId": "$id"}),),
        updates=(
            Update(
                "modify_capacity_reservation",
                {"CapacityReservationId": "$id"},
                properties=("instanceCount", "endDate", "endDateType"),
                whole=True,
            ),
        ),
        replaced=words(
            "availabilityZone instancePlatform instanceType ebsOptimized instanceMatchCriteria placementGroupArn "
            "tenancy"
        ),
        tags=ec2_tags("capacity-reservation"),
        outputs={"arn": "CapacityReservationArn", "instanceCount": "TotalInstanceCount"},
        gone=words("InvalidCapacityReservationId.NotFound"),
    ),
    # A block that was bought stays until it ends: there is nothing to call for deleting it.
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": Row(
        service="ec2",
        create=Call("purchase_capacity_block"),
        id="CapacityReservation.CapacityReservationId",
        reads=(
            Read(
                "describe_capacity_reservations",
                {"CapacityReservationIds": ["$id"]},
                result="CapacityReservations[?State != 'expired'] | [0]",
            ),
        ),
        replaced=words("capacityBlockOfferingId instancePlatform"),
        tags=ec2_tags("capacity-reservation"),
        outputs={
            "arn": "CapacityReservationArn",
            "createdDate": "CreateDate",
            "instanceCount": "TotalInstanceCount",
        },
        # A reservation does not say which offering it was.
        echo=words("capacityBlockOfferingId"),
        gone=words("InvalidCapacityReservationId.NotFound"),
    ),
    "aws:autoscaling/tag:Tag": Row(
        service="autoscaling",
        create=Call(
            "create_or_update_tags",
            {
                "Tags": lambda context: [
                    {
                        "ResourceId": context["autoscalingGroupName"],
                        "ResourceType": "auto-scaling-group",
                        "Key": context["tag"]["key"],
                        "Value": context["tag"]["value"],
                        "PropagateAtLaunch": context["tag"]["propagateAtLaunch"],
                    }
                ]
            },
        ),
        id="{autoscalingGroupName},{tag[key]}",
        reads=(
            Read(
                "describe_tags",
                {
                    "Filters": lambda context: [
                        {"Name": "auto-scaling-group", "Values": [context["id"].split(",", 1)[0]]},
                        {"Name": "key", "Values": [context["id"].split(",", 1)[1]]},
                    ]
                },
                result="Tags[0]",
                into="tag",
            ),
        ),
        delete=(
            Call(
                "delete_tags",
                {
                    "Tags": lambda context: [
                        {
                            "ResourceId": context["autoscalingGroupName"],
                            "ResourceType": "auto-scaling-group",
                            "Key": context["tag"]["key"],
                        }
                    ]
                },
            ),
        ),
        updates=(
            Update(
                "create_or_update_tags",
                properties=("tag",),
                parameters_of=lambda before, now: [
                    {
                        "Tags": [
                            {
                                "ResourceId": now["autoscalingGroupName"],
                                "ResourceType": "auto-scaling-group",
                                "Key": now["tag"]["key"],
                                "Value": now["tag"]["value"],
                                "PropagateAtLaunch": now["tag"]["propagateAtLaunch"],
                            }
                        ]
                    }
                ],
            ),
        ),
        replaced=words("autoscalingGroupName tag.key"),
        composed=words("autoscalingGroupName tag"),
        outputs={"autoscalingGroupName": "tag.ResourceId"},
    ),
}
