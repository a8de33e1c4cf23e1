"""Kueue's real manager with the queues of a document: what is admitted, what waits, and what is taken back."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from cluster_helpers import eventually, look_up, offer
from lightkube import Client, codecs
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Namespace, Node, Pod
from lightkube.types import CascadeType

from components.crds.templated import RELEASE
from model import document, kueue, queue_labels, queues
from model.namespaces import JOBSET, KUEUE
from model.offers import node_offers
from tests.upstream import helm
from twin import tools
from twin.cluster import Twin
from twin.stages import RUNS_FOR

Workload = create_namespaced_resource("kueue.x-k8s.io", "v1beta2", "Workload", "workloads")
LocalQueue = create_namespaced_resource("kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues")
JobSet = create_namespaced_resource("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
_GLOBAL = {
    kind: create_global_resource("kueue.x-k8s.io", "v1beta2", kind, plural)
    for kind, plural in {
        "Topology": "topologies",
        "ResourceFlavor": "resourceflavors",
        "Cohort": "cohorts",
        "ClusterQueue": "clusterqueues",
    }.items()
}
RACK = "topology.example.com/rack"
DOCUMENT = yaml.safe_load("""
cluster: {name: twin, provider: existing, kubernetes: "1.35", context: gangline-twin}
pools:
  system: {shape: {cpu: 16, memory: 64Gi}, size: 3}
  train:
    shape: {cpu: 64, memory: 512Gi, gpu: {model: h100-sxm-80gb, count: 8}}
    size: 8
    domains: {rack: 2}
topology: {labels: [topology.example.com/rack]}
scheduler: {kind: kueue}
queues:
  research:
    deserved: {gpu: 32}
    queues: {llm: {deserved: {gpu: 24}}, vision: {deserved: {gpu: 8}}}
  production: {guarantee: {gpu: 16}, deserved: {gpu: 32}, capability: {gpu: 40}}
tenants:
  research: {namespaces: [kueue-research], queues: [research]}
  production: {namespaces: [kueue-production], queues: [production], defaultQueue: production}
""")


@pytest.fixture(scope="module")
def client(twin: Twin) -> Iterator[Client]:
    with twin.client() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def cluster(twin: Twin, client: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cluster of the document, with Kueue and JobSet by their own charts."""
    env = document.load(DOCUMENT)
    own = [offer(f"system-{number}") for number in range(3)]
    twin.apply_nodes([*own, *(node for node in node_offers(env) if node.pool == "train")])
    sources = tmp_path_factory.mktemp("sources")
    settings = {"controllerManagerConfigYaml": yaml.safe_dump(kueue.manager_configuration())}
    image = {"repository": "registry.k8s.io/kueue/kueue", "tag": "v0.17.0"}
    values = {"controllerManager": {"manager": {"image": image}}, "managerConfig": settings}
    chart = tools.materialise("kueue-chart", sources)
    installed = helm.render(chart, values, release=RELEASE, namespace=KUEUE)
    values = {"image": {"repository": "registry.k8s.io/jobset/jobset", "tag": "v0.11.1"}}
    chart = tools.materialise("jobset-chart", sources)
    installed += helm.render(chart, values, release="jobset", namespace=JOBSET)
    _install(client, installed)
    for namespace in env.tenants.values():
        client.apply(Namespace(metadata=ObjectMeta(name=namespace.namespaces[0])), field_manager="tests")
    eventually(lambda: {loan.process for loan in twin.status().loans if loan.ready} >= {"kueue", "jobset"}, 60, "ready")
    called = kueue.flavor(env)
    _make(client, "Topology", called, kueue.topology_spec(env))
    _make(client, "ResourceFlavor", called, kueue.flavor_spec(env))
    _make(client, "Cohort", queues.ROOT, kueue.root_spec(env))
    for node in queues.flatten(env):
        if node.leaf:
            _make(client, "ClusterQueue", node.path, kueue.cluster_queue_spec(env, node))
        else:
            _make(client, "Cohort", node.path, kueue.cohort_spec(env, node))
    for queue in kueue.local_queues(env):
        metadata = ObjectMeta(name=queue.name, namespace=queue.namespace)
        client.create(LocalQueue(metadata=metadata, spec={"clusterQueue": queue.queue}))
    for path in queues.leaves(env):
        eventually(lambda path=path: _condition(look_up(client, _GLOBAL["ClusterQueue"], path), "Active"), what=path)
    yield
    # What would stop others' jobs once nobody answers for it, and then who answers.
    for kinds in (("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService"), ("Deployment",)):
        for made in installed:
            if made["kind"] in kinds:
                resource: Any = type(codecs.from_dict(_counted(made)))
                client.delete(resource, made["metadata"]["name"], namespace=made["metadata"].get("namespace"))
    eventually(lambda: not {loan.process for loan in twin.status().loans} & {"kueue", "jobset"}, what="they are gone")
    twin.apply_nodes(own)


