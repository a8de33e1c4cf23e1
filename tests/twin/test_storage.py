"""Classes, volumes, claims and quotas on a real control plane."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import eventually
from lightkube import ApiError, Client
from lightkube.models.core_v1 import PersistentVolumeClaimSpec, VolumeResourceRequirements
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, PersistentVolume, PersistentVolumeClaim, ResourceQuota
from lightkube.resources.storage_v1 import StorageClass

from model import document
from twin.cluster import Twin
from twin.rehearsal import Rehearsal, rehearse

SHIPPED = Path(__file__).resolve().parents[2] / "stacks" / "Pulumi.onprem-infiniband.yaml"
KINDS: dict[str, Any] = {
    "StorageClass": StorageClass,
    "Namespace": Namespace,
    "ResourceQuota": ResourceQuota,
    "PersistentVolume": PersistentVolume,
    "PersistentVolumeClaim": PersistentVolumeClaim,
}


@pytest.fixture
def client(twin: Twin) -> Iterator[Client]:
    with twin.client() as connected:
        yield connected


def _objects(rehearsal: Rehearsal, kind: str) -> list[dict[str, Any]]:
    namespaces = ("llm", "vision", "vision-dev")
    found = [dict(each.inputs) for each in rehearsal.of_kind(kind)]
    return [
        it
        for it in found
        if it["metadata"].get("namespace", it["metadata"]["name"]).startswith((*namespaces, "shared"))
    ]


def test_the_claims_of_an_environment_bind_to_their_own_volumes_and_count(client: Client) -> None:
    rehearsal = rehearse(document.read(SHIPPED).load(), stack="onprem-infiniband")
    made = {kind: _objects(rehearsal, kind) for kind in KINDS}
    for kind, found in made.items():
        for each in found:
            client.create(KINDS[kind].from_dict(each))
    try:
        assert {it["metadata"]["namespace"] for it in made["PersistentVolumeClaim"]} == {"llm", "vision", "vision-dev"}
        for each in made["PersistentVolumeClaim"]:
            namespace = each["metadata"]["namespace"]
            eventually(lambda where=namespace: _bound(client, where), what=f"claim of {namespace}")
            assert _claim(client, namespace).spec.volumeName == f"{namespace}-shared"  # pyright: ignore[reportOptionalMemberAccess]
        more = PersistentVolumeClaim(
            metadata=ObjectMeta(name="more", namespace="vision"),
            spec=PersistentVolumeClaimSpec(
                accessModes=["ReadWriteMany"],
                storageClassName="shared",
                resources=VolumeResourceRequirements(requests={"storage": "1Gi"}),
            ),
        )
        with pytest.raises(ApiError, match="exceeded quota"):
            client.create(more)
    finally:
        for each in made["PersistentVolumeClaim"]:
            client.delete(PersistentVolumeClaim, "shared", namespace=each["metadata"]["namespace"])
        for kind in ("PersistentVolume", "Namespace", "StorageClass"):
            for each in made[kind]:
                client.delete(KINDS[kind], each["metadata"]["name"])


def _claim(client: Client, namespace: str) -> PersistentVolumeClaim:
    return client.get(PersistentVolumeClaim, "shared", namespace=namespace)


def _bound(client: Client, namespace: str) -> bool:
    status = _claim(client, namespace).status
    return status is not None and status.phase == "Bound"
