"""Every rule, over the wire: what breaks it, what passes it, and what keeps it from judging."""

from typing import Any

import pytest
from objects import KINDS, QUEUE_LABEL, UNKNOWN, Resource, container, gpus, pod, secret, template, workload

from twin.policy_pack import PolicyPack, Verdict

_DIGEST = "example.org/a@sha256:" + "0" * 64
_CAP = {"capabilities": {"add": ["IPC_LOCK"]}}


def agent(namespace: str, name: str) -> Resource:
    privileged = container(securityContext={"privileged": True})
    return Resource(
        "kubernetes:apps/v1:DaemonSet",
        {"metadata": {"namespace": namespace, "name": name}, "spec": {"template": template(privileged)}},
    )


def ray(labels: Any, *containers: Any, kind: str = "RayCluster", **head: Any) -> Resource:
    plain = workload(kind, {"spec": {"containers": list(containers)}})
    spec = plain.inputs["spec"]
    if head:
        spec["headGroupSpec"] = spec["headGroupSpec"] | head
    return Resource(plain.type, {"metadata": {"labels": labels}, "spec": spec | {"autoscalerOptions": head or None}})


def job_set(labels: Any, *containers: Any, **pod: Any) -> Resource:
    made = workload("JobSet", {"spec": {"containers": list(containers), **pod}})
    return Resource(made.type, {"metadata": {"labels": labels}, **made.inputs})


def asks(**resources: Any) -> Resource:
    return pod(container(resources=resources))


def seeing(devices: Any) -> dict[str, Any]:
    return container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": devices}])


GPU = "nvidia.com/gpu"


def variable(name: Any, value: Any) -> dict[str, Any]:
    return container(env=[{"name": "PATH", "value": "/bin"}, {"name": name, "value": value}])


