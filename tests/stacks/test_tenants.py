"""Teams' namespaces."""

from collections.abc import Callable
from typing import Any

from model import tenants
from model.environment import Environment
from tests.policies.api_server import ApiServer, object_of
from twin.rehearsal import Rehearsal

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]


def test_namespace_names_its_queues_and_the_default_one(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(lambda value: value["tenants"]["production"].pop("defaultQueue"))
    research = rehearsal.named("platform-tenant-research-research").inputs["metadata"]
    assert research["annotations"] == {
        "gangline.dev/queues": "research.llm,research.vision,default",
        "scheduling.volcano.sh/queue-name": "research.llm",
    }
    assert research["labels"] == {"gangline.dev/tenant": "research"}
    production = rehearsal.named("platform-tenant-production-production").inputs["metadata"]
    assert production["annotations"] == {"gangline.dev/queues": "production"}


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


def test_the_laws_about_workloads_hold_in_namespaces_of_teams(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(lambda value: value.update(policies={"levels": {"image-version": "advisory"}}))
    for action, name in (("Deny", "gangline-workloads"), ("Warn", "gangline-workloads-advice")):
        policy = rehearsal.named(f"platform-admission-{action.lower()}").inputs
        binding = rehearsal.named(f"platform-admission-{action.lower()}-binding").inputs
        assert policy["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"] == name
        assert binding["spec"]["validationActions"] == [action]
        (selected,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
        assert selected == {"key": "gangline.dev/tenant", "operator": "Exists"}
        variables = {variable["name"] for variable in policy["spec"]["variables"]}
        assert ("imageVersion" in variables) is (action == "Warn")
        assert ("privileged" in variables) is (action == "Deny")
    rules = {rule["apiGroups"][0]: rule["resources"] for rule in policy["spec"]["matchConstraints"]["resourceRules"]}
    assert {"pods", "pods/ephemeralcontainers"} <= {*rules[""]}
    assert {"rayclusters", "rayjobs", "rayservices"} <= {*rules["ray.io"]}


def test_without_teams_there_is_nobody_to_hold_to_them(rehearsed: Rehearse) -> None:
    def nobody(value: dict[str, Any]) -> None:
        value.pop("tenants")
        value.pop("ray")

    assert not [each for each in rehearsed(nobody).resources if "admission" in each.name]
    none = rehearsed(lambda value: value.update(policies={"admission": "none"}))
    assert not [each for each in none.resources if "platform-admission" in each.name]


def test_what_a_stack_makes_for_its_teams_is_not_refused(
    shipped: tuple[str, Environment], rehearsal: Rehearsal
) -> None:
    """Neither its workloads nor the jobs that look after storage."""
    _, env = shipped
    api_server, namespaces = ApiServer(env), tenants.by_namespace(env)
    made = [each for each in (object_of(resource, "default") for resource in rehearsal.resources) if each]
    of_teams = [each for each in made if each["metadata"]["namespace"] in namespaces]
    assert bool(of_teams) is bool(env.ray.clusters or env.ray.jobs or env.ray.services or env.training.jobs)
    for each in of_teams:
        assert api_server.says(each) == {}, each["metadata"]
