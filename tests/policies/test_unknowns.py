"""What is not known yet hides no mistake beside it, wherever the two stand, and an update lets neither pass.

Field case: with other packs the whole rule turned into a note, and a mandatory rule looked passed.
"""

from typing import Any

import pytest

from tests.policies import checks
from tests.policies.cases.queues import TREE, queue
from tests.policies.objects import KINDS, SIGNATURE, UNKNOWN, Resource, container, gpus, pod, secret, template
from twin.policy_pack import PolicyPack

LATEST = container(image="a:latest")
HIDDEN = container(image=UNKNOWN)
GPU = "nvidia.com/gpu"


def ray(head: Any, *workers: Any) -> Resource:
    token, inputs = KINDS["RayCluster"](template())
    spec = {"headGroupSpec": {"template": head}, "workerGroupSpecs": [{"template": each} for each in workers]}
    return Resource(f"kubernetes:{token}", inputs | {"spec": spec})


def listed(*pods: Any) -> Resource:
    return Resource("kubernetes:core/v1:PodList", {"items": list(pods)})


def files(**data: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": data})


def variable(name: Any, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


SIDE_BY_SIDE: dict[str, tuple[str, list[Resource], str, str]] = {
    # The rule, a stack, the place of the mistake, the place of what is unknown.
    "the capability of another queue": (
        "queue-sums",
        [queue("a", deserved=4, capability={GPU: UNKNOWN}), queue("b", deserved=8, capability=4)],
        'spec.deserved["nvidia.com/gpu"]',
        'a: spec.capability["nvidia.com/gpu"]',
    ),
    "another amount of the same queue": (
        "queue-sums",
        [queue("a", deserved={GPU: UNKNOWN, "cpu": 8}, capability={GPU: 4, "cpu": 4})],
        "spec.deserved.cpu",
        'a: spec.deserved["nvidia.com/gpu"]',
    ),
    "another container": (
        "image-version",
        [pod(HIDDEN, LATEST)],
        "spec.containers[1].image",
        "spec.containers[0].image",
    ),
    "a container that begins before": (
        "image-version",
        [pod(LATEST, initContainers=[HIDDEN])],
        "spec.containers[0].image",
        "spec.initContainers[0].image",
    ),
    "all volumes": ("image-version", [pod(LATEST, volumes=UNKNOWN)], "spec.containers[0].image", "spec.volumes"),
    "a secret": (
        "image-version",
        [pod(container(image=secret(UNKNOWN)), LATEST)],
        "spec.containers[1].image",
        "spec.containers[0].image",
    ),
    "an output": (
        "image-version",
        [pod(container(image={SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"}), LATEST)],
        "spec.containers[1].image",
        "spec.containers[0].image",
    ),
    "another pod of the cluster": (
        "image-version",
        [ray({"spec": {"containers": [LATEST]}}, UNKNOWN)],
        "spec.headGroupSpec.template.spec.containers[0].image",
        "spec.workerGroupSpecs[0].template",
    ),
    "another pod of the list": (
        "image-version",
        [listed(UNKNOWN, template(LATEST))],
        "items[1].spec.containers[0].image",
        "items[0]",
    ),
    "another GPU of the same container": (
        "gpu-limits",
        [pod(container(resources={"limits": {GPU: UNKNOWN, "nvidia.com/mig-1g.10gb": "0.5"}}))],
        'limits["nvidia.com/mig-1g.10gb"]',
        'spec.containers[0].resources.limits["nvidia.com/gpu"]',
    ),
    "the requests": (
        "gpu-limits",
        [pod(container(resources={"limits": {GPU: "0.5"}, "requests": UNKNOWN}))],
        'limits["nvidia.com/gpu"]',
        "spec.containers[0].resources.requests",
    ),
    "the variable before": (
        "nccl-variables",
        [pod(container(env=[variable("NCCL_IB_SL", UNKNOWN), variable("NCCL_IB_DISABLE", "true")]))],
        "spec.containers[0].env[1].value",
        "spec.containers[0].env[0].value",
    ),
    "the name of a variable": (
        "gpu-visibility",
        [pod(container(env=[variable(UNKNOWN, "all"), variable("NVIDIA_VISIBLE_DEVICES", "all")]))],
        "spec.containers[0].env[1].value",
        "spec.containers[0].env[0].name",
    ),
    "another container's rights": (
        "privileged",
        [pod(container(securityContext=UNKNOWN), container(securityContext={"privileged": True}))],
        "spec.containers[1].securityContext.privileged",
        "spec.containers[0].securityContext",
    ),
    "another file": (
        "counter-files",
        [files(a=UNKNOWN, b="DCGM_FI_DEV_FB_FREE, guage, Free\n")],
        "data.b: guage",
        "data.a",
    ),
    "the queue of another workload": (
        "queue-exists",
        [*TREE, pod(gpus(1), queue=UNKNOWN), pod(gpus(1), queue="nope", name="other")],
        "nope is no queue",
        'metadata.annotations["scheduling.volcano.sh/queue-name"]',
    ),
}
by_name = pytest.mark.parametrize("name", SIDE_BY_SIDE)


@by_name
def test_a_preview_tells_the_mistake_and_counts_what_it_could_not_judge(pack: PolicyPack, name: str) -> None:
    rule, stack, bad, unknown = SIDE_BY_SIDE[name]
    verdicts = checks.judged(pack, stack)
    (told,) = checks.of(rule, verdicts)
    assert told.level == "mandatory"
    assert bad in told.message
    (line,) = checks.waiting(rule, verdicts)
    assert f"{unknown} is not known yet" in line
    (summary,) = checks.of("unjudged", verdicts)
    counted, lines = summary.message.splitlines()[1], summary.message.splitlines()[2:]
    assert int(counted.split()[0]) == len(lines)


@by_name
def test_an_update_stops_at_both(updating: PolicyPack, name: str) -> None:
    rule, stack, bad, unknown = SIDE_BY_SIDE[name]
    told = checks.of(rule, checks.judged(updating, stack))
    assert [verdict.level for verdict in told] == ["mandatory"] * 2
    assert any(bad in verdict.message for verdict in told)
    assert any(f"{unknown.removeprefix('a: ')}: cannot be judged" in verdict.message for verdict in told)
