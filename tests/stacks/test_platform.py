"""The platform stack: every shipped environment is sound, and grows, is ordered and is protected as it should be."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.environment import Environment
from policies.pack import RULES
from tests.policies.in_process import InProcess
from twin.rehearsal import Rehearsal, rehearse

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
REFRESH = "GANGLINE_REFRESH_GOLDEN"
SECRET_UNKNOWN = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "value": "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
}
"""What a preview knows of a secret that AWS has yet to tell, on the wire."""

Rehearse = Callable[[Callable[[dict[str, Any]], Any]], Rehearsal]


def graph(rehearsal: Rehearsal) -> str:
    """One line per resource, indented below its component: type, name and what sets it apart."""
    depth: dict[str | None, int] = {None: -1}
    lines = []
    for resource in rehearsal.resources:
        depth[resource.urn] = depth[resource.parent] + 1
        marks = [
            *(["protected"] if resource.protect else []),
            *(["retained"] if resource.retain_on_delete else []),
            *(["adopted"] if (resource.provider or "").endswith("-adopting") else []),
            *(f"replaced on {path}" for path in resource.replace_on_changes),
        ]
        lines.append(
            f"{'  ' * depth[resource.urn]}{resource.type} {resource.name}"
            + (f"  [{', '.join(marks)}]" if marks else "")
        )
    return "\n".join(lines) + "\n"


def test_every_shipped_environment_has_its_golden_graph(shipped: tuple[str, Environment], rehearsal: Rehearsal) -> None:
    """Names are URNs: a changed line is a resource replaced for everybody."""
    name, _ = shipped
    found = graph(rehearsal)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get(REFRESH):
        golden.write_text(found)
    accept = f"to accept it: {REFRESH}=1 .venv/bin/pytest tests/stacks/test_platform.py"
    assert found == (golden.read_text() if golden.exists() else ""), accept


def test_no_golden_graph_is_left_over() -> None:
    shipped = {file.name.split(".")[1] for file in (ROOT / "stacks").glob("Pulumi.*.yaml")}
    assert {file.stem for file in GOLDEN.glob("*.txt")} == shipped


def test_every_shipped_environment_keeps_all_rules(rehearsal: Rehearsal) -> None:
    """Those that only advise, too: what we make ourselves needs no exemption."""
    pack = InProcess(RULES)
    verdicts = [verdict for resource in rehearsal.resources for verdict in pack.analyze(resource)]
    verdicts += pack.analyze_stack(rehearsal.resources)
    assert [verdict for verdict in verdicts if verdict.policy != "unjudged"] == []


def test_rehearsals_do_not_depend_on_hash_seeds() -> None:
    program = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from model import document\n"
        "from twin.rehearsal import rehearse\n"
        "environment = document.read(Path('stacks/Pulumi.twin.yaml')).load()\n"
        "resources = rehearse(environment, stack='twin').resources\n"
        "print(json.dumps([[each.urn, each.inputs, each.dependencies, each.provider] for each in resources]))\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert len(json.loads(printed[0])) > 50


def test_number_of_resources_does_not_grow_with_nodes(rehearsed: Rehearse) -> None:
    def size(nodes: int) -> Callable[[dict[str, Any]], Any]:
        return lambda value: value["pools"]["train"].update(size=nodes)

    few, many = rehearsed(size(64)), rehearsed(size(1024))
    assert [each.urn for each in few.resources] == [each.urn for each in many.resources]


def static_racks(value: dict[str, Any]) -> None:
    value["topology"] = {"racks": {f"r{n}": {"nodes": [f"r{n}-{m:02}" for m in range(16)]} for n in range(4)}}
    value["pools"]["train"].pop("domains")


def test_static_racks_add_one_resource_each(rehearsed: Rehearse) -> None:
    def flat(value: dict[str, Any]) -> None:
        value.pop("topology")
        value["pools"]["train"].pop("domains")
        value["ray"]["clusters"]["tuning"].pop("within")

    without = rehearsed(flat)
    with_racks = rehearsed(static_racks)
    # the racks and the component around them
    assert len(with_racks.resources) - len(without.resources) == 4 + 1
    assert len(with_racks.of_kind("HyperNode")) == 4


def test_labels_leave_hypernodes_to_the_scheduler(rehearsed: Rehearse) -> None:
    assert rehearsed(lambda _: None).of_kind("HyperNode") == []


def test_environment_without_gpus_has_no_node_agents(rehearsed: Rehearse) -> None:
    def plain(value: dict[str, Any]) -> None:
        value["pools"]["train"] = {"shape": {"cpu": 64, "memory": "512Gi"}, "size": 4}
        value.pop("topology")
        value.update(queues={"all": {}}, ray={})
        value["tenants"] = {"research": {"namespaces": ["research"], "queues": ["all"]}}

    rehearsal = rehearsed(plain)
    assert rehearsal.of_kind("DaemonSet") == []
    assert rehearsal.of_kind("Release") != []


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("platform-volcano-release", "platform-volcano-definitions-queues.scheduling.volcano.sh"),
        ("platform-volcano-webhook", "platform-volcano-release"),
        ("platform-queues-research", "platform-volcano-webhook"),
        ("platform-queues-research.llm", "platform-queues-research"),
        ("platform-ray-operator-deployment", "platform-queues-research.llm"),
        ("platform-ray-operator-deployment", "platform-ray-definitions-rayclusters.ray.io"),
        ("platform-ray-operator-deployment", "platform-ray-operator-binding"),
        # Destroyed first: what people made in a namespace needs the operator to end.
        ("platform-tenant-research-research", "platform-ray-operator-deployment"),
        ("platform-tenant-research-research", "platform-volcano-release"),
        ("platform-ray-tuning-cluster", "platform-tenant-research-research"),
        ("platform-ray-tuning-cluster", "platform-ray-operator-deployment"),
        ("platform-node-features-worker-train", "platform-node-feature-definitions-nodefeatures.nfd.k8s-sigs.io"),
        ("platform-node-features-worker-train", "platform-agents-namespace"),
        ("platform-device-plugin-train", "platform-agents-namespace"),
    ],
)
def test_order(rehearsed: Rehearse, later: str, earlier: str) -> None:
    rehearsal = rehearsed(lambda _: None)
    assert rehearsal.after(later, earlier)
    assert not rehearsal.after(earlier, later)


def test_a_patch_is_not_compared_by_what_it_waits_for(rehearsal: Rehearsal) -> None:
    """On a busy machine the state may hold its object from before the patch, without the annotation."""
    patches = [each for each in rehearsal.resources if each.type.endswith("Patch")]
    assert {each.type.rpartition(":")[2] for each in patches} >= {"ValidatingWebhookConfigurationPatch", "QueuePatch"}
    for patch in patches:
        assert patch.ignore_changes == ("metadata.annotations",), patch.name


def test_static_racks_wait_for_the_webhook(rehearsed: Rehearse) -> None:
    rehearsal = rehearsed(static_racks)
    assert rehearsal.after("platform-hypernodes-r0", "platform-volcano-webhook")
    assert rehearsal.after("platform-ray-tuning-cluster", "platform-hypernodes-r0")


def test_definitions_outlive_the_stack_and_are_adopted_again(rehearsal: Rehearsal) -> None:
    definitions = rehearsal.of_kind("CustomResourceDefinition")
    assert definitions
    for definition in definitions:
        assert definition.retain_on_delete
        assert (definition.provider or "").endswith("::platform-adopting")
        annotations = definition.inputs["metadata"]["annotations"]
        assert annotations["pulumi.com/waitFor"] == "condition=Established"
        assert annotations["pulumi.com/patchFieldManager"] == "gangline"
        assert annotations["pulumi.com/patchForce"] == "true"
    others = {each.provider for each in rehearsal.resources if each.type.startswith("kubernetes:")} - {
        definitions[0].provider
    }
    assert len(others) == 1, "everything else is on the one provider that never takes over what exists"


def test_providers_are_the_documents_cluster_and_nothing_of_this_machine(
    shipped: tuple[str, Environment], rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, environment = shipped
    monkeypatch.setenv("KUBECONFIG", "/home/somebody/.kube/config")
    again = rehearse(environment, stack=name)
    assert [each.inputs for each in again.resources] == [each.inputs for each in rehearsal.resources]
    for provider in rehearsal.of_kind("kubernetes"):
        if environment.cluster.provider == "existing":
            assert provider.inputs["context"] == environment.cluster.context
        else:
            assert "context" not in provider.inputs
            assert provider.inputs["kubeconfig"] == SECRET_UNKNOWN
        assert provider.inputs["clusterIdentifier"] == environment.cluster.name


def test_document_is_the_input_of_the_root(shipped: tuple[str, Environment], rehearsal: Rehearsal) -> None:
    _, environment = shipped
    root = rehearsal.named("platform")
    assert root.parent is None
    assert root.inputs["environment"] == environment.model_dump(mode="json", by_alias=True, exclude_unset=True)


def test_webhook_of_hypernodes_is_off_where_the_scheduler_makes_them(rehearsed: Rehearse) -> None:
    def admissions(rehearsal: Rehearsal) -> list[str]:
        values = rehearsal.named("platform-volcano-release").inputs["values"]
        return values["custom"]["enabled_admissions"].split(",")

    by_labels, by_racks = admissions(rehearsed(lambda _: None)), admissions(rehearsed(static_racks))
    assert set(by_racks) - set(by_labels) == {"/hypernodes/validate"}


def test_chart_gets_its_two_configurations_as_it_reads_them(rehearsed: Rehearse) -> None:
    custom = rehearsed(lambda _: None).named("platform-volcano-release").inputs["values"]["custom"]
    assert isinstance(custom["scheduler_config_override"], str)
    assert isinstance(custom["controller_config_override"], dict)
    labels = custom["controller_config_override"]["networkTopologyDiscovery"][0]["config"]["networkTopologyTypes"]
    assert next(iter(labels.values()))[-1] == {"nodeLabel": "kubernetes.io/hostname"}


def test_operator_knows_the_batch_scheduler(rehearsed: Rehearse) -> None:
    def from_chart(value: dict[str, Any]) -> None:
        value["releases"].pop("kuberay")

    manifests = rehearsed(lambda _: None).named("platform-ray-operator-deployment").inputs
    (container,) = manifests["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--batch-scheduler=volcano"]
    release = rehearsed(from_chart).named("platform-ray-operator-release").inputs
    assert release["values"]["batchScheduler"] == {"name": "volcano"}
    assert release["skipCrds"] is True


def test_operator_may_write_the_gangs(rehearsed: Rehearse) -> None:
    rules = rehearsed(lambda _: None).named("platform-ray-operator-role").inputs["rules"]
    (groups,) = [rule for rule in rules if "podgroups" in rule["resources"]]
    assert {"create", "update", "delete"} <= set(groups["verbs"])


def test_releases_cannot_block_the_next_run(rehearsal: Rehearsal) -> None:
    for release in rehearsal.of_kind("Release"):
        inputs = release.inputs
        assert inputs["atomic"]
        assert inputs["cleanupOnFail"]
        assert inputs["name"]
        assert inputs["version"]
