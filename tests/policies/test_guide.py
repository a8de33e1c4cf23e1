"""The rule that the guide shows is a rule that works, and so are the settings."""

import json
import re
from typing import Any

import yaml

from model import document as model_document
from policies import rules
from policies.fields import Field
from policies.pack import RULES
from policies.pods import Pod
from tests.policies import checks
from tests.policies.in_process import InProcess
from tests.policies.objects import UNKNOWN, document, platform, pod
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


def _blocks(start: str) -> list[str]:
    """The indented blocks of the guide that begin with some text."""
    blocks = re.findall(r"^(?:    .*\n)+", GUIDE.read_text(), re.MULTILINE)
    return [plain for block in blocks if (plain := re.sub(r"^    ", "", block, flags=re.MULTILINE)).startswith(start)]


def test_the_settings_in_the_guide() -> None:
    """The model takes them, and the pack knows all names."""
    shown = [yaml.safe_load(block) for block in _blocks("policies:")]
    shown += [yaml.safe_load(block)[model_document.KEY] for block in _blocks(f"{model_document.KEY}:")]
    assert len(shown) == 4
    for block in shown:
        judged = model_document.judge(document("twin") | block)
        assert judged.errors == ()
        environment = judged.required().model_dump(mode="json", by_alias=True, exclude_unset=True)
        told = checks.judged(InProcess(RULES), [platform(environment)])
        assert {verdict.policy for verdict in told} <= {"exemption-unused"}


def test_the_settings_of_a_run_in_the_guide() -> None:
    (block,) = _blocks('{"')
    pack = InProcess(RULES)
    levels = {name: value for name, value in json.loads(block).items() if isinstance(value, str)}
    options = {name: value for name, value in json.loads(block).items() if isinstance(value, dict)}
    assert levels.keys() | options.keys() <= {policy.name for policy in pack.info().policies}
    pack.begin(levels=levels, options=options)
    assert pack.analyze_stack([]) == []
