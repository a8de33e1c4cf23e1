"""Clusters as kubeconfig knows them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
from lightkube import ApiError, Client, KubeConfig
from lightkube.core.exceptions import ConfigError

from twin.paths import CONTEXT

from .refusals import RefusedError

DEFAULT = "~/.kube/config"


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
    try:
        with Client(config=named.get(context)) as client:
            yield client
    except ConfigError as error:
        raise RefusedError(f"cluster.context {context}: its kubeconfig is not usable: {error}") from None
    except httpx2.TransportError as error:
        start = "; fix: ./gangline twin start" if context == CONTEXT else ""
        raise RefusedError(f"cluster.context {context}: the cluster does not answer: {error}{start}") from None
    except ApiError as error:
        raise RefusedError(f"cluster.context {context}: the cluster refuses: {error}") from None
