"""The disks of nodes as volumes, and the folders of namespaces."""

from typing import Any

import yaml

from model import agents
from tests.model.documents import Change, environment, example, put
from tests.rehearsals import rehearsal_of
from twin.rehearsal import Rehearsal

LOCAL = put("storage.scratch", {"kind": "local", "path": "/mnt/fast"})
LUSTRE = put("storage.shared", {"kind": "lustre", "size": "100Ti", "mount": "10.0.0.5@o2ib:/scratch"})
SIZES = [put("tenants.research.quota.storage", "20Ti"), put("tenants.production.quota.storage", "30Ti")]
SERVE = put("pools.serve.shape.disks", {"count": 2, "size": "1T"})


def rehearsed(*changes: Change) -> Rehearsal:
    return rehearsal_of(example(*changes), "storage")


def pod(rehearsal: Rehearsal, name: str) -> dict[str, Any]:
    return rehearsal.named(name).inputs["spec"]["template"]["spec"]


def test_what_makes_volumes_reaches_every_pool_with_scratch():
    found = pod(rehearsed(LOCAL, SERVE), "platform-local-volumes-daemonset")
    tolerated = {(each["key"], each["effect"]) for each in found["tolerations"]}
    env = environment(LOCAL, SERVE)
    assert tolerated == {(each.key, each.effect) for each in agents.tolerations(env, ["train", "serve"])}
    (term,) = found["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["train", "serve"]


def test_it_finds_the_disks_where_they_are_mounted_and_gives_them_to_the_class():
    rehearsal = rehearsed(LOCAL)
    found = pod(rehearsal, "platform-local-volumes-daemonset")
    settings = rehearsal.named("platform-local-volumes-classes").inputs["data"]
    ((name, place),) = yaml.safe_load(settings["storageClassMap"]).items()
    (container,) = found["containers"]
    mounts = {each["mountPath"]: each for each in container["volumeMounts"]}
    assert place["hostDir"] == place["mountDir"] == "/mnt/fast"
    assert mounts["/mnt/fast"]["mountPropagation"] == "HostToContainer"
    assert "privileged" not in container["securityContext"]
    (made,) = [each.inputs for each in rehearsal.of_kind("StorageClass")]
    assert made["metadata"]["name"] == name
    assert made["volumeBindingMode"] == "WaitForFirstConsumer"


def test_an_array_needs_nothing_in_the_cluster():
    rehearsal = rehearsed(put("storage.scratch", {"kind": "nvme"}))
    assert not [each for each in rehearsal.resources if "local-volumes" in each.name]
    assert not rehearsal.of_kind("StorageClass")


def test_folders_of_all_namespaces_are_made_before_they_are_claimed():
    rehearsal = rehearsed(LUSTRE, *SIZES)
    found = pod(rehearsal, "platform-storage-folders-job")
    (container,) = found["containers"]
    assert container["args"] == ["production", "research", "research-dev"]
    assert found["volumes"][0]["persistentVolumeClaim"]["claimName"] == "storage-root"
    job = rehearsal.named("platform-storage-folders-job")
    assert job.urn in rehearsal.named("platform-storage-research").dependencies


def test_folders_are_made_where_workloads_mount_them():
    found = pod(rehearsed(LUSTRE, *SIZES), "platform-storage-folders-job")
    (term,) = found["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["train", "serve"]
