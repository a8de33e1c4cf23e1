"""NVIDIA's DCGM exporter.

Settings follow https://github.com/NVIDIA/dcgm-exporter, 4.5.3-4.8.2: deployment/values.yaml and templates; where they
differ, the reason stands beside them.
"""

import hashlib

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    ConfigMap,
    ContainerArgs,
    ContainerPortArgs,
    EnvVarArgs,
    EnvVarSourceArgs,
    HTTPGetActionArgs,
    ObjectFieldSelectorArgs,
    ProbeArgs,
    ResourceRequirementsArgs,
    SecurityContextArgs,
    Service,
    ServiceAccount,
    ServicePortArgs,
    ServiceSpecArgs,
    VolumeMountArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRuleArgs, RoleRefArgs, SubjectArgs

from components.component import Component
from components.devices.agent import agent, host_path
from components.devices.configuration import volume
from components.devices.gpu_clients import EXPORTER
from model.environment import Environment
from model.monitoring import counters, exporter
from model.namespaces import AGENTS
from model.releases import Upstream

_LABELS = dict(exporter.LABELS)
_FOLDER = "/etc/gangline"
_FILE = "counters.csv"
_PODS = "/var/lib/kubelet/pod-resources"


@pulumi.type_token("gangline:index:DcgmExporter")
class DcgmExporter(Component):
    """The exporter on every GPU node, once per way of sharing, behind one Service."""

    def __init__(
        self, name: str, *, environment: Environment, upstream: Upstream, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        self._environment = environment
        self._child = pulumi.ResourceOptions(parent=self)
        config = self._config(name)
        account = self._account(name)
        for deployment in exporter.deployments(environment):
            self._agent(f"{name}-{deployment.name}", deployment, upstream, config, account)
        self._service(name)
        self.register_outputs({})

    def _config(self, name: str) -> ConfigMap:
        text = counters.counters_file(self._environment)
        # The exporter does read a changed file again, but a name that changes with the content shows in the plan that
        # all exporters get it, and rolls them one after another.
        return ConfigMap(
            f"{name}-counters",
            metadata=ObjectMetaArgs(
                name=f"{exporter.JOB}-counters-{hashlib.sha256(text.encode()).hexdigest()[:8]}", namespace=AGENTS
            ),
            immutable=True,
            data={_FILE: text},
            opts=self._child,
        )

    def _account(self, name: str) -> ServiceAccount:
        """Give it an account that may read pods: their queue, and which pod a process on a shared GPU belongs to."""
        account = ServiceAccount(
            f"{name}-account", metadata=ObjectMetaArgs(name=exporter.JOB, namespace=AGENTS), opts=self._child
        )
        role = ClusterRole(
            f"{name}-role",
            metadata=ObjectMetaArgs(name=exporter.JOB),
            rules=[PolicyRuleArgs(api_groups=[""], resources=["pods"], verbs=["get", "list", "watch"])],
            opts=self._child,
        )
        ClusterRoleBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name=exporter.JOB),
            role_ref=RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=exporter.JOB),
            subjects=[SubjectArgs(kind="ServiceAccount", name=exporter.JOB, namespace=AGENTS)],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role, account]),
        )
        return account

    def _agent(
        self,
        name: str,
        deployment: exporter.Deployment,
        upstream: Upstream,
        config: ConfigMap,
        account: ServiceAccount,
    ) -> DaemonSet:
        healthy = HTTPGetActionArgs(path="/health", port="metrics")
        container = ContainerArgs(
            name=exporter.JOB,
            image=upstream.images["exporter"],
            image_pull_policy="IfNotPresent",
            args=["-f", f"{_FOLDER}/{_FILE}"],
            env=[
                EnvVarArgs(
                    name="NODE_NAME",
                    value_from=EnvVarSourceArgs(field_ref=ObjectFieldSelectorArgs(field_path="spec.nodeName")),
                ),
                *(EnvVarArgs(name=key, value=value) for key, value in deployment.environment.items()),
            ],
            ports=[ContainerPortArgs(name="metrics", container_port=exporter.PORT)],
            # It answers once it has looked at all GPUs.
            liveness_probe=ProbeArgs(http_get=healthy, initial_delay_seconds=45, period_seconds=5),
            readiness_probe=ProbeArgs(http_get=healthy, initial_delay_seconds=45),
            security_context=_privileges(profiling=counters.profiling(self._environment)),
            # Upstream's 512Mi end it on nodes with eight GPUs and pod labels (its issue 609).
            resources=ResourceRequirementsArgs(requests={"cpu": "100m", "memory": "512Mi"}, limits={"memory": "1Gi"}),
            volume_mounts=[
                VolumeMountArgs(name="pods", mount_path=_PODS, read_only=True),
                VolumeMountArgs(name="counters", mount_path=_FOLDER, read_only=True),
            ],
        )
        return agent(
            name,
            f"{exporter.JOB}-{deployment.name}",
            environment=self._environment,
            pools=deployment.pools,
            container=container,
            volumes=[
                host_path("pods", _PODS, "Directory"),
                volume("counters", config),
            ],
            service_account=account.metadata.name,
            labels=_LABELS,
            gives_way_as=EXPORTER if deployment.cut else None,
            host_pid=deployment.host_pid or None,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _service(self, name: str) -> None:
        Service(
            f"{name}-service",
            metadata=ObjectMetaArgs(
                name=exporter.JOB,
                namespace=AGENTS,
                labels=_LABELS,
                # A Service waits for its pods, and a cluster may have no GPU node yet.
                annotations={"pulumi.com/skipAwait": "true"},
            ),
            spec=ServiceSpecArgs(
                selector=_LABELS,
                # Each pod speaks of its own node only: whoever asks the Service asks for the node that it is on.
                # Prometheus asks the pods themselves.
                internal_traffic_policy="Local",
                ports=[ServicePortArgs(name="metrics", port=exporter.PORT, target_port="metrics")],
            ),
            opts=self._child,
        )


def _privileges(*, profiling: bool) -> SecurityContextArgs:
    # Root, since a capability that is added does not reach other users (its docker/Dockerfile, "Security Note"). Its
    # file system stays writable: which folders it writes to is not said anywhere.
    return SecurityContextArgs(
        run_as_user=0,
        # Kubernetes counts SYS_ADMIN as escalation.
        allow_privilege_escalation=None if profiling else False,
        capabilities=CapabilitiesArgs(drop=["ALL"], add=["SYS_ADMIN"] if profiling else None),
    )
