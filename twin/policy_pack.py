"""Drives the policy pack as the engine does: a process, spoken to over its own wire.

The rules never run in this process, so that what `render` and the tests show is what an update meets. The protocol is
`proto/pulumi/analyzer.proto` of pulumi, the start that of its language host (pulumi-language-python, RunPlugin).
"""

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from twin.errors import TwinError
from twin.paths import CHECKOUT

PACK = CHECKOUT / "policies"
_START_SECONDS = 30
_CALL_SECONDS = 120
_MESSAGE_LIMIT = 400 * 1024 * 1024  # the engine's own: a whole stack is one message
_OPTIONS = [("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)]


class Resource(Protocol):
    """What the pack is told of a resource."""

    @property
    def urn(self) -> str:
        """URN."""
        ...

    @property
    def type(self) -> str:
        """Type token."""
        ...

    @property
    def name(self) -> str:
        """Name in the program."""
        ...

    @property
    def parent(self) -> str | None:
        """URN of the parent."""
        ...

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Inputs as on the wire: JSON, with the engine's marks for secrets and unknown values."""
        ...

    @property
    def protect(self) -> bool:
        """Whether the engine refuses to delete it."""
        ...

    @property
    def dependencies(self) -> Sequence[str]:
        """URNs of what it depends on."""
        ...

    @property
    def references(self) -> Mapping[str, Sequence[str]]:
        """URNs of what each property was made from."""
        ...


@dataclass(frozen=True)
class Verdict:
    """What a policy says.

    Attributes:
        policy: Id of the rule.
        level: `mandatory` stops an update, `advisory` does not.
        urn: The resource; empty when it concerns the stack.
        message: What the engine would print.
    """

    policy: str
    level: str
    urn: str
    message: str


def judge(resources: Sequence[Resource]) -> list[Verdict]:
    """Judge the desired state of a whole stack, as a preview would.

    Raises:
        TwinError: The pack does not start or breaks down.
    """
    with PolicyPack() as pack:
        return [verdict for resource in resources for verdict in pack.analyze(resource)] + pack.analyze_stack(resources)


class PolicyPack:
    """A running pack. Use it as a context manager: leaving ends the process.

    Raises:
        TwinError: From every method: the pack does not start or breaks down.
    """

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            # The pack answers to nobody but this process: the engine's address is never used.
            [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:0", str(PACK)],
            cwd=PACK,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        )
        try:
            self._channel = grpc.insecure_channel(f"127.0.0.1:{self._port()}", options=_OPTIONS)
            self._stub = analyzer_pb2_grpc.AnalyzerStub(self._channel)
            self.begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._channel.close()
        self._end()

    def begin(
        self,
        *,
        preview: bool = True,
        levels: Mapping[str, str] | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> None:
        """Begin a run, as the engine does once per process.

        Args:
            preview: Whether values may still be unknown.
            levels: Levels of rules by id, as `--policy-pack-config` gives them.
            options: Options of rules by id, from there too.
            config: Configuration of the stack.
        """
        request = analyzer_pb2.ConfigureAnalyzerRequest()
        for policy in self.info().policies:  # the engine names all of them
            request.policyConfig[policy.name].enforcementLevel = policy.enforcementLevel
        for rule, level in (levels or {}).items():
            request.policyConfig[rule].enforcementLevel = analyzer_pb2.EnforcementLevel.Value(level.upper())
        for rule, values in (options or {}).items():
            request.policyConfig[rule].properties.update(values)
        self._call(self._stub.Configure, request)
        stack = analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=preview, config=dict(config or {}))
        self._call(self._stub.ConfigureStack, stack)

    def info(self) -> Any:
        """Ask which policies there are (an AnalyzerInfo)."""
        return self._call(self._stub.GetAnalyzerInfo, empty_pb2.Empty())

    def analyze(self, resource: Resource) -> list[Verdict]:
        """Judge one resource by its inputs."""
        request = analyzer_pb2.AnalyzeRequest(
            urn=resource.urn,
            type=resource.type,
            name=resource.name,
            properties=_struct(resource.inputs),
            options=_resource_options(resource),
        )
        return _verdicts(self._call(self._stub.Analyze, request), resource.urn)

    def analyze_stack(self, resources: Iterable[Resource]) -> list[Verdict]:
        """Judge all resources together. Before an update the outputs of a resource are its inputs."""
        request = analyzer_pb2.AnalyzeStackRequest(
            resources=[
                analyzer_pb2.AnalyzerResource(
                    urn=each.urn,
                    type=each.type,
                    name=each.name,
                    parent=each.parent or "",
                    dependencies=list(each.dependencies),
                    propertyDependencies={
                        key: analyzer_pb2.AnalyzerPropertyDependencies(urns=list(urns))
                        for key, urns in each.references.items()
                    },
                    properties=_struct(each.inputs),
                    options=_resource_options(each),
                )
                for each in resources
            ]
        )
        return _verdicts(self._call(self._stub.AnalyzeStack, request), "")

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=_CALL_SECONDS)
        except grpc.RpcError as error:
            raise TwinError(f"the policy pack broke down: {error}\n{self._said()}") from None

    def _port(self) -> int:
        """Wait for the handshake: the port, alone in the first line."""
        stream = self._process.stdout
        if stream is None or not select.select([stream], [], [], _START_SECONDS)[0]:
            raise TwinError(f"the policy pack did not start within {_START_SECONDS} s\n{self._said()}")
        line = stream.readline()
        try:
            return int(line)
        except ValueError:
            raise TwinError(f"the policy pack did not start: it said {line!r}\n{self._said()}") from None

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-4000:]

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()


def _resource_options(resource: Resource) -> Any:
    return analyzer_pb2.AnalyzerResourceOptions(protect=resource.protect, parent=resource.parent or "")


def _struct(inputs: Mapping[str, Any]) -> Any:
    return json_format.ParseDict(dict(inputs), struct_pb2.Struct())


def _verdicts(response: Any, urn: str) -> list[Verdict]:
    names = analyzer_pb2.EnforcementLevel
    return [
        Verdict(each.policyName, names.Name(each.enforcementLevel).lower(), each.urn or urn, each.message)
        for each in response.diagnostics
    ]
