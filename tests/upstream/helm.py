"""Charts rendered by the engine that installs them: Helm's own, inside the twin's Kubernetes provider."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from twin import tools

_PROVIDER = "pulumi-resource-kubernetes"
_LARGEST = 64 * 2**20


@contextmanager
def provider() -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    """The provider, running; it needs no cluster to render."""
    program = tools.ensure([_PROVIDER])[_PROVIDER]
    # Without an engine to talk to it only renders.
    process = subprocess.Popen([program, "127.0.0.1:1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        options = [("grpc.max_receive_message_length", _LARGEST)]
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}", options=options) as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            stub.Configure(provider_pb2.ConfigureRequest())
            yield stub
    finally:
        process.kill()
        process.wait()


def render(chart: Path, values: Mapping[str, Any], *, release: str, namespace: str) -> list[dict[str, Any]]:
    """What a chart makes of values: all objects, definitions included.

    Raises:
        ValueError: The chart refuses the values; the text is Helm's.
    """
    asked = {"path": str(chart), "values": values, "release_name": release, "namespace": namespace}
    arguments = struct_pb2.Struct()
    arguments.update({"jsonOpts": json.dumps({**asked, "kube_version": "1.35.0"})})
    with provider() as stub:
        try:
            answer = stub.Invoke(provider_pb2.InvokeRequest(tok="kubernetes:helm:template", args=arguments))
        except grpc.RpcError as error:
            raise ValueError(str(error)) from error
    return json_format.MessageToDict(answer)["return"]["result"]
