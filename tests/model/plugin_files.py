"""Files of the device plugin that are right, and mistakes that people make in them."""

import copy
from dataclasses import dataclass
from typing import Any

import yaml

from tests.model.documents import Change, add, drop, put, rename

FILES: dict[str, dict[str, Any]] = {
    name: yaml.safe_load(text)
    for name, text in {
        "whole": "{version: v1, flags: {migStrategy: none}}",
        "slices": """
            version: v1
            flags:
              migStrategy: none
              failOnInitError: true
              plugin: {passDeviceSpecs: true, deviceListStrategy: [envvar, volume-mounts], deviceIDStrategy: uuid}
              gfd: {sleepInterval: 90s, noTimestamp: true}
            sharing:
              timeSlicing:
                renameByDefault: true
                failRequestsGreaterThanOne: true
                resources: [{name: nvidia.com/gpu, replicas: 4}]
            imex: {channelIDs: [0], required: true}
            """,
        "mps": """
            version: v1
            flags: {migStrategy: none, mpsRoot: /run/nvidia/mps}
            sharing:
              mps:
                renameByDefault: true
                failRequestsGreaterThanOne: true
                resources: [{name: nvidia.com/gpu, replicas: 48}]
            """,
        "instances": """
            version: v1
            flags: {migStrategy: mixed}
            sharing:
              timeSlicing:
                renameByDefault: true
                failRequestsGreaterThanOne: true
                resources: [{name: nvidia.com/mig-1g.10gb, replicas: 2}, {name: nvidia.com/mig-1g.10gb.me, replicas: 3}]
            """,
    }.items()
}

_SLICES, _MPS = "sharing.timeSlicing", "sharing.mps"


@dataclass(frozen=True)
class Mistake:
    """A mistake in a file.

    Attributes:
        name: What it is.
        file: The file of `FILES` that it is made in.
        changes: The mistake.
        at: Where it is told.
        said: Words of what is told.
        upstream: What the plugin does: `ends`, `ignores` it without a word, `warns`, or `obeys`, which is not
            what was meant.
    """

    name: str
    file: str
    changes: tuple[Change, ...]
    at: str
    said: str
    upstream: str

    @property
    def value(self) -> dict[str, Any]:
        """The file with the mistake."""
        value = copy.deepcopy(FILES[self.file])
        for change in self.changes:
            change(value)
        return value


def _moved(key: str, source: str, target: str, new: Any = True) -> tuple[Change, Change]:
    return drop(f"{source}.{key}"), put(f"{target}.{key}" if target else key, new)


