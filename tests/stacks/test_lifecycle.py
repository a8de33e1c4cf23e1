"""What comes first, goes last and is never taken along: in every shipped environment, and with workloads of each kind.

Objects need their definition and whoever serves their kind: a webhook that is not up refuses them, and an operator that
is gone leaves its finalizers behind, so that neither they nor their namespace ever end. `destroy` goes the other way.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from model.document import load
from tests.model.documents import changed, drop, example, put
from tests.model.test_schedulers import fitting
from tests.stacks.test_custom_resources import static_racks, workloads
from twin.rehearsal import Rehearsal, Resource, rehearse

SERVED = {
    "scheduling.volcano.sh": ("platform-volcano-webhook",),
    "batch.volcano.sh": ("platform-volcano-webhook",),
    "topology.volcano.sh": ("platform-volcano-webhook",),
    "ray.io": ("platform-ray-operator-deployment", "platform-ray-operator-release"),
    "karpenter.sh": ("platform-karpenter-release",),
    "karpenter.k8s.aws": ("platform-karpenter-release",),
    "kueue.x-k8s.io": ("platform-kueue-release",),
    "jobset.x-k8s.io": ("platform-job-sets-release",),
    "scheduling.run.ai": ("platform-kai-release",),
    "kai.scheduler": ("platform-kai-release",),
}
"""By API group, the one resource (or the other, where there are two ways) without which its objects go nowhere."""
NOBODY = ("monitoring.coreos.com", "nfd.k8s-sigs.io")
"""Groups whose objects are read by somebody who need not be there."""


def group(resource: Resource) -> str:
    return str(resource.inputs.get("apiVersion", "")).rpartition("/")[0]


def faults(rehearsal: Rehearsal) -> list[str]:
    """All that comes in the wrong order, or goes with the stack and must not."""
    rules = (objects, namespaces, definitions, releases, providers, webhooks)
    return [fault for rule in rules for fault in rule(rehearsal)]


def order(rehearsal: Rehearsal, name: str, needs: list[str]) -> Iterator[str]:
    names = {resource.name for resource in rehearsal.resources}
    for needed in needs:
        if needed not in names or not rehearsal.after(name, needed):
            yield f"{name} is not after {needed}"


def defined(rehearsal: Rehearsal) -> dict[str, list[str]]:
    """The names of the definitions by the API group of their objects."""
    found: dict[str, list[str]] = {}
    for definition in rehearsal.of_kind("CustomResourceDefinition"):
        found.setdefault(definition.inputs["metadata"]["name"].partition(".")[2], []).append(definition.name)
    return found


def serving(rehearsal: Rehearsal, group: str) -> list[str]:
    names = {resource.name for resource in rehearsal.resources}
    return [] if group in NOBODY else [each for each in SERVED[group] if each in names] or ["whoever serves it"]


def objects(rehearsal: Rehearsal) -> Iterator[str]:
    """Objects before their definitions, those who serve them, or their namespace."""
    groups = defined(rehearsal)
    spaces = {each.inputs["metadata"]["name"]: each.name for each in rehearsal.of_kind("Namespace")}
    for resource in rehearsal.resources:
        own = group(resource)
        needs = [*groups[own], *serving(rehearsal, own)] if own in groups else []
        space = (resource.inputs.get("metadata") or {}).get("namespace")
        yield from order(rehearsal, resource.name, [*needs, *([spaces[space]] if space in spaces else [])])


def namespaces(rehearsal: Rehearsal) -> Iterator[str]:
    """Namespaces of teams before those who clear the finalizers of what is in them."""
    groups = [each for each in defined(rehearsal) if each in SERVED and "karpenter" not in each]
    needs = {each for group in groups for each in serving(rehearsal, group)}
    for space in rehearsal.of_kind("Namespace"):
        if "-tenant-" in space.name:
            yield from order(rehearsal, space.name, sorted(needs))


def definitions(rehearsal: Rehearsal) -> Iterator[str]:
    for definition in rehearsal.of_kind("CustomResourceDefinition"):
        if not definition.retain_on_delete:
            yield f"{definition.name} goes with the stack, and all objects of its kind with it"
        if not (definition.provider or "").endswith("-adopting"):
            yield f"{definition.name} is not taken over by the next up"


def releases(rehearsal: Rehearsal) -> Iterator[str]:
    names = [definition.name for definition in rehearsal.of_kind("CustomResourceDefinition")]
    for release in rehearsal.of_kind("Release"):
        if not release.inputs.get("skipCrds"):
            yield f"{release.name} brings definitions of its own"
        own = release.name.replace("-release", "-definitions-")
        yield from order(rehearsal, release.name, [name for name in names if name.startswith(own)])


def providers(rehearsal: Rehearsal) -> Iterator[str]:
    for provider in rehearsal.of_kind("kubernetes"):
        if str(provider.inputs.get("enableServerSideApply")).lower() != "true":
            yield f"{provider.name} writes whole objects into an annotation, which is too small for definitions"


def webhooks(rehearsal: Rehearsal) -> Iterator[str]:
    for webhook in rehearsal.of_kind("ValidatingWebhookConfigurationPatch"):
        yield from order(rehearsal, webhook.name, [webhook.name.replace("-webhook", "-release")])
        if "caBundle" not in webhook.inputs["metadata"]["annotations"].get("pulumi.com/waitFor", ""):
            yield f"{webhook.name} does not wait for its certificate"


def test_every_shipped_environment_comes_and_goes_in_order(rehearsal: Rehearsal) -> None:
    assert faults(rehearsal) == []


@pytest.fixture(scope="module")
def of_each_kind(twin_value: dict[str, Any]) -> Rehearsal:
    """The environment `twin` with listed racks and a workload of each kind."""
    return rehearse(load(changed(twin_value, workloads, static_racks)), stack="twin")


def test_workloads_of_each_kind_come_and_go_in_order(of_each_kind: Rehearsal) -> None:
    kinds = {str(each.inputs.get("kind")) for each in of_each_kind.resources}
    assert {"Queue", "HyperNode", "Job", "RayCluster", "RayJob", "RayService"} <= kinds
    assert faults(of_each_kind) == []


JOB: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.vision",
    "pool": "train",
    "image": "registry.example.com/train:1.0",
    "command": ["train"],
    "workers": {"count": 2, "cpu": 64, "memory": "512Gi", "gpus": 8},
}


@pytest.mark.parametrize(("kind", "queue"), [("kueue", "ClusterQueue"), ("kai", "Queue")])
def test_so_they_do_with_other_schedulers(kind: str, queue: str) -> None:
    document = example(*fitting(kind, put("training.jobs.big", JOB), drop("releases")))
    found = rehearse(load(document), stack="example")
    assert {queue, "JobSet", "RayCluster"} <= {str(each.inputs.get("kind")) for each in found.resources}
    assert faults(found) == []


def loose(resource: Resource) -> Resource:
    return replace(resource, dependencies=(), parent=None)


def without(*path: str) -> Callable[[Resource], Resource]:
    def change(resource: Resource) -> Resource:
        inputs: Any = dict(resource.inputs)
        holder = inputs
        for step in path[:-1]:
            holder[step] = dict(holder[step])
            holder = holder[step]
        del holder[path[-1]]
        return replace(resource, inputs=inputs)

    return change


SPOILT: list[tuple[str, Callable[[Resource], Resource], str]] = [
    ("platform-queues-research", loose, "is not after platform-volcano-webhook"),
    ("platform-queues-production", loose, "is not after platform-volcano-definitions-queues.scheduling.volcano.sh"),
    ("platform-hypernodes-r0", loose, "is not after platform-volcano-webhook"),
    ("platform-ray-tuning-cluster", loose, "is not after platform-ray-operator-deployment"),
    ("platform-ray-job-sweep-job", loose, "is not after platform-ray-operator-deployment"),
    ("platform-ray-service-chat-service", loose, "is not after platform-ray-operator-deployment"),
    ("platform-training-llm-job", loose, "is not after platform-volcano-webhook"),
    ("platform-tenant-research-research", loose, "is not after platform-ray-operator-deployment"),
    ("platform-tenant-production-production", loose, "is not after platform-volcano-webhook"),
    ("platform-volcano-webhook", loose, "is not after platform-volcano-release"),
    ("platform-volcano-release", loose, "is not after platform-volcano-definitions-"),
    ("platform-volcano-release", without("skipCrds"), "brings definitions of its own"),
    ("platform-kubernetes", without("enableServerSideApply"), "writes whole objects into an annotation"),
    (
        "platform-ray-definitions-rayclusters.ray.io",
        lambda it: replace(it, retain_on_delete=False),
        "goes with the stack",
    ),
    (
        "platform-volcano-definitions-queues.scheduling.volcano.sh",
        lambda it: replace(it, provider=str(it.provider).replace("-adopting", "-kubernetes")),
        "is not taken over by the next up",
    ),
    (
        "platform-volcano-webhook",
        without("metadata", "annotations", "pulumi.com/waitFor"),
        "does not wait for its certificate",
    ),
]


@pytest.mark.parametrize(("name", "spoil", "says"), SPOILT, ids=[f"{name}: {says}" for name, _, says in SPOILT])
def test_what_is_out_of_order_is_found(
    of_each_kind: Rehearsal, name: str, spoil: Callable[[Resource], Resource], says: str
) -> None:
    assert of_each_kind.named(name)
    resources = tuple(spoil(each) if each.name == name else each for each in of_each_kind.resources)
    found = faults(replace(of_each_kind, resources=resources))
    assert any(fault.startswith(name) and says in fault for fault in found), found
