"""What a namespace of a tenant finds of the tiers."""

from typing import Any

import pytest

from tests.model.documents import Change, example, put
from tests.rehearsals import rehearsal_of
from twin.rehearsal import Rehearsal

LUSTRE = {"kind": "lustre", "size": "100Ti", "mount": "10.0.0.5@o2ib:/scratch"}
SIZES = [put("tenants.research.quota.storage", "20Ti"), put("tenants.production.quota.storage", "30Ti")]
NAMESPACES = {"research": "20Ti", "research-dev": "20Ti", "production": "30Ti"}


def rehearsed(*changes: Change) -> Rehearsal:
    return rehearsal_of(example(*changes), "storage")


def spec(rehearsal: Rehearsal, kind: str) -> dict[str, Any]:
    return {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in rehearsal.of_kind(kind)}


def test_volumes_are_each_for_one_claim_and_outlive_it():
    rehearsal = rehearsed(put("storage.shared", LUSTRE), *SIZES)
    volumes = spec(rehearsal, "PersistentVolume")
    claimed = [each for each in rehearsal.of_kind("PersistentVolumeClaim") if "folders" not in each.name]
    assert {claim.inputs["metadata"]["namespace"] for claim in claimed} == set(NAMESPACES)
    for claim in claimed:
        namespace, asked = claim.inputs["metadata"]["namespace"], claim.inputs["spec"]
        volume = volumes[asked["volumeName"]]
        reference = volume["claimRef"]
        assert (reference["namespace"], reference["name"]) == (namespace, claim.inputs["metadata"]["name"])
        assert asked["resources"]["requests"] == volume["capacity"] == {"storage": NAMESPACES[namespace]}
        assert asked["storageClassName"] == volume["storageClassName"] == "shared"
        assert asked["accessModes"] == volume["accessModes"] == ["ReadWriteMany"]
        assert volume["persistentVolumeReclaimPolicy"] == "Retain"
        assert volume["csi"]["volumeHandle"] == f"10.0.0.5@o2ib:/scratch/{namespace}"
    (made,) = rehearsal.of_kind("StorageClass")
    assert made.inputs["reclaimPolicy"] == "Retain"


def test_a_class_of_the_cluster_makes_the_volumes_itself():
    rehearsal = rehearsed(put("storage.shared", {"kind": "class", "name": "weka", "size": "100Ti"}), *SIZES)
    assert not rehearsal.of_kind("PersistentVolume")
    assert not rehearsal.of_kind("StorageClass")
    assert {claim["storageClassName"] for claim in spec(rehearsal, "PersistentVolumeClaim").values()} == {"weka"}


@pytest.mark.parametrize(("data", "kept"), [("keep", True), ("delete", False)])
def test_namespaces_with_data_that_would_go_with_them_stay(data: str, kept: bool):
    rehearsal = rehearsed(
        put("storage.shared", {"kind": "class", "name": "weka", "size": "100Ti"}), put("data", data), *SIZES
    )
    teams = [each for each in rehearsal.of_kind("Namespace") if each.inputs["metadata"]["name"] in NAMESPACES]
    claimed = rehearsal.of_kind("PersistentVolumeClaim")
    assert len(teams) == len(claimed) == len(NAMESPACES)
    assert {each.retain_on_delete for each in [*teams, *claimed]} == {kept}
    # The next `up` finds them there, and makes them its own again.
    assert {"platform-adopting" in (each.provider or "") for each in [*teams, *claimed]} == {kept}


def test_a_namespace_whose_data_is_elsewhere_goes():
    rehearsal = rehearsed(put("storage.shared", LUSTRE), *SIZES)
    assert not any(each.retain_on_delete for each in rehearsal.of_kind("Namespace"))


def test_claims_that_are_there_are_left_alone():
    there = {"kind": "claims", "size": "100Ti", "claims": dict.fromkeys(NAMESPACES, "data")}
    rehearsal = rehearsed(put("storage.shared", there))
    assert not rehearsal.of_kind("PersistentVolumeClaim")


def test_each_namespace_knows_its_part_of_the_archive_and_no_key():
    archive = {"kind": "s3", "bucket": "checkpoints", "endpoint": "https://minio.example.com", "secret": "hush"}
    rehearsal = rehearsed(put("storage.archive", archive))
    found = [each for each in rehearsal.of_kind("ConfigMap") if each.inputs["metadata"]["name"] == "storage"]
    assert {each.inputs["metadata"]["namespace"]: each.inputs["data"]["archive"] for each in found} == {
        namespace: f"archive:checkpoints/{namespace}" for namespace in NAMESPACES
    }
    assert "hush" not in str([each.inputs for each in found])


def test_a_ray_cluster_waits_for_the_claims_of_its_team():
    rehearsal = rehearsed(put("storage.shared", LUSTRE), *SIZES)
    cluster = rehearsal.named("platform-ray-tuning")
    claim = rehearsal.named("platform-storage-research-research-claim")
    assert claim.urn in cluster.dependencies
