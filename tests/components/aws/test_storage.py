"""Storage on AWS: what is made of each tier, who reaches it, and what goes before what."""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest

from components.aws.cluster import Cluster
from components.aws.network import Network
from components.aws.node_pool import NodePool
from model import document
from model.aws import CLUSTER_TAG, wildcards
from model.environment import Environment
from stacks.aws_storage import Stored, stored
from twin.aws import plans
from twin.aws.cloud import Cloud
from twin.aws.resources import Resource as Carried
from twin.aws.rows import ROWS
from twin.monitor import Resource

Made = Callable[[Callable[[pulumi.ResourceOptions], object]], dict[str, Resource]]
Resources = Mapping[str, Resource]

LUSTRE: dict[str, Any] = {
    "kind": "lustre",
    "size": "48000Gi",
    "throughput": 500,
    "links": [
        {"path": "/research/datasets", "prefix": "datasets/"},
        {"path": "/research/results", "prefix": "results/", "export": True},
    ],
}
VALUE: dict[str, Any] = {
    "cluster": {"name": "atlas", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]},
    "pools": {
        "system": {"instance": "m7i.2xlarge", "size": 3},
        "train": {"instance": "p5en.48xlarge", "size": 4, "zone": "us-east-2b", "fabric": "efa"},
    },
    "queues": {"all": {"capability": {"gpu": 32}}},
    "tenants": {
        "research": {"namespaces": ["research", "vision"], "queues": ["all"], "quota": {"storage": "500Gi"}},
        "long": {"namespaces": ["n" * 63], "queues": ["all"], "quota": {"storage": "500Gi"}},
    },
    "storage": {
        "shared": LUSTRE,
        "archive": {"kind": "s3", "transitions": [{"after": "30d", "class": "STANDARD_IA"}]},
    },
}


def env(shared: Mapping[str, Any] | None = None, data: str = "keep") -> Environment:
    value: dict[str, Any] = copy.deepcopy(VALUE) | {"data": data}
    storage: dict[str, Any] = value["storage"] if shared is None else {**value["storage"], "shared": dict(shared)}
    return document.load({**value, "storage": storage})


def storage(made: Made, environment: Environment) -> tuple[Resources, Stored]:
    found: list[Stored] = []

    def make(opts: pulumi.ResourceOptions) -> None:
        network = Network("platform-network", environment=environment, opts=opts)
        cluster = Cluster("platform-cluster", environment=environment, network=network, opts=opts)
        pool = NodePool(
            "platform-pool-train", environment=environment, pool="train", network=network, cluster=cluster, opts=opts
        )
        fabrics = {"train": pool.fabric} if pool.fabric is not None else {}
        found.append(stored("platform", environment, network=network, cluster=cluster, fabrics=fabrics, opts=opts))

    return made(make), found[0]


@pytest.fixture(scope="module")
def linked(made: Made) -> tuple[Resources, Stored]:
    return storage(made, env())


@pytest.fixture(scope="module")
def over_efa(made: Made) -> Resources:
    return storage(made, env({"kind": "lustre", "size": "9600Gi", "throughput": 500, "efa": True}))[0]


@pytest.fixture(scope="module")
def homes(made: Made) -> tuple[Resources, Stored]:
    return storage(made, env({"kind": "efs", "size": "10Ti"}))


def policy(resources: Resources, name: str, key: str = "policy") -> list[dict[str, Any]]:
    return json.loads(resources[name].inputs[key])["Statement"]


