"""Ray jobs and Ray services: what is refused, and what their gang is."""

from typing import Any

import pytest

from model import gangs
from tests.model.documents import SPOT, Change, environment, errors, only, put, warnings

CLUSTER: dict[str, Any] = {
    "namespace": "research",
    "queue": "research.llm",
    "pool": "train",
    "ray": "2.52.0",
    "head": {"cpu": 8, "memory": "32Gi"},
    "workers": {"count": 4, "cpu": 96, "memory": "1Ti", "gpus": 8},
}
JOB = {**CLUSTER, "entrypoint": "python sweep.py"}
APPLICATION = {"name": "chat", "import_path": "chat.app:model", "route_prefix": "/chat"}
SERVICE = {**CLUSTER, "serve": {"applications": [APPLICATION]}}
JOB_AT, SERVICE_AT = "ray.jobs.sweep", "ray.services.chat"


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        (put(f"{JOB_AT}.entrypoint", " "), "entrypoint", "must be a command"),
        (put(f"{JOB_AT}.restarts", -1), "restarts", "must not be negative"),
        (put(f"{JOB_AT}.restarts", 2**31 - 1), "restarts", "is more than 2147483646"),
        (put(f"{JOB_AT}.restartPolicy", "Never"), "restartPolicy", "is restarts: …"),
        (put(f"{JOB_AT}.submission", "InteractiveMode"), "submission", ""),
        (put(f"{JOB_AT}.ttl", 60), "ttl", ""),
        (put(f"{JOB_AT}.ttl", "24856d"), "ttl", "is more than 24855d"),
        (put(f"{JOB_AT}.ttl", "9999999h"), "ttl", "is more than 24855d"),
        (put(f"{JOB_AT}.ray", "2.52"), "ray", "one exact version"),
        (put(f"{JOB_AT}.image", "rayproject/ray:2.9.0"), "image", "has Ray 2.9.0"),
        (put(f"{JOB_AT}.head.replicas", 2), "head.replicas", "there is exactly one"),
        (put(f"{JOB_AT}.head.gpus", 1), "head.gpus", "GPUs belong to workers"),
        (put(f"{JOB_AT}.workers.count", {"min": 5, "max": 2}), "workers.count.min", "min 5 is more than max 2"),
        (put(f"{JOB_AT}.workers.count", -1), "workers.count", "must not be negative"),
        (put(f"{JOB_AT}.queue", "research"), "queue", "jobs go to leaves only"),
        (put(f"{JOB_AT}.queue", "root"), "queue", "takes no jobs"),
        (put(f"{JOB_AT}.queue", "nope"), "queue", "no such queue"),
    ],
)
def test_one_mistake_in_a_job_is_one_problem(change: Change, path: str, says: str):
    where, problem = only(errors(put(JOB_AT, JOB), change))
    assert where == f"{JOB_AT}.{path}"
    assert says in problem.message


def test_numbers_go_as_far_as_kuberay_can_count():
    assert not errors(put(JOB_AT, {**JOB, "restarts": 2**31 - 2, "ttl": "24855d"}))


@pytest.mark.parametrize(("restarts", "warned"), [(None, True), (0, True), (1, False)])
def test_a_job_whose_head_may_go_wants_to_come_back(restarts: int | None, warned: bool):
    job = {**JOB, "queue": "research"} | ({} if restarts is None else {"restarts": restarts})
    on_spot = (*SPOT, put(JOB_AT, job))
    assert not errors(*on_spot)
    assert (f"{JOB_AT}.restarts" in (found := warnings(*on_spot))) == warned
    assert not warned or "when that of the head goes" in found[f"{JOB_AT}.restarts"].message