def _install(client: Client, objects: list[dict[str, Any]]) -> None:
    namespaces = {made["metadata"]["namespace"] for made in objects if "namespace" in made["metadata"]}
    for name in namespaces - {"kube-system"}:
        client.apply(Namespace(metadata=ObjectMeta(name=name)), field_manager="tests")
    first = ("CustomResourceDefinition", "ServiceAccount", "ConfigMap", "Secret")
    for made in sorted(objects, key=lambda made: made["kind"] not in first):
        client.apply(codecs.from_dict(_counted(made)), field_manager="tests", force=True)


def _counted(value: Any) -> Any:
    """Whole numbers as such: on its way from the provider each number becomes a float."""
    if isinstance(value, dict):
        return {key: _counted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_counted(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _make(client: Client, kind: str, name: str, spec: dict[str, Any]) -> None:
    client.create(_GLOBAL[kind](metadata=ObjectMeta(name=name), spec=spec))


def _condition(made: dict[str, Any], kind: str) -> bool:
    conditions = made.get("status", {}).get("conditions", [])
    return any(condition["type"] == kind and condition["status"] == "True" for condition in conditions)


def _job(name: str, queue: str | None, pods: int, *, within: str | None = None) -> dict[str, Any]:
    annotations = {RUNS_FOR: "1h"} | ({"kueue.x-k8s.io/podset-required-topology": within} if within else {})
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    spec = {"restartPolicy": "Never", "nodeSelector": {"gangline.dev/pool": "train"}, "containers": [container]}
    return {
        "metadata": {"name": name, "labels": {queue_labels.KUEUE: queue} if queue else {}},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "completionMode": "Indexed",
            "template": {"metadata": {"annotations": annotations}, "spec": spec},
        },
    }


def _submit(client: Client, namespace: str, job: dict[str, Any]) -> None:
    made: Any = Job.from_dict(job)
    client.create(made, namespace=namespace)


def _workload(client: Client, namespace: str, name: str) -> dict[str, Any]:
    found = [made.to_dict() for made in client.list(Workload, namespace=namespace)]
    return next((made for made in found if made["metadata"]["name"].startswith(f"job-{name}-")), {})


def _admitted(client: Client, namespace: str, name: str) -> bool:
    return _condition(_workload(client, namespace, name), "Admitted")


def _why(client: Client, namespace: str, name: str) -> str:
    conditions = _workload(client, namespace, name).get("status", {}).get("conditions", [])
    return next((it["message"] for it in conditions if it["type"] == "QuotaReserved" and it["status"] == "False"), "")


def _running(client: Client, namespace: str, job: str) -> list[str]:
    """The nodes of the pods that run."""
    pods = client.list(Pod, namespace=namespace, labels={"job-name": job})
    return [pod.spec.nodeName or "" for pod in pods if pod.spec and pod.status and pod.status.phase == "Running"]


@pytest.fixture
def empty(client: Client) -> Iterator[None]:
    """Nothing runs before, and nothing after."""
    yield
    for namespace in ("kueue-research", "kueue-production"):
        client.deletecollection(Job, namespace=namespace, cascade=CascadeType.FOREGROUND)
        eventually(lambda namespace=namespace: not list(client.list(Pod, namespace=namespace)), what="no pods")
        # Kueue takes its finalizer off in its own time, and tries again later and later.
        eventually(lambda namespace=namespace: not list(client.list(Workload, namespace=namespace)), 90, "no workloads")


@pytest.mark.usefixtures("empty")
def test_a_gang_is_admitted_whole_and_one_that_is_too_large_has_no_pod(client: Client) -> None:
    _submit(client, "kueue-production", _job("large", None, 6))  # its team's default queue
    _submit(client, "kueue-research", _job("wide", "research.vision", 5, within=RACK))  # a rack has four nodes
    why = eventually(lambda: _why(client, "kueue-research", "wide"), what="a reason")
    assert "topology" in why
    assert "4 out of 5" in why
    _submit(client, "kueue-research", _job("fits", "research.llm", 4, within=RACK))
    eventually(lambda: len(_running(client, "kueue-research", "fits")) == 4, what="four pods")
    nodes = _running(client, "kueue-research", "fits")
    racks = {look_up(client, Node, name)["metadata"]["labels"][RACK] for name in nodes}
    assert len(racks) == 1
    why = eventually(lambda: _why(client, "kueue-production", "large"), what="a reason")
    assert "nvidia.com/gpu" in why
    for namespace, name in (("kueue-research", "wide"), ("kueue-production", "large")):
        assert not list(client.list(Pod, namespace=namespace, labels={"job-name": name}))


@pytest.mark.usefixtures("empty")
def test_what_is_guaranteed_is_not_lent_and_what_is_deserved_is_taken_back(client: Client) -> None:
    """Of 64 GPUs research may have 48: 32 are its own, and of production's 32 it may borrow what is not guaranteed."""
    for name in ("one", "two", "three"):
        _submit(client, "kueue-research", _job(name, "research.llm", 2))
        eventually(lambda name=name: _admitted(client, "kueue-research", name), what=name)
    _submit(client, "kueue-research", _job("four", "research.llm", 1))
    why = eventually(lambda: _why(client, "kueue-research", "four"), what="a reason")
    assert "nvidia.com/gpu" in why
    _submit(client, "kueue-production", _job("claim", "production", 4))
    eventually(lambda: len(_running(client, "kueue-production", "claim")) == 4, 30, "production has what it deserves")
    evicted = [name for name in ("one", "two", "three") if not _admitted(client, "kueue-research", name)]
    assert len(evicted) == 1
    eventually(lambda: not _running(client, "kueue-research", evicted[0]), what="the whole gang is gone")


@pytest.mark.usefixtures("empty")
def test_a_job_set_is_admitted_like_any_other(client: Client) -> None:
    job = _job("worker", None, 2)["spec"]
    del job["template"]["metadata"]  # it runs on by itself
    sets = {"replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": job}}]}
    metadata = ObjectMeta(name="training", labels={queue_labels.KUEUE: "research.vision"})
    client.create(JobSet(metadata=metadata, spec=sets), namespace="kueue-research")
    eventually(lambda: len(_running(client, "kueue-research", "training-worker-0")) == 2, what="both workers run")
    client.delete(JobSet, "training", namespace="kueue-research")


def test_a_team_submits_to_its_own_queues_alone(client: Client) -> None:
    _submit(client, "kueue-production", _job("stranger", "research.llm", 1))
    eventually(lambda: "LocalQueue" in _why(client, "kueue-production", "stranger"), what="there is no such queue here")
    client.delete(Job, "stranger", namespace="kueue-production")


def test_the_webhook_refuses_what_contradicts_itself(client: Client) -> None:
    resources = [{"name": "cpu", "nominalQuota": "4", "lendingLimit": "8"}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "gangline", "resources": resources}]}
    with pytest.raises(ApiError, match="lendingLimit"):
        _make(client, "ClusterQueue", "wrong", {"cohortName": "root", "resourceGroups": [group]})
