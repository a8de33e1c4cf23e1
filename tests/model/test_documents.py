"""A document as a whole: all of its problems at once, one for each mistake, each at its place."""

import random
import textwrap
from pathlib import Path
from typing import Any

import pytest

from catalog import reader as catalog
from model import document, problems, queues
from model.problems import DocumentError
from tests.model.documents import (
    TEXT,
    Change,
    add,
    drop,
    environment,
    errors,
    example,
    only,
    put,
    rename,
    small,
    warnings,
)

MISTAKES: dict[str, Change] = {
    # Where each mistake is told, and how it is made. All are independent of each other.
    "cluster.name": put("cluster.name", "Atlas_1"),
    "cluster.provider": put("cluster.provider", "exisiting"),
    "cluster.kubernetes": put("cluster.kubernetes", 1.35),
    "cluster.contxt": rename("cluster.context", "contxt"),
    "pools.system.shape.cpu": put("pools.system.shape.cpu", "sixteen"),
    "pools.system.shape.memory": put("pools.system.shape.memory", "64GB"),
    "pools.system.sice": rename("pools.system.size", "sice"),
    "pools.train.server": put("pools.train.server", "dgx-h10"),
    "pools.train.labels.gpu": put("pools.train.labels.gpu", True),
    "pools.train.labels.Bad key": put("pools.train.labels.Bad key", "x"),
    "pools.train.taints[0].effect": put("pools.train.taints.0.effect", "NoSchedul"),
    "pools.train.domains.rack": put("pools.train.domains.rack", 5),
    "pools.train.maxPods": put("pools.train.maxPods", 0),
    "pools.serve.shape.gpu.model": put("pools.serve.shape.gpu.model", "a10"),
    "pools.serve.size.min": put("pools.serve.size.min", 9),
    "pools.serve.sharing.timeSlicing.replicas": put("pools.serve.sharing.timeSlicing.replicas", 1),
    "topology.labels[2]": add("topology.labels", "topology.example.com/rack"),
    "queues.research.queues.llm.guarantee.gpu": put("queues.research.queues.llm.guarantee.gpu", 65),
    "queues.research.deserved.mem": put("queues.research.deserved.mem", "3Ti"),
    "queues.research.queues.vision.priority": put("queues.research.queues.vision.priority", -1),
    "queues.research.capability.cpu": put("queues.research.capability.cpu", "1.5.0"),
    "queues.production.deserved.gpu": put("queues.production.deserved.gpu", 65),
    "queues.production.reclaimable": put("queues.production.reclaimable", "no"),
    "queues.root": put("queues.root", {}),
    "tenants.research.namespaces[2]": add("tenants.research.namespaces", "kube-system"),
    "tenants.research.queues[1]": add("tenants.research.queues", "reserach"),
    "tenants.research.quota.gpus": put("tenants.research.quota.gpus", 8),
    "tenants.research.groups.owner": put("tenants.research.groups.owner", ["x"]),
    "tenants.production.namespaces": put("tenants.production.namespaces", []),
    "tenants.production.defaultQueue": put("tenants.production.defaultQueue", "research.llm"),
    "ray.clusters.tuning.workers.count": put("ray.clusters.tuning.workers.count", 5),
    "ray.clusters.tuning.head.replicas": put("ray.clusters.tuning.head.replicas", 2),
    "ray.clusters.tuning.ray": put("ray.clusters.tuning.ray", "2.52"),
    "ray.clusters.tuning.within.level": put("ray.clusters.tuning.within.level", "row"),
    "ray.clusters.answers.image": put("ray.clusters.answers.image", "rayproject/ray:2.9.0-gpu"),
    "ray.clusters.answers.queue": put("ray.clusters.answers.queue", "research.vision"),
    "ray.clusters.answers.workers.gpus": put("ray.clusters.answers.workers.gpus", 2),
    "ray.clusters.answers.pool": put("ray.clusters.answers.pool", "srve"),
    "releases.volcno": put("releases.volcno", {}),
    "releases.volcano.version": put("releases.volcano.version", "v1.15.1"),
    "releases.volcano.source": put("releases.volcano.source", "/srv/charts"),
}
COVERED = {
    # A mistake that takes away what another one needs to be told: nobody guesses what was meant.
    "ray.clusters.tuning.workers.count": {
        "pools.train.server",
        "pools.train.maxPods",
        "pools.train.domains.rack",
        "topology.labels[2]",
        "ray.clusters.tuning.within.level",
    },
    "ray.clusters.answers.queue": {"tenants.production.namespaces"},
    "ray.clusters.tuning.within.level": {"topology.labels[2]"},
    "pools.train.domains.rack": {"topology.labels[2]"},
    "ray.clusters.answers.workers.gpus": {
        "pools.serve.sharing.timeSlicing.replicas",
        "ray.clusters.answers.pool",
    },
}


