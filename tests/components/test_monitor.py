"""The strict monitor complains of what the engine, a provider or the next `up` would trip over."""

import asyncio
import os
from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from twin.monitor import Resource, StrictMonitor


@pulumi.type_token("gangline:index:Sample")
class Sample(Component):
    def __init__(
        self,
        name: str,
        make: Callable[[str, pulumi.ResourceOptions], object],
        *,
        finish: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {}, opts)
        provider = kubernetes.Provider(f"{name}-cluster", context="here", opts=pulumi.ResourceOptions(parent=self))
        make(name, pulumi.ResourceOptions(parent=self, provider=provider))
        if finish:
            self.register_outputs({})


def run(program: Callable[[], object], *, preview: bool = False) -> StrictMonitor:
    monitor = StrictMonitor()
    pulumi.runtime.set_mocks(monitor.mocks, project="gangline", stack="test", preview=preview, monitor=monitor)
    pulumi.runtime.test(lambda: (program(), None)[1])()
    return monitor


def complaints(make: Callable[[str, pulumi.ResourceOptions], object], *, finish: bool = True) -> list[str]:
    return run(lambda: Sample("sample", make, finish=finish)).complaints()


def config(logical: str, opts: pulumi.ResourceOptions, **metadata: object) -> ConfigMap:
    given = {"name": "c", "namespace": "n", **metadata}
    return ConfigMap(logical, metadata=ObjectMetaArgs(**given), data={"a": "b"}, opts=opts)


def test_sound_program_has_no_complaints() -> None:
    assert complaints(lambda name, opts: config(f"{name}-config", opts)) == []


def test_second_resource_with_a_urn() -> None:
    def twice(name: str, opts: pulumi.ResourceOptions) -> None:
        config(f"{name}-config", opts)
        config(f"{name}-config", opts, name="other")

    assert any("a second resource with this URN" in text for text in complaints(twice))


def test_same_object_under_two_names() -> None:
    def twice(name: str, opts: pulumi.ResourceOptions) -> None:
        config(f"{name}-one", opts)
        config(f"{name}-two", opts)

    assert any("the same object as sample-" in text for text in complaints(twice))


def test_name_without_the_name_of_the_component() -> None:
    assert any("does not begin with" in text for text in complaints(lambda _, opts: config("config", opts)))


def test_object_without_name_or_namespace() -> None:
    found = complaints(lambda name, opts: config(f"{name}-config", opts, name=None, namespace=None))
    assert any("metadata.name is missing" in text for text in found)
    assert any("namespace '' of a ConfigMap" in text for text in found)


def test_namespace_on_a_cluster_wide_kind() -> None:
    def misplaced(name: str, opts: pulumi.ResourceOptions) -> None:
        Namespace(f"{name}-namespace", metadata=ObjectMetaArgs(name="n", namespace="m"), opts=opts)

    assert any("namespace 'm' of a Namespace" in text for text in complaints(misplaced))


def test_resource_on_the_default_provider() -> None:
    def stray(name: str, opts: pulumi.ResourceOptions) -> None:
        config(f"{name}-config", pulumi.ResourceOptions(parent=opts.parent))

    assert any("has no explicit provider" in text for text in complaints(stray))


@pytest.mark.parametrize(
    ("region", "found"), [("us-east-2", []), (None, ["sample-queue", "sample-theirs"])], ids=["explicit", "by default"]
)
def test_resource_of_aws_needs_a_provider_with_a_region(region: str | None, found: list[str]) -> None:
    def make(name: str, opts: pulumi.ResourceOptions) -> None:
        cloud = aws.Provider(f"{name}-aws", region=region, opts=pulumi.ResourceOptions(parent=opts.parent))
        inside = pulumi.ResourceOptions(parent=opts.parent, provider=cloud)
        aws.sqs.Queue(f"{name}-queue", opts=inside)
        aws.ec2.Vpc.get(f"{name}-theirs", "vpc-1", opts=inside)

    assert sorted(text.split()[1].rstrip(":") for text in complaints(make)) == found


