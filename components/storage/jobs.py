"""What jobs get of the tiers: the uploader's script in their namespaces, and volumes and a sidecar in their pods."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pulumi
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ConfigMap,
    ConfigMapEnvSourceArgs,
    ConfigMapKeySelectorArgs,
    ConfigMapVolumeSourceArgs,
    ContainerArgs,
    EmptyDirVolumeSourceArgs,
    EnvFromSourceArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    EphemeralVolumeSourceArgs,
    Namespace,
    PersistentVolumeClaimSpecArgs,
    PersistentVolumeClaimTemplateArgs,
    PersistentVolumeClaimVolumeSourceArgs,
    ResourceRequirementsArgs,
    SeccompProfileArgs,
    SecretKeySelectorArgs,
    SecurityContextArgs,
    ServiceAccount,
    VolumeArgs,
    VolumeMountArgs,
    VolumeResourceRequirementsArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from model.environment import Environment
from model.storage import mounts, remote
from model.storage.mounts import RESOURCES, SCRATCH, SCRIPT, SHARED, Disk, Mounts, Uploader
from model.storage.names import JOBS

_FILE = "uploader.sh"
_PLACE = "/opt/gangline"


@cache
def script() -> str:
    """Give the uploader's script."""
    return Path(__file__).with_name(_FILE).read_text(encoding="utf-8")


@pulumi.type_token("gangline:index:Checkpoints")
class Checkpoints(Component):
    """What the jobs of a team need for their checkpoints, in each of its namespaces."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        tenant: str,
        namespaces: Mapping[str, Namespace],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"tenant": tenant}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        for namespace in namespaces:
            ConfigMap(
                f"{name}-{namespace}-script",
                metadata=ObjectMetaArgs(name=SCRIPT, namespace=namespace),
                data={_FILE: script()},
                opts=inside,
            )
            if mounts.identified(environment):
                ServiceAccount(
                    f"{name}-{namespace}-account",
                    metadata=ObjectMetaArgs(name=JOBS, namespace=namespace),
                    # It is somebody at AWS, and nobody in the cluster.
                    automount_service_account_token=False,
                    opts=inside,
                )
        self.register_outputs({})


def volumes(it: Mounts) -> list[VolumeArgs]:
    """Give the volumes of a pod."""
    found = [VolumeArgs(name="uploader", config_map=ConfigMapVolumeSourceArgs(name=SCRIPT))]
    if it.scratch is not None:
        found.append(_disk(it.scratch))
    if it.claim is not None:
        claim = PersistentVolumeClaimVolumeSourceArgs(claim_name=it.claim)
        found.append(VolumeArgs(name="shared", persistent_volume_claim=claim))
    return found


def _disk(disk: Disk) -> VolumeArgs:
    size = str(disk.size)
    if disk.storage_class is None:
        return VolumeArgs(name="scratch", empty_dir=EmptyDirVolumeSourceArgs(size_limit=size))
    spec = PersistentVolumeClaimSpecArgs(
        access_modes=["ReadWriteOnce"],
        storage_class_name=disk.storage_class,
        resources=VolumeResourceRequirementsArgs(requests={"storage": size}),
    )
    template = PersistentVolumeClaimTemplateArgs(spec=spec)
    return VolumeArgs(name="scratch", ephemeral=EphemeralVolumeSourceArgs(volume_claim_template=template))


def volume_mounts(it: Mounts) -> list[VolumeMountArgs]:
    """Give the mounts of the tiers, in the job's container and in the uploader's."""
    places = {"scratch": SCRATCH if it.scratch else None, "shared": SHARED if it.claim else None}
    return [VolumeMountArgs(name=name, mount_path=place) for name, place in places.items() if place]


def uploader(it: Mounts) -> ContainerArgs:
    """Give the sidecar: an init container that goes on, so that it starts before the job and ends after it."""
    amounts = {name: str(amount) for name, amount in RESOURCES.items()}
    configuration = it.uploader.remote
    return ContainerArgs(
        name="uploader",
        image=it.uploader.image,
        image_pull_policy="IfNotPresent",
        restart_policy="Always",
        command=["/bin/sh", f"{_PLACE}/{_FILE}", "run"],
        env=_variables(it.uploader),
        env_from=[EnvFromSourceArgs(config_map_ref=ConfigMapEnvSourceArgs(name=configuration))]
        if configuration
        else None,
        resources=ResourceRequirementsArgs(requests=amounts, limits=amounts),
        security_context=SecurityContextArgs(
            allow_privilege_escalation=False,
            # Jobs run as any user, and it takes away what they have written.
            run_as_user=0,
            capabilities=CapabilitiesArgs(drop=["ALL"], add=["DAC_OVERRIDE"]),
            seccomp_profile=SeccompProfileArgs(type="RuntimeDefault"),
        ),
        volume_mounts=[VolumeMountArgs(name="uploader", mount_path=_PLACE, read_only=True), *volume_mounts(it)],
    )


def _variables(it: Uploader) -> list[EnvVarArgs]:
    found = [EnvVarArgs(name=name, value=value) for name, value in sorted(it.environment.items())]
    for name, key in sorted(it.from_config.items()):
        place = ConfigMapKeySelectorArgs(name=it.remote, key=key)
        found.append(EnvVarArgs(name=name, value_from=EnvVarSourceArgs(config_map_key_ref=place)))
    if it.secret:
        for name, key in sorted(remote.SECRETS.items()):
            kept = SecretKeySelectorArgs(name=it.secret, key=key)
            found.append(EnvVarArgs(name=name, value_from=EnvVarSourceArgs(secret_key_ref=kept)))
    return found
