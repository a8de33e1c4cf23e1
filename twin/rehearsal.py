"""The stack in process, without an engine and without a cluster: what an `up` would ask for.

Takes a second or two, so it is shown while tools are still being built, and the tests run it for every environment.
"""

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.runtime.settings import get_root_resource
from pulumi.runtime.stack import Stack

from components.sources import Sources
from stacks.platform import deploy
from twin.errors import TwinError
from twin.monitor import Resource, StrictMonitor

if TYPE_CHECKING:
    from model.environment import Environment

__all__ = ["Rehearsal", "RehearsalError", "Resource", "rehearse"]

PROJECT = "gangline"


class RehearsalError(TwinError):
    """The program registers what the engine, a provider or the next `up` would trip over: a mistake in our code."""


@dataclass(frozen=True)
class Rehearsal:
    """What an `up` of an environment would ask the engine for.

    Attributes:
        resources: All resources, parents before children, brothers and sisters by name.
        outputs: The stack's outputs, as far as they are known before.
    """

    resources: tuple[Resource, ...]
    outputs: Mapping[str, Any]

    def named(self, name: str) -> Resource:
        """Give the resource of that logical name.

        Raises:
            KeyError: There is none.
        """
        for resource in self.resources:
            if resource.name == name:
                return resource
        raise KeyError(name)

    def of_kind(self, kind: str) -> list[Resource]:
        """Give the resources whose type ends with that name, such as `DaemonSet`."""
        return [resource for resource in self.resources if resource.type.rpartition(":")[2] == kind]

    def after(self, later: str, earlier: str) -> bool:
        """Say whether the engine makes one resource after another, and deletes it before.

        It waits for what a resource and its provider depend on, for what the components around it depend on, and for
        everything in a component that is depended on.
        """
        by_urn = {resource.urn: resource for resource in self.resources}
        target, todo, seen = self.named(earlier).urn, [self.named(later).urn], set[str]()
        while todo:
            urn = todo.pop()
            if urn == target:
                return True
            if urn not in seen:
                seen.add(urn)
                resource = by_urn[urn]
                around = [urn for urn in (resource.parent, resource.provider) if urn]
                todo += [*resource.dependencies, *around]
        return False


def rehearse(environment: "Environment", *, stack: str, sources: Sources | None = None) -> Rehearsal:
    """Run the stack of an environment under the strict monitor.

    Args:
        environment: The checked document.
        stack: Name of the stack, for the URNs.
        sources: Where upstream charts are; nothing is downloaded and what is missing is no error.

    Raises:
        RehearsalError: The monitor complains.
    """
    monitor = StrictMonitor()
    with _own_loop(), _strict_outputs():
        pulumi.runtime.set_mocks(
            monitor.mocks, project=PROJECT, stack=stack, preview=True, monitor=monitor, logger=_quiet()
        )

        @pulumi.runtime.test
        def run() -> None:
            deploy(environment, sources or Sources(rehearsal=True))

        try:
            run()
        finally:
            asyncio.get_event_loop().run_until_complete(asyncio.get_event_loop().shutdown_default_executor())
            monitor.close()
    complaints = monitor.complaints()
    if complaints:
        raise RehearsalError("the program is not sound:\n" + "\n".join(f"  {each}" for each in complaints))
    root = get_root_resource()
    return Rehearsal(monitor.recorded(), dict(root.outputs) if isinstance(root, Stack) else {})


@contextmanager
def _own_loop() -> Iterator[None]:
    """Give the SDK a loop: it asks for that of this thread, and an asyncio.run() before has left none."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@contextmanager
def _strict_outputs() -> Iterator[None]:
    """Make the SDK raise where an Output is used as text, instead of handing out a warning as the value."""
    name = "PULUMI_ERROR_OUTPUT_STRING"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _quiet() -> logging.Logger:
    logger = logging.getLogger("gangline.rehearsal")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
