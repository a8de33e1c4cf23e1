"""Caches of datasets in the cluster."""

from typing import Any

from tests.model.documents import example, put
from tests.rehearsals import rehearsal_of
from twin.rehearsal import Rehearsal

NVME = put("storage.scratch", {"kind": "nvme"})


def rehearsed(cache: dict[str, Any]) -> Rehearsal:
    return rehearsal_of(example(NVME, put("storage.cache", cache)), "storage")


def test_juicefs_reaches_nodes_with_scratch_whatever_their_taints():
    rehearsal = rehearsed({"kind": "juicefs", "secret": "jfs", "size": "8Ti"})
    values = rehearsal.named("platform-juicefs-release").inputs["values"]
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in values["node"]["tolerations"]
    assert values["dashboard"] == {"enabled": False}
    (made,) = [each.inputs for each in rehearsal.of_kind("StorageClass")]
    assert made["provisioner"] == "csi.juicefs.com"
    assert set(made["parameters"].values()) == {"jfs", "${pvc.namespace}"}


def test_every_namespace_has_the_datasets_and_what_caches_them():
    cache = {"kind": "fluid", "secret": "jfs", "size": "8Ti", "datasets": {"imagenet": "a/", "laion": "b/"}}
    rehearsal = rehearsed(cache)
    for kind in ("Dataset", "JuiceFSRuntime"):
        found = {(it.inputs["metadata"]["namespace"], it.inputs["metadata"]["name"]) for it in rehearsal.of_kind(kind)}
        namespaces = ("research", "research-dev", "production")
        assert found == {(namespace, name) for namespace in namespaces for name in ("imagenet", "laion")}
    release = rehearsal.named("platform-fluid-release")
    assert release.inputs["skipCrds"]
    definitions = [each for each in rehearsal.of_kind("CustomResourceDefinition") if "fluid" in each.name]
    assert {each.retain_on_delete for each in definitions} == {True}
