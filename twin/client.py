"""The Kubernetes client of the twin. See docs/decisions/020-kubernetes-client.md."""

from pathlib import Path

from lightkube import AsyncClient, Client, KubeConfig
from lightkube.config.kubeconfig import SingleConfig

from twin.errors import TwinError
from twin.paths import CONTEXT

FIELD_MANAGER = "gangline-twin"


def _configuration(kubeconfig: Path) -> SingleConfig:
    try:
        configuration = KubeConfig.from_file(kubeconfig).get(context_name=CONTEXT)
    except Exception as error:
        raise TwinError(f"{kubeconfig}: {error}: run `./gangline twin start`") from error
    if configuration is None:
        raise TwinError(f"{kubeconfig} has no context {CONTEXT}: run `./gangline twin start`")
    return configuration


def connect(kubeconfig: Path) -> Client:
    """Connect as the kubeconfig says, untouched by proxies and other settings of the environment.

    Raises:
        TwinError: The kubeconfig is missing or broken.
    """
    return Client(_configuration(kubeconfig), field_manager=FIELD_MANAGER, trust_env=False)


def connect_async(kubeconfig: Path) -> AsyncClient:
    """Connect as `connect` does, for asyncio."""
    return AsyncClient(_configuration(kubeconfig), field_manager=FIELD_MANAGER, trust_env=False)
