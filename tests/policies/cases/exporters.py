"""GPUs are measured where there are any."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, container, document, platform, template

POOL = "gangline.dev/pool"
TWIN = platform(document("twin"))
UNMEASURED = platform(document("twin") | {"monitoring": {"dcgm": "none"}})


TAINTED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""What the taint of pool train asks for."""


def agent(image: Any, pool: Any = "train", name: str = "agent", tolerations: Any = (TAINTED,)) -> Resource:
    spec = {"nodeSelector": {POOL: pool}} if pool else {}
    made = template(container(image=image), tolerations=list(tolerations), **spec)
    return Resource("kubernetes:apps/v1:DaemonSet", {"spec": {"template": made}}, name)


def chart(name: Any, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": name, "values": values}, "chart")


def discovery() -> Resource:
    """Give another program of the device plugin's image."""
    made = agent("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", name="discovery")
    made.inputs["spec"]["template"]["spec"]["containers"][0]["command"] = ["gpu-feature-discovery"]
    return made


PLUGIN = agent("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", name="plugin")
EXPORTER = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
PLACE = "environment.pools.train: no exporter runs on the nodes of train"

BREAKS: Breaks = {
    "gpu-exporter": [
        ([TWIN, PLUGIN], PLACE, ""),
        ([TWIN, PLUGIN, agent(EXPORTER, "system")], PLACE, ""),
        # Its nodes have a taint.
        ([TWIN, PLUGIN, agent(EXPORTER, None, tolerations=())], PLACE, ""),
        ([TWIN, PLUGIN, chart("dcgm-exporter")], PLACE, ""),
        ([TWIN, PLUGIN, chart("dcgm-exporter", tolerations=[TAINTED], nodeSelector={POOL: "system"})], PLACE, ""),
        ([TWIN, chart("gpu-operator", dcgmExporter={"enabled": False})], PLACE, ""),
        ([TWIN, chart("oci://nvcr.io/nvidia/nvidia-device-plugin")], PLACE, ""),
    ],
}

PASSES: Passes = {
    "gpu-exporter": [
        [TWIN, PLUGIN, agent(EXPORTER)],
        [TWIN, PLUGIN, agent(EXPORTER, None)],
        [TWIN, PLUGIN, chart("dcgm-exporter", tolerations=[TAINTED])],
        [TWIN, PLUGIN, chart("dcgm-exporter", tolerations=[TAINTED], nodeSelector={POOL: "train"})],
        [TWIN, agent("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", tolerations=())],
        [TWIN, discovery()],
        [TWIN, chart("gpu-operator-v26.7.0")],
        [TWIN, agent("example.org/other:1")],
        [UNMEASURED, PLUGIN],
        PLUGIN,
    ],
}

UNKNOWNS: Unknowns = {
    "gpu-exporter": [
        ([platform(UNKNOWN), PLUGIN], "environment", ""),
        ([TWIN, PLUGIN, agent(EXPORTER), agent(UNKNOWN, name="later")], "spec.template.spec.containers[0].image"),
        ([TWIN, PLUGIN, agent(EXPORTER), chart(UNKNOWN)], "chart"),
    ],
}
