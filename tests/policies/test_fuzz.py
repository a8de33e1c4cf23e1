"""No input, however misshapen, makes a rule fail or the pack break down."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.pack import RULES
from policies.rules import ResourceRule
from tests.policies import checks
from tests.policies.cases import BREAKS, PASSES, UNKNOWNS
from tests.policies.objects import KINDS, SIGNATURE, UNKNOWN, Resource, secret
from twin.policy_pack import PolicyPack


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(inner)


SUBJECTS: list[list[Resource]] = [
    *(checks.resources(case[0]) for table in (BREAKS, UNKNOWNS) for cases in table.values() for case in cases),
    *(checks.resources(subject) for cases in PASSES.values() for subject in cases if subject),
]
"""What the cases of all rules are about: every shape that a rule looks for is in them."""
WORDS = sorted({key for subject in SUBJECTS for resource in subject for key in _keys(resource.inputs)})
TYPES = sorted(
    {
        *(f"kubernetes:{make({})[0]}" for make in KINDS.values()),
        *(resource.type for subject in SUBJECTS for resource in subject),
        *(type_ for rule in RULES if isinstance(rule, ResourceRule) for type_ in rule.types),
        "kubernetes:odd",
        "",
    }
)
TEXTS = st.sampled_from(
    ["", "latest", "a:latest", "8", "-1", "0.5", "500m", "1e999", "NaN", "root", "{", "[", '{"a":', "::", UNKNOWN]
) | st.text(max_size=6)
NUMBERS = st.sampled_from([0, 1, -1, 0.5, 8, 10**18, 1e300])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
MARKED = st.sampled_from(
    [
        secret(UNKNOWN),
        secret(secret("x")),
        {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "an asset"},
        {SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"},
        {SIGNATURE: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn", "id": "id"},
        {SIGNATURE: 8},
    ]
)
KEYS = st.sampled_from(WORDS) | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS | MARKED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
ANYTHING = st.builds(Resource, st.sampled_from(TYPES), st.dictionaries(KEYS, VALUES, max_size=6), st.text(max_size=4))


@st.composite
def damaged(draw: st.DrawFn) -> list[Resource]:
    """Give the resources of a case, in one of which a value is replaced by something else."""
    resources = copy.deepcopy(draw(st.sampled_from(SUBJECTS)))
    here: Any = draw(st.sampled_from(resources)).inputs
    while here:
        key = draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        if not isinstance(here[key], (dict, list)) or not here[key] or draw(st.integers(0, 3)) == 0:
            here[key] = draw(VALUES)
            break
        here = here[key]
    return resources


def test_no_input_crashes_a_rule(process: PolicyPack) -> None:
    count = 0

    # The same inputs for the same commit: a change is not stopped by what another one did.
    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(
        stacks=st.lists(damaged(), min_size=7, max_size=7), others=st.lists(ANYTHING, max_size=4), preview=st.booleans()
    )
    def judge(stacks: list[list[Resource]], others: list[Resource], preview: bool) -> None:
        nonlocal count
        resources = [*(resource for stack in stacks for resource in stack), *others]
        count += len(stacks) + len(others)  # one of each stack is damaged
        process.begin(preview=preview)
        verdicts = [verdict for resource in resources for verdict in process.analyze(resource)]
        verdicts += process.analyze_stack(resources)
        assert [verdict for verdict in verdicts if "the rule itself failed" in verdict.message] == []

    judge()
    assert count >= 2_000