def test_the_bucket_is_closed_and_encrypted_and_forgets_nothing_at_once(linked: tuple[Resources, Stored]) -> None:
    resources, _ = linked
    assert resources["platform-archive-private"].inputs == {
        "bucket": "platform-archive-bucket",
        "blockPublicAcls": True,
        "blockPublicPolicy": True,
        "ignorePublicAcls": True,
        "restrictPublicBuckets": True,
    }
    assert resources["platform-archive-owned"].inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    assert resources["platform-archive-versions"].inputs["versioningConfiguration"] == {"status": "Enabled"}
    (rule,) = resources["platform-archive-encryption"].inputs["rules"]
    key = "arn:aws:kms:us-east-2:123456789012:key/platform-data-key"
    assert rule == {
        "applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": key},
        "bucketKeyEnabled": True,
    }
    (deny,) = policy(resources, "platform-archive-tls")
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    (rule,) = resources["platform-archive-lifecycle"].inputs["rules"]
    assert rule["transitions"] == [{"days": 30, "storageClass": "STANDARD_IA"}]
    assert rule["noncurrentVersionExpiration"] == {"noncurrentDays": 30}
    assert rule["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}


def test_jobs_of_each_namespace_have_their_part(linked: tuple[Resources, Stored]) -> None:
    resources, _ = linked
    roles = {
        resource.inputs["namespace"]: name.removesuffix("-association")
        for name, resource in resources.items()
        if resource.type == "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    }
    assert set(roles) == {"research", "vision", "n" * 63}
    for namespace, name in roles.items():
        # IAM's 64 characters hold seven random ones, too.
        assert len(f"{name}-role-0123456") <= 64
        assert resources[f"{name}-association"].inputs["serviceAccount"] == "jobs"
        objects = policy(resources, f"{name}-policy")[0]
        assert objects["Resource"][0].endswith(f"/{namespace}/*")


def test_no_policy_has_a_wildcard_without_a_reason(
    linked: tuple[Resources, Stored], homes: tuple[Resources, Stored]
) -> None:
    used: set[str] = set()
    for resources in (linked[0], homes[0]):
        for resource in resources.values():
            if isinstance(text := resource.inputs.get("policy"), str):
                assert list(wildcards.unreasoned(json.loads(text))) == []
                used |= {it["Sid"] for it in json.loads(text)["Statement"]}
    assert {"ArchiveObjects", "FilesByMountTarget", "KeyAccount", "KeyLinks"} <= used


def test_the_key_knows_of_links_only_where_there_are_any(
    linked: tuple[Resources, Stored], homes: tuple[Resources, Stored]
) -> None:
    assert [it["Sid"] for it in policy(linked[0], "platform-data-key")] == ["KeyAccount", "KeyLinks"]
    assert "policy" not in homes[0]["platform-data-key"].inputs
    for resources in (linked[0], homes[0]):
        assert resources["platform-data-key"].inputs["enableKeyRotation"] is True


def test_lustre_stands_where_its_nodes_do(linked: tuple[Resources, Stored]) -> None:
    files = linked[0]["platform-lustre-files"].inputs
    assert files["subnetIds"] == "platform-network-gpu-us-east-2b-id"
    assert (files["deploymentType"], files["storageType"]) == ("PERSISTENT_2", "SSD")
    assert (files["storageCapacity"], files["perUnitStorageThroughput"]) == (48000, 500)
    assert files["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    assert files["kmsKeyId"] == "arn:aws:kms:us-east-2:123456789012:key/platform-data-key"
    assert files["fileSystemTypeVersion"] == "2.15"
    # AWS makes no backups of what is linked with a bucket.
    assert files["automaticBackupRetentionDays"] == 0


def rules(resources: Resources) -> set[tuple[str, str, str, int | None, int | None]]:
    """Whose rule, which way, with whom, and the ports."""
    kinds = {"SecurityGroupIngressRule": "in", "SecurityGroupEgressRule": "out"}
    return {
        (
            resource.inputs["securityGroupId"],
            kinds[resource.type.rpartition(":")[2]],
            resource.inputs["referencedSecurityGroupId"],
            resource.inputs.get("fromPort"),
            resource.inputs.get("toPort"),
        )
        for name, resource in resources.items()
        if resource.type.rpartition(":")[2] in kinds and name.startswith(("platform-lustre", "platform-efs"))
    }


def test_lustre_talks_with_nodes_on_its_ports(linked: tuple[Resources, Stored]) -> None:
    servers, nodes = "platform-lustre-group-id", "sg-1"
    wanted = {
        (servers, way, other, first, last)
        for way in ("in", "out")
        for other in (servers, nodes)
        for first, last in ((988, 988), (1018, 1023))
    }
    wanted |= {(nodes, "in", servers, first, last) for first, last in ((988, 988), (1018, 1023))}
    assert rules(linked[0]) == wanted
    before = linked[0]["platform-lustre-files"].dependencies
    for name, resource in linked[0].items():
        if name.startswith("platform-lustre") and "SecurityGroup" in resource.type:
            assert resource.urn in before, "AWS looks at the rules when it makes the file system"


def test_over_efa_everything_goes_between_servers_and_interfaces(over_efa: Resources) -> None:
    servers, fabric = "platform-lustre-group-id", "platform-pool-train-fabric-id"
    whole = {rule for rule in rules(over_efa) if rule[3] is None}
    assert whole == {
        (group, way, other, None, None)
        for way in ("in", "out")
        for group, other in ((servers, servers), (servers, fabric), (fabric, servers))
    }
    files = over_efa["platform-lustre-files"].inputs
    assert files["efaEnabled"] is True
    assert files["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    # Without links the only copy is this one.
    assert files["automaticBackupRetentionDays"] == 7


def test_links_import_and_export_as_declared(linked: tuple[Resources, Stored]) -> None:
    events = {"events": ["NEW", "CHANGED", "DELETED"]}
    sets, results = (linked[0][f"platform-lustre-link-research-{name}"] for name in ("datasets", "results"))
    assert sets.inputs["dataRepositoryPath"] == "s3://platform-archive-bucket/datasets/"
    assert (sets.inputs["fileSystemPath"], sets.inputs["s3"]) == ("/research/datasets", {"autoImportPolicy": events})
    assert results.inputs["s3"] == {"autoImportPolicy": events, "autoExportPolicy": events}
    assert linked[0]["platform-archive-encryption"].urn in sets.dependencies


def test_each_namespace_has_a_volume_of_its_own(
    linked: tuple[Resources, Stored], homes: tuple[Resources, Stored]
) -> None:
    for _, found in (linked, homes):
        assert found.shared is not None
        assert set(found.shared.namespaces) == {"research", "vision", "n" * 63}
    lustre, efs = linked[1].shared, homes[1].shared
    assert lustre
    assert lustre.root
    assert lustre.root.driver == "fsx.csi.aws.com"
    assert lustre.namespaces["research"].mount_options == ("flock",)
    assert efs
    assert efs.root is None
    assert efs.namespaces["research"].driver == "efs.csi.aws.com"


def test_homes_are_reached_in_each_zone_by_tls_only(homes: tuple[Resources, Stored]) -> None:
    resources, _ = homes
    files = resources["platform-efs-files"].inputs
    assert (files["encrypted"], files["throughputMode"]) == (True, "elastic")
    targets = {name for name, it in resources.items() if it.type == "aws:efs/mountTarget:MountTarget"}
    assert targets == {"platform-efs-us-east-2a", "platform-efs-us-east-2b"}
    for target in targets:
        assert resources[target].inputs["securityGroups"] == ["platform-efs-group-id"]
        assert resources["platform-efs-tls"].urn in resources[target].dependencies
    assert rules(resources) == {("platform-efs-group-id", "in", "sg-1", 2049, 2049)}
    allowed, denied = policy(resources, "platform-efs-tls")
    assert allowed["Condition"] == {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    point = resources["platform-efs-research"].inputs["rootDirectory"]
    assert (point["path"], point["creationInfo"]["permissions"]) == ("/research", "0777")
    assert resources["platform-efs-backups"].inputs["backupPolicy"] == {"status": "ENABLED"}


DATA = {"platform-data-key", "platform-archive-bucket"}


@pytest.mark.parametrize(
    ("shared", "files"), [(LUSTRE, "platform-lustre-files"), ({"kind": "efs", "size": "2Ti"}, "platform-efs-files")]
)
def test_data_is_protected_until_the_document_gives_it_up(made: Made, shared: dict[str, Any], files: str) -> None:
    kept, _ = storage(made, env(shared))
    assert {name for name, it in kept.items() if it.protect} >= {*DATA, files}
    assert kept["platform-archive-bucket"].inputs["forceDestroy"] is False
    given_up, _ = storage(made, env(shared, data="delete"))
    assert [name for name, it in given_up.items() if it.protect] == []
    assert given_up["platform-archive-bucket"].inputs["forceDestroy"] is True
    assert given_up["platform-data-key"].inputs["deletionWindowInDays"] == 7


def test_scratch_has_no_key_and_disks_that_turn_no_cache(made: Made) -> None:
    scratch = storage(made, env({"kind": "lustre", "size": "2400Gi", "deployment": "scratch-2"}))[0]
    files = scratch["platform-lustre-files"].inputs
    assert not {"kmsKeyId", "automaticBackupRetentionDays", "perUnitStorageThroughput", "metadataConfiguration"} & set(
        files
    )
    turning = {"kind": "lustre", "size": "6000Gi", "deployment": "persistent-1", "disk": "hdd", "throughput": 12}
    files = storage(made, env(turning))[0]["platform-lustre-files"].inputs
    assert (files["storageType"], files["driveCacheType"]) == ("HDD", "NONE")


def test_everything_is_tagged_and_the_twin_carries_it(
    linked: tuple[Resources, Stored], homes: tuple[Resources, Stored], over_efa: Resources
) -> None:
    cloud = Cloud("http://127.0.0.1:1", "us-east-2")
    judged = 0
    for resources in (linked[0], homes[0], over_efa):
        for resource in resources.values():
            if resource.custom and resource.type.startswith(("aws:s3/", "aws:fsx/", "aws:efs/", "aws:kms/")):
                carried = Carried(resource.type, ROWS[resource.type], cloud, {})
                assert list(plans.failures(carried, resource.inputs)) == []
                assert resource.inputs.get("tags", {CLUSTER_TAG: "atlas"})[CLUSTER_TAG] == "atlas"
                judged += 1
    assert judged > 30