def test_the_example_has_no_problems():
    environment()


@pytest.mark.parametrize("path", MISTAKES)
def test_one_mistake_is_one_problem(path: str):
    found, problem = only(errors(MISTAKES[path]))
    assert found.replace('"]', "").replace('["', ".") == path
    assert problem.message


@pytest.mark.parametrize("seed", range(100))
def test_ten_mistakes_of_any_mix_are_ten_problems(seed: int):
    chosen = random.Random(seed).sample(sorted(MISTAKES), 10)
    chosen = [path for path in chosen if not COVERED.get(path, set()) & set(chosen)]
    found = errors(*(MISTAKES[path] for path in chosen))
    assert sorted(path.replace('"]', "").replace('["', ".") for path in found) == sorted(chosen)


def test_all_mistakes_together_are_each_told_once():
    chosen = [path for path in MISTAKES if path not in COVERED]
    found = errors(*(MISTAKES[path] for path in chosen))
    assert sorted(path.replace('"]', "").replace('["', ".") for path in found) == sorted(chosen)


@pytest.mark.parametrize(
    "change",
    [
        rename("pools", "poolz"),
        rename("queues", "quees"),
        rename("queues.research.queues", "queus"),
        rename("tenants", "tennants"),
        rename("topology", "topologie"),
        rename("pools.train", "training"),
        put("pools", 7),
        put("pools", None),
        put("pools.train", []),
        put("pools.train.size", "16"),
        put("queues", "research"),
        put("queues.research", 1),
        put("queues.research.queues", [1]),
        put("queues.research.queues.llm.deserved", {"gpu": "64GB"}),
        put("queues.research.capability", {"gpu": "128GB"}),
        put("tenants.research", "x"),
        put("tenants.research.namespaces", "research"),
        put("tenants.research.namespaces.0", 7),
        put("tenants.research.queues.0", 7),
        put("topology", []),
        put("topology.labels", "x"),
        put("topology.labels.0", 1),
        put("pools.train.domains", 3),
        put("pools.train.domains.rack", "4"),
        put("pools.serve.sharing", "mps"),
        put("pools.serve.shape", "x"),
        put("ray.clusters.tuning.workers", "x"),
        put("ray.clusters.tuning.workers.count", {"min": "1", "max": 4}),
        drop("ray.clusters.tuning.workers.cpu"),
        drop("ray.clusters.tuning.namespace"),
        drop("pools.serve.shape.memory"),
        put("ray", 1),
        put("releases", []),
    ],
)
def test_what_is_lost_makes_no_other_errors(change: Change):
    only(errors(change))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (put("pools.train.size", 2), "pools.train.domains.rack"),
        (put("pools.train.size", {"min": 16, "max": 4}), "pools.train.size.min"),
        (put("pools.train.domains.spine", 3), "pools.train.domains.rack"),
        (put("queues.research.capability.gpu", 16), "queues.research.deserved.gpu"),
        (put("queues.research.capability.cpu", 10), "queues.research.deserved.cpu"),
        (put("queues.research.deserved.gpu", 8), "queues.research.guarantee.gpu"),
        (put("queues.research.deserved.gpu", 1000), "queues.research.deserved.gpu"),
        (put("queues.research.queues.llm.deserved.gpu", 1000), "queues.research.deserved.gpu"),
        (put("queues.production.capability", {"gpu": 1}), "queues.production.deserved.gpu"),
        (put("ray.clusters.answers.pool", "system"), "ray.clusters.answers.workers.gpus"),
        (put("ray.clusters.tuning.workers.cpu", 1000), "ray.clusters.tuning.workers.cpu"),
        (put("topology.labels", ["topology.example.com/rack"]), "pools.train.domains.spine"),
    ],
)
def test_a_value_that_contradicts_another_is_told_once(change: Change, path: str):
    assert list(errors(change)) == [path]


def test_a_misspelt_section_is_judged_as_the_one_that_was_meant():
    found = errors(rename("queues", "quees"), put("quees.production.deserved.gpu", 65), rename("pools", "pols"))
    assert sorted(found) == ["pols", "quees", "quees.production.deserved.gpu"]


