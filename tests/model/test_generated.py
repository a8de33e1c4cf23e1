"""Generated files, and what editors make of them."""

from pathlib import Path
from typing import ClassVar

import jsonschema
import pytest
import yaml

from model import document, fields, generated
from model.engine_names import DOCUMENT_KEY
from model.environment import Environment
from model.schema import json_schema
from tests.model.documents import example, put, rename


class _Editor(yaml.SafeLoader):
    """Editors read YAML 1.2, in which a point in time is text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [it for it in found if it[0] != "tag:yaml.org,2002:timestamp"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


PROJECT = Path(__file__).parents[2]
SHIPPED = sorted(PROJECT.glob("stacks/Pulumi.*.yaml"))
SCHEMA = jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("name", generated.FILES)
def test_generated_files_are_what_the_model_says(name: str):
    assert (PROJECT / name).read_text("utf-8") == generated.FILES[name](), "write it anew: python -m model.generated"


def test_writing_them_again_changes_nothing(tmp_path: Path):
    assert [file.relative_to(tmp_path).as_posix() for file in generated.write(tmp_path)] == list(generated.FILES)
    assert generated.write(tmp_path) == []


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_shipped_documents_are_valid_and_name_their_schema(file: Path):
    text = file.read_text("utf-8")
    assert text.startswith("# yaml-language-server: $schema=./environment.schema.json\n")
    SCHEMA.validate(yaml.load(text, Loader=_Editor))
    verdict = document.read(file).judge()
    assert verdict.problems == ()


def test_documents_are_shipped():
    assert SHIPPED


@pytest.mark.parametrize(
    "change",
    [
        rename("pools.train.size", "sise"),
        put("pools.train.server", "dgx-h10"),
        put("pools.train.size", "16"),
        put("pools.train.labels.a", True),
        put("pools.train.taints.0.effect", "NoSchedul"),
        put("pools.serve.sharing", "mps"),
        put("pools.system.shape.memory", "64GB"),
        put("cluster.provider", "gcp"),
        put("releases.volcno", {}),
        put("topology.labels", "rack"),
        put("ray.clusters.tuning.head.replicas", 2),
    ],
)
def test_an_editor_sees_what_is_wrong_with_a_shape(change):
    assert list(SCHEMA.iter_errors({"config": {DOCUMENT_KEY: example(change)}}))


def test_every_field_says_what_it_means():
    for shape in fields.shapes(Environment):
        described = fields.descriptions(shape)
        assert set(described) == {field.alias or name for name, field in shape.model_fields.items()}, shape


def test_names_are_said_in_the_schema_as_in_the_catalogue():
    properties = json_schema()["$defs"]["Pool"]["properties"]
    assert "dgx-h100" in properties["server"]["anyOf"][0]["enum"]
    assert properties["maxPods"]["default"] == 110
