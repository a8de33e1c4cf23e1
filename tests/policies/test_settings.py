"""What an environment sets about the pack: levels, options, and exemptions with an end."""

import json
from typing import Any

import pytest

from tests.policies import checks
from tests.policies.objects import UNKNOWN, Resource, container, document, platform, pod
from twin.policy_pack import PolicyPack, Verdict

BAD = pod(container(image="a:latest"), name="bad")
WORSE = pod(container(image="a:latest", securityContext={"privileged": True}), name="worse")
WAITING = pod(container(image=UNKNOWN), name="waiting")
OWN = ("image-version", "privileged", "policy-settings", "exemption-expired", "exemption-unused", "unjudged")


def holding(**policies: Any) -> Resource:
    """Give the root of a stack whose document sets this."""
    return platform(document("twin") | {"policies": policies})


def exempting(*, rule: Any = "image-version", resource: Any = "*::bad", expires: Any = "2999-12-31") -> dict[str, Any]:
    return {"rule": rule, "resource": resource, "reason": "a trial", "owner": "ops", "expires": expires}


def told(pack: PolicyPack, *resources: Resource) -> list[tuple[str, str, str]]:
    """Which rules say something, at which level, of which resource."""
    return [(it.policy, it.level, it.urn.rpartition("::")[2]) for it in verdicts(pack, *resources)]


def verdicts(pack: PolicyPack, *resources: Resource) -> list[Verdict]:
    return [verdict for verdict in checks.judged(pack, list(resources)) if verdict.policy in OWN]


def test_levels(pack: PolicyPack) -> None:
    held = holding(levels={"image-version": "advisory", "privileged": "disabled"})
    assert told(pack, held, WORSE) == [("image-version", "advisory", "worse")]


def test_the_run_says_more_than_the_document(process: PolicyPack) -> None:
    process.begin(levels={"image-version": "disabled"})
    assert told(process, holding(levels={"image-version": "advisory"}), BAD) == []


def test_an_exempted_violation_is_still_listed(pack: PolicyPack) -> None:
    (verdict,) = verdicts(pack, holding(exemptions=[exempting()]), BAD)
    assert (verdict.policy, verdict.level, verdict.urn) == ("image-version", "advisory", BAD.urn)
    assert verdict.message.splitlines()[-1] == "exempted: ops, a trial, until 2999-12-31"
    assert "spec.containers[0].image: a:latest" in verdict.message


def test_what_an_exemption_says_stands_on_one_line(pack: PolicyPack) -> None:
    held = exempting() | {"owner": "ops\nat night", "reason": "a\ntrial"}
    (verdict,) = verdicts(pack, holding(exemptions=[held]), BAD)
    assert verdict.message.splitlines()[-1] == "exempted: ops at night, a trial, until 2999-12-31"


@pytest.mark.parametrize(
    ("resource", "covered"),
    [
        ("kubernetes:core/v1:Pod::bad", True),
        ("kubernetes:*::b?d", True),
        ("*::*", True),
        ("kubernetes:core/v1:Pod::other", False),
        ("*::BAD", False),
        ("kubernetes:apps/v1:*::bad", False),
    ],
)
def test_an_exemption_holds_where_its_pattern_says(pack: PolicyPack, resource: str, covered: bool) -> None:
    found = told(pack, holding(exemptions=[exempting(resource=resource)]), BAD)
    assert (("image-version", "mandatory", "bad") in found) != covered
    assert (("exemption-unused", "advisory", "platform") in found) != covered


def test_an_exemption_is_of_one_rule(pack: PolicyPack) -> None:
    found = told(pack, holding(exemptions=[exempting(resource="*::worse")]), WORSE)
    assert sorted(found) == [("image-version", "advisory", "worse"), ("privileged", "mandatory", "worse")]


def test_an_exemption_that_is_over_stops(pack: PolicyPack) -> None:
    found = verdicts(pack, holding(exemptions=[exempting(expires="2020-01-31")]), BAD)
    assert [(each.policy, each.level) for each in found] == [
        ("exemption-expired", "mandatory"),
        ("image-version", "mandatory"),
    ]
    assert (
        "environment.policies.exemptions[0]: ops's for image-version at *::bad ended on 2020-01-31" in found[0].message
    )


def test_an_exemption_that_nothing_needs_is_told(pack: PolicyPack) -> None:
    (verdict,) = verdicts(pack, holding(exemptions=[exempting()]), pod(name="bad"))
    assert (verdict.policy, verdict.level) == ("exemption-unused", "advisory")
    assert "environment.policies.exemptions[0]: nothing at *::bad breaks image-version" in verdict.message


