"""The device plugin's configuration, and the agents that must reach each pool."""

from model import agents, devices, nodes
from tests.model.documents import Change, add, drop, environment, put


def _plan(pool: str, *changes: Change) -> devices.Plan:
    return next(plan for plan in devices.plans(environment(*changes)) if pool in plan.pools)


def _sharing(plan: object) -> Change:
    return put("pools.serve.sharing", plan)


NO_SHARED_QUOTAS = [
    drop(("queues", "research", "capability", "nvidia.com/gpu.shared")),
    drop(("queues", "production", "deserved", "nvidia.com/gpu.shared")),
    drop(("queues", "production", "capability", "nvidia.com/gpu.shared")),
    drop("ray.clusters.answers"),
]


def test_whole_gpus_have_no_sharing_block():
    assert _plan("train") == devices.Plan(
        name="whole",
        strategy="none",
        pools=("train",),
        configuration={"version": "v1", "flags": {"migStrategy": "none"}},
        layout=None,
        labels={"nvidia.com/device-plugin.config": "whole"},
        feature_discovery=False,
        mps=False,
    )


def test_slices_are_renamed_and_handed_out_one_by_one():
    plan = _plan("serve")
    assert (plan.name, plan.strategy, plan.feature_discovery, plan.mps) == (
        "time-slicing-4",
        "time-slicing",
        True,
        False,
    )
    assert plan.configuration["sharing"] == {
        "timeSlicing": {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
        }
    }


def test_mps_needs_its_root_its_daemon_and_feature_discovery():
    plan = _plan("serve", _sharing({"mps": {"replicas": 4}}))
    assert (plan.name, plan.strategy, plan.feature_discovery, plan.mps) == ("mps-4", "mps", True, True)
    assert plan.configuration == {
        "version": "v1",
        "flags": {"migStrategy": "none", "mpsRoot": "/run/nvidia/mps"},
        "sharing": {
            "mps": {
                "renameByDefault": True,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    }


def test_instances_have_a_layout_and_resources_of_their_own():
    env = environment(_sharing({"mig": {"profiles": {"3g.40gb": 1, "1g.10gb": 2, "2g.20gb": 1}}}), *NO_SHARED_QUOTAS)
    plan = next(plan for plan in devices.plans(env) if plan.strategy == "mig")
    assert plan.name == "mig-2x1g-10gb-1x2g-20gb-1x3g-40gb"[: 32 - 9] + "-" + plan.name[-8:]
    assert plan.layout == "2x1g.10gb-1x2g.20gb-1x3g.40gb"
    assert plan.labels == {"nvidia.com/device-plugin.config": plan.name, "nvidia.com/mig.config": plan.layout}
    assert plan.configuration == {"version": "v1", "flags": {"migStrategy": "mixed"}}
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {
        "nvidia.com/mig-1g.10gb": 8,
        "nvidia.com/mig-2g.20gb": 4,
        "nvidia.com/mig-3g.40gb": 4,
    }
    assert devices.mig_configuration(env) == {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False}],
            "2x1g.10gb-1x2g.20gb-1x3g.40gb": [
                {
                    "devices": "all",
                    "mig-enabled": True,
                    "mig-devices": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
                }
            ],
        },
    }


def test_instances_may_be_time_sliced():
    mig = {"profiles": {"1g.10gb": 7}}
    both = _sharing({"mig": mig, "timeSlicing": {"replicas": 4}})
    plan = _plan("serve", both, *NO_SHARED_QUOTAS)
    assert (plan.name, plan.strategy) == ("mig-7x1g-10gb-time-slicing-4", "mig")
    assert plan.configuration["sharing"]["timeSlicing"]["resources"] == [
        {"name": "nvidia.com/mig-1g.10gb", "replicas": 4}
    ]
    env = environment(both, *NO_SHARED_QUOTAS)
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {"nvidia.com/mig-1g.10gb.shared": 4 * 7 * 4}


def test_single_instances_are_called_gpus():
    single = _sharing({"mig": {"profiles": {"1g.10gb": 7}, "strategy": "single"}})
    env = environment(single, *NO_SHARED_QUOTAS)
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {"nvidia.com/gpu": 28}
    assert _plan("serve", single, *NO_SHARED_QUOTAS).name == "mig-single-7x1g-10gb"


def test_agents_tolerate_each_taint_once_whatever_its_value():
    env = environment(
        add("pools.train.taints", {"key": "team", "value": "x", "effect": "NoExecute"}),
        add("pools.serve.taints", {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}),
    )
    assert agents.gpu_pools(env) == ("train", "serve")
    assert [(found.key, found.effect) for found in agents.tolerations(env, agents.gpu_pools(env))] == [
        ("nvidia.com/gpu", "NoSchedule"),
        ("team", "NoExecute"),
    ]


def test_a_taint_of_one_team_is_tolerated_where_its_pool_is_meant():
    assert [found.key for found in agents.tolerations(environment(), ["serve"])] == ["team"]
    assert agents.tolerations(environment(), ["system"]) == ()