MISTAKES = [
    Mistake(*fields)
    for fields in (
        # Keys at the wrong level.
        (
            "rename in flags",
            "slices",
            _moved("renameByDefault", _SLICES, "flags"),
            "flags.renameByDefault",
            "belongs under sharing",
            "ignores",
        ),
        (
            "fail in flags",
            "slices",
            _moved("failRequestsGreaterThanOne", _SLICES, "flags"),
            "flags.failRequestsGreaterThanOne",
            "belongs under sharing",
            "ignores",
        ),
        (
            "rename beside kinds",
            "slices",
            _moved("renameByDefault", _SLICES, "sharing"),
            "sharing.renameByDefault",
            "belongs under timeSlicing or mps",
            "ignores",
        ),
        (
            "rename at the root",
            "slices",
            _moved("renameByDefault", _SLICES, ""),
            "renameByDefault",
            "belongs under sharing",
            "ignores",
        ),
        (
            "rename in a resource",
            "slices",
            _moved("renameByDefault", _SLICES, f"{_SLICES}.resources.0"),
            f"{_SLICES}.resources[0].renameByDefault",
            "beside resources",
            "ignores",
        ),
        (
            "strategy at the root",
            "instances",
            _moved("migStrategy", "flags", "", "mixed"),
            "migStrategy",
            "belongs under flags",
            "ignores",
        ),
        (
            "kind at the root",
            "slices",
            (put("timeSlicing", FILES["slices"]["sharing"]["timeSlicing"]), drop("sharing")),
            "timeSlicing",
            "belongs under sharing",
            "ignores",
        ),
        (
            "resources beside kinds",
            "slices",
            (drop(_SLICES), put("sharing.resources", [{"name": "nvidia.com/gpu", "replicas": 4}])),
            "sharing.resources",
            "belongs under timeSlicing",
            "ignores",
        ),
        (
            "plugin's flag among all",
            "slices",
            _moved("passDeviceSpecs", "flags.plugin", "flags"),
            "flags.passDeviceSpecs",
            "belongs under flags.plugin",
            "ignores",
        ),
        (
            "discovery's flag among all",
            "slices",
            _moved("noTimestamp", "flags.gfd", "flags"),
            "flags.noTimestamp",
            "belongs under flags.gfd",
            "ignores",
        ),
        (
            "flag of the plugin at the root",
            "whole",
            (put("deviceListStrategy", "envvar"),),
            "deviceListStrategy",
            "belongs under flags.plugin",
            "ignores",
        ),
        # Misspelt keys.
        (
            "misspelt kind",
            "slices",
            (rename(_SLICES, "timeslicing"),),
            "sharing.timeslicing",
            "did you mean timeSlicing",
            "obeys",
        ),
        (
            "misspelt fail",
            "slices",
            (rename(f"{_SLICES}.failRequestsGreaterThanOne", "failRequestGreaterThanOne"),),
            f"{_SLICES}.failRequestGreaterThanOne",
            "did you mean",
            "ignores",
        ),
        (
            "misspelt rename",
            "mps",
            (rename(f"{_MPS}.renameByDefault", "RenameByDefault"),),
            f"{_MPS}.RenameByDefault",
            "did you mean",
            "ignores",
        ),
        (
            "misspelt resources",
            "slices",
            (rename(f"{_SLICES}.resources", "resource"),),
            f"{_SLICES}.resource",
            "did you mean resources",
            "ends",
        ),
        (
            "misspelt replicas",
            "slices",
            (rename(f"{_SLICES}.resources.0.replicas", "replica"),),
            f"{_SLICES}.resources[0].replica",
            "did you mean replicas",
            "ends",
        ),
        ("misspelt flags", "instances", (rename("flags", "flag"),), "flag", "did you mean flags", "ignores"),
        # Keys that nothing reads.
        (
            "resources of its own",
            "whole",
            (put("resources", {"gpus": [{"pattern": "*", "name": "nvidia.com/a100"}]}),),
            "resources",
            "naming resources",
            "warns",
        ),
        (
            "a name of its own",
            "slices",
            (put(f"{_SLICES}.resources.0.rename", "nvidia.com/slice"),),
            f"{_SLICES}.resources[0].rename",
            "naming resources",
            "warns",
        ),
        (
            "some of the devices",
            "slices",
            (put(f"{_SLICES}.resources.0.devices", [0, 1]),),
            f"{_SLICES}.resources[0].devices",
            "choosing devices",
            "warns",
        ),
        # Values that contradict each other.
        (
            "both kinds",
            "mps",
            (put(_SLICES, FILES["slices"]["sharing"]["timeSlicing"]),),
            "sharing",
            "MPS wins",
            "obeys",
        ),
        ("MPS and mixed MIG", "mps", (put("flags.migStrategy", "mixed"),), "flags.migStrategy", "whole GPUs", "ends"),
        (
            "MPS and single MIG",
            "mps",
            (put("flags.migStrategy", "single"),),
            "flags.migStrategy",
            "whole GPUs",
            "obeys",
        ),
        ("MPS without its folder", "mps", (drop("flags.mpsRoot"),), "flags.mpsRoot", "daemon", "ends"),
        (
            "instances of MPS",
            "mps",
            (put(f"{_MPS}.resources.0.name", "nvidia.com/mig-1g.10gb"),),
            f"{_MPS}.resources[0].name",
            "nothing would be shared",
            "obeys",
        ),
        (
            "instances without MIG",
            "instances",
            (put("flags.migStrategy", "single"), drop(f"{_SLICES}.resources.1")),
            f"{_SLICES}.resources[0].name",
            "nothing would be shared",
            "obeys",
        ),
        # Values that cannot be.
        (
            "one replica",
            "slices",
            (put(f"{_SLICES}.resources.0.replicas", 1),),
            f"{_SLICES}.resources[0].replicas",
            "fewer than 2",
            "ends",
        ),
        (
            "no replica",
            "mps",
            (put(f"{_MPS}.resources.0.replicas", 0),),
            f"{_MPS}.resources[0].replicas",
            "fewer than 2",
            "ends",
        ),
        (
            "less than none",
            "slices",
            (put(f"{_SLICES}.resources.0.replicas", -1),),
            f"{_SLICES}.resources[0].replicas",
            "fewer than 2",
            "ends",
        ),
        (
            "replicas as text",
            "slices",
            (put(f"{_SLICES}.resources.0.replicas", "4"),),
            f"{_SLICES}.resources[0].replicas",
            "without quotes",
            "ends",
        ),
        (
            "more clients than MPS takes",
            "mps",
            (put(f"{_MPS}.resources.0.replicas", 49),),
            f"{_MPS}.resources[0].replicas",
            "at most 48",
            "obeys",
        ),
        (
            "a resource that is none",
            "slices",
            (put(f"{_SLICES}.resources.0.name", "nvidia.com/gpus"),),
            f"{_SLICES}.resources[0].name",
            "nothing would be shared",
            "obeys",
        ),
        (
            "somebody else's resource",
            "slices",
            (put(f"{_SLICES}.resources.0.name", "amd.com/gpu"),),
            f"{_SLICES}.resources[0].name",
            "nothing would be shared",
            "ends",
        ),
        (
            "a resource twice",
            "instances",
            (put(f"{_SLICES}.resources.1.name", "nvidia.com/mig-1g.10gb"),),
            f"{_SLICES}.resources[1].name",
            "twice",
            "obeys",
        ),
        ("no resource", "slices", (put(f"{_SLICES}.resources", []),), f"{_SLICES}.resources", "no resource", "ends"),
        ("nothing of a kind", "slices", (put(_SLICES, None),), _SLICES, "is empty", "ends"),
        (
            "rename as text",
            "slices",
            (put(f"{_SLICES}.renameByDefault", "yes"),),
            f"{_SLICES}.renameByDefault",
            "true or false",
            "ends",
        ),
        (
            "a strategy that is none",
            "instances",
            (put("flags.migStrategy", "multiple"),),
            "flags.migStrategy",
            "allowed values",
            "ends",
        ),
        (
            "a list strategy that is none",
            "slices",
            (add("flags.plugin.deviceListStrategy", "cdi"),),
            "flags.plugin.deviceListStrategy[2]",
            "allowed values",
            "ends",
        ),
        (
            "an ID strategy that is none",
            "slices",
            (put("flags.plugin.deviceIDStrategy", "name"),),
            "flags.plugin.deviceIDStrategy",
            "allowed values",
            "ends",
        ),
        (
            "a way of discovery that is none",
            "whole",
            (put("flags.deviceDiscoveryStrategy", "smi"),),
            "flags.deviceDiscoveryStrategy",
            "allowed values",
            "ends",
        ),
        (
            "a time that is none",
            "slices",
            (put("flags.gfd.sleepInterval", "90 seconds"),),
            "flags.gfd.sleepInterval",
            "length of time",
            "ends",
        ),
        ("channels that are none", "slices", (put("imex.channelIDs", [0, 1]),), "imex.channelIDs", "channel 0", "ends"),
        ("another version", "whole", (put("version", "v2"),), "version", "allowed values", "ends"),
        ("a list of flags", "whole", (put("flags", ["migStrategy=none"]),), "flags", "a mapping", "ends"),
    )
]
