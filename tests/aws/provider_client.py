"""The engine's side of the provider protocol, as far as the tests speak it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc, status_pb2

from twin.aws.wire import Properties, decode, encode

REGION = "us-east-2"
ACCOUNT = "123456789012"


@dataclass
class Made:
    """A resource as the engine's state would have it."""

    token: str
    name: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Engine:
    """Speaks to a provider."""

    def __init__(self, port: int) -> None:
        self.stub = provider_pb2_grpc.ResourceProviderStub(
            grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)])
        )

    def configure(self, arguments: Mapping[str, Any]) -> None:
        self.stub.Handshake(pb.ProviderHandshakeRequest(engine_address=""))
        checked = self.stub.CheckConfig(pb.CheckRequest(urn=urn("pulumi:providers:aws", "p"), news=encode(arguments)))
        assert not checked.failures
        answer = self.stub.Configure(pb.ConfigureRequest(args=checked.inputs, acceptSecrets=True))
        assert answer.acceptSecrets
        assert answer.supportsPreview

    def failures(self, token: str, inputs: Mapping[str, Any], name: str = "one") -> dict[str, str]:
        answer = self.stub.Check(pb.CheckRequest(urn=urn(token, name), news=encode(inputs)))
        return {failure.property: failure.reason for failure in answer.failures}

    def check(
        self, token: str, name: str, inputs: Mapping[str, Any], before: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        request = pb.CheckRequest(
            urn=urn(token, name), news=encode(inputs), olds=encode(before or {}), randomSeed=b"seed"
        )
        answer = self.stub.Check(request)
        assert not answer.failures, [failure.reason for failure in answer.failures]
        return plain(answer.inputs)

    def create(self, token: str, name: str, inputs: Mapping[str, Any]) -> Made:
        """Check, preview, create."""
        checked = self.check(token, name, inputs)
        previewed = self.stub.Create(pb.CreateRequest(urn=urn(token, name), properties=encode(checked), preview=True))
        assert not previewed.id
        answer = self.stub.Create(pb.CreateRequest(urn=urn(token, name), properties=encode(checked)))
        return Made(token, name, answer.id, checked, plain(answer.properties))

    def read(self, made: Made, inputs: Mapping[str, Any] | None = None) -> Made | None:
        """What `refresh` does. Without inputs and state it is what an import does."""
        request = pb.ReadRequest(
            id=made.id,
            urn=urn(made.token, made.name),
            inputs=encode(made.inputs if inputs is None else inputs),
            properties=encode(made.outputs if inputs is None else {}),
        )
        answer = self.stub.Read(request)
        if not answer.id:
            return None
        return Made(made.token, made.name, answer.id, plain(answer.inputs), plain(answer.properties))

    def diff(self, made: Made, checked: Mapping[str, Any]) -> pb.DiffResponse:
        return self.stub.Diff(
            pb.DiffRequest(
                id=made.id,
                urn=urn(made.token, made.name),
                olds=encode(made.outputs),
                old_inputs=encode(made.inputs),
                news=encode(checked),
            )
        )

    def update(self, made: Made, checked: Mapping[str, Any]) -> Made:
        def request(*, preview: bool) -> pb.UpdateRequest:
            return pb.UpdateRequest(
                id=made.id,
                urn=urn(made.token, made.name),
                olds=encode(made.outputs),
                old_inputs=encode(made.inputs),
                news=encode(checked),
                preview=preview,
            )

        self.stub.Update(request(preview=True))
        answer = self.stub.Update(request(preview=False))
        return Made(made.token, made.name, made.id, dict(checked), plain(answer.properties))

    def delete(self, made: Made) -> None:
        self.stub.Delete(
            pb.DeleteRequest(
                id=made.id,
                urn=urn(made.token, made.name),
                properties=encode(made.outputs),
                old_inputs=encode(made.inputs),
            )
        )

    def invoke(self, token: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.stub.Invoke(pb.InvokeRequest(tok=token, args=encode(arguments)))
        assert not answer.failures
        return plain(getattr(answer, "return"))


def urn(token: str, name: str) -> str:
    return f"urn:pulumi:test::gangline::{token}::{name}"


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    return decode(struct).values


def properties(struct: struct_pb2.Struct) -> Properties:
    return decode(struct)


def half_made(error: grpc.RpcError) -> pb.ErrorResourceInitFailed:
    """Give what the engine reads of a resource that was made in part."""
    metadata: Any = error.trailing_metadata()  # pyright: ignore[reportAttributeAccessIssue]
    raw = next(value for key, value in metadata if key == "grpc-status-details-bin")
    detail = pb.ErrorResourceInitFailed()
    assert status_pb2.Status.FromString(raw).details[0].Unpack(detail)
    return detail
