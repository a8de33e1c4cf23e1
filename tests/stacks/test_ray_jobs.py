"""Ray jobs and Ray services as KubeRay wants them."""

from collections.abc import Callable, Mapping
from typing import Any

import yaml

from model import document, gangs
from model.quantities import Quantity
from twin.rehearsal import Rehearsal, Resource

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]
SERVE = {"applications": [{"name": "answers", "import_path": "answers.app:model", "route_prefix": "/"}]}


def job(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    def change(value: dict[str, Any]) -> None:
        value["ray"]["jobs"] = {"sweep": {**value["ray"]["clusters"]["tuning"], "entrypoint": "python s.py", **fields}}

    return change


def service(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    def change(value: dict[str, Any]) -> None:
        value["ray"]["services"] = {"chat": {**value["ray"]["clusters"]["tuning"], "serve": SERVE, **fields}}

    return change


def made_job(rehearsal: Rehearsal) -> Resource:
    return rehearsal.named("platform-ray-job-sweep-job")


def made_service(rehearsal: Rehearsal) -> Resource:
    return rehearsal.named("platform-ray-service-chat-service")


def cluster(rehearsal: Rehearsal) -> Mapping[str, Any]:
    return rehearsal.named("platform-ray-tuning-cluster").inputs


def test_all_kinds_have_the_same_pods_and_the_same_gang(rehearsed: Rehearse) -> None:
    def both(value: dict[str, Any]) -> None:
        job()(value)
        service()(value)

    found = rehearsed(both)
    plain = {key: part for key, part in cluster(found)["spec"].items() if key != "upgradeStrategy"}
    assert made_job(found).inputs["spec"]["rayClusterSpec"] == plain
    assert made_service(found).inputs["spec"]["rayClusterConfig"] == plain
    for each in (made_job(found), made_service(found)):
        assert each.inputs["metadata"]["labels"] == cluster(found)["metadata"]["labels"]


def test_gpus_are_free_when_a_job_has_ended(rehearsed: Rehearse) -> None:
    spec = made_job(rehearsed(job())).inputs["spec"]
    assert spec["shutdownAfterJobFinishes"] is True
    assert "ttlSecondsAfterFinished" not in spec
    assert made_job(rehearsed(job(ttl="15m"))).inputs["spec"]["ttlSecondsAfterFinished"] == 900


def test_who_submits_is_counted_where_kuberay_counts_it(rehearsed: Rehearse, twin_value: dict[str, Any]) -> None:
    spec = made_job(rehearsed(job())).inputs["spec"]
    container = spec["submitterPodTemplate"]["spec"]["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert spec["submitterPodTemplate"]["spec"]["restartPolicy"] == "Never"
    assert spec["submissionMode"] == "K8sJobMode"
    for mode, cpu in (("K8sJobMode", "392500m"), ("SidecarMode", "392500m"), ("HTTPMode", "392")):
        assert ("submitterPodTemplate" in made_job(rehearsed(job(submission=mode))).inputs["spec"]) == (
            mode == "K8sJobMode"
        )
        changed = {**twin_value, "ray": {"clusters": dict(twin_value["ray"]["clusters"])}}
        job(submission=mode)(changed)
        gang = gangs.gang(document.load(changed), ("ray", "jobs", "sweep"))
        assert gang.pods == 5, "the gang must not wait for who waits for it"
        assert gang.min_resources["cpu"] == Quantity.parse(cpu)


def test_any_change_is_a_new_job(rehearsed: Rehearse) -> None:
    made = made_job(rehearsed(job(restarts=2)))
    assert made.replace_on_changes == ("spec", "metadata.labels")
    assert made.delete_before_replace
    assert made.inputs["spec"]["backoffLimit"] == 2
    assert made.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "jsonpath={.status.dashboardURL}"}


def test_a_service_is_upgraded_beside_itself_or_made_anew(rehearsed: Rehearse) -> None:
    beside = made_service(rehearsed(service()))
    assert beside.inputs["spec"]["upgradeStrategy"] == {"type": "NewCluster"}
    assert beside.replace_on_changes == ("metadata.labels",)
    anew = made_service(rehearsed(service(upgrade="Recreate")))
    # KubeRay itself would let the old cluster run as it is.
    assert anew.inputs["spec"]["upgradeStrategy"] == {"type": "None"}
    assert anew.replace_on_changes == ("metadata.labels", "spec.rayClusterConfig")


def test_the_configuration_of_serve_is_handed_on_as_it_is(rehearsed: Rehearse) -> None:
    made = made_service(rehearsed(service()))
    assert yaml.safe_load(made.inputs["spec"]["serveConfigV2"]) == SERVE
    assert made.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
