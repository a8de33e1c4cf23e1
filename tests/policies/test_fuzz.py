"""No input, however misshapen, makes a rule fail or the pack break down."""

import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.policies.objects import KINDS, SIGNATURE, UNKNOWN, Resource, container, secret, template, workload
from twin.policy_pack import PolicyPack

WORDS = re.findall(
    r"\S+",
    "apiVersion kind metadata name namespace labels annotations spec containers initContainers image resources limits "
    "requests securityContext privileged windowsOptions hostProcess volumes reference schedulerName template tasks "
    "queue headGroupSpec workerGroupSpecs autoscalerOptions items deserved guarantee resource capability parent "
    "environment pools queues cpu memory nvidia.com/gpu volcano.sh/queue-name scheduling.volcano.sh/queue-name",
)
TEXTS = st.sampled_from(
    ["", "latest", "a:latest", "8", "-1", "0.5", "500m", "1e999", "NaN", "root", UNKNOWN]
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
    max_leaves=25,
)
MAPS = st.dictionaries(KEYS, VALUES, max_size=6)
TYPES = [
    *sorted({f"kubernetes:{make({})[0]}" for make in KINDS.values()}),
    "kubernetes:scheduling.volcano.sh/v1beta1:Queue",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:odd",
    "gangline:index:Platform",
    "aws:ec2/instance:Instance",
    "",
]
ANYTHING = st.builds(Resource, st.sampled_from(TYPES), MAPS, st.text(max_size=4))


@st.composite
def planted(draw: st.DrawFn) -> Resource:
    """Give a real workload in which one value is replaced by something else."""
    pod = template(container(resources={"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 8}}))
    resource = workload(draw(st.sampled_from(list(KINDS))), pod)
    here: Any = resource.inputs
    while True:
        key = draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        if not isinstance(here[key], (dict, list)) or not here[key] or draw(st.booleans()):
            here[key] = draw(VALUES)
            return resource
        here = here[key]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(resources=st.lists(ANYTHING | planted(), min_size=1, max_size=12), preview=st.booleans())
def test_no_input_crashes_a_rule(process: PolicyPack, resources: list[Resource], preview: bool) -> None:
    process.begin(preview=preview)
    verdicts = [verdict for resource in resources for verdict in process.analyze(resource)]
    verdicts += process.analyze_stack(resources)
    assert [verdict for verdict in verdicts if "the rule itself failed" in verdict.message] == []