BREAKS: dict[str, list[tuple[Resource, str]]] = {
    # Rule: a resource, and where the rule is broken.
    "gpu-limits": [
        (asks(requests={GPU: 1}, limits={GPU: 3}), 'requests["nvidia.com/gpu"]: requests 1, but the limit is 3'),
        (asks(requests={GPU: 4}), 'requests["nvidia.com/gpu"]: requests 4 without a limit'),
        (asks(limits={GPU: "0.5"}), 'limits["nvidia.com/gpu"]: 0.5 is not a whole number'),
        (asks(limits={GPU: "500m"}), 'limits["nvidia.com/gpu"]: 500m is not a whole number'),
        (asks(limits={GPU: 0.5}), 'limits["nvidia.com/gpu"]: 0.5 is not a whole number'),
        (asks(limits={"nvidia.com/mig-1g.10gb": "1500m"}), 'limits["nvidia.com/mig-1g.10gb"]'),
        (asks(requests={"nvidia.com/gpu.shared": 2}, limits={"nvidia.com/gpu.shared": 1}), "but the limit is 1"),
        (pod(initContainers=[gpus(1, requests=2)]), "spec.initContainers[0].resources.requests"),
        (asks(requests={GPU: secret(1)}, limits={GPU: 2}), "requests [secret], but the limit is 2"),
    ],
    "gpu-parts": [
        (asks(limits={"nvidia.com/gpu.shared": 2}), 'limits["nvidia.com/gpu.shared"]: asks for 2: two slices may be'),
        (
            asks(limits={"nvidia.com/mig-1g.10gb": 2}),
            'limits["nvidia.com/mig-1g.10gb"]: asks for 2: a process uses one',
        ),
        (asks(limits={"nvidia.com/mig-1g.10gb.me.shared": 3}), "two slices may be of the same GPU"),
        (asks(limits={"nvidia.com/gpu.shared": "1k"}), "asks for 1k"),
        (asks(limits={"nvidia.com/gpu.shared": secret(2)}), "asks for [secret]"),
        (ray({QUEUE_LABEL: "a"}, container(resources={"limits": {"nvidia.com/gpu.shared": 8}})), "workerGroupSpecs[0]"),
    ],
    "gpu-queue": [
        (pod(gpus(8), queue=None), 'metadata.annotations["scheduling.volcano.sh/queue-name"]: names no queue'),
        (pod(gpus(8), queue=""), "names no queue"),
        (pod(gpus(8), schedulerName=None), "spec.schedulerName: the default scheduler knows no queues"),
        (pod(gpus(8), schedulerName="other"), "spec.schedulerName: other knows no queues"),
        (workload("Deployment", template(gpus(1), queue=None)), "spec.template.metadata.annotations"),
        (workload("Job", template(gpus(1), schedulerName=None)), "spec.template.spec.schedulerName"),
        (ray({}, gpus(8)), 'metadata.labels["volcano.sh/queue-name"]: names no queue'),
        (ray({"kueue.x-k8s.io/queue-name": ""}, gpus(8)), "names no queue"),
        (job_set({}, gpus(8), schedulerName="volcano"), "names no queue"),
        (job_set({"kai.scheduler/queue": "a"}, gpus(8)), "schedulerName: the default scheduler knows no queues"),
        (ray({QUEUE_LABEL: ""}, gpus(8), kind="RayCluster"), "names no queue"),
        (workload("RayCronJob", template(gpus(1))), "a RayCronJob cannot name a queue for what it makes"),
        (
            Resource(
                "kubernetes:batch.volcano.sh/v1alpha1:Job", {"spec": {"tasks": [{"template": template(gpus(1))}]}}
            ),
            "spec.queue: names no queue",
        ),
        (workload("PyTorchJob, which no table knows", template(gpus(8), queue=None)), "names no queue"),
    ],
    "nccl-variables": [
        (pod(variable("NCCL_IB_DISABLE", "true")), "spec.containers[0].env[1].value: NCCL_IB_DISABLE is true: is no"),
        (pod(variable("NCCL_IB_HCA", "mlx5_0; mlx5_1")), "names are separated by commas alone"),
        (pod(variable("NCCL_IB_TIMEOUT", "64")), "out of range"),
        (pod(variable("NCCL_ALGO", "spiral")), "NCCL refuses to start"),
        (
            pod(initContainers=[variable("NCCL_ALGO", secret("hidden"))]),
            "spec.initContainers[0].env[1].value: NCCL_ALGO is [secret]: NCCL reads it otherwise",
        ),
        (ray({QUEUE_LABEL: "a"}, variable("NCCL_NET_GDR_LEVEL", "phb")), "workerGroupSpecs[0]"),
    ],
    "gpu-visibility": [
        (pod(seeing("all")), "spec.containers[0].env[0].value: all hands over GPUs"),
        (pod(seeing("0,1")), "spec.containers[0].env[0].value"),
        (pod(initContainers=[seeing("all")]), "spec.initContainers[0].env[0].value"),
        (
            pod(container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {}}])),
            "env[0].valueFrom: takes the names",
        ),
        (workload("DaemonSet", template(seeing("all"))), "spec.template.spec.containers[0].env[0].value"),
        (pod(container(env=[{"name": UNKNOWN}, *seeing("all")["env"]])), "spec.containers[0].env[1].value"),
    ],
    "image-version": [
        (pod(container(image="example.org/a:latest")), "spec.containers[0].image: example.org/a:latest"),
        (pod(container(image="a")), "a has no tag"),
        (pod(container(image="registry:5000/team/a")), "registry:5000/team/a has no tag"),
        (pod(initContainers=[container(image="a:latest")]), "spec.initContainers[0].image"),
        (pod(ephemeralContainers=[container(image="a:latest")]), "spec.ephemeralContainers[0].image"),
        (pod(volumes=[{"name": "v"}, {"image": {"reference": "weights"}}]), "spec.volumes[1].image.reference"),
        (pod(container(image=secret("hidden:latest"))), "spec.containers[0].image: [secret] is not a version"),
        (ray({QUEUE_LABEL: "q"}, container(), image="ray:latest"), "spec.autoscalerOptions.image"),
    ],
    "privileged": [
        (pod(container(securityContext={"privileged": True})), "spec.containers[0].securityContext.privileged"),
        (pod(initContainers=[container(securityContext={"privileged": True})]), "spec.initContainers[0]"),
        (pod(securityContext={"windowsOptions": {"hostProcess": True}}), "spec.securityContext.windowsOptions"),
        (
            pod(container(securityContext={"windowsOptions": {"hostProcess": True}})),
            "spec.containers[0].securityContext.windowsOptions.hostProcess",
        ),
        (agent("default", "nvidia-mig-manager"), "securityContext.privileged"),
        (agent("gangline-system", "nvidia-device-plugin-whole"), "securityContext.privileged"),
        (agent("gangline-system", "nvidia-mps-control-daemon"), "securityContext.privileged"),
        (agent("gangline-system", "my-nvidia-mig-manager"), "securityContext.privileged"),
        (agent("gangline-system", "other"), "securityContext.privileged"),
        (agent("gangline-system", UNKNOWN), "securityContext.privileged"),
    ],
}

