"""What the pack says of a workload, the API server says too: the same cases, judged twice."""

from functools import cache
from typing import Any

import pytest

from model import document, laws, tenants
from model.environment import Environment
from tests.policies import checks
from tests.policies.admission_cases import by_pack, made_of, subjects
from tests.policies.api_server import ApiServer, told
from tests.policies.cases.team_queues import DEFAULTING, KAI, KUEUE, PLATFORM, TWIN
from tests.policies.objects import QUEUE_ANNOTATION, Resource, Subject, container, gpus, template
from twin.policy_pack import PolicyPack

TEAM = "research"


def environment(value: Any) -> Environment:
    found = document.judge(value).environment
    assert found is not None
    return found


_DOCUMENTS: dict[str, Any] = {}


@cache
def _server(text: str) -> tuple[ApiServer, tuple[str, ...]]:
    env = environment(_DOCUMENTS[text])
    return ApiServer(env), tuple(tenants.by_namespace(env))


def server(value: Any) -> tuple[ApiServer, tuple[str, ...]]:
    """The API server of a document, and the namespaces of its teams. Reading one and its laws takes a while."""
    _DOCUMENTS[repr(value)] = value
    return _server(repr(value))


def platforms(subject: Subject, *others: Resource) -> tuple[Resource, ...]:
    """The document that a subject is about; that of the tests, and others, for one that is about none."""
    named = tuple(each for each in checks.resources(subject) if each.name == PLATFORM.name)
    return named or (PLATFORM, *others)


@pytest.mark.parametrize(("name", "subject"), [pytest.param(*it, id=it[0]) for it in subjects()])
def test_the_pack_and_the_api_server_agree(pack: PolicyPack, name: str, subject: Subject) -> None:
    about_queues = "queue" in name or name.endswith("-right")
    for platform in platforms(subject, *((DEFAULTING, KUEUE, KAI) if about_queues else ())):
        api_server, namespaces = server(platform.inputs["environment"])
        for resource, made in made_of(subject, namespaces[0]):
            if made["metadata"]["namespace"] in namespaces:
                said = told(api_server.says(made).get("Deny", ""))
                assert said == by_pack(pack, platform, resource.type, made), platform.inputs["environment"]


def test_most_subjects_reach_the_api_server() -> None:
    """Lists, patches and what is not known yet do not, and so nothing is asked about them above."""
    reaching = [name for name, subject in subjects() if any(True for _ in made_of(subject, TEAM))]
    assert len(reaching) >= 300


def test_every_law_has_a_case_that_reaches_the_api_server_and_breaks_it() -> None:
    broken: set[str] = set()
    for name, subject in subjects():
        api_server, namespaces = server(platforms(subject)[0].inputs["environment"])
        if "-broken-" in name:
            for _, made in made_of(subject, namespaces[0]):
                broken |= told(api_server.says(made).get("Deny", ""))
    assert broken == laws.BY_ID.keys()


def pod(*containers: Any, queue: Any = "research.llm", **fields: Any) -> dict[str, Any]:
    made = template(*containers, queue=queue)
    metadata = {"name": "it", "namespace": TEAM, **made["metadata"], **fields}
    if queue is None:
        del metadata["annotations"]
    return {"apiVersion": "v1", "kind": "Pod", "spec": made["spec"], "metadata": metadata}


BAD = pod(gpus(8), container(image="a:latest", securityContext={"privileged": True}), queue="production")


def test_all_that_is_wrong_is_told_at_once_with_the_fix() -> None:
    api_server, _ = server(PLATFORM.inputs["environment"])
    message = api_server.says(BAD)["Deny"]
    assert "queue-allowed: queue production is none of those that research may use (research.llm, " in message
    assert "image-version: container main: a:latest names no version. Fix: Write the tag of a release" in message
    assert told(message) == {"queue-allowed", "image-version", "privileged"}