def test_what_is_read_is_recorded_as_such_and_the_rest_of_it_is_unknown() -> None:
    seen: list[str] = []

    def make(name: str, opts: pulumi.ResourceOptions) -> None:
        cloud = aws.Provider(f"{name}-aws", region="us-east-2", opts=pulumi.ResourceOptions(parent=opts.parent))
        vpc = aws.ec2.Vpc.get(
            f"{name}-theirs", "vpc-1", opts=pulumi.ResourceOptions(parent=opts.parent, provider=cloud)
        )
        vpc.id.apply(seen.append)
        vpc.cidr_block.apply(seen.append)

    monitor = run(lambda: Sample("sample", make), preview=True)
    assert monitor.complaints() == []
    assert [resource.name for resource in monitor.recorded() if resource.read] == ["sample-theirs"]
    assert seen == ["vpc-1"]


def test_a_kubeconfig_will_do_where_there_is_no_context() -> None:
    def make(name: str, opts: pulumi.ResourceOptions) -> None:
        made = aws.Provider(f"{name}-aws", region="us-east-2", opts=pulumi.ResourceOptions(parent=opts.parent))
        queue = aws.sqs.Queue(f"{name}-queue", opts=pulumi.ResourceOptions(parent=opts.parent, provider=made))
        cluster = kubernetes.Provider(
            f"{name}-by-kubeconfig", kubeconfig=queue.arn, opts=pulumi.ResourceOptions(parent=opts.parent)
        )
        config(f"{name}-config", pulumi.ResourceOptions(parent=opts.parent, provider=cluster))

    assert run(lambda: Sample("sample", make), preview=True).complaints() == []


def test_resource_outside_components() -> None:
    assert any(
        "has no parent component" in text for text in run(lambda: config("c", pulumi.ResourceOptions())).complaints()
    )


def test_component_that_never_finishes() -> None:
    found = complaints(lambda name, opts: config(f"{name}-config", opts), finish=False)
    assert found == ["sample: its component does not call register_outputs"]


def test_output_used_as_text_is_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULUMI_ERROR_OUTPUT_STRING")

    def junk(name: str, opts: pulumi.ResourceOptions) -> None:
        first = config(f"{name}-first", opts)
        config(f"{name}-second", opts, name="d", labels={"of": f"{first.id}"})

    assert any("an Output was used as text" in text for text in complaints(junk))


def test_misspelt_input_is_a_complaint() -> None:
    def typo(name: str, opts: pulumi.ResourceOptions) -> None:
        kubernetes.apiextensions.CustomResource(
            f"{name}-queue", api_version="v1", kind="Queue", metadata={"nmae": "q", "name": "q"}, spec={}, opts=opts
        )

    assert any("metadata.nmae: no such property of ObjectMeta" in text for text in complaints(typo))


def test_urns_are_the_engines_and_order_does_not_depend_on_threads() -> None:
    def nested() -> None:
        Sample(
            "outer",
            lambda name, opts: Sample(
                f"{name}-inner",
                lambda inner, inside: [config(f"{inner}-{n}", inside, name=f"c{n}") for n in (2, 1, 3)],
                opts=pulumi.ResourceOptions(parent=opts.parent),
            ),
        )

    seen: list[Resource] = list(run(nested).recorded())
    assert [resource.name for resource in seen] == [
        "outer",
        "outer-cluster",
        "outer-inner",
        "outer-inner-1",
        "outer-inner-2",
        "outer-inner-3",
        "outer-inner-cluster",
    ]
    # Real URNs hold the types of all parents.
    qualified = "gangline:index:Sample$gangline:index:Sample$kubernetes:core/v1:ConfigMap"
    assert seen[3].urn == f"urn:pulumi:test::gangline::{qualified}::outer-inner-1"


@pytest.fixture(autouse=True)
def _loop() -> None:
    os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "1"
    asyncio.set_event_loop(asyncio.new_event_loop())
