"""Node feature discovery: labels that say which PCI devices a node has.

Rules and permissions follow the project's own manifests (kubernetes-sigs/node-feature-discovery v0.19,
deployment/base and deployment/components/common).
"""

from collections.abc import Mapping
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apps.v1 import Deployment, DeploymentSpecArgs
from pulumi_kubernetes.core.v1 import (
    ContainerArgs,
    ContainerPortArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    HTTPGetActionArgs,
    ObjectFieldSelectorArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    ProbeArgs,
    ResourceRequirementsArgs,
    ServiceAccount,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRuleArgs,
    Role,
    RoleBinding,
    RoleRefArgs,
    SubjectArgs,
)

from components.component import Component
from components.devices.agent import agent, host_path, restricted
from components.devices.configuration import configuration, volume
from components.placement import beside_gpus
from model import features
from model.environment import Environment
from model.namespaces import AGENTS
from model.releases import Upstream

_RBAC = "rbac.authorization.k8s.io"
_CONFIG = "/etc/kubernetes/node-feature-discovery"
FEATURES = f"{_CONFIG}/features.d"
"""The folder of a node in which others leave features for its worker."""

_PCI = {
    # NVIDIA's charts select nodes by `feature.node.kubernetes.io/pci-10de.present`. With the defaults of node feature
    # discovery the label would also carry the device class, `pci-0302_10de.present`, which nothing selects.
    "deviceClassWhitelist": ["02", "0200", "0207", "0300", "0302", "03"],
    "deviceLabelFields": ["vendor"],
}
# GPU feature discovery's labels are in NVIDIA's own namespace.
_MASTER_CONFIG = {"extraLabelNs": ["nvidia.com"]}


