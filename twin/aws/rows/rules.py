"""Rows of security groups. Rules are resources of their own; rules within the group are not carried."""

# ruff: noqa: ARG001, ARG005 (functions of rows all take the same)

from collections.abc import Mapping
from typing import Any

from twin.aws.row import Call, Read, Row, Update
from twin.aws.rows.common import ec2_tags, words

_WHOLE_WORLD = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
_PROPERTIES = "ipProtocol fromPort toPort cidrIpv4 cidrIpv6 description prefixListId referencedSecurityGroupId"


def _permissions(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put a rule in the form of the calls that open a group."""
    told = {"Description": context["description"]} if context.get("description") else {}
    permission: dict[str, Any] = {"IpProtocol": str(context["ipProtocol"])}
    for name, member in (("fromPort", "FromPort"), ("toPort", "ToPort")):
        if context.get(name) is not None:
            permission[member] = context[name]
    for name, member, inner in (
        ("cidrIpv4", "IpRanges", "CidrIp"),
        ("cidrIpv6", "Ipv6Ranges", "CidrIpv6"),
        ("prefixListId", "PrefixListIds", "PrefixListId"),
        ("referencedSecurityGroupId", "UserIdGroupPairs", "GroupId"),
    ):
        if context.get(name):
            permission[member] = [{inner: context[name], **told}]
    return [permission]


def _rule(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put a rule in the form of the call that changes it."""
    names = {
        "ipProtocol": "IpProtocol", "fromPort": "FromPort", "toPort": "ToPort", "cidrIpv4": "CidrIpv4",
        "cidrIpv6": "CidrIpv6", "description": "Description", "prefixListId": "PrefixListId",
        "referencedSecurityGroupId": "ReferencedGroupId",
    }  # fmt: skip
    rule = {member: now[name] for name, member in names.items() if now.get(name) is not None}
    return [{"SecurityGroupRules": [{"SecurityGroupRuleId": now["id"], "SecurityGroupRule": rule}]}]


def _other_kind(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """A rule stays of its kind: for ranges of IPv4, of IPv6, for a group or a list."""
    kinds = words("cidrIpv4 cidrIpv6 prefixListId referencedSecurityGroupId")
    return frozenset(name for name in kinds if (before.get(name) is None) != (now.get(name) is None))


def _row(way: str) -> Row:
    return Row(
        service="ec2",
        create=Call(f"authorize_security_group_{way}", {"IpPermissions": _permissions}),
        id="SecurityGroupRules[0].SecurityGroupRuleId",
        reads=(
            Read("describe_security_group_rules", {"SecurityGroupRuleIds": ["$id"]}, result="SecurityGroupRules[0]"),
        ),
        delete=(
            Call(f"revoke_security_group_{way}", {"GroupId": "$securityGroupId", "SecurityGroupRuleIds": ["$id"]}),
        ),
        updates=(
            Update(
                "modify_security_group_rules",
                {"GroupId": "$securityGroupId"},
                properties=tuple(_PROPERTIES.split()),
                parameters_of=_rule,
            ),
        ),
        replaced=words("securityGroupId"),
        replaced_too=_other_kind,
        tags=ec2_tags("security-group-rule"),
        composed=words(_PROPERTIES),
        renames={"securityGroupId": "GroupId"},
        outputs={
            "arn": "SecurityGroupRuleArn",
            "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
        },
        gone=words("InvalidSecurityGroupRuleId.NotFound InvalidPermission.NotFound InvalidGroup.NotFound"),
    )


ROWS: Mapping[str, Row] = {
    "aws:ec2/securityGroup:SecurityGroup": Row(
        service="ec2",
        create=Call("create_security_group"),
        id="GroupId",
        reads=(Read("describe_security_groups", {"GroupIds": ["$id"]}, result="SecurityGroups[0]"),),
        # The provider takes away the rule to everywhere that AWS gives to new groups: rules are what the program says.
        after=(Call("revoke_security_group_egress", {"GroupId": "$id", "IpPermissions": _WHOLE_WORLD}),),
        delete=(Call("delete_security_group", {"GroupId": "$id"}),),
        replaced=words("name description vpcId"),
        tags=ec2_tags("security-group"),
        renames={"name": "GroupName"},
        outputs={
            "arn": lambda actual, context: (
                f"arn:aws:ec2:{context['region']}:{context['account']}:security-group/{context['id']}"
            ),
            "name": "GroupName",
        },
        echo=words("revokeRulesOnDelete"),
        defaults={"description": "Managed by Pulumi", "revokeRulesOnDelete": False},
        autoname="name",
        longest=255,
        gone=words("InvalidGroup.NotFound"),
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _row("ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _row("egress"),
}
