"""A review in its forms: Markdown, SARIF, annotations; and the places that it names."""

import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from cli.review import annotations, markdown, sarif
from cli.review.findings import Finding, Rule
from cli.review.places import Place, Places
from cli.review.report import Review
from model import reading
from model.disruption import Disruption
from model.document_changes import DocumentChange, Extent, PoolChange, QueueChange, SettingChange
from tests.model.documents import TEXT, environment
from twin.differences import HIDDEN, MISSING, Change, Difference
from twin.monitor import Resource

RULE = Rule("image-version", "Images name a version.", "Write the tag.", "medium", "https://example.com/images")
PLACE = Place("stacks/Pulumi.twin.yaml", 12, "environment.ray")
FINDING = Finding(RULE, "mandatory", "core/v1:Pod::one", "spec.image: x has | no tag", "Write the tag.", PLACE)
EXEMPTED = Finding(RULE, "advisory", "core/v1:Pod::two", "spec.image: x", "", PLACE, "ops, old, until 2027-01-31")
NOTHING = DocumentChange((), (), ((8, 8), (8, 8)), ())
ROOT = "urn:pulumi:s::p::gangline:index:Platform::platform"


def made(type_: str, name: str, parent: str = ROOT, *, custom: bool = True, **options: object) -> Resource:
    inputs = options.pop("inputs", {})
    urn = f"urn:pulumi:s::p::{type_}::{name}"
    return Resource(urn=urn, type=type_, name=name, parent=parent, custom=custom, inputs=inputs, **options)  # pyright: ignore[reportArgumentType]


def review(*findings: Finding, **options: object) -> Review:
    return Review("twin", "stacks/Pulumi.twin.yaml", "main (1234567)", findings, rules=60, resources=9, **options)  # pyright: ignore[reportArgumentType]


def html(text: str) -> str:
    return MarkdownIt("gfm-like", {"linkify": False}).render(text)


def test_a_quiet_change_is_told_in_few_words() -> None:
    page = markdown.page(review(changes=(), document=NOTHING))
    assert page.startswith("<!-- gangline review twin -->\n## ✅ `twin`: no mandatory rule is broken\n")
    assert "8 GPUs, as before; resources: 0 added, 0 changed, 0 replaced, 0 removed." in page
    assert "None of 9 changes." in page
    assert "Nothing: 60 rules read all of 9 resources." in page


def test_where_nothing_was_compared_the_beginning_says_so() -> None:
    assert "**Not compared** with main (1234567)." in markdown.page(review(unjudged=("its code cannot be rehearsed",)))
    assert "\nCompared with main (1234567)." in markdown.page(review(changes=()))


def test_what_is_said_is_no_markup() -> None:
    """Texts come from whoever wrote the change: they can break no table, make no link and call nobody."""
    evil = "a|b`c`<img src=x>[d](https://e) @everyone *f*"
    finding = Finding(RULE, "mandatory", evil, f"{evil}: {evil}", evil, Place(evil, 1), "")
    change = DocumentChange((), (QueueChange(evil, "deserved", evil, evil, None),), ((1, 1), (1, 1)), ())
    page = html(markdown.page(review(finding, changes=(), document=change, unjudged=(evil,))))
    assert "<img" not in page
    assert page.count("<td") == 5
    assert page.count("<a ") == 2  # of the rule: its page, and what its own text says


def test_long_reports_fit_into_a_comment_and_say_what_is_left_out() -> None:
    changes = tuple(
        Change("change", made("kubernetes:core/v1:ConfigMap", f"{'n' * 60}-{number}"), (Difference(("a",), "x", "y"),))
        for number in range(3000)
    )
    page = markdown.page(review(*[FINDING] * 500, changes=changes, document=NOTHING))
    assert len(page.encode()) <= markdown.LIMIT
    assert "and 2950 more" in page
    assert "<details>" in page
    assert page.count("<details>") == page.count("</details>")


@pytest.mark.parametrize("components", [200, 3000])
def test_of_many_components_a_few_are_told(components: int) -> None:
    changes = tuple(
        Change("add", made("kubernetes:core/v1:ConfigMap", f"{'n' * 60}-{number}", f"{ROOT}-{number}"))
        for number in range(components)
    )
    finding = replace(FINDING, message=f"spec.x: {'y' * 70_000}")
    page = markdown.page(review(finding, changes=changes, document=NOTHING))
    assert len(page.encode()) <= markdown.LIMIT
    assert "**`image-version`**" in page
    assert "y…" in page
    assert ("components more" in page) == (components > 200)