def test_whether_it_is_needed_may_not_be_known_yet(pack: PolicyPack) -> None:
    held = holding(exemptions=[exempting(resource="*::waiting")])
    assert told(pack, held, WAITING) == [("unjudged", "advisory", "")]


def test_what_an_update_cannot_judge_may_be_exempt(updating: PolicyPack) -> None:
    held = holding(exemptions=[exempting(resource="*::waiting")])
    assert told(updating, held, WAITING) == [("image-version", "advisory", "waiting")]


def test_the_stack_itself_has_a_name(pack: PolicyPack) -> None:
    big = Resource(
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue",
        {"metadata": {"name": "big"}, "spec": {"parent": "root", "deserved": {"nvidia.com/gpu": 600}}},
        "big",
    )
    held = holding(exemptions=[exempting(rule="queue-sums", resource="pulumi:pulumi:Stack::*")])
    found = checks.of("queue-sums", checks.judged(pack, [held, big]))
    assert [(each.level, each.urn) for each in found] == [("advisory", "")]


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        (
            {"levels": {"image-versoin": "advisory"}},
            "levels.image-versoin: there is no rule image-versoin; image-version",
        ),
        ({"levels": {"privileged": "off"}}, "levels.privileged: off is no level: advisory, mandatory, disabled"),
        (
            {"options": {"privileged": {"most": 1}}},
            "options.privileged.most: privileged has no such option; options: none",
        ),
        ({"options": {"privilege": {}}}, "options.privilege: there is no rule privilege; privileged is one"),
        ({"exemptions": [exempting(rule="nope")]}, "exemptions[0].rule: there is no rule nope"),
        ({"exemptions": [exempting(rule="unjudged")]}, "exemptions[0].rule: nothing is exempt from unjudged"),
        ({"levels": {"": "advisory"}}, 'levels[""]: there is no rule without a name'),
        ({"levels": {"policy-settings": "disabled"}}, "levels.policy-settings: nothing but a run sets the level of"),
        ({"levels": {"exemption-expired": "advisory"}}, "levels.exemption-expired: nothing but a run sets the level"),
        (
            {"options": {"gpu-budget": {"gpus": "256"}}},
            'options.gpu-budget.gpus: "256" is not a whole number, 0 or more',
        ),
        ({"options": {"gpu-budget": {"gpus": -1}}}, "options.gpu-budget.gpus: -1 is not a whole number, 0 or more"),
        ({"exemptions": [exempting(expires="20270131")]}, "exemptions[0].expires: 20270131 is no day"),
        ({"exemptions": [exempting(expires="soon")]}, "exemptions[0].expires: soon is no day"),
        ({"exemptions": [exempting(expires=None)]}, "exemptions[0]: lacks one of rule, resource, reason, owner and"),
    ],
)
def test_settings_that_set_nothing_stop(pack: PolicyPack, policies: Any, said: str) -> None:
    (verdict,) = verdicts(pack, holding(**policies))
    assert (verdict.policy, verdict.level, verdict.urn.rpartition("::")[2]) == (
        "policy-settings",
        "mandatory",
        "platform",
    )
    assert f"environment.policies.{said}" in verdict.message


def test_settings_that_cannot_be_read_stop_an_update(process: PolicyPack) -> None:
    process.begin(preview=True)
    assert told(process, holding(levels=UNKNOWN), BAD) == [
        ("image-version", "mandatory", "bad"),
        ("unjudged", "advisory", ""),
    ]
    process.begin(preview=False)
    for unread in ({"levels": UNKNOWN}, {"systemNamespaces": ["monitoring", 1]}):
        assert told(process, holding(**unread)) == [("policy-settings", "mandatory", "platform")]


def test_the_configuration_of_the_stack_is_known_before_its_components(process: PolicyPack) -> None:
    """A resource of a fork may be registered beside the root component, and be judged before it."""
    expires = "2999-12-31 00:00:00 +0000 UTC"  # as the engine hands on what YAML takes for a day
    document = {"policies": {"exemptions": [exempting(expires=expires)], "levels": {"privileged": "disabled"}}}
    process.begin(config={"gangline:environment": json.dumps(document)})
    assert told(process, BAD) == [("image-version", "advisory", "bad")]
    assert told(process, WORSE) == [("image-version", "mandatory", "worse")]


def test_a_stack_without_a_document_is_told_of_mistakes_in_its_configuration(process: PolicyPack) -> None:
    process.begin(config={"gangline:environment": json.dumps({"policies": {"levels": {"nope": "advisory"}}})})
    assert told(process, BAD) == [("image-version", "mandatory", "bad"), ("policy-settings", "mandatory", "")]
