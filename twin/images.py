"""Which images the twin stands in for, and how.

Nothing is pulled and no container runs. An image is either *lent*: its real program runs beside the control plane; or
*simulated*: a KWOK stage reports its pods as running; or unknown: its pods stay unready, and `twin status` names them.
Repositories are known by the end of their path, so that a mirror (`registry.example.com/mirror/rayproject/ray`) counts.
"""

import re

# Image repository -> the program of the twin that is lent to its pods.
LENT = {
    "volcanosh/vc-scheduler": "vc-scheduler",
    "volcanosh/vc-controller-manager": "vc-controller-manager",
    "volcanosh/vc-webhook-manager": "vc-webhook-manager",
    "kuberay/operator": "kuberay-operator",
    "kueue/kueue": "kueue",
    "jobset/jobset": "jobset",
}

# Image repositories whose pods a KWOK stage reports as running, by what they are for.
SIMULATED = {
    "node agents": (
        "nfd/node-feature-discovery",
        "nvidia/k8s-device-plugin",
        "nvidia/gpu-feature-discovery",
        "nvidia/mps-control-daemon",
        "nvidia/k8s/dcgm-exporter",
        "nvidia/cloud-native/k8s-mig-manager",
        "nvidia/cloud-native/k8s-driver-manager",
        "nvidia/cloud-native/gpu-operator-validator",
        "nvidia/k8s/container-toolkit",
        "nvidia/driver",
        "nvidia/gpu-operator",
        "eks/aws-efa-k8s-device-plugin",
        "mellanox/k8s-rdma-shared-dev-plugin",
        "mellanox/rdma-shared-device-plugin",
        "mellanox/network-operator",
        "sig-storage/local-volume-provisioner",
        "k8snetworkplumbingwg/multus-cni",
        "k8snetworkplumbingwg/sriov-network-device-plugin",
    ),
    "workloads": (
        "rayproject/ray",
        "rayproject/ray-ml",
        "pytorch/pytorch",
        "nvidia/pytorch",
        "nvidia/cuda",
        "nvidia/nemo",
        "vllm/vllm-openai",
        "rclone/rclone",
    ),
    "monitoring": (
        "prometheus/prometheus",
        "prometheus/alertmanager",
        "prometheus/node-exporter",
        "prometheus-operator/prometheus-operator",
        "prometheus-operator/prometheus-config-reloader",
        "kube-state-metrics/kube-state-metrics",
        "grafana/grafana",
    ),
    "nodes of AWS": (
        "karpenter/controller",
        "autoscaling/cluster-autoscaler",
    ),
    "small tools": (
        "pause",
        "busybox",
        "alpine",
        "library/busybox",
        "library/alpine",
        "library/python",
        "python",
        "kubectl",
        "curlimages/curl",
    ),
}


def repository(image: str) -> str:
    """Give an image's repository: `quay.io/kuberay/operator:v1.6.2` -> `quay.io/kuberay/operator`."""
    name, _, _ = image.partition("@")
    head, slash, last = name.rpartition("/")
    return head + slash + last.partition(":")[0]


def lent_program(image: str) -> str | None:
    """Give the program that the twin lends to pods of this image, or None."""
    name = repository(image)
    for known, program in LENT.items():
        if name == known or name.endswith(f"/{known}"):
            return program
    return None


def pattern(repositories: tuple[str, ...] | dict[str, str]) -> str:
    """Give the regular expression that matches images of these repositories, for jq and Python alike."""
    names = "|".join(re.escape(name).replace("\\-", "-") for name in sorted(repositories))
    return f"^(.*/)?({names})(:[^/]*)?(@.*)?$"


def simulated() -> tuple[str, ...]:
    """Give all repositories that stages stand for."""
    return tuple(name for names in SIMULATED.values() for name in names)


LENT_PATTERN = pattern(LENT)
SIMULATED_PATTERN = pattern(simulated())
_simulated = re.compile(SIMULATED_PATTERN)


def is_simulated(image: str) -> bool:
    """Say whether a stage stands for this image."""
    return _simulated.match(image) is not None
