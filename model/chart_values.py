"""What the charts of GPU clusters read of their values, and what they take otherwise than it is meant.

Helm hands on any key and a template reads those that it knows, so a slip of the pen is silence. Sources: values.yaml
and templates of https://github.com/volcano-sh/volcano v1.15.1 (installer/helm/chart/volcano),
https://github.com/ray-project/kuberay (helm-chart/kuberay-operator), https://github.com/NVIDIA/k8s-device-plugin
(deployments/helm/nvidia-device-plugin) and https://github.com/NVIDIA/gpu-operator (deployments/gpu-operator).
"""

import re
from collections.abc import Mapping

VOLCANO, KUBERAY = "volcano", "kuberay-operator"
GPU_OPERATOR, DEVICE_PLUGIN, EXPORTER = "gpu-operator", "nvidia-device-plugin", "dcgm-exporter"

BATCH_SCHEDULERS: Mapping[str, str] = {"volcano": "volcano", "kueue": "", "kai": "kai-scheduler"}
"""What KubeRay calls a scheduler (`batchScheduler.name`). Kueue needs none: it holds back whole objects."""

_VOLCANO_BASIC = """
    admission_config_file admission_image_name admission_image_tag_version admission_port
    admission_secret_name agent_image_name agent_image_tag_version agent_scheduler_config_file
    agent_scheduler_image_name agent_scheduler_image_tag_version controller_image_name
    controller_image_tag_version image_pull_policy image_pull_secret image_registry image_tag_version
    scheduler_config_file scheduler_image_name scheduler_image_tag_version
"""
_VOLCANO_CUSTOM = """
    admission_affinity admission_config_override admission_enable admission_feature_gates admission_init_csc
    admission_labels admission_log_level admission_main_csc admission_ns admission_podLabels
    admission_replicas admission_resources admission_sc admission_tolerations agent_affinity
    agent_cni_config_path agent_extend_resource_cpu_name agent_extend_resource_memory_name agent_init_csc
    agent_kube_cgroup_root agent_main_csc agent_ns agent_resources agent_sc agent_scheduler_affinity
    agent_scheduler_enable agent_scheduler_main_csc agent_scheduler_name agent_scheduler_ns
    agent_scheduler_replicas agent_scheduler_sc agent_scheduler_sharding_mode agent_scheduler_sharding_name
    agent_scheduler_tolerations agent_scheduler_worker_count agent_supported_features agent_tolerations
    aggregationRule_labels colocation_enable common_labels controller_affinity controller_config_override
    controller_enable controller_enabled_controllers controller_kube_api_burst controller_kube_api_qps
    controller_labels controller_log_level controller_main_csc controller_metrics_enable controller_ns
    controller_podLabels controller_replicas controller_resources controller_sc controller_tolerations
    controller_worker_threads controller_worker_threads_for_gc controller_worker_threads_for_podgroup
    default_affinity default_csc default_ns default_sc default_tolerations enabled_admissions
    go_memlimit_enable ignored_provisioners kube_state_metrics_ns leader_elect_enable map_enable
    metrics_enable scheduler_affinity scheduler_config_override scheduler_enable scheduler_feature_gates
    scheduler_kube_api_burst scheduler_kube_api_qps scheduler_labels scheduler_log_level scheduler_main_csc
    scheduler_metrics_enable scheduler_name scheduler_node_worker_threads scheduler_ns
    scheduler_percentage_nodes_to_find scheduler_plugins_dir scheduler_podLabels scheduler_pprof_enable
    scheduler_replicas scheduler_resources scheduler_sc scheduler_schedule_period scheduler_sharding_mode
    scheduler_sharding_name scheduler_tolerations sharding_configmap_data sharding_configmap_enable
    vap_enable webhooks_namespace_selector_expressions
"""
_KUBERAY = """
    affinity annotations batchScheduler componentOverride configuration crNamespacedRbacEnable env
    featureGates fullnameOverride hostUsers image imagePullSecrets kubeClient labels leaderElectionEnabled
    livenessProbe logging metrics nameOverride nodeSelector operatorCommand podSecurityContext
    priorityClassName rbacEnable readinessProbe reconcileConcurrency replicas resources securityContext
    service serviceAccount singleNamespaceInstall tolerations useKubernetesProxy watchNamespace
"""
_DEVICE_PLUGIN = """
    affinity allowDefaultNamespace cdi compatWithCPUManager componentSelectorLabels config
    deviceDiscoveryStrategy deviceIDStrategy deviceListStrategy devicePlugin failOnInitError
    fullnameOverride gdrcopyEnabled gdsEnabled gfd image imagePullSecrets migStrategy mofedEnabled mps
    nameOverride namespaceOverride nfd nodeSelector nvidiaDriverRoot podAnnotations podSecurityContext
    priorityClassName resources runtimeClassName securityContext selectorLabelsOverride tolerations
    updateStrategy
"""
_GPU_OPERATOR = """
    ccManager cdi clusterPolicy daemonsets dcgm dcgmExporter devicePlugin draDriver driver extraObjects
    gdrcopy gds gfd gpuCluster hostPaths mig migManager nfd node-feature-discovery nodeStatusExporter
    operator platform psa sandboxWorkloads toolkit validator vfioManager vgpuDeviceManager vgpuManager
"""

KEYS: Mapping[str, Mapping[tuple[str, ...], frozenset[str]]] = {
    # Keys that a chart reads, by chart and by where they stand among its values.
    VOLCANO: {
        (): frozenset({"basic", "custom", "service"}),
        ("basic",): frozenset(_VOLCANO_BASIC.split()),
        ("custom",): frozenset(_VOLCANO_CUSTOM.split()),
    },
    KUBERAY: {(): frozenset(_KUBERAY.split()), ("batchScheduler",): frozenset({"enabled", "name"})},
    DEVICE_PLUGIN: {
        (): frozenset(_DEVICE_PLUGIN.split()),
        ("config",): frozenset({"name", "map", "default", "fallbackStrategies"}),
    },
    GPU_OPERATOR: {(): frozenset(_GPU_OPERATOR.split())},
}

IN_PART = frozenset({GPU_OPERATOR})
"""Charts that read more keys than are listed here, so that only a key that looks like one of these is a mistake."""

PODS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    # Where a chart takes what says on which nodes its agents run, `tolerations`, `nodeSelector` and `affinity` as a pod
    # has them; and whether it tolerates NVIDIA's usual taint when it is told of no tolerations.
    GPU_OPERATOR: (("daemonsets",), True),
    DEVICE_PLUGIN: ((), True),
    EXPORTER: ((), False),
}
USUAL_TAINT = ("nvidia.com/gpu", "NoSchedule")
"""Key and effect of the taint that NVIDIA's charts tolerate by default."""
_NAME = re.compile(r"(?P<name>[a-z](?:[a-z0-9]|-(?!v?[0-9]))*)(?:-v?[0-9].*)?")
"""A name of a chart, with or without a version."""


def name(chart: str) -> str:
    """The name of a chart, of what a release says: a name, a path, an archive or a reference to a registry."""
    found = _NAME.fullmatch(chart.partition(" ")[0].rstrip("/").rpartition("/")[2].removesuffix(".tgz"))
    return found["name"] if found else ""