@pulumi.type_token("gangline:index:NodeFeatures")
class NodeFeatures(Component):
    """A worker on each GPU node that finds its devices, and one master that labels the nodes.

    Workers are one DaemonSet per pool, since each gives its nodes the labels that the document implies for them.
    """

    def __init__(
        self, name: str, *, environment: Environment, upstream: Upstream, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        self._image = upstream.images["nfd"]
        self._child = pulumi.ResourceOptions(parent=self)
        self._master(f"{name}-master", environment)
        self._workers(f"{name}-worker", environment)
        self.register_outputs({})

    def _master(self, name: str, environment: Environment) -> None:
        account = self._account(name, "nfd-master")
        role = ClusterRole(
            f"{name}-role",
            metadata=ObjectMetaArgs(name="nfd-master"),
            rules=[
                PolicyRuleArgs(api_groups=[""], resources=["namespaces"], verbs=["list", "watch"]),
                PolicyRuleArgs(
                    api_groups=[""], resources=["nodes", "nodes/status"], verbs=["get", "list", "patch", "update"]
                ),
                PolicyRuleArgs(
                    api_groups=["nfd.k8s-sigs.io"],
                    resources=["nodefeatures", "nodefeaturerules", "nodefeaturegroups"],
                    verbs=["get", "list", "watch"],
                ),
                PolicyRuleArgs(
                    api_groups=["nfd.k8s-sigs.io"], resources=["nodefeaturegroups/status"], verbs=["patch", "update"]
                ),
                PolicyRuleArgs(api_groups=["coordination.k8s.io"], resources=["leases"], verbs=["create"]),
                PolicyRuleArgs(
                    api_groups=["coordination.k8s.io"],
                    resources=["leases"],
                    resource_names=["nfd-master.nfd.kubernetes.io"],
                    verbs=["get", "update"],
                ),
            ],
            opts=self._child,
        )
        binding = ClusterRoleBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name="nfd-master"),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name="nfd-master"),
            subjects=[SubjectArgs(kind="ServiceAccount", name="nfd-master", namespace=AGENTS)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )
        config = configuration(
            f"{name}-config", "nfd-master", "nfd-master.conf", yaml.safe_dump(_MASTER_CONFIG), self._child
        )
        affinity, tolerations = beside_gpus(environment)
        labels = {"app.kubernetes.io/name": "nfd-master"}
        Deployment(
            name,
            metadata=ObjectMetaArgs(name="nfd-master", namespace=AGENTS, labels=labels),
            spec=DeploymentSpecArgs(
                replicas=1,
                selector=LabelSelectorArgs(match_labels=labels),
                template=PodTemplateSpecArgs(
                    metadata=ObjectMetaArgs(labels=labels),
                    spec=PodSpecArgs(
                        service_account_name=account.metadata.name,
                        enable_service_links=False,
                        affinity=affinity,
                        tolerations=tolerations,
                        containers=[
                            self._container(
                                "nfd-master",
                                requests={"cpu": "100m", "memory": "128Mi"},
                                memory="4Gi",
                                mounts=[VolumeMountArgs(name="config", mount_path=_CONFIG, read_only=True)],
                            )
                        ],
                        volumes=[volume("config", config)],
                    ),
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[binding]),
        )

    def _workers(self, name: str, environment: Environment) -> None:
        account = self._account(name, "nfd-worker")
        role = Role(
            f"{name}-role",
            metadata=ObjectMetaArgs(name="nfd-worker", namespace=AGENTS),
            rules=[
                PolicyRuleArgs(
                    api_groups=["nfd.k8s-sigs.io"],
                    resources=["nodefeatures"],
                    verbs=["create", "delete", "get", "update"],
                ),
                PolicyRuleArgs(api_groups=[""], resources=["pods"], verbs=["get"]),
            ],
            opts=self._child,
        )
        binding = RoleBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name="nfd-worker", namespace=AGENTS),
            role_ref=RoleRefArgs(api_group=_RBAC, kind="Role", name="nfd-worker"),
            subjects=[SubjectArgs(kind="ServiceAccount", name="nfd-worker", namespace=AGENTS)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role]),
        )
        for pool in features.pools(environment):
            self._worker(f"{name}-{pool}", pool, environment, account, binding)

    def _worker(
        self, name: str, pool: str, environment: Environment, account: ServiceAccount, binding: RoleBinding
    ) -> None:
        config = configuration(
            f"{name}-config",
            f"nfd-worker-{pool}",
            "nfd-worker.conf",
            yaml.safe_dump(_worker_config(features.labels(environment, pool)), sort_keys=False),
            opts=self._child,
        )
        host = {
            "boot": ("/boot", "/host-boot"),
            "os-release": ("/etc/os-release", "/host-etc/os-release"),
            "sys": ("/sys", "/host-sys"),
            "usr-lib": ("/usr/lib", "/host-usr/lib"),
            "lib": ("/lib", "/host-lib"),
            "swaps": ("/proc/swaps", "/host-proc/swaps"),
            "features": (FEATURES, FEATURES),
        }
        agent(
            name,
            "nfd-worker",
            part=pool,
            environment=environment,
            pools=[pool],
            container=self._container(
                "nfd-worker",
                requests={"cpu": "5m", "memory": "64Mi"},
                memory="512Mi",
                mounts=[
                    VolumeMountArgs(name="config", mount_path=_CONFIG, read_only=True),
                    *(VolumeMountArgs(name=key, mount_path=path, read_only=True) for key, (_, path) in host.items()),
                ],
            ),
            volumes=[volume("config", config), *(host_path(key, path) for key, (path, _) in host.items())],
            service_account=account.metadata.name,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[binding]),
        )

    def _account(self, name: str, account: str) -> ServiceAccount:
        return ServiceAccount(
            f"{name}-account", metadata=ObjectMetaArgs(name=account, namespace=AGENTS), opts=self._child
        )

    def _container(
        self, program: str, *, requests: dict[str, str], memory: str, mounts: list[VolumeMountArgs]
    ) -> ContainerArgs:
        healthy = HTTPGetActionArgs(path="/healthz", port="http")
        return ContainerArgs(
            name=program,
            image=self._image,
            image_pull_policy="IfNotPresent",
            command=[program],
            env=[
                _downward("NODE_NAME", "spec.nodeName"),
                _downward("POD_NAME", "metadata.name"),
                _downward("POD_UID", "metadata.uid"),
            ],
            ports=[ContainerPortArgs(name="http", container_port=8080)],
            liveness_probe=ProbeArgs(http_get=healthy, initial_delay_seconds=10),
            readiness_probe=ProbeArgs(http_get=healthy, initial_delay_seconds=5, failure_threshold=10),
            security_context=restricted(root=False),
            resources=ResourceRequirementsArgs(requests=requests, limits={"memory": memory}),
            volume_mounts=mounts,
        )


def _worker_config(labels: Mapping[str, str]) -> dict[str, Any]:
    # A rule without a condition holds for every node that it is asked on: the worker's own.
    rules = [{"name": "as the document says", "labels": dict(labels)}] if labels else []
    return {"sources": {"pci": _PCI} | ({"custom": rules} if rules else {})}


def _downward(name: str, path: str) -> EnvVarArgs:
    return EnvVarArgs(name=name, value_from=EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(field_path=path)))
