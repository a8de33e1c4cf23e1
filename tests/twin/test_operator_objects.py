"""A real API server takes what the operators are told, to the last field."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_helpers import eventually
from lightkube.generic_resource import create_global_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from components.sources import documents
from model import document, namespaces
from tests.upstream import helm
from twin import tools
from twin.cluster import Twin
from twin.rehearsal import rehearse

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "02-operators.yaml"


def test_api_server_keeps_every_field_of_the_policy(twin: Twin) -> None:
    """It drops what the definition does not name, without a word: the operator would never see it."""
    chart = tools.ensure_sources(["gpu-operator-chart"])["gpu-operator-chart"]
    rehearsal = rehearse(document.read(EXAMPLE).load(), stack="lab")
    values = rehearsal.named("platform-gpu-operator-release").inputs["values"]
    found = helm.render(chart, values, release="gpu-operator", namespace=namespaces.GPU_OPERATOR)
    (policy,) = [each for each in found if each["kind"] == "ClusterPolicy"]
    (definition,) = documents(chart / "crds" / "nvidia.com_clusterpolicies.yaml")
    kind = create_global_resource("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies")
    defined: Any = CustomResourceDefinition.from_dict(dict(definition))
    with twin.client() as client:
        client.create(defined)
        eventually(lambda: _established(client.get(CustomResourceDefinition, definition["metadata"]["name"])))
        kept = client.create(kind(metadata=ObjectMeta(name="cluster-policy"), spec=policy["spec"]))
        assert _missing(policy["spec"], kept.to_dict()["spec"]) == []
        client.delete(CustomResourceDefinition, definition["metadata"]["name"])


def _established(definition: CustomResourceDefinition) -> bool:
    conditions = definition.status.conditions if definition.status else None
    return any(each.type == "Established" and each.status == "True" for each in conditions or ())


def _missing(wanted: Any, kept: Any, path: str = "spec") -> list[str]:
    """The places of what was sent that are not in what was kept, or differ there."""
    if isinstance(wanted, Mapping):
        found: list[str] = []
        for key, value in wanted.items():
            found += _missing(value, kept[key], f"{path}.{key}") if key in kept else [f"{path}.{key}"]
        return found
    return [] if wanted == kept else [path]
