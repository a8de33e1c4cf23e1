"""What a change of document means."""

from model import document_changes
from model.document_changes import Extent, PoolChange, QueueChange, SettingChange
from tests.model.documents import environment, put

BEFORE = environment()


def test_without_a_change_there_is_nothing_to_tell() -> None:
    change = document_changes.between(BEFORE, environment())
    assert (change.pools, change.queues, change.disruptions) == ((), (), ())
    assert change.gpus[0] == change.gpus[1]


def test_a_pool_is_told_with_its_nodes_and_gpus() -> None:
    change = document_changes.between(BEFORE, environment(put("pools.serve.size", {"min": 1, "max": 16})))
    before = Extent((0, 8), (0, 32), "a100-sxm-80gb", "shape")
    assert change.pools == (PoolChange("serve", before, Extent((1, 16), (4, 64), "a100-sxm-80gb", "shape")),)
    assert change.gpus == ((128, 160), (132, 192))


def test_amounts_of_queues_are_told_one_by_one() -> None:
    change = document_changes.between(
        BEFORE, environment(put("queues.research.queues.vision.deserved", {"gpu": 16, "cpu": 8}))
    )
    assert change.queues == (
        QueueChange("research.vision", "deserved", "nvidia.com/gpu", "32", "16"),
        QueueChange("research.vision", "deserved", "cpu", None, "8"),
    )


def test_of_a_new_environment_everything_is_new() -> None:
    change = document_changes.between(None, BEFORE)
    assert [(each.name, each.before) for each in change.pools] == [(name, Extent()) for name in BEFORE.pools]
    assert (change.gpus, change.disruptions) == (((0, 0), (128, 160)), ())
    assert {each.before for each in change.queues} == {None}
    assert change.settings == ()


def test_what_the_document_sets_about_rules_is_told_one_by_one() -> None:
    exemption = {
        "rule": "privileged",
        "resource": "*::tuner",
        "reason": "until the image does it",
        "owner": "platform",
        "expires": "2027-01-31",
    }
    before = {"levels": {"root-user": "disabled"}, "admission": "warn"}
    after = {
        "levels": {"privileged": "advisory", "root-user": "disabled"},
        "options": {"gpu-budget": {"gpus": 64}},
        "exemptions": [exemption],
        "systemNamespaces": ["monitoring"],
    }
    change = document_changes.between(environment(put("policies", before)), environment(put("policies", after)))
    assert change.settings == (
        SettingChange("level of privileged", None, "advisory"),
        SettingChange("gpus of gpu-budget", None, "64"),
        SettingChange(
            "exemption from privileged at *::tuner", None, "platform until 2027-01-31: until the image does it"
        ),
        SettingChange("namespace monitoring", None, "the platform's"),
        SettingChange("laws at the API server", "warn", None),
    )