def test_what_cannot_be_cut_is_left_out_and_the_broken_rules_stay() -> None:
    pools = tuple(PoolChange(f"{'p' * 60}-{number}", Extent(), Extent((1, 1))) for number in range(1000))
    page = markdown.page(review(*[FINDING] * 9, changes=(), document=replace(NOTHING, pools=pools)))
    assert page.count("**`image-version`**") == 5
    assert "- and 4 more" in page
    assert page.endswith("**All else is left out: it would be too long for a comment.**\n")


@pytest.mark.parametrize(
    ("path", "before", "now", "told"),
    [
        (("env", "AWS_SECRET_ACCESS_KEY", "value"), "old", "new", "(secret) → (secret)"),
        (("env", "DB_PASSWORD", "value"), MISSING, "new", "new, (secret)"),
        (("data", "url"), "a", "postgres://me:word@host/db", "(secret) → (secret)"),
        (("data", "config"), "ghp_" + "a1" * 18, "", "(secret) → (secret)"),
        (("spec", "volumes", "a", "secretName"), "old", "new", "`old` → `new`"),
        (("spec", "tolerations", 0, "key"), "old", "new", "`old` → `new`"),
        (("spec", "tokens"), 1, 2, "`1` → `2`"),
    ],
)
def test_what_may_be_a_secret_is_not_shown(path: tuple[str, ...], before: object, now: object, told: str) -> None:
    change = Change("change", made("kubernetes:core/v1:Pod", "p"), (Difference(path, before, now),))
    (line,) = [line for line in markdown.page(review(changes=(change,))).splitlines() if line.startswith("  `")]
    assert line.rpartition("`: ")[2] == told or line.partition("`: ")[2] == told


def test_a_bar_is_a_bar_outside_of_tables() -> None:
    finding = replace(FINDING, message='env["A|B"]: is wrong')
    assert '`env["A|B"]`' in markdown.page(review(finding))
    assert "`a\\|b`" in markdown.page(review(replace(EXEMPTED, resource="a|b")))


def test_what_happens_to_a_resource_is_told_with_its_reason() -> None:
    bucket = made("aws:s3/bucket:Bucket", "data", protect=True)
    role = made("aws:iam/role:Role", "role", retain_on_delete=True)
    changes = (
        Change(
            "replace",
            bucket,
            (Difference(("bucket",), "a", "b"), Difference(("k", "x.y"), HIDDEN, HIDDEN)),
            ("bucket",),
        ),
        Change("remove", role),
    )
    page = markdown.page(review(changes=changes, document=NOTHING))
    assert "♻️ replace Bucket `data`, since `bucket` cannot be changed in place; **it is protected" in page
    assert "`bucket`: `a` → `b`" in page
    assert '`k["x.y"]`: (secret) → (secret)' in page
    assert "➖ remove Role `role`; what it made stays" in page


def test_pools_queues_and_disruptions_have_their_tables() -> None:
    pools = (
        PoolChange("train", Extent((2, 2), (16, 16), "h100", "dgx"), Extent((0, 4), (0, 32), "h200", "dgx2")),
        PoolChange("old", Extent((3, 3), (0, 0), "", "m7i"), Extent()),
    )
    disruptions = (Disruption("pool a", "b", "c", drains=False), Disruption("pool d", "e", "f", drains=True))
    page = markdown.page(review(changes=(), document=DocumentChange(pools, (), ((16, 16), (0, 32)), disruptions)))
    assert "**−16..+16 GPUs**; **nodes of pool d are drained or replaced**" in page
    assert "| `train` | dgx → dgx2 | 2 → 0..4 (−2..+2) | 16 → 0..32 (−16..+16) h100 → h200 |" in page
    assert "| `old` | m7i → none | 3 → 0 (−3) | none |" in page
    assert page.index("drains or replaces nodes: **pool d**") < page.index("ends pods: **pool a**")


def test_rules_that_are_held_otherwise_are_told_first_and_one_by_one() -> None:
    settings = (SettingChange("level of privileged", None, "disabled"), SettingChange("namespace a|b", "x", None))
    page = markdown.page(review(changes=(), document=replace(NOTHING, settings=settings)))
    assert "; **rules are held otherwise**; resources:" in page
    assert "\n### How rules are held\n" in page
    assert "| level of privileged | – | disabled |" in page
    assert "| namespace a\\|b | x | – |" in page
    assert "rules are held" not in markdown.page(review(changes=(), document=NOTHING))


