"""Files of the device plugin in ConfigMaps and among the values of charts. Further cases: test_plugin_files.py."""

from typing import Any

import yaml

from tests.model.plugin_files import FILES
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

RIGHT = {name: yaml.safe_dump(file) for name, file in FILES.items()}
WRONG = RIGHT["slices"].replace("failRequestsGreaterThanOne", "failRequests")


def config_map(**files: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": files})


def release(**config: Any) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", {"chart": "nvidia-device-plugin", "values": {"config": config}})


def as_chart(release: Resource) -> Resource:
    """Give the chart by Pulumi's newer way to install one."""
    return Resource("kubernetes:helm.sh/v4:Chart", release.inputs)


BREAKS: Breaks = {
    "plugin-files": [
        (config_map(any=WRONG), "data.any: sharing.timeSlicing.failRequests: "),
        (release(map={"a": WRONG}), "values.config.map.a: sharing.timeSlicing.failRequests: "),
        (as_chart(release(map={"a": WRONG})), "values.config.map.a: sharing.timeSlicing.failRequests: "),
        (release(map=RIGHT), "values.config.default: says not which of the files is meant"),
        (release(map=RIGHT, default="wohle"), "wohle is none of the files"),
    ]
}

PASSES: Passes = {"plugin-files": [config_map(**RIGHT), config_map(a="b"), release(map=RIGHT, default="mps")]}

UNKNOWNS: Unknowns = {
    "plugin-files": [
        (config_map(any=UNKNOWN), "data.any"),
        (release(map=RIGHT, default=UNKNOWN), "values.config.default"),
    ]
}
