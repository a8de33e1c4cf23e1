"""Rules of security groups: descriptions of rules for groups and prefix lists, and changes of them."""

from typing import Any

from moto.ec2.exceptions import InvalidSecurityGroupNotFoundError, InvalidSecurityGroupRuleIdNotFoundError
from moto.ec2.models import EC2Backend
from moto.ec2.models.security_groups import SecurityGroupRule

from twin.aws.moto_gaps.patching import wrap


def _description(rule: Any) -> str | None:
    told = rule.__dict__.get("told")
    return told if told is not None else rule.ip_range.get("Description") or rule.source_group.get("Description")


def _modify(inner: Any, self: Any, group_id: str, rules: dict[str, dict[str, Any]]) -> None:
    """Change rules of any kind: moto knows those of IPv4 ranges with ports."""
    del inner
    group = self.get_security_group_by_name_or_id(group_id)
    if group is None:
        raise InvalidSecurityGroupNotFoundError(group_id)
    for identity, asked in rules.items():
        rule = group.get_rule(identity)
        if rule is None:
            raise InvalidSecurityGroupRuleIdNotFoundError(identity)
        rule.ip_protocol = asked["IpProtocol"]
        everything = rule.ip_protocol == "-1"
        rule.from_port = None if everything else int(asked["FromPort"])
        rule.to_port = None if everything else int(asked["ToPort"])
        rule.ip_range = {
            member: asked[name]
            for name, member in (("CidrIpv4", "CidrIp"), ("CidrIpv6", "CidrIpv6"))
            if asked.get(name)
        }
        rule.prefix_list_id = asked.get("PrefixListId")
        rule.source_group = (
            {"GroupId": asked["ReferencedGroupId"], "UserId": self.account_id} if asked.get("ReferencedGroupId") else {}
        )
        rule.told = asked.get("Description", "")


def _describe(inner: Any, self: Any, *arguments: Any, **named: Any) -> None:
    inner(self, *arguments, **named)
    listed = named.get("prefix_list_id") or (arguments[7] if len(arguments) > 7 else None)
    if listed:
        self.told = listed.get("Description")


def install() -> None:
    """Put them into moto."""
    wrap(SecurityGroupRule, "__init__", _describe)
    SecurityGroupRule.description = property(_description)  # type: ignore[assignment]
    wrap(EC2Backend, "modify_security_group_rules", _modify)
