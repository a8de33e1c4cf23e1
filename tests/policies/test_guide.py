"""The rule that the guide shows is a rule that works."""

import re
from typing import Any

from policies import rules
from policies.fields import Field
from policies.pods import Pod
from tests.policies.objects import UNKNOWN, pod
from twin.paths import CHECKOUT

GUIDE = CHECKOUT / "docs" / "guides" / "policies.md"


def test_the_rule_in_the_guide() -> None:
    block = re.search(r"^    @rule\(\n(?:(?:    .*)?\n)+", GUIDE.read_text(), re.MULTILINE)
    assert block
    names: dict[str, Any] = {**vars(rules), "Pod": Pod}
    exec(re.sub(r"^    ", "", block[0], flags=re.MULTILINE), names)

    def judged(network: Any) -> rules.Report:
        it = pod(hostNetwork=network)
        return names["host_network"].apply(rules.Resource(it.urn, it.type, lambda: Field.of(it.inputs)))

    assert [each.path for each in judged(True).violations] == ["spec.hostNetwork"]
    assert judged(False) == judged(None) == rules.Report()
    assert [each.path for each in judged(UNKNOWN).unjudged] == ["spec.hostNetwork"]