@pytest.mark.parametrize(
    ("group", "judged"),
    [
        ("system:masters", True),
        ("system:serviceaccounts:research", True),
        ("system:serviceaccounts:elsewhere", True),
        ("system:serviceaccounts:kube-system", False),
        ("system:serviceaccounts:volcano-system", False),
        ("system:serviceaccounts:kuberay-system", False),
        ("system:nodes", False),
    ],
)
def test_what_controllers_make_is_left_alone(group: str, judged: bool) -> None:
    api_server, _ = server(PLATFORM.inputs["environment"])
    assert bool(api_server.says(BAD, groups=("system:authenticated", group))) is judged


@pytest.mark.parametrize(
    ("change", "judged"),
    [
        ({}, False),
        ({"finalizers": []}, False),
        ({"labels": {"team": "a"}, "annotations": {QUEUE_ANNOTATION: "production", "seen": "yes"}}, False),
        ({"annotations": {QUEUE_ANNOTATION: "production.other"}}, True),
        ({"labels": {"kai.scheduler/queue": "production"}}, True),
    ],
)
def test_what_was_there_before_can_still_be_finalised(change: dict[str, Any], judged: bool) -> None:
    api_server, _ = server(PLATFORM.inputs["environment"])
    changed = BAD | {"metadata": BAD["metadata"] | change}
    assert bool(api_server.says(changed, old=BAD)) is judged
    assert api_server.says(BAD | {"spec": BAD["spec"] | {"priority": 1}}, old=BAD)


def test_a_pod_of_an_operator_may_be_debugged() -> None:
    """It names its queue in the operator's own way."""
    api_server, _ = server(PLATFORM.inputs["environment"])
    made = pod(gpus(8), queue=None)
    assert told(api_server.says(made)["Deny"]) == {"gpu-queue"}
    for privileged in (False, True):
        added = [container(name="debug", securityContext={"privileged": privileged})]
        said = api_server.says(made | {"spec": made["spec"] | {"ephemeralContainers": added}}, old=made)
        assert told(said.get("Deny", "")) == ({"privileged"} if privileged else set())


def test_where_a_team_has_a_default_queue_none_need_be_named() -> None:
    api_server, _ = server(DEFAULTING.inputs["environment"])
    assert not api_server.says(pod(gpus(8), queue=None))
    assert not api_server.says(pod(gpus(8), queue="default"))
    without, _ = server(PLATFORM.inputs["environment"])
    assert told(without.says(pod(gpus(8), queue=None))["Deny"]) == {"gpu-queue"}
    assert told(without.says(pod(gpus(8), queue="default"))["Deny"]) == {"queue-allowed"}


def test_levels_of_the_document_hold_here_too() -> None:
    levels = {"privileged": "disabled", "image-version": "advisory"}
    api_server, _ = server(TWIN | {"policies": {"levels": levels}})
    said = api_server.says(BAD)
    assert {action: told(message) for action, message in said.items()} == {
        "Deny": {"queue-allowed"},
        "Warn": {"image-version"},
    }


def test_it_warns_only_or_does_not_look() -> None:
    warning, _ = server(TWIN | {"policies": {"admission": "warn"}})
    assert {action: told(message) for action, message in warning.says(BAD).items()} == {
        "Warn": {"queue-allowed", "image-version", "privileged"}
    }
    blind, _ = server(TWIN | {"policies": {"admission": "none"}})
    assert not blind.says(BAD)


def test_what_is_told_fits_into_an_answer() -> None:
    """The API server drops a message of more than 5 KiB, and one that it cannot write in one line."""
    api_server, _ = server(PLATFORM.inputs["environment"])
    many = [
        container(image=f"{'x' * 40}-{number}:latest", securityContext={"privileged": True}) for number in range(90)
    ]
    message = api_server.says(pod(*many))["Deny"]
    assert len(message.encode()) < 5 * 1024
    assert told(message) == {"image-version", "privileged"}
