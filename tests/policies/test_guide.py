"""The rule that the guide shows is a rule that works, and so are the settings."""

import json
import re
from typing import Any

import yaml

from model import document as model_document
from model.engine_names import DOCUMENT_KEY
from policies.pack import RULES
from tests.policies import checks
from tests.policies.in_process import InProcess
from tests.policies.objects import document, platform
from twin.paths import CHECKOUT

GUIDE = CHECKOUT / "docs" / "guides" / "policies.md"


def _blocks(start: str) -> list[str]:
    """The indented blocks of the guide that begin with some text."""
    blocks = re.findall(r"^    .*\n(?:(?:    .*)?\n)*", GUIDE.read_text(), re.MULTILINE)
    return [plain for block in blocks if (plain := re.sub(r"^    ", "", block, flags=re.MULTILINE)).startswith(start)]


def test_the_rule_in_the_guide() -> None:
    """It is what its cases say, before an update and in one."""
    law, cases = [block for block in _blocks('"""') if "import" in block]
    shown: dict[str, Any] = {}
    for block in (law, cases):
        exec(block, shown)
    (rule,) = shown["RULES"]
    assert shown["BREAKS"].keys() == shown["PASSES"].keys() == shown["UNKNOWNS"].keys() == {rule.id}
    pack, updating = InProcess([rule]), InProcess([rule], preview=False)
    for case in shown["BREAKS"][rule.id]:
        checks.breaks(pack, rule.id, rule.level.value, case)
    for subject in shown["PASSES"][rule.id]:
        checks.passes(pack, rule.id, subject)
    for case in shown["UNKNOWNS"][rule.id]:
        pack.begin(preview=True)
        checks.waits(pack, rule.id, case)
        checks.stops(updating, rule.id, rule.level.value, case)


def test_the_settings_in_the_guide() -> None:
    """The model takes them, and the pack knows all names."""
    shown = [yaml.safe_load(block) for block in _blocks("policies:")]
    shown += [yaml.safe_load(block)[DOCUMENT_KEY] for block in _blocks(f"{DOCUMENT_KEY}:")]
    assert len(shown) == 5
    for block in shown:
        judged = model_document.judge(document("twin") | block)
        assert judged.errors == ()
        environment = judged.required().model_dump(mode="json", by_alias=True, exclude_unset=True)
        told = checks.judged(InProcess(RULES), [platform(environment)])
        assert {verdict.policy for verdict in told} <= {"exemption-unused"}


def test_the_settings_of_a_run_in_the_guide() -> None:
    ((block, _),) = (block.split("\n\n", 1) for block in _blocks('{"'))
    pack = InProcess(RULES)
    levels = {name: value for name, value in json.loads(block).items() if isinstance(value, str)}
    options = {name: value for name, value in json.loads(block).items() if isinstance(value, dict)}
    assert levels.keys() | options.keys() <= {policy.name for policy in pack.info().policies}
    pack.begin(levels=levels, options=options)
    assert pack.analyze_stack([]) == []
