"""Device plugins of NVIDIA. Further cases: test_device_plugins.py."""

from typing import Any

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    document,
    platform,
    template,
)

TRAINING = platform(document("twin"))
POOL = next(name for name, pool in document("twin")["pools"].items() if name != "system")


def plugin(name: str, pool: Any = POOL, *command: str) -> Resource:
    made = container(
        image="nvcr.io/nvidia/k8s-device-plugin:v0.20.0", **({"command": list(command)} if command else {})
    )
    made = template(made, nodeSelector={"gangline.dev/pool": pool}, tolerations=[{"operator": "Exists"}])
    return Resource("kubernetes:apps/v1:DaemonSet", {"spec": {"template": made}}, name)


def repelled(name: str) -> Resource:
    """Give a plugin that the nodes of the pool do not take."""
    made = plugin(name)
    del made.inputs["spec"]["template"]["spec"]["tolerations"]
    return made


BREAKS: Breaks = {
    "device-plugins": [
        ([TRAINING, plugin("a"), plugin("b")], f"is a second device plugin on pool {POOL}, beside that of a"),
        ([TRAINING, plugin("a"), plugin("b", POOL, "/usr/bin/nvidia-device-plugin")], "containers[0].image"),
    ]
}

PASSES: Passes = {
    "device-plugins": [
        [TRAINING, plugin("a")],
        [TRAINING, plugin("a"), plugin("b", "system")],
        [TRAINING, plugin("a"), repelled("b")],
        [TRAINING, plugin("a"), plugin("b", POOL, "gpu-feature-discovery")],
    ]
}

UNKNOWNS: Unknowns = {
    "device-plugins": [
        ([TRAINING, plugin("a"), plugin("b", UNKNOWN)], 'spec.template.spec.nodeSelector["gangline.dev/pool"]')
    ]
}
