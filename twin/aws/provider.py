"""The provider's side of the engine's protocol (pulumi.runtime.proto, provider.proto)."""

# ruff: noqa: ARG002, D102, N802 (names and signatures of the service are the protocol's)

import importlib.metadata
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2_grpc, status_pb2
from pulumi.runtime.proto import provider_pb2 as pb

from twin.aws import functions, orphans, plans, sdk
from twin.aws.cloud import Cloud, CloudError
from twin.aws.names import VARIABLE
from twin.aws.resources import Found, PartlyMadeError, Resource
from twin.aws.rows import ROWS
from twin.aws.translate import UnmappedError
from twin.aws.wire import Properties, decode, encode, texts

STAND_IN = "AWS is a stand-in: moto on this machine, for tests and trials. Nothing reaches AWS."
NOT_ASKED = (
    f"this is gangline's stand-in for the AWS provider, and no twin asked for it ({VARIABLE} is not set).\n"
    "Run `./gangline up ENVIRONMENT --twin`, or install Pulumi's own AWS provider."
)
# Settings of the real provider that mean nothing on moto, or that only say whom it would be.
_IDLE = frozenset(
    {
        "accessKey", "allowedAccountIds", "assumeRoles", "endpoints", "maxRetries", "profile", "retryMode",
        "s3UsePathStyle", "secretKey", "sharedConfigFiles", "sharedCredentialsFiles", "skipCredentialsValidation",
        "skipMetadataApiCheck", "skipRegionValidation", "skipRequestingAccountId", "token", "version",
    }
)  # fmt: skip


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """The stand-in for the AWS provider."""

    def __init__(self, engine: str) -> None:
        """Args: engine: the engine's address; empty if only Handshake tells it."""
        self._engine = engine
        self._cloud: Cloud | None = None
        self._default_tags: dict[str, str] = {}
        self._busy = threading.Condition()
        self._running = 0
        self._closed = False

    def drain(self, seconds: float) -> None:
        """Take no new work, and wait for what is under way: what was made in the cloud must be told to the engine."""
        with self._busy:
            self._closed = True
            self._busy.wait_for(lambda: self._running == 0, seconds)

    def Handshake(self, request, context):
        self._engine = request.engine_address or self._engine
        return pb.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi-aws"))

    def GetSchema(self, request, context):
        return pb.GetSchemaResponse(schema=json.dumps({"name": "aws", "version": sdk.version()}))

    def Attach(self, request, context):
        self._engine = request.address
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        with self._busy:
            self._closed = True
        return empty_pb2.Empty()

    def CheckConfig(self, request, context):
        given = decode(request.news)
        known = {"region", "defaultTags"} | _IDLE
        failures = [
            pb.CheckFailure(property=name, reason=f"{name}: not carried by the stand-in of the AWS provider")
            for name in sorted(given.values.keys() - known)
        ]
        return pb.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request, context):
        before, now = decode(request.olds).values, decode(request.news).values
        # Another region is another set of resources.
        replaces = ["region"] if before.get("region") != now.get("region") else []
        some = before != now
        changes = pb.DiffResponse.DIFF_SOME if some else pb.DiffResponse.DIFF_NONE
        return pb.DiffResponse(changes=changes, replaces=replaces)

    def Configure(self, request, context):
        address = os.environ.get(VARIABLE, "")
        if not address:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, NOT_ASKED)
        values = decode(request.args).values
        region = values.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if not isinstance(region, str):
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT, "aws:region is missing; fix: pulumi config set aws:region us-east-2"
            )
        tags = values.get("defaultTags") or {}
        tags = json.loads(tags) if isinstance(tags, str) else tags
        self._default_tags = dict(tags.get("tags") or {})
        try:
            self._cloud = Cloud(address, region)
        except CloudError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        self._say(STAND_IN)
        return pb.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Invoke(self, request, context):
        given = decode(request.args)
        with self._work(context, request.tok, given):
            result = functions.invoke(self._ready(), request.tok, given.values)
            answer = pb.InvokeResponse()
            getattr(answer, "return").CopyFrom(encode(result))  # the protocol's name is a word of Python
            return answer

    def Check(self, request, context):
        before, now = decode(request.olds), decode(request.news)
        with self._work(context, request.urn, now):
            resource = self._resource(request.urn)
            name = request.urn.rpartition("::")[2]
            checked = plans.check(resource, name, before.values, now.values, request.randomSeed)
            failures = [
                pb.CheckFailure(property=where, reason=f"{where}: {reason}")
                for where, reason in plans.failures(resource, checked)
            ]
            return pb.CheckResponse(inputs=encode(checked, now.sealed), failures=failures)

    def Diff(self, request, context):
        state, before, now = decode(request.olds), decode(request.old_inputs), decode(request.news)
        with self._work(context, request.urn, now):
            resource = self._resource(request.urn)
            change = plans.difference(resource, before.values, now.values, state.values)
            if change.refused:
                reasons = "; ".join(f"{name}: {reason}" for name, reason in change.refused)
                context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{resource.token}: {reasons} (twin/aws/rows)")
            kinds = pb.PropertyDiff.Kind
            detailed = {
                name: pb.PropertyDiff(
                    kind=kinds.UPDATE_REPLACE if name in change.replaced else kinds.UPDATE, inputDiff=name != "tagsAll"
                )
                for name in change.changed
            }
            some = pb.DiffResponse.DIFF_SOME if change.changed else pb.DiffResponse.DIFF_NONE
            return pb.DiffResponse(
                changes=some,
                diffs=change.changed,
                replaces=change.replaced,
                deleteBeforeReplace=change.before_create,
                detailedDiff=detailed,
                hasDetailedDiff=True,
            )

    def Create(self, request, context):
        inputs = decode(request.properties)
        with self._work(context, request.urn, inputs):
            resource = self._resource(request.urn)
            if request.preview:
                return pb.CreateResponse(
                    properties=_sealed(resource, plans.preview(resource, inputs.values, {}), inputs)
                )
            try:
                identity, found = resource.create(inputs.values)
            except PartlyMadeError as error:
                orphans.note(self._ready(), request.urn, error.id, inputs.values)
                self._partly(context, resource, error, inputs)
            orphans.note(self._ready(), request.urn, identity, inputs.values)
            return pb.CreateResponse(id=identity, properties=_sealed(resource, found.outputs, inputs))

    def Read(self, request, context):
        inputs, state = decode(request.inputs), decode(request.properties)
        with self._work(context, request.urn, inputs):
            resource = self._resource(request.urn)
            found = resource.read(request.id, inputs.values, state.values)
            if found is None:
                return pb.ReadResponse()
            known = _both(inputs, state)
            return pb.ReadResponse(
                id=request.id,
                properties=_sealed(resource, found.outputs, known),
                inputs=_sealed(resource, found.inputs, known),
            )

    def Update(self, request, context):
        state, before, now = decode(request.olds), decode(request.old_inputs), decode(request.news)
        with self._work(context, request.urn, now):
            resource = self._resource(request.urn)
            if request.preview:
                outputs = plans.preview(resource, now.values, state.values)
            else:
                outputs = self._changed(context, resource, request.id, before, now, state).outputs
            return pb.UpdateResponse(properties=_sealed(resource, outputs, now))

    def Delete(self, request, context):
        inputs, state = decode(request.old_inputs), decode(request.properties)
        with self._work(context, request.urn, _both(inputs, state)):
            self._resource(request.urn).delete(request.id, inputs.values, state.values)
            orphans.forget(self._ready(), request.urn, request.id)
            return empty_pb2.Empty()

    def _changed(
        self, context, resource: Resource, identity: str, before: Properties, now: Properties, state: Properties
    ) -> Found:
        try:
            return resource.update(identity, before.values, now.values, state.values)
        except (CloudError, UnmappedError) as error:
            # A part may be done: tell what is there, so that the next run goes on from it.
            found = resource.read(identity, before.values, state.values)
            if found is None:
                raise
            half = PartlyMadeError(identity, found.outputs, str(error))
            self._partly(context, resource, half, Properties(found.inputs, now.sealed, now.secrets))

    def _partly(self, context, resource: Resource, error: PartlyMadeError, inputs: Properties) -> NoReturn:
        detail = pb.ErrorResourceInitFailed(
            id=error.id,
            properties=_sealed(resource, error.outputs, inputs),
            reasons=[_veiled(str(error), inputs)],
            inputs=encode(inputs.values, inputs.sealed),
        )
        _abort(context, f"{resource.token} {error.id}: {_veiled(str(error), inputs)}", detail)

    def _ready(self) -> Cloud:
        if self._cloud is None:
            raise CloudError("the AWS provider was not configured")
        return self._cloud

    def _resource(self, urn: str) -> Resource:
        token = urn.split("::")[2].rpartition("$")[2]
        row = ROWS.get(token)
        if row is None:
            raise UnmappedError(token, "the stand-in of the AWS provider has no row for this type (twin/aws/rows)")
        return Resource(token, row, self._ready(), self._default_tags)

    @contextmanager
    def _work(self, context, what: str, given: Properties) -> Iterator[None]:
        """Do something for the engine: counted, so that it is finished before the end; refusals are told in words."""
        with self._busy:
            if self._closed:
                context.abort(grpc.StatusCode.CANCELLED, "the run was cancelled")
            self._running += 1
        try:
            yield
        except UnmappedError as error:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, _veiled(f"{what}: {': '.join(error.args)}", given))
        except CloudError as error:
            context.abort(grpc.StatusCode.UNKNOWN, _veiled(str(error), given))
        finally:
            with self._busy:
                self._running -= 1
                self._busy.notify_all()

    def _say(self, message: str) -> None:
        if not self._engine:
            return
        with grpc.insecure_channel(self._engine, options=[("grpc.enable_http_proxy", 0)]) as channel:
            request = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=message)
            engine_pb2_grpc.EngineStub(channel).Log(request, timeout=10)


def _sealed(resource: Resource, values: Mapping[str, Any], given: Properties) -> struct_pb2.Struct:
    """Write properties; secret is what came as a secret, what the SDK calls secret, and what holds the text of one."""
    held = {
        name
        for name, value in values.items()
        if any(secret in text for text in texts(value) for secret in given.secrets)
    }
    tags = {"tags", "tagsAll"} if "tags" in given.sealed else set[str]()
    return encode(values, given.sealed | resource.kind.secret | held | tags)


def _both(inputs: Properties, state: Properties) -> Properties:
    return Properties({}, inputs.sealed | state.sealed, inputs.secrets | state.secrets)


def _veiled(text: str, given: Properties) -> str:
    for secret in given.secrets:
        text = text.replace(secret, "[secret]")
    return text


def _abort(context, message: str, detail: pb.ErrorResourceInitFailed) -> NoReturn:
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=message)
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError  # abort has raised
