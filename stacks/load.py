"""The environment of the stack that is being deployed."""

from datetime import UTC, datetime
from pathlib import Path

import pulumi

from model import document, problems
from model.environment import Environment

STACKS = Path(__file__).resolve().parent


def environment() -> Environment:
    """Read and check the document under `gangline:environment` of the current stack.

    The value is the engine's, so that `pulumi config set --path` and `--config` count; the stack's file only tells on
    which line a mistake stands.

    Raises:
        pulumi.RunError: With the same text as `./gangline check`, and no traceback.
    """
    stack = pulumi.get_stack()
    file = STACKS / f"Pulumi.{stack}.yaml"
    value = pulumi.Config("gangline").get_object("environment")
    if value is None:
        raise pulumi.RunError(
            f"stack {stack} has no document: gangline:environment is missing\n"
            f"fix: write it in stacks/{file.name}; stacks/Pulumi.twin.yaml is an example"
        )
    positions = document.read(file).positions if file.is_file() else None
    place = f"stacks/{file.name}"
    verdict = document.judge(value, positions, now=datetime.now(UTC))
    for warning in verdict.warnings:
        pulumi.log.warn(problems.render([warning], place, positions))
    try:
        return verdict.required(place, positions)
    except problems.DocumentError as error:
        raise pulumi.RunError(str(error)) from None
