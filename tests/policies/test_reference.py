from policies.own_rules import OWN_RULES
from policies.pack import RULES
from policies.reference import page
from twin.paths import CHECKOUT
from twin.policy_pack import PolicyPack


def test_the_reference_is_what_the_code_says() -> None:
    assert (CHECKOUT / "docs" / "reference" / "policies.md").read_text() == page(), (
        "write it anew: .venv/bin/python -m policies.reference > docs/reference/policies.md"
    )


def test_the_pack_serves_every_rule_of_the_reference(pack: PolicyPack) -> None:
    served = [policy.name for policy in pack.info().policies]
    assert served == [*(each.id for each in RULES), *(each.id for each in OWN_RULES)]
    assert len(set(served)) == len(served)