def test_exemptions_stand_apart() -> None:
    page = markdown.page(review(EXEMPTED, EXEMPTED, changes=(), document=NOTHING))
    assert "### Notes" not in page
    assert page.count("| `image-version` | `core/v1:Pod::two` | ops, old, until 2027-01-31 |") == 1
    assert list(annotations.lines(review(EXEMPTED))) == []
    (run,) = sarif.log(review(EXEMPTED), "1")["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], []), "an alert would be open, whatever it says"


def test_code_scanning_is_told_rule_place_and_fix() -> None:
    log = sarif.log(review(FINDING, FINDING), "0.1.0")
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert run["tool"]["driver"]["rules"] == [
        {
            "id": "image-version",
            "name": "image-version",
            "shortDescription": {"text": "Images name a version."},
            "help": {"text": "Write the tag."},
            "helpUri": "https://example.com/images",
            "properties": {"tags": ["security"], "security-severity": "5.5"},
        }
    ]
    result = run["results"][1]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("image-version", 0, "error")
    assert result["message"]["text"] == "core/v1:Pod::one: spec.image: x has | no tag\nfix: Write the tag."
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "stacks/Pulumi.twin.yaml"},
        "region": {"startLine": 12},
    }
    assert json.loads(json.dumps(log)) == log


def test_a_rule_that_only_advises_has_no_score_that_would_fail_a_check() -> None:
    (run,) = sarif.log(review(replace(FINDING, level="advisory")), "1")["runs"]
    assert "properties" not in run["tool"]["driver"]["rules"][0]
    assert run["results"][0]["level"] == "warning"


def test_annotations_are_one_line_each() -> None:
    finding = Finding(RULE, "advisory", "", "100%: a\nb", "c", Place("a,b:c", 3), "")
    assert list(annotations.lines(review(finding))) == [
        "::warning file=a%2Cb%3Ac,line=3,title=image-version::100%25: a%0Ab%0Afix: c"
    ]


@pytest.mark.parametrize(
    ("resource", "field", "words"),
    [
        (made("x:y:NodePool", "platform-pool-serve", custom=False), "spec", "  serve:"),
        (made("kubernetes:apps/v1:DaemonSet", "p-device-plugin-train", "DevicePlugin"), "spec", "  train:"),
        (made("kubernetes:a/v1:Queue", "q", inputs={"metadata": {"name": "research.vision"}}), "spec", "      vision:"),
        (made("x:y:Volcano", "platform-volcano", custom=False), "values", "cluster:"),
        # the value itself, where it stands there once
        (
            made(
                "kubernetes:ray.io/v1:RayCluster", "p-ray-tuning-cluster", "RayCluster", inputs={"a": [{"b": "2.52.0"}]}
            ),
            "a[0].b",
            '      ray: "2.52.0"',
        ),
    ],
)
def test_a_field_comes_from_a_line_of_the_document(resource: Resource, field: str, words: str) -> None:
    root = reading.compose(TEXT)
    assert root is not None
    parents = [made(f"gangline:index:{each}", each, "", custom=False) for each in ("DevicePlugin", "RayCluster")]
    by_name = {each.name: each.urn for each in parents}
    child = (
        resource
        if resource.parent == ROOT
        else Resource(**{**vars(resource), "parent": by_name[resource.parent or ""]})
    )
    value = reading.value_of(root)[0]
    places = Places("f.yaml", "", value, reading.Positions(root), environment(), [*parents, child])
    lines = TEXT.splitlines()
    assert lines[places.of_field(child.urn, field).line - 1].startswith(words)


def test_a_field_of_the_document_is_found_by_its_path_and_others_by_the_program() -> None:
    root = reading.compose(TEXT)
    assert root is not None
    pod = made("kubernetes:core/v1:Pod", "notebook", source="stacks/notebook.py:18")
    places = Places("a/f.yaml", "a/", reading.value_of(root)[0], reading.Positions(root), None, [pod])
    train = places.of_field("", 'environment.pools.train.labels["team.example.com/tier"]')
    assert TEXT.splitlines()[train.line - 1].strip().startswith("labels:")
    assert str(places.of_field(pod.urn, "spec")) == "a/stacks/notebook.py:18"
    assert places.of_field("", "whatever").file == "a/f.yaml"