@pytest.mark.parametrize(
    ("serve", "path", "says"),
    [
        ({}, "serve", "at least one application"),
        ({"applications": []}, "serve", "at least one application"),
        ({"applications": "chat"}, "serve", "at least one application"),
        ({"applications": ["chat:app"]}, "serve.applications[0]", "must be a mapping"),
        ({"applications": [{"name": "chat"}]}, "serve.applications[0].import_path", "its module and, after a colon"),
        (
            {"applications": [APPLICATION, {**APPLICATION, "route_prefix": "/b"}]},
            "serve.applications[1]",
            "0 and 1 have the same name",
        ),
        (
            {"applications": [APPLICATION, {**APPLICATION, "name": "b"}]},
            "serve.applications[1]",
            "0 and 1 have the same route_prefix",
        ),
        (
            {"applications": [{"import_path": "a:b"}, {"name": "b", "import_path": "a:b"}]},
            "serve.applications[1]",
            "the same route_prefix",
        ),
    ],
)
def test_what_serve_would_refuse_much_later(serve: Any, path: str, says: str):
    where, problem = only(errors(put(SERVICE_AT, {**SERVICE, "serve": serve})))
    assert where == f"{SERVICE_AT}.{path}"
    assert says in problem.message


@pytest.mark.parametrize(
    ("key", "value", "says", "fix"),
    [
        ("import_path", "chat", "an application has an import_path", None),
        ("import_path", 7, "an application has an import_path", None),
        ("import_path", "chat:", "an application has an import_path", None),
        ("import_path", ":app", "an application has an import_path", None),
        ("import_path", "chat.app:model:more", "an application has an import_path", None),
        ("import_path", "chat..app:model", "an application has an import_path", None),
        ("import_path", "chat/app:model", "an application has an import_path", None),
        ("import_path", "app.py:model", "names a file", "app:model"),
        ("import_path", "./chat/app.py:model", "names a file", "chat.app:model"),
        ("import_path", "chat/app.py", "names a file", "chat.app:…"),
        ("route_prefix", "chat", "must begin with /", "/chat"),
        ("route_prefix", "chat/", "must begin with /", "/chat"),
        ("route_prefix", "", "must begin with /", "/"),
        ("route_prefix", ["/chat"], "must begin with /", None),
        ("route_prefix", "/chat/", "must not end with /", "/chat"),
        ("route_prefix", "//", "must not end with /", "/"),
        ("route_prefix", "/chat/{id}", "must not contain { or }", None),
        ("name", "", "must be a name", None),
        ("name", None, "must be a name", None),
        ("name", ["chat"], "must be a name", None),
    ],
)
def test_what_is_wrong_with_an_application_is_told_where_it_stands(key: str, value: Any, says: str, fix: str | None):
    serve = {"applications": [{**APPLICATION, key: value}]}
    path, problem = only(errors(put(SERVICE_AT, {**SERVICE, "serve": serve})))
    assert path == f"{SERVICE_AT}.serve.applications[0].{key}"
    assert (problem.value, problem.fix) == (value, fix)
    assert says in problem.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("import_path", "chat.app.model"),
        ("import_path", "chat:model"),
        ("import_path", "python_app:copy"),
        ("route_prefix", None),
        ("route_prefix", "/"),
        ("route_prefix", "/a/b"),
    ],
)
def test_applications_that_do(key: str, value: Any):
    assert not errors(put(SERVICE_AT, {**SERVICE, "serve": {"applications": [{**APPLICATION, key: value}]}}))


@pytest.mark.parametrize("group", ["jobs", "services"])
@pytest.mark.parametrize(
    ("name", "fault"), [("a" * 47, None), ("a" * 48, "at most 47"), ("9a", "begin"), ("a.b", "'.'")]
)
def test_names_leave_room_for_what_kuberay_adds(group: str, name: str, fault: str | None):
    found = errors(put(f"ray.{group}", {name: JOB if group == "jobs" else SERVICE}))
    assert (fault is None) == (not found)
    if fault:
        assert fault in only(found)[1].message