def test_every_problem_has_file_line_path_value_allowed_and_fix(tmp_path: Path):
    file = tmp_path / "Pulumi.atlas.yaml"
    text = textwrap.indent(TEXT.replace("dgx-h100", "dgx-h10"), "    ")
    file.write_text(f"config:\n  gangline:environment:{text}")
    with pytest.raises(DocumentError) as caught:
        document.read(file).load()
    line = file.read_text().splitlines().index("        server: dgx-h10") + 1
    assert str(caught.value) == (
        f"{file}:{line}  environment.pools.train.server\n"
        "  dgx-h10: the catalogue has no such server\n"
        f"  allowed: {', '.join(catalog.servers())}        fix: dgx-h100"
    )


def test_problems_stand_in_the_order_of_the_file(tmp_path: Path):
    file = tmp_path / "Pulumi.atlas.yaml"
    text = (
        TEXT.replace('ray: "2.52.0"', "ray: 2.52.0.0")
        .replace("name: atlas", "name: Atlas")
        .replace("size: 3", "sice: 3")
    )
    file.write_text("config:\n  gangline:environment:" + textwrap.indent(text, "    "))
    read = document.read(file)
    lines = [read.positions.line(problem.path) or 0 for problem in read.judge().problems]
    assert len(lines) == 4
    assert lines == sorted(lines)


def _file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "Pulumi.atlas.yaml"
    file.write_text("config:\n  gangline:environment:" + textwrap.indent(text, "    "))
    return file


def test_a_duplicate_key_is_a_problem_and_hides_nothing(tmp_path: Path):
    text = TEXT.replace("    size: 16\n", "    size: 16\n    size: 17\n").replace("dgx-h100", "dgx-h10")
    found = document.read(_file(tmp_path, text)).judge().errors
    assert [problems.spoken(problem.path) for problem in found] == [
        "environment.pools.train.server",
        "environment.pools.train.size",
    ]


@pytest.mark.parametrize(
    ("once", "twice", "path"),
    [
        ("    size: 16\n", "    size: 16\n    size: none\n", "pools.train.size"),
        ("    size: 16\n", "    size: 16\n    size: 1\n    size: 2\n", "pools.train.size"),
        ("    size: 16\n", "    size: 16\n    sise: 1\n    sise: 2\n", "pools.train.sise"),
        ("domains: {spine: 2, rack: 4}", "domains: {spine: 2, rack: 4, rack: 5}", "pools.train.domains.rack"),
        ("queues:\n  research:\n", "queues:\n  research: 7\n  research:\n", "queues.research"),
        ("ray:\n", "pools: {}\nray:\n", "pools"),
        ("effect: NoSchedule}", "effect: NoSchedule, effect: No}", "pools.train.taints[0].effect"),
        ("quota: {gpu: 128,", "quota: {gpu: 128, gpu: 1E,", "tenants.research.quota.gpu"),
    ],
)
def test_a_value_that_is_given_twice_is_one_problem(tmp_path: Path, once: str, twice: str, path: str):
    assert once in TEXT
    (problem,) = document.read(_file(tmp_path, TEXT.replace(once, twice, 1))).judge().errors
    assert problems.spoken(problem.path) == f"environment.{path}"
    assert "is given twice (lines " in problem.message


def test_a_value_that_is_given_twice_under_a_misspelt_key_is_two_problems(tmp_path: Path):
    text = TEXT.replace("pools:", "pols:").replace("    size: 16\n", "    size: 16\n    size: none\n")
    found = document.read(_file(tmp_path, text)).judge().errors
    assert [problems.spoken(problem.path) for problem in found] == ["environment.pols", "environment.pols.train.size"]


@pytest.mark.parametrize(
    ("word", "fix"),
    [("yes", "true"), ("No", "false"), ("on", "true"), ("OFF", "false"), ("y", "true"), ("1:30", None)],
)
def test_words_that_are_text_to_the_engine_are_no_truth_here(tmp_path: Path, word: str, fix: str | None):
    text = TEXT.replace("reclaimable: false", f"reclaimable: {word}")
    (problem,) = document.read(_file(tmp_path, text)).judge().errors
    assert problems.spoken(problem.path) == "environment.queues.production.reclaimable"
    assert (problem.message, problem.allowed) == ("must be true or false, not text", "true, false")
    assert problem.fix == fix


