"""The uploader beside the jobs of an environment with a contract about checkpoints."""

from typing import Any

import pytest

from components.storage.jobs import script
from model import document
from tests.model.documents import changed, put
from tests.stacks.conftest import ROOT
from twin.rehearsal import Rehearsal, rehearse


@pytest.fixture(scope="module")
def training() -> Rehearsal:
    written = document.read(ROOT / "stacks" / "Pulumi.aws-training.yaml").value
    env = document.load(changed(written, put("ray.clusters.tuning.checkpoints", True)))
    return rehearse(env, stack="aws-training")


def _worker(rehearsal: Rehearsal) -> dict[str, Any]:
    spec = rehearsal.named("platform-ray-tuning-cluster").inputs["spec"]
    return spec["workerGroupSpecs"][0]["template"]["spec"]


def test_the_uploader_starts_before_the_job_and_ends_after_it(training: Rehearsal) -> None:
    (uploader,) = _worker(training)["initContainers"]
    assert uploader["restartPolicy"] == "Always"
    assert uploader["command"][-2:] == ["/opt/gangline/uploader.sh", "run"]
    assert _worker(training)["terminationGracePeriodSeconds"] > 200


def test_job_and_uploader_see_the_same_tiers(training: Rehearsal) -> None:
    worker = _worker(training)
    places = [
        {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        for container in (worker["containers"][0], worker["initContainers"][0])
    ]
    for tier, place in (("scratch", "/scratch"), ("shared", "/shared")):
        assert [each[tier] for each in places] == [place, place]
    assert {volume["name"] for volume in worker["volumes"]} == set(places[0]) | set(places[1])


def test_the_uploader_may_no_more_than_it_needs(training: Rehearsal) -> None:
    (uploader,) = _worker(training)["initContainers"]
    security = uploader["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["DAC_OVERRIDE"]}
    assert security["allowPrivilegeEscalation"] is False
    assert not any("hostPath" in volume for volume in _worker(training)["volumes"])


def test_the_script_is_in_each_namespace(training: Rehearsal) -> None:
    made = training.named("platform-checkpoints-research-research-script").inputs
    assert made["metadata"] == {"name": "checkpoints", "namespace": "research"}
    assert made["data"] == {"uploader.sh": script()}
    account = training.named("platform-checkpoints-research-research-account").inputs
    assert account["metadata"]["name"] == _worker(training)["serviceAccountName"] == "jobs"


def test_jobs_are_told_how_to_load_data(training: Rehearsal) -> None:
    told = {variable["name"]: variable["value"] for variable in _worker(training)["containers"][0]["env"]}
    # 12 cores for each GPU, less one.
    assert told["GANGLINE_DATALOADER_WORKERS"] == "11"
    assert told["GANGLINE_DATALOADER_PREFETCH"] == "4"
    assert told["GANGLINE_CHECKPOINT_DIR"] == "/scratch/checkpoints"


def test_volumes_that_are_mounted_without_being_attached_are_not_counted_as_a_resource(training: Rehearsal) -> None:
    values = training.named("platform-volcano-release").inputs["values"]
    assert values["custom"]["ignored_provisioners"] == "fsx.csi.aws.com,lustre-csi.hpe.com"
