"""Clients of OpenID Connect providers.

https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddClientIDToOpenIDConnectProvider.html
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

from typing import Any

from moto.core.responses import EmptyResult
from moto.iam.responses import IamResponse

from twin.aws.moto_gaps.patching import add


def _clients(response: Any) -> list[str]:
    return response.backend.get_open_id_connect_provider(response._get_param("OpenIDConnectProviderArn")).client_id_list


def add_client_id_to_open_id_connect_provider(self: Any) -> EmptyResult:
    clients, client = _clients(self), self._get_param("ClientID")
    if client not in clients:
        clients.append(client)
    return EmptyResult()


def remove_client_id_from_open_id_connect_provider(self: Any) -> EmptyResult:
    clients, client = _clients(self), self._get_param("ClientID")
    if client in clients:
        clients.remove(client)
    return EmptyResult()


def install() -> None:
    """Add the actions to moto."""
    add(IamResponse, add_client_id_to_open_id_connect_provider, remove_client_id_from_open_id_connect_provider)
