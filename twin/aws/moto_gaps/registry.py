"""Pull-through caches of the image registry.

https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreatePullThroughCacheRule.html.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ecr.responses import ECRResponse

from twin.aws.moto_gaps.patching import add, body, picked

_KEPT = "ecrRepositoryPrefix upstreamRegistryUrl credentialArn customRoleArn upstreamRegistry upstreamRepositoryPrefix"


class _RefusedError(JsonRESTError):
    code = 400


def _rules(response: Any) -> dict[str, dict[str, Any]]:
    return response.ecr_backend.__dict__.setdefault("pull_through_cache_rules", {})


def _rule(response: Any, prefix: str) -> dict[str, Any]:
    if prefix not in _rules(response):
        raise _RefusedError(
            "PullThroughCacheRuleNotFoundException",
            f"The pull through cache rule with prefix '{prefix}' does not exist",
        )
    return _rules(response)[prefix]


def create_pull_through_cache_rule(self: Any) -> ActionResult:
    asked = body(self)
    prefix = asked["ecrRepositoryPrefix"]
    if prefix in _rules(self):
        raise _RefusedError(
            "PullThroughCacheRuleAlreadyExistsException",
            f"A pull through cache rule with prefix '{prefix}' exists already",
        )
    rule = {**picked(asked, _KEPT), "registryId": self.current_account, "createdAt": utcnow(), "updatedAt": utcnow()}
    _rules(self)[prefix] = rule
    return ActionResult(rule)


def describe_pull_through_cache_rules(self: Any) -> ActionResult:
    prefixes = body(self).get("ecrRepositoryPrefixes")
    found = [_rule(self, prefix) for prefix in prefixes] if prefixes else list(_rules(self).values())
    return ActionResult({"pullThroughCacheRules": found})


def update_pull_through_cache_rule(self: Any) -> ActionResult:
    asked = body(self)
    rule = _rule(self, asked["ecrRepositoryPrefix"])
    rule |= picked(asked, "credentialArn customRoleArn") | {"updatedAt": utcnow()}
    return ActionResult(rule)


def delete_pull_through_cache_rule(self: Any) -> ActionResult:
    return ActionResult(_rules(self).pop(_rule(self, body(self)["ecrRepositoryPrefix"])["ecrRepositoryPrefix"]))


def install() -> None:
    """Add the actions to moto."""
    add(
        ECRResponse,
        create_pull_through_cache_rule,
        describe_pull_through_cache_rules,
        update_pull_through_cache_rule,
        delete_pull_through_cache_rule,
    )
