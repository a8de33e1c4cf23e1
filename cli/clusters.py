"""Clusters as kubeconfig knows them."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx2
import yaml
from lightkube import ApiError, Client, KubeConfig
from lightkube.core.exceptions import ConfigError

from model.environment import Environment
from model.namespaces import VOLCANO
from twin.paths import CONTEXT

from .engine import Engine
from .refusals import RefusedError

DEFAULT = "~/.kube/config"


def of_environment(
    stack: str, environment: Environment, engine: Engine, *, of_twin: bool
) -> AbstractContextManager[Client | None]:
    """Give a client of the cluster of an environment; None if it is one that was not made yet.

    Args:
        stack: The stack's name, which is the environment's.
        environment: Its document.
        engine: The engine that works on it.
        of_twin: Whether it is on the twin.

    Raises:
        RefusedError: There is no such context, or the cluster does not answer or refuses.
    """
    context = CONTEXT if of_twin else environment.cluster.context
    return connected(engine.settings, context) if context else made_by(engine, stack)


@contextmanager
def made_by(engine: Engine, stack: str) -> Iterator[Client | None]:
    """Give a client of the cluster that a stack made itself; None if it has made none.

    Args:
        engine: The engine of the stack.
        stack: Its name.

    Raises:
        RefusedError: The cluster does not answer or refuses.
    """
    outputs = json.loads(engine.read("stack", "output", "--json", "--show-secrets", "--stack", stack))
    if "kubeconfig" not in outputs:
        yield None
        return
    config = KubeConfig.from_dict(yaml.safe_load(outputs["kubeconfig"])).get()
    with _answering(f"the cluster of stack {stack}"), Client(config=config) as client:
        yield client


@contextmanager
def required(engine: Engine, stack: str) -> Iterator[Client]:
    """Give a client of the cluster that a stack made itself.

    Raises:
        RefusedError: It has made none, or the cluster does not answer or refuses.
    """
    with made_by(engine, stack) as client:
        if client is None:
            raise RefusedError(f"stack {stack}: it has no cluster yet\n  fix: ./gangline up {stack}")
        yield client


@contextmanager
def connected(settings: Mapping[str, str], context: str) -> Iterator[Client]:
    """Give a client of the cluster that an engine with these settings would work on.

    Args:
        settings: A process environment.
        context: The kubeconfig context.

    Raises:
        RefusedError: There is no such context, or its cluster does not answer or refuses.
    """
    files = [Path(file).expanduser() for file in settings.get("KUBECONFIG", DEFAULT).split(os.pathsep) if file]
    known = [config for file in files if file.is_file() for config in [KubeConfig.from_file(file)]]
    named = next((config for config in known if context in config.contexts), None)
    if named is None:
        contexts = sorted(name for config in known for name in config.contexts)
        if context == CONTEXT:
            raise RefusedError("the twin was never started\n  fix: ./gangline twin start")
        raise RefusedError(
            f"cluster.context {context}: no kubeconfig has it ({', '.join(map(str, files))})\n"
            f"  allowed: {', '.join(contexts) or 'there is none'}        fix: set KUBECONFIG, or correct the context"
        )
    fix = "; fix: ./gangline twin start" if context == CONTEXT else ""
    with _answering(f"cluster.context {context}", fix), Client(config=named.get(context)) as client:
        yield client


@contextmanager
def _answering(what: str, fix: str = "") -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise RefusedError(f"{what}: its kubeconfig is not usable: {error}") from None
    except httpx2.TransportError as error:
        raise RefusedError(f"{what}: the cluster does not answer: {error}{fix}") from None
    except ApiError as error:
        raise RefusedError(f"{what}: the cluster refuses: {error}{_outage(str(error))}") from None


_WEBHOOK = re.compile(r'failed calling webhook "([^"]+)"')


def _outage(refusal: str) -> str:
    """Say what to look at where a webhook does not answer: everything of its kinds is refused meanwhile."""
    webhook = _WEBHOOK.search(refusal)
    if webhook is None:
        return ""
    if webhook[1].endswith(".volcano.sh"):
        return f"\n  fix: webhook {webhook[1]} is Volcano's: kubectl -n {VOLCANO} get pods -l app=volcano-admission"
    kinds = "validatingwebhookconfigurations,mutatingwebhookconfigurations"
    return f"\n  fix: see the Service of webhook {webhook[1]}: kubectl get {kinds} -o yaml"
