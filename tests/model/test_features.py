"""Which nodes node feature discovery looks at, and the labels that it gives them."""

from model import features

from .documents import environment, errors, only, put

CUT = put("pools.cut", {"server": "dgx-h100", "size": 1, "sharing": {"mig": {"profiles": {"1g.10gb": 7}}}})


def test_labels_follow_from_how_gpus_are_shared():
    env = environment(CUT)
    assert dict(features.labels(env, "train")) == {"nvidia.com/device-plugin.config": "whole"}
    assert dict(features.labels(env, "system")) == {}
    assert dict(features.labels(env, "cut")) == {
        "nvidia.com/device-plugin.config": "mig-7x1g-10gb",
        "nvidia.com/mig.config": "7x1g.10gb",
    }


def test_nodes_whose_image_has_a_plugin_get_no_plan():
    env = environment(put("pools.other", {"server": "hgx-h100", "size": 1, "image": "bottlerocket-nvidia"}))
    assert dict(features.labels(env, "other")) == {}


def test_what_keeps_the_operator_away_is_a_label_too():
    env = environment(
        put("devices", {"install": "operator"}),
        put("pools.other", {"server": "dgx-h100", "size": 1, "image": "dgx-os"}),
    )
    labels = features.labels(env, "other")
    assert labels["nvidia.com/gpu.deploy.driver"] == "false"
    assert labels["nvidia.com/device-plugin.config"] == "whole"


def test_a_label_that_follows_from_the_pool_is_refused():
    path, problem = only(errors(CUT, put("pools.cut.labels", {"nvidia.com/mig.config": "all-1g.10gb"})))
    assert path == 'pools.cut.labels["nvidia.com/mig.config"]'
    assert "7x1g.10gb" in problem.message