@pytest.mark.parametrize(
    ("kind", "value", "other", "shared"),
    [
        (
            "jobs",
            JOB,
            "clusters",
            "a Ray cluster of namespace research has this name, and both would have the same gang",
        ),
        ("services", SERVICE, "clusters", "a Ray cluster of namespace research has this name, and both would have"),
        ("services", SERVICE, "clusters", "the same Service tuning-head-svc"),
        ("services", SERVICE, "jobs", "a Ray job of namespace research has this name, and both would have"),
        ("services", SERVICE, "jobs", "the same Service tuning-head-svc"),
    ],
)
def test_what_kuberay_makes_of_one_name_is_not_shared(kind: str, value: dict[str, Any], other: str, shared: str):
    start = put("ray", {other: {"tuning": JOB if other == "jobs" else CLUSTER}})
    path, problem = only(errors(start, put(f"ray.{kind}.tuning", value)))
    assert (path, problem.value, problem.allowed) == (f"ray.{kind}.tuning", "tuning", "another name")
    assert shared in problem.message
    assert not errors(start, put(f"ray.{kind}.tuning", {**value, "namespace": "research-dev"}))


def test_three_of_one_name_are_two_to_rename():
    found = errors(put("ray.jobs", {"tuning": JOB}), put("ray.services", {"tuning": SERVICE}))
    assert sorted(found) == ["ray.jobs.tuning", "ray.services.tuning"]


@pytest.mark.parametrize(
    ("quota", "mode", "fits"),
    [
        (392, "HTTPMode", True),
        (392, "SidecarMode", False),
        (392, "K8sJobMode", False),
        ("392500m", "SidecarMode", True),
        ("392500m", "K8sJobMode", True),
    ],
)
def test_who_submits_is_counted(quota: Any, mode: str, fits: bool):
    found = errors(
        put(JOB_AT, {**JOB, "submission": mode, "namespace": "research-dev"}),
        put("ray.clusters.tuning.workers.count", 1),
        put("tenants.research.quota", {"cpu": quota}),
    )
    assert not found if fits else only(found)[0] == f"{JOB_AT}.workers.count"


def test_the_pod_that_submits_is_one_of_the_pods_of_its_namespace():
    small = put("tenants.research.quota", {"pods": 5})
    _, problem = only(errors(put(JOB_AT, JOB), small))
    assert "needs 6 of pods" in problem.message
    assert not errors(put(JOB_AT, {**JOB, "submission": "SidecarMode"}), small)


def test_the_sidecar_that_submits_stands_beside_the_head():
    sidecar = put(JOB_AT, {**JOB, "submission": "SidecarMode"})
    env = environment(sidecar)
    gang = gangs.gang(env, ("ray", "jobs", "sweep"))
    assert gang.lead is not None
    assert (gang.pods, str(gang.lead["cpu"]), gang.apart) == (5, "8.5", {})
    path, problem = only(errors(sidecar, put(f"{JOB_AT}.head.cpu", 223)))
    assert path == f"{JOB_AT}.head.cpu"
    assert "its submitter for 0.5" in problem.message


def test_a_service_that_fits_once_cannot_be_upgraded_beside_itself():
    large = put(f"{SERVICE_AT}.workers.count", 9)
    path, problem = only(errors(put(SERVICE_AT, SERVICE), large))
    assert path == f"{SERVICE_AT}.upgrade"
    assert "needs 144 of nvidia.com/gpu, queue research may use 128" in problem.message
    assert "needs 18 nodes, pool train holds 16" in problem.message
    assert problem.fix == "upgrade: Recreate"
    assert not errors(put(SERVICE_AT, SERVICE), large, put(f"{SERVICE_AT}.upgrade", "Recreate"))
    assert not errors(put(SERVICE_AT, SERVICE))


def test_a_service_that_never_fits_is_one_mistake():
    path, _ = only(errors(put(SERVICE_AT, SERVICE), put(f"{SERVICE_AT}.workers.count", 17)))
    assert path == f"{SERVICE_AT}.workers.count"
