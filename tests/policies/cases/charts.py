"""Values of charts that this project knows."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform

TWIN = platform(document("twin"))
"""The scheduler is Volcano; pool train has the taint nvidia.com/gpu:NoSchedule, and its nodes' image has the driver."""
SHARING = platform(document("sharing"))
"""Pool train has a taint of its own."""
KUEUE = platform(document("twin") | {"scheduler": {"kind": "kueue"}})


def chart(name: Any, **values: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": name, "values": values})


def volcano(**custom: Any) -> Resource:
    return chart("./.charts/volcano-1.15.1 (made at up)", custom=custom)


def operator(**values: Any) -> Resource:
    present = {"nfd": {"enabled": False}, "driver": {"enabled": False}, "toolkit": {"enabled": False}}
    return chart("gpu-operator", **(present | values))


def kuberay(**scheduler: Any) -> Resource:
    return chart("kuberay-operator", batchScheduler=scheduler)


USUAL = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}

BREAKS: Breaks = {
    "chart-keys": [
        (volcano(scheduler_replica=2), "values.custom.scheduler_replica: the chart volcano reads no scheduler_replica"),
        (volcano(leader_elect_enabled=True), "did you mean leader_elect_enable?"),
        (chart("volcano", scheduler={}), "values.scheduler: the chart volcano reads no scheduler"),
        (kuberay(names="volcano"), "values.batchScheduler.names"),
        (chart("nvidia-device-plugin", toleration=[]), "did you mean tolerations?"),
        (
            chart("gpu-operator", devicePlugins={}),
            "values.devicePlugins: the chart gpu-operator reads no",
        ),
    ],
    "chart-values": [
        (volcano(scheduler_replicas=2), "values.custom.scheduler_replicas: without leader_elect_enable 2 of them"),
        (volcano(controller_replicas=3, leader_elect_enable=False), "controller_replicas"),
        (volcano(admission_enable=False), "values.custom.admission_enable: nobody refuses"),
        (volcano(enabled_admissions="/jobs/mutate,/queues/validate"), "leaves out /jobs/validate"),
        (volcano(controller_config_override="a: b"), "values.custom.controller_config_override: is text"),
        (kuberay(enabled=True, name="volcano"), "values.batchScheduler.enabled: is the old word"),
        (
            [TWIN, kuberay(name="yunikorn")],
            "values.batchScheduler.name: yunikorn places Ray's gangs",
        ),
        ([TWIN, chart("kuberay-operator")], "values.batchScheduler.name: nothing places Ray's gangs"),
        ([KUEUE, kuberay(name="volcano")], "volcano places Ray's gangs, but the document's scheduler is kueue"),
        (operator(devicePlugin={"config": {"create": True}}), "values.devicePlugin.config.create: makes a ConfigMap"),
        ([TWIN, operator(driver={"enabled": True})], "values.driver.enabled: the images of all GPU pools bring"),
        ([TWIN, operator(toolkit={})], "values.toolkit.enabled: the images of all GPU pools bring the toolkit"),
        ([TWIN, operator(nfd={})], "values.nfd.enabled: this project brings node feature discovery"),
    ],
    "chart-tolerations": [
        ([TWIN, chart("dcgm-exporter")], "values.tolerations: the nodes of train have the taint nvidia.com/gpu:NoSch"),
        ([TWIN, chart("nvidia-device-plugin", tolerations=[])], "values.tolerations: the nodes of train"),
        ([TWIN, operator(daemonsets={"tolerations": [USUAL | {"key": "gpu"}]})], "values.daemonsets.tolerations"),
    ],
}

PASSES: Passes = {
    "chart-keys": [
        volcano(scheduler_replicas=2, scheduler_podLabels={}),
        chart("volcano", basic={"image_registry": "docker.io"}, **{"global": {"a": 1}}),
        chart("gpu-operator", somethingOfItsOwn={}),
        chart("prometheus", anything={}),
        kuberay(name="volcano"),
    ],
    "chart-values": [
        volcano(scheduler_replicas=2, leader_elect_enable=True),
        volcano(enabled_admissions="/jobs/mutate,/jobs/validate,/queues/validate", controller_config_override={}),
        [TWIN, kuberay(name="volcano")],
        [TWIN, kuberay(enabled=True)],
        [KUEUE, kuberay(name="")],
        kuberay(name="yunikorn"),
        [TWIN, operator()],
        chart("prometheus", custom={"scheduler_replicas": 2}),
    ],
    "chart-tolerations": [
        [TWIN, chart("nvidia-device-plugin-0.20.0")],
        [TWIN, operator()],
        [TWIN, chart("dcgm-exporter", tolerations=[USUAL])],
        [SHARING, chart("dcgm-exporter", tolerations=[{"operator": "Exists"}])],
        chart("dcgm-exporter"),
    ],
}

UNKNOWNS: Unknowns = {
    "chart-keys": [(chart("volcano", custom=UNKNOWN), "values.custom"), (chart(UNKNOWN), "chart")],
    "chart-values": [
        (volcano(scheduler_replicas=UNKNOWN), "values.custom.scheduler_replicas"),
        (kuberay(enabled=UNKNOWN), "values.batchScheduler.enabled"),
        ([platform(UNKNOWN), kuberay(name="volcano")], "environment"),
    ],
    "chart-tolerations": [
        ([TWIN, chart("dcgm-exporter", tolerations=UNKNOWN)], "values.tolerations"),
        ([platform(UNKNOWN), chart("dcgm-exporter")], "environment"),
    ],
}
