"""Teams' namespaces."""

from collections.abc import Callable
from typing import Any

from twin.rehearsal import Rehearsal

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]


def test_namespace_names_its_default_queue(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(lambda value: value["tenants"]["production"].pop("defaultQueue"))
    research = rehearsal.named("platform-tenant-research-research").inputs["metadata"]
    assert research["annotations"] == {"scheduling.volcano.sh/queue-name": "research.llm"}
    assert research["labels"] == {"gangline.dev/tenant": "research"}
    assert "annotations" not in rehearsal.named("platform-tenant-production-production").inputs["metadata"]


def test_default_queue_is_applied_by_a_webhook_that_is_on(rehearsed: Rehearse) -> None:
    custom = rehearsed(lambda _: None).named("platform-volcano-release").inputs["values"]["custom"]
    assert "/podgroups/mutate" in custom["enabled_admissions"].split(",")


def test_quota_bounds_requests(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(lambda value: value["tenants"]["production"].update(quota={"gpu": 256, "cpu": 1000}))
    quota = rehearsal.named("platform-tenant-production-production-quota").inputs
    assert quota["spec"] == {"hard": {"requests.nvidia.com/gpu": "256", "requests.cpu": "1000"}}
    assert [each.name for each in rehearsal.of_kind("ResourceQuota")] == ["platform-tenant-production-production-quota"]


def test_groups_are_bound_in_every_namespace(rehearsed: Rehearse) -> None:
    def two(value: dict[str, Any]) -> None:
        value["tenants"]["research"]["namespaces"] = ["research", "research-batch"]

    rehearsal = rehearsed(two)
    bindings = [each for each in rehearsal.of_kind("RoleBinding") if "tenant-research" in each.name]
    assert {each.inputs["metadata"]["namespace"] for each in bindings} == {"research", "research-batch"}
    view = rehearsal.named("platform-tenant-research-research-view").inputs
    assert view["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    assert [subject["name"] for subject in view["subjects"]] == ["research-readers"]
