"""Which nodes node feature discovery looks at, and the labels that it gives them."""

from model import features

from .documents import environment, errors, only, put

CUT = put("pools.cut", {"server": "dgx-h100", "size": 1, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}})


def test_workers_are_one_per_set_of_labels():
    env = environment(put("pools.other", {"server": "dgx-h100", "size": 1}), CUT)
    assert [(worker.name, worker.pools, dict(worker.labels)) for worker in features.workers(env)] == [
        ("whole", ("train", "other"), {"nvidia.com/device-plugin.config": "whole"}),
        ("time-slicing-4", ("serve",), {"nvidia.com/device-plugin.config": "time-slicing-4"}),
        (
            "mig-7x1g-10gb",
            ("cut",),
            {"nvidia.com/device-plugin.config": "mig-7x1g-10gb", "nvidia.com/mig.config": "7x1g.10gb"},
        ),
    ]


def test_nodes_whose_image_has_a_plugin_are_looked_at_and_get_no_plan():
    env = environment(put("pools.other", {"server": "dgx-h100", "size": 1, "image": "bottlerocket-nvidia"}))
    assert ("", ("other",), {}) in [
        (worker.name, worker.pools, dict(worker.labels)) for worker in features.workers(env)
    ]


def test_what_keeps_the_operator_away_is_a_label_of_its_own_worker():
    env = environment(
        put("devices", {"install": "operator"}),
        put("pools.other", {"server": "dgx-h100", "size": 1, "image": "dgx-os"}),
    )
    whole, *others = features.workers(env)
    assert (whole.name, whole.pools) == ("whole", ("train",))
    found = next(worker for worker in others if worker.pools == ("other",))
    assert found.name.startswith("whole-")
    assert found.labels["nvidia.com/gpu.deploy.driver"] == "false"
    assert len({worker.name for worker in (whole, *others)}) == len(others) + 1


def test_a_label_that_follows_from_the_pool_is_refused():
    path, problem = only(errors(CUT, put("pools.cut.labels", {"nvidia.com/mig.config": "all-1g.10gb"})))
    assert path == 'pools.cut.labels["nvidia.com/mig.config"]'
    assert "7x1g.10gb" in problem.message
