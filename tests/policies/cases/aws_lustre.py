"""Lustre of FSx."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

USUAL = {
    "deploymentType": "PERSISTENT_2",
    "storageType": "SSD",
    "storageCapacity": 4800,
    "perUnitStorageThroughput": 500,
}


def lustre(**changed: Any) -> Resource:
    return Resource("aws:fsx/lustreFileSystem:LustreFileSystem", USUAL | changed, "files", protect=True)


BREAKS: Breaks = {
    "lustre-size": [
        (lustre(storageCapacity=5000), "storageCapacity: 5000Gi is 5000 GiB, and persistent-2 on ssd has no such size"),
        (lustre(storageCapacity=10**18), "storageCapacity: '1000000000000000000Gi' is more than"),
        (lustre(perUnitStorageThroughput=300), "perUnitStorageThroughput: 300"),
        (lustre(perUnitStorageThroughput=None), "perUnitStorageThroughput"),
        (lustre(deploymentType="SCRATCH_2"), "perUnitStorageThroughput"),
        (lustre(deploymentType=None, storageType=None, perUnitStorageThroughput=None), "storageCapacity: 4800Gi"),
        (lustre(storageType="HDD"), "storageType: hdd"),
        (lustre(efaEnabled=True), "storageCapacity: 4800Gi"),
        # AWS makes it without EFA and says nothing.
        (
            lustre(efaEnabled=True, deploymentType="PERSISTENT_1", perUnitStorageThroughput=200),
            "efaEnabled: True only persistent-2 is reached over EFA",
        ),
        (lustre(metadataConfiguration={"iops": 2000}), "metadataConfiguration.iops: 2000"),
    ],
}

PASSES: Passes = {
    "lustre-size": [
        lustre(),
        lustre(efaEnabled=True, storageCapacity=9600),
        lustre(deploymentType="SCRATCH_2", perUnitStorageThroughput=None),
        lustre(metadataConfiguration={"mode": "USER_PROVISIONED", "iops": 12000}),
        lustre(storageType="INTELLIGENT_TIERING", storageCapacity=None),
        lustre(storageCapacity=None, backupId="backup-1"),
    ],
}

UNKNOWNS: Unknowns = {
    "lustre-size": [
        (lustre(storageCapacity=UNKNOWN), "storageCapacity"),
        (lustre(deploymentType=UNKNOWN), "deploymentType"),
        (lustre(storageCapacity=0.5), "storageCapacity"),
    ],
}
