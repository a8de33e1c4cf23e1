"""The folders of the namespaces on a shared file system that somebody must make before they can be mounted."""

from collections.abc import Iterable

import pulumi
from pulumi_kubernetes.batch.v1 import Job, JobSpecArgs
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ContainerArgs,
    PersistentVolumeClaimVolumeSourceArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ResourceRequirementsArgs,
    SecurityContextArgs,
    VolumeArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.placement import on_pools, tolerations
from components.storage.source import VolumeSource
from components.storage.volume import claim, volume
from model import agents, aws
from model.environment import Environment
from model.namespaces import AGENTS
from model.releases import Upstream
from model.storage import claims

NAME = "storage-root"
_AT = "/shared"
# For pods of any user, who keep the group of the folder. What is there already is left as it is.
_MAKE = f'for each in "$@"; do [ -d "{_AT}/$each" ] || mkdir -m 2777 "{_AT}/$each" || exit 1; done'


@pulumi.type_token("gangline:index:Folders")
class Folders(Component):
    """A job that mounts the whole file system once, and makes the folders that are missing.

    It is complete when they are there, so that nobody waits for a mount that cannot be.
    """

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        root: VolumeSource,
        namespaces: Iterable[str],
        size: str,
        upstream: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        where = volume(f"{name}-volume", NAME, AGENTS, NAME, size, root, pulumi.ResourceOptions(parent=self))
        claimed = claim(
            f"{name}-claim",
            NAME,
            AGENTS,
            size,
            claims.CLASS,
            where,
            pulumi.ResourceOptions(parent=self),
        )
        pools = _pools(environment)
        Job(
            f"{name}-job",
            metadata=ObjectMetaArgs(name="storage-folders", namespace=AGENTS),
            spec=JobSpecArgs(
                backoff_limit=4,
                template=PodTemplateSpecArgs(
                    spec=PodSpecArgs(
                        restart_policy="Never",
                        automount_service_account_token=False,
                        affinity=on_pools(pools),
                        tolerations=tolerations(environment, pools),
                        containers=[
                            ContainerArgs(
                                name="folders",
                                image=upstream.images["shell"],
                                image_pull_policy="IfNotPresent",
                                command=["sh", "-c", _MAKE, "folders"],
                                args=sorted(namespaces),
                                security_context=SecurityContextArgs(
                                    allow_privilege_escalation=False,
                                    read_only_root_filesystem=True,
                                    # The folder above may be anybody's.
                                    capabilities=CapabilitiesArgs(drop=["ALL"], add=["DAC_OVERRIDE"]),
                                ),
                                resources=ResourceRequirementsArgs(
                                    requests={"cpu": "10m", "memory": "16Mi"}, limits={"memory": "64Mi"}
                                ),
                                volume_mounts=[VolumeMountArgs(name="shared", mount_path=_AT)],
                            )
                        ],
                        volumes=[
                            VolumeArgs(
                                name="shared",
                                persistent_volume_claim=PersistentVolumeClaimVolumeSourceArgs(claim_name=NAME),
                            )
                        ],
                    )
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[claimed], delete_before_replace=True),
        )
        self.register_outputs({})


def _pools(environment: Environment) -> list[str]:
    """Nodes that have a client of the file system: those of workloads; on AWS any, and GPUs would be brought for it."""
    gpus = agents.gpu_pools(environment)
    others = [pool for pool in environment.pools if pool not in gpus]
    return (others if aws.here(environment) else list(gpus)) or list(environment.pools)
