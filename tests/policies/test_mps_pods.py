"""The law about containers that share a GPU by MPS, which needs to know the pools."""

from typing import Any

import pytest
import yaml

from tests.policies.objects import UNKNOWN, Resource, container, pod, workload
from twin.paths import CHECKOUT
from twin.policy_pack import PolicyPack, Verdict

DOCUMENT = yaml.safe_load((CHECKOUT / "stacks" / "Pulumi.sharing.yaml").read_text())["config"]["gangline:environment"]
SHARED: dict[str, Any] = {"resources": {"limits": {"nvidia.com/gpu.shared": 1}}}


def _pool(kind: str) -> str:
    pools = DOCUMENT["pools"].items()
    return next(name for name, pool in pools if isinstance(pool.get("sharing"), dict) and kind in pool["sharing"])


def on(pool: Any, *containers: Any, **spec: Any) -> Resource:
    return pod(*containers, nodeSelector={"gangline.dev/pool": pool}, **spec)


def mounting(path: Any, **fields: Any) -> dict[str, Any]:
    return container(volumeMounts=[{"name": "a", "mountPath": "/data"}, {"name": "b", "mountPath": path}], **fields)


def judged(pack: PolicyPack, resource: Resource, document: Any = DOCUMENT) -> list[Verdict]:
    """Judge a stack of a document and one workload."""
    pack.analyze(Resource("gangline:index:Platform", {"environment": document}, "platform"))
    pack.analyze(resource)
    verdicts = pack.analyze_stack([Resource("gangline:index:Platform", {}, "platform"), resource])
    return [verdict for verdict in verdicts if verdict.policy in ("mps-pods", "unjudged")]


MPS, SLICED = _pool("mps"), _pool("timeSlicing")


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        (on(MPS, mounting("/dev/shm", **SHARED)), "spec.containers[0].volumeMounts[1].mountPath: /dev/shm must be"),
        (on(MPS, mounting("/dev/shm/", **SHARED)), "volumeMounts[1].mountPath"),
        (on(MPS, container(**SHARED), hostIPC=True), "spec.hostIPC: brings the node's own"),
        (
            on(MPS, container(env=[{"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp"}], **SHARED)),
            "spec.containers[0].env[0].name",
        ),
        (
            workload(
                "RayCluster",
                {
                    "spec": {
                        "nodeSelector": {"gangline.dev/pool": MPS},
                        "containers": [mounting("/dev/shm", **SHARED)],
                    }
                },
            ),
            "spec.workerGroupSpecs[0].template.spec.containers[0]",
        ),
    ],
)
def test_what_belongs_to_the_mps_server_is_refused(pack: PolicyPack, resource: Resource, told: str):
    (verdict,) = judged(pack, resource)
    assert (verdict.policy, verdict.level) == ("mps-pods", "mandatory")
    assert told in verdict.message


@pytest.mark.parametrize(
    "resource",
    [
        on(MPS, container(**SHARED)),
        on(MPS, mounting("/cache", **SHARED)),
        on(MPS, mounting("/dev/shm")),  # uses no GPU
        on(SLICED, mounting("/dev/shm", **SHARED)),
        on("elsewhere", mounting("/dev/shm", **SHARED), hostIPC=True),
        pod(mounting("/dev/shm", **SHARED)),
    ],
)
def test_other_containers_are_left_alone(pack: PolicyPack, resource: Resource):
    assert judged(pack, resource) == []


def test_without_a_document_nothing_is_known_of_pools(pack: PolicyPack):
    resource = on(MPS, mounting("/dev/shm", **SHARED))
    pack.analyze(resource)
    assert [verdict for verdict in pack.analyze_stack([resource]) if verdict.policy == "mps-pods"] == []


@pytest.mark.parametrize(
    ("resource", "field"),
    [
        (on(UNKNOWN, mounting("/dev/shm", **SHARED)), 'spec.nodeSelector["gangline.dev/pool"]'),
        (on(MPS, mounting(UNKNOWN, **SHARED)), "spec.containers[0].volumeMounts[1].mountPath"),
        (on(MPS, container(**SHARED), hostIPC=UNKNOWN), "spec.hostIPC"),
    ],
)
def test_what_is_not_known_yet_is_listed(pack: PolicyPack, resource: Resource, field: str):
    (verdict,) = judged(pack, resource)
    assert verdict.policy == "unjudged"
    assert field in verdict.message
