"""Workloads that the pack and the API server judge alike: every case of their laws, every kind with each mistake."""

from collections.abc import Iterator
from typing import Any

from model import laws
from tests.policies import checks
from tests.policies.api_server import object_of
from tests.policies.cases import BREAKS, PASSES
from tests.policies.objects import KINDS, Resource, Subject, container, gpus, template, workload
from twin.policy_pack import PolicyPack

BAD: dict[str, Any] = {
    # A template of a pod for each law that breaks it; those about MPS need a pool that shares GPUs so.
    "gpu-limits": template(gpus(1, requests=2)),
    "gpu-parts": template(container(resources={"limits": {"nvidia.com/gpu.shared": 2}})),
    "gpu-queue": template(gpus(1), queue=None, schedulerName="default-scheduler"),
    "gpu-node": template(gpus(1), nodeName="train-0"),
    "queue-allowed": template(queue="production"),
    "gpu-visibility": template(container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])),
    "image-version": template(container(image="a")),
    "privileged": template(container(securityContext={"privileged": True})),
    "host-access": template(hostPID=True, volumes=[{"name": "root", "hostPath": {"path": "/"}}]),
}


def subjects() -> Iterator[tuple[str, Subject]]:
    """Give all of them, each with a name."""
    for law in laws.BY_ID:
        yield from ((f"{law}-broken-{number}", case[0]) for number, case in enumerate(BREAKS[law]))
        yield from ((f"{law}-kept-{number}", subject) for number, subject in enumerate(PASSES[law]))
    for kind in KINDS:
        yield f"{kind}-right", workload(kind, template(gpus(8)))
        yield from ((f"{kind}-{law}", workload(kind, bad)) for law, bad in BAD.items())


def made_of(subject: Subject, namespace: str) -> Iterator[tuple[Resource, dict[str, Any]]]:
    """Give what of a subject reaches the API server: the resource and the object."""
    for resource in checks.resources(subject):
        if (made := object_of(resource, namespace)) is not None:
            yield resource, made


def by_pack(pack: PolicyPack, platform: Resource, type_: str, made: dict[str, Any]) -> set[str]:
    """The laws that an object breaks as the pack sees it, in a stack of a document."""
    inputs = {key: value for key, value in made.items() if key not in ("apiVersion", "kind")}
    verdicts = checks.judged(pack, [platform, Resource(type_, inputs)])
    return {verdict.policy for verdict in verdicts} & laws.BY_ID.keys()