@pytest.mark.parametrize(
    "path",
    [
        "cluster.kubernetes",
        "cluster.name",
        "pools.train.taints.0.key",
        "pools.train.taints.0.effect",
        "tenants.research.namespaces.0",
        "ray.clusters.tuning.pool",
        "ray.clusters.tuning.queue",
        "ray.clusters.tuning.namespace",
    ],
)
def test_nothing_is_not_mended_by_what_is_refused_next(path: str):
    _, problem = only(errors(put(path, None)))
    assert (problem.fix, problem.allowed) == (None, "text")


def test_nothing_is_mended_by_empty_text_where_that_may_stand():
    _, problem = only(errors(put("pools.train.taints.0.value", None)))
    assert problem.fix == 'write ""'


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("config:\n  gangline:environment: {a: [}\n", "did not find expected node content", 2),
        ("config: {gangline:enviroment: {}, aws:region: x}\n", "under config, but gangline:enviroment", None),
        ("config: {}\n", "it has no gangline:environment under config", None),
        ("", "it has no gangline:environment under config", None),
        ("- a\n", "it has no gangline:environment under config", None),
        ("config:\n  gangline:environment: 1\n---\nb: 1\n", "but found another document", 3),
        ("config: {}\nconfig:\n  gangline:environment: {}\n", "config is given twice (lines 1 and 2)", 1),
        ("config:\n  aws:region: x\n  aws:region: y\n", "aws:region is given twice (lines 2 and 3)", 2),
        (
            "config:\n  gangline:environment: {}\n  gangline:environment: {}\n",
            "gangline:environment is given twice (lines 2 and 3)",
            2,
        ),
        ("encryptionsalt: a\nconfig: {}\nencryptionsalt: b\n", "encryptionsalt is given twice (lines 1 and 3)", 1),
        ("config:\n  gangline:environment: &a {b: *a}\n", "an alias contains itself", 2),
        ("config:\n  gangline:environment: *nowhere\n", "found undefined alias", 2),
    ],
)
def test_a_file_that_is_no_document_says_so(tmp_path: Path, text: str, message: str, line: int | None):
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(text)
    with pytest.raises(DocumentError) as caught:
        document.read(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{file}:{line} " if line else f"{file}  ")


def test_a_missing_file_says_so(tmp_path: Path):
    with pytest.raises(DocumentError, match="there is no such file"):
        document.read(tmp_path / "Pulumi.nowhere.yaml")


def test_a_file_that_is_not_text_says_so(tmp_path: Path):
    file = tmp_path / "Pulumi.x.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DocumentError, match="cannot read it"):
        document.read(file)


def test_warnings_do_not_stop_anything():
    change = put("cluster.kubernetes", "1.36")
    assert list(warnings(change)) == ["cluster.kubernetes"]
    environment(change)


@pytest.mark.parametrize("value", [None, 3, "text", [], True])
def test_a_document_that_is_no_mapping_is_one_problem(value: object):
    with pytest.raises(DocumentError, match="must be a mapping"):
        document.load(value)


def test_equal_documents_are_equal_whatever_was_asked_of_them():
    one, other = environment(), environment()
    queues.flatten(one)
    assert one == other


def test_judging_leaves_the_value_alone():
    before = example(rename("pools", "poolz"), put("poolz.train.size", "16"))
    value = example(rename("pools", "poolz"), put("poolz.train.size", "16"))
    document.judge(value)
    assert value == before


@pytest.mark.parametrize(
    ("pool", "path", "fix", "refused"),
    [
        ({"sharing": {"none": {}}}, ("sharing", "none"), "sharing: none", "none"),
        ({"fabric": {"infiniband": {"mode": "sriov"}}}, ("fabric", "infiniband"), "kind: infiniband", "infiniband"),
        ({"fabric": {"infiniband": {}, "slots": 3}}, ("fabric", "infiniband"), "kind: infiniband", "efa"),
    ],
)
def test_a_word_that_was_taken_for_a_key_is_told_where_it_belongs(
    pool: dict[str, Any], path: tuple[str, ...], fix: str, refused: str
):
    (problem,) = document.judge(small(pools={"train": {"server": "dgx-h100", "size": 1, **pool}})).problems
    assert problem.path == ("pools", "train", *path)
    assert problem.fix == fix
    assert problem.allowed is not None
    assert refused not in problem.allowed.split(", ")


def test_a_value_that_is_left_empty_is_no_word_that_is_near():
    (problem,) = document.judge(small(pools={"train": {"server": "dgx-h100", "size": 1, "sharing": None}})).problems
    assert problem.fix == "leave out sharing, which has a default, or write what is allowed"
    assert problem.allowed == "none or {timeSlicing, mps, mig}"
