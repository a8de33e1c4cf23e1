"""The laws about workloads at a real API server: it says what the policy pack says, and leaves controllers alone."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from cluster_helpers import eventually
from lightkube import Client, codecs
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import Pod, PodEphemeralcontainers

from model import document
from model.admission.policies import NAMES
from model.pod_templates import plural
from tests.policies.admission_cases import by_pack, made_of, subjects
from tests.policies.api_objects import completed
from tests.policies.api_server import told
from tests.policies.objects import container, gpus, platform, template
from tests.policies.objects import document as shipped
from twin import tools
from twin.policy_pack import PolicyPack
from twin.rehearsal import rehearse

TEAM = "judged-research"
"""The tests share a cluster, so this namespace has a name of its own."""
DEFINITIONS = {"kuberay-operator": "ray.io_*.yaml", "jobset-chart": "jobset.x-k8s.io_*.yaml"}
BAD = template(container(image="a:latest", securityContext={"privileged": True}))


@pytest.fixture(scope="module")
def team() -> dict[str, Any]:
    """The document of the twin, with one team that has no queue for workloads that name none."""
    found = copy.deepcopy(shipped("twin"))
    found["tenants"] = {"research": {"namespaces": [TEAM], "queues": ["research"]}}
    found["ray"] = {}
    return found


@pytest.fixture(scope="module", autouse=True)
def judged(volcano: Client, team: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The policies and the namespace as the stack makes them, all kinds of workloads, and one from before the laws."""
    for product, files in DEFINITIONS.items():
        folder = tools.materialise(product, tmp_path_factory.mktemp("sources"))
        for file in sorted(folder.rglob(files)):
            volcano.apply(codecs.from_dict(yaml.safe_load(file.read_text())), field_manager="tests", force=True)
    stack = rehearse(document.load(team), stack="judged")
    namespace = stack.named(f"platform-tenant-research-{TEAM}")
    volcano.apply(codecs.from_dict(dict(namespace.inputs)), field_manager="tests")
    older = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "older", "namespace": TEAM}}
    volcano.create(resource(completed({**older, "spec": {"replicas": 1, "template": BAD}})))
    policies = [
        codecs.from_dict(dict(stack.named(f"platform-admission-deny{part}").inputs)) for part in ("", "-binding")
    ]
    for made in policies:
        volcano.apply(made, field_manager="tests")
    eventually(lambda: told(answer(volcano, pod(BAD))), 30, "the policy is at work")
    yield
    for made in reversed(policies):
        kind: Any = type(made)
        volcano.delete(kind, NAMES["Deny"])
    volcano.delete(Deployment, "older", namespace=TEAM)


def pod(made: Mapping[str, Any], name: str = "it") -> dict[str, Any]:
    metadata = {"name": name, "namespace": TEAM, **made["metadata"]}
    return completed({"apiVersion": "v1", "kind": "Pod", "spec": made["spec"], "metadata": metadata})


def resource(made: Mapping[str, Any]) -> Any:
    group, _, version = made["apiVersion"].rpartition("/")
    if "." in group:  # of a definition, which the client does not know by itself
        create_namespaced_resource(group, version, made["kind"], plural(made["kind"]))
    return codecs.from_dict(dict(made))


def answer(client: Client, made: Mapping[str, Any]) -> str:
    """Why it is refused; nothing where it would be made."""
    try:
        client.create(resource(made), dry_run=True)
    except ApiError as refusal:
        return refusal.status.message or "refused"
    return ""


def test_it_says_what_the_pack_says(volcano: Client, team: dict[str, Any]) -> None:
    differing: list[str] = []
    asked = refused_anyway = 0
    with PolicyPack() as pack:
        for name, subject in subjects():
            for each, made in made_of(subject, TEAM):
                if made["metadata"]["namespace"] not in (TEAM, "research"):
                    continue
                whole = completed({**made, "metadata": made["metadata"] | {"namespace": TEAM}})
                pack.begin(preview=True)
                expected = by_pack(pack, platform(team), each.type, whole)
                message = answer(volcano, whole)
                asked += 1
                if message and "ValidatingAdmissionPolicy" not in message and expected:
                    refused_anyway += 1  # by Kubernetes' own rules, before any policy is asked
                elif told(message.partition("denied request: ")[2]) != expected or (message and not expected):
                    differing.append(f"{name}: the pack says {sorted(expected)}, the API server: {message}")
    assert not differing, "\n".join(differing)
    assert asked - refused_anyway >= 200


def test_pods_that_a_controller_makes_are_not_refused(volcano: Client) -> None:
    """A Deployment from before the laws loses its pod, and gets another."""
    (first,) = eventually(lambda: list(volcano.list(Pod, namespace=TEAM, labels={"app": "it"})), 30, "its pod is made")
    name = first.metadata.name if first.metadata else ""
    volcano.delete(Pod, name or "", namespace=TEAM, grace_period=0)
    eventually(
        lambda: [
            each
            for each in volcano.list(Pod, namespace=TEAM, labels={"app": "it"})
            if each.metadata and each.metadata.name != name
        ],
        30,
        "it makes another",
    )


def test_what_was_there_before_is_judged_when_it_changes(volcano: Client) -> None:
    for finalizers in (["gangline.dev/tests"], []):
        volcano.patch(Deployment, "older", {"metadata": {"finalizers": finalizers}}, namespace=TEAM)
    with pytest.raises(ApiError, match="image-version: container container-0: a:latest names no version"):
        volcano.patch(Deployment, "older", {"spec": {"replicas": 2}}, namespace=TEAM)


def test_a_container_that_is_added_for_debugging_is_judged(volcano: Client) -> None:
    volcano.create(resource(pod(template(), "right")))
    try:
        debug(volcano, "plain")
        with pytest.raises(ApiError, match="privileged: container root: is privileged"):
            debug(volcano, "root", privileged=True)
    finally:
        volcano.delete(Pod, "right", namespace=TEAM, grace_period=0)


def debug(client: Client, name: str, **security: bool) -> None:
    added = {"name": name, "image": "example.org/tools:1", "securityContext": security}
    client.patch(PodEphemeralcontainers, "right", {"spec": {"ephemeralContainers": [added]}}, namespace=TEAM)


def test_the_largest_jobs_are_within_what_judging_may_cost(volcano: Client) -> None:
    """100 tasks of 3 containers with 60 variables each: more than one object of etcd holds in practice."""
    variables = [{"name": f"VARIABLE_{number}", "value": "x" * 20} for number in range(60)]
    containers = [gpus(8) | {"env": variables} for _ in range(3)]
    tasks = [{"name": f"task-{number}", "replicas": 8, "template": template(*containers)} for number in range(100)]
    metadata = {"name": "large", "namespace": TEAM}
    spec = {"schedulerName": "volcano", "queue": "research.llm", "minAvailable": 800, "tasks": tasks}
    made = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}
    assert answer(volcano, completed(made)) == ""
