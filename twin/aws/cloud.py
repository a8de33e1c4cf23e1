"""Calls of the cloud on loopback."""

import os
import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import botocore.exceptions
import botocore.session
import jmespath
from boto3.session import Session
from botocore.config import Config
from botocore.model import OperationModel
from botocore.parsers import ResponseParserError

from twin.aws.names import VARIABLE
from twin.aws.row import Call, Read

ACCOUNT = "123456789012"  # moto's
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# A session makes clients in one thread at a time.
_making = threading.RLock()


class CloudError(Exception):
    """The cloud refused a call; the text is for a person."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Cloud:
    """The cloud at one address, in one region."""

    def __init__(self, address: str, region: str) -> None:
        """Args: address: URL of moto; nothing but loopback is accepted.

        Raises:
            CloudError: The address is not on loopback.
        """
        if urlsplit(address).hostname not in _LOOPBACK:
            raise CloudError(f"{VARIABLE}={address}: the AWS stand-in works on loopback only")
        self.address = address
        self.region = region
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Give boto3's client of a service."""
        with _making:
            if service not in self._clients:
                self._clients[service] = _session().client(
                    service,
                    region_name=self.region,
                    endpoint_url=self.address,
                    aws_access_key_id="twin",
                    aws_secret_access_key="twin",  # noqa: S106 - moto asks for no secret
                    # A refusal of moto is final, and one host name serves all services and buckets.
                    config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, proxies={}),
                )
            return self._clients[service]

    def call(
        self, service: str, call: Call, context: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
    ) -> Any:
        """Make a call; None if it is not for this context, or ends in an error that it ignores.

        Raises:
            CloudError: The cloud refused it.
        """
        if call.when is not None and not call.when(context):
            return None
        if call.each is not None and "each" not in context:
            for entry in self.read(service, call.each, context) or ():
                self.call(service, call, {**context, "each": entry}, parameters)
            return None
        filled = fill(call.parameters, {**context, "region": self.region, "account": ACCOUNT})
        try:
            return getattr(self.client(call.service or service), call.operation)(**{**filled, **(parameters or {})})
        except botocore.exceptions.ClientError as error:
            told = error.response.get("Error", {})
            if told.get("Code") in call.ignore:
                return None
            text = _short(told.get("Message") or str(error))
            raise CloudError(f"{call.operation}: {told.get('Code')}: {text}", told.get("Code", "")) from error
        except (botocore.exceptions.BotoCoreError, ResponseParserError) as error:
            raise CloudError(f"{call.operation}: {_short(str(error))}") from error

    def read(self, service: str, read: Read, context: Mapping[str, Any]) -> Any:
        """Make a call that reads and pick its result; None if there is none.

        Raises:
            CloudError: The cloud refused it.
        """
        answer = self.call(service, read, context)
        return None if answer is None else jmespath.search(fill(read.result, context), answer)


@cache
def operation(service: str, name: str) -> OperationModel:
    """Give the description of an operation.

    Raises:
        botocore.exceptions.BotoCoreError: There is no such service or operation.
    """
    client = _describer(service)
    return client.meta.service_model.operation_model(client.meta.method_to_api_mapping[name])


@cache
def _session() -> Session:
    """One for all, as it reads botocore's descriptions once. What the user has set for AWS leads elsewhere."""
    nothing = (None, None, os.devnull, None)
    return Session(
        botocore_session=botocore.session.Session(
            {"profile": (None, None, None, None), "config_file": nothing, "credentials_file": nothing}
        )
    )


@cache
def _describer(service: str) -> Any:
    with _making:
        return _session().client(
            service,
            region_name="us-east-1",
            aws_access_key_id="twin",
            aws_secret_access_key="twin",  # noqa: S106
        )


def fill(template: Any, context: Mapping[str, Any]) -> Any:
    """Put values in place of `$name`; what is not known there is left out.

    `$name` alone gives the value itself; within a text `${name}` gives its text.
    """
    if isinstance(template, Mapping):
        filled = {key: fill(entry, context) for key, entry in template.items()}
        return {key: entry for key, entry in filled.items() if entry is not None}
    if isinstance(template, list):
        return [fill(entry, context) for entry in template]
    if callable(template):
        return template(context)
    if isinstance(template, str) and re.fullmatch(r"\$\w+", template):
        return context.get(template[1:])
    if isinstance(template, str) and "${" in template:
        return re.sub(r"\$\{(\w+)\}", lambda found: str(context[found[1]]), template)
    return template


def _short(text: str) -> str:
    """Give the gist of an answer; moto answers in HTML to what it does not know."""
    plain = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    return plain if len(plain) <= 400 else f"{plain[:400]}..."
