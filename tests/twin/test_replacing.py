"""The table of what replaces an object, held against the provider itself: it answers without a cluster."""

import copy
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import grpc
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc

from twin import differences, tools
from twin.monitor import Resource

NAME = "pulumi-resource-kubernetes"
META = {"name": "one", "namespace": "team"}
LABELS = {"matchLabels": {"app": "one"}}
CONTAINER = {"name": "main", "image": "registry.example.com/one:1", "args": ["a"], "env": [{"name": "A", "value": "1"}]}
POD = {
    "containers": [CONTAINER],
    "nodeName": "n1",
    "priorityClassName": "low",
    "volumes": [{"name": "v", "emptyDir": {}}],
}
TEMPLATE = {"metadata": {"labels": {"app": "one"}}, "spec": {"containers": [CONTAINER]}}
OBJECTS: dict[str, dict[str, Any]] = {
    "apps/v1:DaemonSet": {"spec": {"selector": LABELS, "template": TEMPLATE, "minReadySeconds": 1}},
    "apps/v1:Deployment": {"spec": {"selector": LABELS, "template": TEMPLATE, "replicas": 1}},
    "apps/v1:StatefulSet": {
        "spec": {
            "selector": LABELS,
            "template": TEMPLATE,
            "replicas": 1,
            "serviceName": "one",
            "podManagementPolicy": "Parallel",
            "revisionHistoryLimit": 2,
        }
    },
    "batch/v1:Job": {"spec": {"template": TEMPLATE, "completions": 2, "parallelism": 2, "backoffLimit": 1}},
    "core/v1:ConfigMap": {"data": {"a": "1"}},
    "core/v1:Namespace": {},
    "core/v1:PersistentVolume": {
        "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d", "volumeHandle": "h"}, "nfs": {"path": "/a"}}
    },
    "core/v1:PersistentVolumeClaim": {
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "shared",
            "volumeName": "v",
            "resources": {"requests": {"storage": "1Gi"}},
        }
    },
    "core/v1:Pod": {"spec": POD},
    "core/v1:ResourceQuota": {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}},
    "core/v1:Secret": {"type": "Opaque", "data": {"a": "MQ=="}},
    "core/v1:Service": {"spec": {"clusterIP": "10.0.0.1", "ports": [{"name": "http", "port": 80}]}},
    "core/v1:ServiceAccount": {"automountServiceAccountToken": True},
    "rbac.authorization.k8s.io/v1:ClusterRole": {
        "rules": [{"verbs": ["get"], "resources": ["pods"], "apiGroups": [""]}]
    },
    "rbac.authorization.k8s.io/v1:ClusterRoleBinding": {"roleRef": {"name": "r"}, "subjects": [{"name": "s"}]},
    "rbac.authorization.k8s.io/v1:RoleBinding": {"roleRef": {"name": "r"}, "subjects": [{"name": "s"}]},
    "storage.k8s.io/v1:StorageClass": {"provisioner": "p", "parameters": {"a": "1"}, "reclaimPolicy": "Delete"},
    "scheduling.volcano.sh/v1beta1:Queue": {"spec": {"weight": 1, "capability": {"cpu": "1"}}},
    "ray.io/v1:RayCluster": {"spec": {"rayVersion": "2.52.0"}},
}
CLUSTER_WIDE = {"Namespace", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "StorageClass", "Queue"}


def plain_object(type_: str) -> dict[str, Any]:
    version, _, kind = type_.partition(":")
    meta = {key: value for key, value in META.items() if key == "name" or kind not in CLUSTER_WIDE}
    head = {"apiVersion": version.removeprefix("core/"), "kind": kind, "metadata": {**meta, "labels": {"a": "1"}}}
    return {**head, **copy.deepcopy(OBJECTS[type_])}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path


def changed(value: Any, path: tuple[Any, ...]) -> Any:
    found = copy.deepcopy(value)
    inside = found
    for step in path[:-1]:
        inside = inside[step]
    old = inside[path[-1]]
    inside[path[-1]] = (not old) if isinstance(old, bool) else old + 1 if isinstance(old, int) else f"{old}x"
    return found


CASES = [
    (type_, path)
    for type_ in OBJECTS
    for path in leaves(plain_object(type_))
    # A container of another name is another container.
    if path[0] not in ("apiVersion", "kind") and not (path[-3:-2] == ("containers",) and path[-1] == "name")
]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    program = tools.here((NAME,))[NAME]
    process = subprocess.Popen([program, "127.0.0.1:9"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        channel = grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}")
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        # Told to write manifests it looks for no cluster.
        settings = {"renderYamlToDirectory": str(tmp_path_factory.mktemp("manifests")), "enableServerSideApply": "true"}
        stub.Configure(pb.ConfigureRequest(args=struct(settings), acceptSecrets=True, acceptResources=True))
        yield stub
        channel.close()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(dict(values), struct_pb2.Struct())


def resource(type_: str, inputs: Mapping[str, Any]) -> Resource:
    urn = f"urn:pulumi:one::gangline::{type_}::one"
    return Resource(urn, type_, "one", None, True, inputs)


def foreseen(type_: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    (change,) = differences.changes([resource(type_, before)], [resource(type_, now)])
    return change.kind


@pytest.mark.parametrize(("type_", "path"), CASES, ids=lambda it: it if isinstance(it, str) else ".".join(map(str, it)))
def test_what_replaces_an_object_is_what_the_provider_says(provider: Any, type_: str, path: tuple[Any, ...]) -> None:
    before = plain_object(type_)
    now = changed(before, path)
    token = f"kubernetes:{type_}"
    answer = provider.Diff(
        pb.DiffRequest(
            id="team/one",
            urn=resource(token, {}).urn,
            olds=struct({**before, "__inputs": before}),
            news=struct(now),
            old_inputs=struct(before),
        )
    )
    assert answer.changes == pb.DiffResponse.DIFF_SOME
    assert foreseen(token, before, now) == ("replace" if answer.replaces else "change"), list(answer.replaces)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"clusterIdentifier": "a", "context": "a"}, {"clusterIdentifier": "b", "context": "a"}),
        ({"clusterIdentifier": "a", "context": "a"}, {"clusterIdentifier": "a", "context": "b"}),
        ({"clusterIdentifier": "a"}, {"clusterIdentifier": "a", "enableServerSideApply": "true"}),
        ({"context": "a"}, {"clusterIdentifier": "a", "context": "a"}),
    ],
)
def test_what_replaces_a_provider_is_what_it_says_itself(provider: Any, before: Any, now: Any) -> None:
    token = "pulumi:providers:kubernetes"
    answer = provider.DiffConfig(
        pb.DiffRequest(urn=resource(token, {}).urn, olds=struct(before), news=struct(now), old_inputs=struct(before))
    )
    assert foreseen(token, before, now) == ("replace" if answer.replaces else "change")
