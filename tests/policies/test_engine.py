"""The pack under the real engine: what stops an update, and when."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.policies.objects import UNKNOWN, Resource, container, gpus, pod, workload
from twin import tools
from twin.host import folders_for_path
from twin.paths import CHECKOUT

PROGRAM = """
import json, pathlib, pulumi

# Components are judged as custom resources are, and need no provider. The engine judges a stack by outputs.
for each in json.loads(pathlib.Path("resources.json").read_text()):
    inputs = each["inputs"] | (each["later"] if not pulumi.runtime.is_dry_run() else {})
    made = pulumi.ComponentResource(each["type"], each["name"], inputs)
    made.register_outputs(inputs if each["type"].startswith("kubernetes:") else {})
"""
DOCUMENT = yaml.safe_load((CHECKOUT / "stacks" / "Pulumi.twin.yaml").read_text())["config"]["gangline:environment"]


@dataclass(frozen=True)
class Project:
    """A Pulumi project that registers what it is told."""

    folder: Path
    pulumi: Path
    settings: dict[str, str]

    def declare(self, *resources: Resource, later: dict[str, Any] | None = None) -> None:
        """Say what the program registers; `later` replaces inputs in an update, where it is known."""
        told = [
            {"type": each.type, "name": each.name, "inputs": each.inputs, "later": later or {}} for each in resources
        ]
        (self.folder / "resources.json").write_text(json.dumps(told))

    def run(self, *arguments: str, policies: bool = True) -> subprocess.CompletedProcess[str]:
        pack = ["--policy-pack", str(CHECKOUT / "policies")] if policies else []
        return subprocess.run(
            [self.pulumi, *arguments, "--non-interactive", *pack],
            cwd=self.folder,
            env=self.settings,
            capture_output=True,
            text=True,
            check=False,
        )

    def hold(self, **policies: Any) -> None:
        """Say in the stack's document how the rules are held."""
        file = self.folder / "Pulumi.test.yaml"
        settings = yaml.safe_load(file.read_text()) if file.is_file() else {}
        file.write_text(yaml.safe_dump(settings | {"config": {"gangline:environment": {"policies": policies}}}))

    @property
    def state(self) -> Path:
        """The saved state, as the file back end keeps it."""
        return self.folder / "state" / ".pulumi" / "stacks" / "tiny" / "test.json"

    def made(self) -> list[str]:
        """Names of the resources in the saved state, the stack itself left out."""
        resources = json.loads(self.state.read_text())["checkpoint"]["latest"].get("resources", [])
        return sorted(each["urn"].rpartition("::")[2] for each in resources if each["type"] != "pulumi:pulumi:Stack")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    pulumi = tools.ensure(["pulumi"])["pulumi"]
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "tiny", "runtime": runtime}))
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "state").mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    settings = clean | {
        "PATH": os.pathsep.join([clean["PATH"], *map(str, folders_for_path(pulumi))]),
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "only a test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    made = Project(folder, pulumi, settings)
    assert made.run("stack", "init", "test", policies=False).returncode == 0
    return made


def test_a_mandatory_rule_stops_before_anything_is_made(project: Project) -> None:
    project.declare(
        pod(name="good"),
        pod(container(image="a:latest"), name="bad"),
        workload("RayCluster", {"spec": {"containers": [gpus("0.5")]}}),
        pod(container(image=UNKNOWN), name="waiting"),
    )
    done = project.run("up", "--yes")
    assert done.returncode != 0
    for text in (
        "[mandatory]",
        "image-version",
        "spec.containers[0].image: a:latest is not a version",
        "fix: Write the tag of a release",
        'spec.workerGroupSpecs[0].template.spec.containers[0].resources.limits["nvidia.com/gpu"]: 0.5 is not a whole',
        "1 place could not be judged and will be at the update:",
    ):
        assert text in done.stdout
    assert re.search(r"waiting: spec\.containers\[0\]\.image is not known yet \(.*\bimage-version\b", done.stdout)
    assert project.made() == []


def test_what_a_preview_cannot_know_the_update_judges(project: Project) -> None:
    project.declare(pod(container(image=UNKNOWN)), later=pod(container(image="a:latest")).inputs)
    done = project.run("preview")
    assert done.returncode == 0, done.stdout
    assert re.search(r"it: spec\.containers\[0\]\.image is not known yet \(.*\bimage-version\b", done.stdout)
    done = project.run("up", "--yes", "--skip-preview")
    assert done.returncode != 0
    assert "a:latest is not a version" in done.stdout
    assert project.made() == []


def test_queues_are_held_against_the_document_of_the_root_component(project: Project) -> None:
    spec = {"parent": "root", "deserved": {"nvidia.com/gpu": 600}}
    queue = Resource(
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue", {"metadata": {"name": "big"}, "spec": spec}, "big"
    )
    project.declare(Resource("gangline:index:Platform", {"environment": DOCUMENT}, "platform"), queue)
    done = project.run("up", "--yes")
    assert done.returncode != 0
    assert "the top queues have deserved 600 of nvidia.com/gpu in sum, the pools offer at most 512" in done.stdout
    assert project.made() == []


def test_levels_come_from_a_file(project: Project, tmp_path: Path) -> None:
    levels = tmp_path / "levels.json"
    levels.write_text('{"image-version": "advisory"}')
    project.declare(pod(container(image="a:latest"), name="bad"))
    done = project.run("up", "--yes", "--policy-pack-config", str(levels))
    assert done.returncode == 0, done.stdout
    assert "[advisory]" in done.stdout
    assert project.made() == ["bad"]

    exported = str(tmp_path / "state.json")
    assert project.run("stack", "export", "--file", exported, policies=False).returncode == 0
    done = project.run("policy", "analyze", "--file", exported)
    assert done.returncode != 0
    assert "a:latest is not a version" in done.stdout


def test_levels_and_exemptions_come_from_the_document(project: Project) -> None:
    exemption = {
        "rule": "image-version",
        "resource": "kubernetes:core/v1:Pod::trial",
        "reason": "a trial",
        "owner": "ops",
        "expires": date(2999, 12, 31),  # not text: the engine hands on what YAML takes for a day in words of its own
    }
    project.declare(pod(container(image="a:latest"), name="trial"))
    project.hold(exemptions=[exemption], levels={"nccl-variables": "advisory"})
    done = project.run("up", "--yes")
    assert done.returncode == 0, done.stdout
    assert "exempted: ops, a trial, until 2999-12-31" in done.stdout
    assert project.made() == ["trial"]

    project.hold(exemptions=[exemption | {"expires": date(2020, 1, 31)}], levels={"nccl-varables": "advisory"})
    done = project.run("preview")
    assert done.returncode != 0
    for text in (
        "exemption-expired",
        "ended on 2020-01-31 (a trial)",
        "a:latest is not a version",
        "there is no rule nccl-varables; nccl-variables is one",
    ):
        assert text in done.stdout
