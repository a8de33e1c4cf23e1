"""A strict stand-in for the engine's resource monitor.

It records every registration as the engine would see it, real URNs included, and complains of what the engine, a
provider or the next `up` would trip over. Pulumi's own mocks accept anything.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from google.protobuf import json_format
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.rpc import UNKNOWN
from pulumi.runtime.settings import get_project, get_stack

from twin import schema
from twin.errors import TwinError
from twin.paths import CHECKOUT

_STACK = "pulumi:pulumi:Stack"
_PROVIDERS = "pulumi:providers:"
# How the SDK spells an Output that was used as text (pulumi, output.py).
_OUTPUT_TEXT = "Calling __str__ on an Output[T] is not supported"
# Objects that are upstream's own text are not judged, and a rehearsal does not read them.
UPSTREAM = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
# Kinds outside a namespace that the stacks make; everything else must name its namespace.
_CLUSTER_SCOPED = frozenset(
    {
        "ClusterPolicy",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "EC2NodeClass",
        "HyperNode",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "Topology",
        "MutatingWebhookConfiguration",
        "Namespace",
        "NicClusterPolicy",
        "NodeOverlay",
        "NodePool",
        "PersistentVolume",
        "PriorityClass",
        "Queue",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)


@dataclass(frozen=True)
class Resource:
    """A resource as a program registers it.

    Attributes:
        urn: Its URN, as the engine forms it.
        type: Type token.
        name: Name in the program.
        parent: URN of the parent; None at the top of the stack.
        custom: False for components.
        inputs: Inputs as JSON, with the wire format's marks for secrets and unknown values.
        dependencies: URNs of what it depends on, sorted.
        references: URNs of what each property was made from, sorted.
        provider: URN of its provider; None for components and providers.
        protect: Whether the engine refuses to delete it.
        retain_on_delete: Whether a delete leaves the real object.
        delete_before_replace: Whether a replacement deletes first.
        replace_on_changes: Properties whose change replaces it.
        ignore_changes: Properties whose change is ignored.
        read: Whether it is only read, and somebody else's.
        source: Where the program registers it, as `components/devices/agent.py:58`; empty where nobody knows.
    """

    urn: str
    type: str
    name: str
    parent: str | None
    custom: bool
    inputs: Mapping[str, Any]
    dependencies: tuple[str, ...] = ()
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    provider: str | None = None
    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool = False
    replace_on_changes: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    read: bool = False
    source: str = ""


@dataclass
class _Seen:
    resources: dict[str, Resource] = field(default_factory=dict)
    objects: dict[tuple[str, ...], str] = field(default_factory=dict)
    outputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def invented_id(name: str) -> str:
    """Give the id that a resource of that name has in a rehearsal."""
    return f"{name}-id"


class _Echo(Mocks):
    """Outputs are inputs, and ids are names: what is known before anything exists."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict]:
        outputs = dict(args.inputs)
        if args.typ == "aws:eks/cluster:Cluster":
            # EKS says it in the midst of what it was told; without it text would be made of nothing.
            outputs["vpcConfig"] = {**outputs["vpcConfig"], "clusterSecurityGroupId": UNKNOWN}
        return invented_id(args.name), outputs

    def call(self, args: MockCallArgs) -> tuple[dict, list[tuple[str, str]] | None]:
        raise TwinError(f"{args.token}: a stack that asks a provider cannot be rehearsed: nothing is there to answer")


