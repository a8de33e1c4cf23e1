"""What is shipped breaks no rule in an update either, when policies of IAM and ids are known."""

import asyncio

import pulumi
import pytest

from components.sources import Sources
from model import document
from policies.pack import RULES
from stacks.platform import deploy
from tests.aws_answers import Answers
from tests.policies.in_process import InProcess
from twin.monitor import Resource, StrictMonitor
from twin.paths import CHECKOUT


def made(name: str) -> list[Resource]:
    """The resources of an environment with what AWS would answer."""
    environment = document.load(document.read(CHECKOUT / "stacks" / f"Pulumi.{name}.yaml").value)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    monitor = StrictMonitor()
    monitor.mocks = Answers()
    pulumi.runtime.set_mocks(monitor.mocks, project="gangline", stack=name, preview=True, monitor=monitor)
    try:
        pulumi.runtime.test(lambda: (deploy(environment, Sources(rehearsal=True)), None)[1])()
    finally:
        monitor.close()
        asyncio.set_event_loop(None)
        loop.close()
    return [each for each in monitor.recorded() if not each.read]


@pytest.mark.parametrize("name", ["aws-inference", "aws-training", "aws-training-ondemand"])
def test_an_update_of_a_shipped_environment_breaks_no_rule(name: str) -> None:
    pack = InProcess(RULES, preview=False)
    resources = made(name)
    told = [verdict for resource in resources for verdict in pack.analyze(resource)]
    told += pack.analyze_stack(resources)
    assert told == []
    judged = [each for each in resources if each.type == "aws:iam/rolePolicy:RolePolicy"]
    assert judged
    assert all(isinstance(each.inputs["policy"], str) and each.inputs["policy"].startswith("{") for each in judged)