PASSES: dict[str, list[Resource]] = {
    "gpu-limits": [
        asks(limits={GPU: 8}),
        asks(limits={GPU: "8"}, requests={GPU: 8}),
        asks(limits={GPU: "1k"}, requests={GPU: 1000}),
        asks(requests={"cpu": "500m", "memory": "1.5Gi"}, limits={"cpu": 4}),
        asks(limits={GPU: 0}),
        pod(container(resources=None)),
    ],
    "gpu-parts": [
        asks(limits={"nvidia.com/gpu.shared": 1}),
        asks(limits={"nvidia.com/mig-7g.80gb": 1}),
        asks(limits={GPU: 8}),
        asks(limits={"example.com/thing.shared": 2}),
        pod(*[container(resources={"limits": {"nvidia.com/gpu.shared": 1}})] * 2),
    ],
    "gpu-queue": [
        pod(gpus(8)),
        pod(gpus(8), queue=secret("research.llm")),
        pod(container(), queue=None, schedulerName=None),
        ray({QUEUE_LABEL: "research.llm"}, gpus(8)),
        ray({"kueue.x-k8s.io/queue-name": "research.llm"}, gpus(8)),
        ray({"kai.scheduler/queue": "research.llm"}, gpus(8)),
        job_set({"kueue.x-k8s.io/queue-name": "research.llm"}, gpus(8)),
        job_set({"kai.scheduler/queue": "research.llm"}, gpus(8), schedulerName="kai-scheduler"),
        workload("Volcano Job", {"spec": {"containers": [gpus(8)]}}),
        workload("DaemonSetPatch", {"spec": {"containers": [gpus(8)]}}),
    ],
    "nccl-variables": [
        pod(variable("NCCL_DEBUG", "WARN")),
        pod(variable("NCCL_IB_HCA", "mlx5_1")),
        pod(variable("NCCL_SOMETHING_NEW", "x")),
        pod(variable("TIMEOUT", "64 s")),
        pod(container(env=[{"name": "NCCL_IB_SL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])),
    ],
    "gpu-visibility": [
        pod(seeing("void")),
        pod(seeing("none")),
        pod(seeing(None)),
        pod(container(env=[{"name": "OTHER", "value": "all"}])),
        Resource(
            "kubernetes:apps/v1:DaemonSet",
            {"metadata": {"namespace": "gangline-system"}, "spec": {"template": template(seeing("all"))}},
        ),
    ],
    "image-version": [
        pod(container(image="example.org/a:v1.2")),
        pod(container(image="registry:5000/team/a:latest-cuda12")),
        pod(container(image=_DIGEST)),
        pod(container(image="example.org/a:latest@sha256:" + "0" * 64)),
        workload("DaemonSetPatch", {"spec": {"containers": [{"name": "main"}]}}),
    ],
    "privileged": [
        pod(container(securityContext={"privileged": False})),
        pod(container(securityContext=_CAP)),
        agent("gangline-system", "nvidia-mig-manager"),
        agent("gangline-system", "nvidia-mps-control-daemon-serve"),
    ],
}

UNKNOWNS: dict[str, list[tuple[Resource, str]]] = {
    # Rule: a resource, and the field that the rule needs.
    "gpu-limits": [
        (asks(limits={GPU: UNKNOWN}), 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
        (asks(limits=UNKNOWN, requests={GPU: 1}), "spec.containers[0].resources.limits"),
        (asks(limits={GPU: secret(UNKNOWN)}), 'spec.containers[0].resources.limits["nvidia.com/gpu"]'),
    ],
    "gpu-parts": [
        (
            asks(limits={"nvidia.com/gpu.shared": UNKNOWN}),
            'spec.containers[0].resources.limits["nvidia.com/gpu.shared"]',
        ),
        (asks(limits=UNKNOWN), "spec.containers[0].resources.limits"),
    ],
    "gpu-queue": [
        (pod(gpus(8), queue=UNKNOWN), 'metadata.annotations["scheduling.volcano.sh/queue-name"]'),
        (ray(UNKNOWN, gpus(8)), "metadata.labels"),
        (pod(container(resources=UNKNOWN), queue=None), "spec.containers[0].resources"),
    ],
    "nccl-variables": [
        (pod(variable("NCCL_IB_SL", UNKNOWN)), "spec.containers[0].env[1].value"),
        (pod(container(env=UNKNOWN)), "spec.containers[0].env"),
        (pod(variable(UNKNOWN, "x")), "spec.containers[0].env[1].name"),
    ],
    "gpu-visibility": [
        (pod(seeing(UNKNOWN)), "spec.containers[0].env[0].value"),
        (pod(container(env=UNKNOWN)), "spec.containers[0].env"),
    ],
    "image-version": [
        (pod(container(image=UNKNOWN)), "spec.containers[0].image"),
        (pod(volumes=UNKNOWN), "spec.volumes"),
        (workload("RayCluster", UNKNOWN), "spec.workerGroupSpecs[0].template"),
    ],
    "privileged": [
        (pod(container(securityContext={"privileged": UNKNOWN})), "spec.containers[0].securityContext.privileged"),
        (Resource("kubernetes:apps/v1:DaemonSet", {"spec": UNKNOWN}), "spec"),
    ],
}


def of(rule: str, verdicts: list[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.policy == rule]


def cases(table: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(rule, case, id=f"{rule}-{n}") for rule, all_ in table.items() for n, case in enumerate(all_)]


@pytest.mark.parametrize(("rule", "case"), cases(BREAKS))
def test_a_broken_rule_stops_with_the_place_and_the_fix(
    pack: PolicyPack, rule: str, case: tuple[Resource, str]
) -> None:
    resource, place = case
    verdicts = of(rule, pack.analyze(resource))
    assert [verdict.level for verdict in verdicts] == ["mandatory"]
    assert place in verdicts[0].message
    assert "\nfix: " in verdicts[0].message
    assert verdicts[0].urn == resource.urn


@pytest.mark.parametrize(("rule", "resource"), cases(PASSES))
def test_what_is_right_passes(pack: PolicyPack, rule: str, resource: Resource) -> None:
    assert of(rule, pack.analyze(resource)) == []
    assert not any(rule in verdict.message for verdict in pack.analyze_stack([]))


@pytest.mark.parametrize(("rule", "case"), cases(UNKNOWNS))
def test_an_unknown_field_is_listed_in_a_preview(pack: PolicyPack, rule: str, case: tuple[Resource, str]) -> None:
    resource, field = case
    assert of(rule, pack.analyze(resource)) == []
    listed = of("unjudged", pack.analyze_stack([]))
    assert [verdict.level for verdict in listed] == ["advisory"]
    line = next(line for line in listed[0].message.splitlines() if line.startswith(f"it: {field} is not known yet ("))
    assert rule in line


@pytest.mark.parametrize(("rule", "case"), cases(UNKNOWNS))
def test_an_unknown_field_stops_an_update(updating: PolicyPack, rule: str, case: tuple[Resource, str]) -> None:
    resource, field = case
    verdicts = of(rule, updating.analyze(resource))
    assert [verdict.level for verdict in verdicts] == ["mandatory"]
    assert f"{field}: cannot be judged, it is not known yet" in verdicts[0].message
    assert updating.analyze_stack([]) == []


def test_every_rule_is_tested_three_ways(pack: PolicyPack) -> None:
    # in files of their own
    stack_rules = {"queue-sums", "queue-exists", "mps-pods", "plugin-files", "device-plugins", "counter-files"}
    rules = {policy.name for policy in pack.info().policies} - {"unjudged"} - stack_rules
    assert rules == set(BREAKS) == set(PASSES) == set(UNKNOWNS)


@pytest.mark.parametrize("kind", KINDS)
def test_pods_are_found_in_every_kind_of_workload(pack: PolicyPack, kind: str) -> None:
    bad = {"spec": {"containers": [container(image="a:latest", securityContext={"privileged": True})]}}
    verdicts = pack.analyze(workload(kind, bad))
    assert {verdict.policy for verdict in verdicts} == {"image-version", "privileged"}
    assert pack.analyze(workload(kind, template())) == []


@pytest.mark.parametrize(
    "resource",
    [
        Resource("kubernetes:core/v1:ConfigMap", {"data": {"containers": "x"}}),
        Resource("kubernetes:helm.sh/v3:Release", {"values": {"spec": {"containers": [{"image": "a:latest"}]}}}),
        Resource("aws:ec2/instance:Instance", {"containers": [{"image": "a:latest"}]}),
        Resource("gangline:index:Queues", {}),
    ],
)
def test_what_makes_no_pods_is_left_alone(pack: PolicyPack, resource: Resource) -> None:
    assert pack.analyze(resource) == []


@pytest.mark.parametrize("other", [UNKNOWN, "text", 8, [], {"template": "text"}, {"template": {"spec": [1]}}])
def test_a_bad_pod_is_found_beside_one_that_cannot_be_read(pack: PolicyPack, other: Any) -> None:
    bad = {"template": {"spec": {"containers": [container(image="a:latest"), other]}}}
    cluster = Resource("kubernetes:ray.io/v1:RayCluster", {"spec": {"workerGroupSpecs": [other, bad, other]}})
    (verdict,) = pack.analyze(cluster)
    assert "spec.workerGroupSpecs[1].template.spec.containers[0].image: a:latest" in verdict.message
    (listed,) = pack.analyze_stack([])
    assert "workerGroupSpecs[0]" in listed.message
    assert "workerGroupSpecs[2]" in listed.message