class StrictMonitor(MockMonitor):
    """Records resources and complaints. Registrations come from several threads."""

    def __init__(self) -> None:
        super().__init__(_Echo())
        self._lock = threading.Lock()
        self._seen = _Seen()
        self._loops: list[asyncio.AbstractEventLoop] = []

    def close(self) -> None:
        """End the loops of the threads that registrations came from, once these have ended."""
        for loop in self._loops:
            loop.close()

    def _own_loop(self) -> None:
        """Give the thread a loop, unless it has one: the mocks would make one that nobody closes."""
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            with self._lock:
                self._loops.append(loop)

    def recorded(self) -> tuple[Resource, ...]:
        """Give all resources: parents before children, brothers and sisters by name."""
        children: dict[str | None, list[Resource]] = {}
        for resource in self._seen.resources.values():
            children.setdefault(resource.parent, []).append(resource)
        ordered: list[Resource] = []

        def walk(parent: str | None) -> None:
            for resource in sorted(children.get(parent, ()), key=lambda each: (each.name, each.type)):
                ordered.append(resource)
                walk(resource.urn)

        walk(None)
        return tuple(ordered)

    def complaints(self) -> list[str]:
        """Give all complaints, sorted, once the program has ended."""
        unfinished = [
            f"{resource.name}: its component does not call register_outputs"
            for resource in self._seen.resources.values()
            if not resource.custom and resource.urn not in self._seen.outputs
        ]
        return sorted([*self._seen.complaints, *unfinished])

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Form the URN with the types of all parents; pulumi's mocks keep only the nearest."""
        qualified = parent.split("::")[2] if parent else ""
        if qualified and qualified != _STACK:
            type_ = f"{qualified}${type_}"
        return f"urn:pulumi:{get_stack()}::{get_project()}::{type_}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 -- the protocol's name
        """Record a registration, judge it, and answer as a mock would."""
        self._own_loop()
        if request.type != _STACK:
            self._record(request)
        return super().RegisterResource(request)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 -- the protocol's name
        """Record a read, judge it, and answer what is known of it."""
        self._own_loop()
        resource = Resource(
            urn=self.make_urn(request.parent, request.type, request.name),
            type=request.type,
            name=request.name,
            parent=_component(request.parent),
            custom=True,
            inputs=_json(request.properties),
            dependencies=tuple(sorted(request.dependencies)),
            provider=request.provider.rpartition("::")[0] or None,
            read=True,
        )
        with self._lock:
            self._judge(resource)
            self._seen.resources[resource.urn] = resource
        answer = super().ReadResource(request)
        answer.id = request.id  # pulumi's mocks leave it out, and without it not even the id would be known
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 -- the protocol's name
        """Note that a component is complete."""
        with self._lock:
            self._seen.outputs[request.urn] = _json(request.outputs)
        return super().RegisterResourceOutputs(request)

    def _record(self, request: Any) -> None:
        resource = Resource(
            urn=self.make_urn(request.parent, request.type, request.name),
            type=request.type,
            name=request.name,
            parent=_component(request.parent),
            custom=request.custom,
            inputs=_json(request.object),
            dependencies=tuple(sorted(request.dependencies)),
            references={key: tuple(sorted(it.urns)) for key, it in request.propertyDependencies.items() if it.urns},
            provider=request.provider.rpartition("::")[0] or None,
            protect=request.protect,
            retain_on_delete=request.retainOnDelete,
            delete_before_replace=request.deleteBeforeReplace,
            replace_on_changes=tuple(request.replaceOnChanges),
            ignore_changes=tuple(request.ignoreChanges),
            source=_source(request.sourcePosition),
        )
        with self._lock:
            self._judge(resource)
            self._seen.resources[resource.urn] = resource

    def _judge(self, resource: Resource) -> None:
        def complain(text: str) -> None:
            self._seen.complaints.append(f"{resource.type} {resource.name}: {text}")

        if resource.urn in self._seen.resources:
            complain("a second resource with this URN")
        if any(_OUTPUT_TEXT in text for text in _texts(resource.inputs)):
            complain("an Output was used as text; use apply, concat or format")
        self._judge_place(resource, complain)
        if resource.custom and not resource.read and resource.type != UPSTREAM:
            for mistake in schema.mistakes(resource.type, resource.inputs):
                complain(mistake)
        if resource.type.startswith("kubernetes:"):
            self._judge_object(resource, complain)
        elif resource.type.startswith("aws:"):
            provider = self._seen.resources.get(resource.provider or "")
            if provider is None or not provider.inputs.get("region"):
                complain("has no explicit provider with a region: it would be made wherever the environment points to")

    def _judge_place(self, resource: Resource, complain: Callable[[str], None]) -> None:
        if resource.parent is None:
            if resource.custom:
                complain("has no parent component")
            return
        parent = self._seen.resources[resource.parent]
        # URNs hold the types of parents, not their names: without the prefix two components of a kind collide.
        if not resource.name.startswith(f"{parent.name}-"):
            complain(f"its name does not begin with its component's, {parent.name}-")

    def _judge_object(self, resource: Resource, complain: Callable[[str], None]) -> None:
        provider = self._seen.resources.get(resource.provider or "")
        if provider is None or not (provider.inputs.get("context") or provider.inputs.get("kubeconfig")):
            complain(
                "has no explicit provider with a context or a kubeconfig: "
                "it would be made wherever the kubeconfig of the caller points to"
            )
        if resource.type == "kubernetes:helm.sh/v3:Release":
            if not resource.inputs.get("name") or not resource.inputs.get("namespace"):
                complain("a release must have its own name and namespace")
            return
        metadata = resource.inputs.get("metadata", {})
        name, namespace = metadata.get("name"), metadata.get("namespace", "")
        kind = resource.inputs.get("kind", resource.type.rpartition(":")[2]).removesuffix("Patch")
        if not name:
            complain("metadata.name is missing: the engine would invent one")
        if (kind in _CLUSTER_SCOPED) == bool(namespace):
            complain(f"namespace {namespace!r} of a {kind}")
        key = (str(resource.inputs.get("apiVersion")), str(kind), str(namespace), str(name))
        other = self._seen.objects.setdefault(key, resource.name)
        if other != resource.name:
            complain(f"the same object as {other}: {kind} {namespace}/{name}")


def _component(urn: str) -> str | None:
    """Give the URN of a parent; None for the stack itself."""
    return urn if urn and urn.split("::")[2] != _STACK else None


def _source(position: Any) -> str:
    """Give a place in this project's program; the SDK's own, in `.venv`, is none."""
    file = Path(unquote(urlsplit(position.uri).path))
    if not file.is_relative_to(CHECKOUT):
        return ""
    place = file.relative_to(CHECKOUT)
    return "" if place.parts[:1] == (".venv",) else f"{place}:{position.line}"


def _json(struct: Any) -> Any:
    return _whole(json_format.MessageToDict(struct))


def _whole(value: Any) -> Any:
    """Undo what the wire does to whole numbers: there all numbers are floats."""
    if isinstance(value, dict):
        return {key: _whole(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_whole(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
