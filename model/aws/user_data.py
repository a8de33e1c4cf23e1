"""User data of nodes: what their operating system is told at its first start."""

from email.message import Message
from email.mime.multipart import MIMEMultipart
from typing import TYPE_CHECKING, Any

import yaml

from model import bottlerocket, images
from model.storage import disks
from model.storage.scratch import Local

if TYPE_CHECKING:
    from model.environment import Environment

_BOUNDARY = "gangline"


def user_data(env: "Environment", pool_name: str) -> str:
    """The user data of a pool's nodes, as text.

    EKS adds to it what makes the node a member of the cluster
    (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html).
    """
    if images.of(env, pool_name).startswith("bottlerocket"):
        return _bottlerocket(env, pool_name)
    return _mime(yaml.safe_dump(_node_config(env, pool_name), sort_keys=False))


def _node_config(env: "Environment", pool_name: str) -> dict[str, Any]:
    """For nodeadm (https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/)."""
    pool, scratch = env.pools[pool_name], env.storage.scratch
    spec: dict[str, Any] = {"kubelet": {"config": {"maxPods": pool.max_pods}}}
    if isinstance(scratch, Local) and disks.volumes(env, pool_name):
        spec["instance"] = {"localStorage": {"strategy": "Mount", "mountPath": scratch.path}}
    elif disks.of(pool):
        # One array of all NVMe disks, with the kubelet's and containerd's folders on it: pods' scratch is that fast.
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}


def _mime(node_config: str) -> str:
    document = MIMEMultipart(boundary=_BOUNDARY)
    part = Message()
    part["Content-Type"] = "application/node.eks.aws"
    part.set_payload(node_config)
    document.attach(part)
    return document.as_string()


def _bottlerocket(env: "Environment", pool_name: str) -> str:
    """Settings (https://bottlerocket.dev/en/os/1.57.x/api/settings/); commands make the array of disks."""
    pool = env.pools[pool_name]
    tables = [f"[settings.kubernetes]\nmax-pods = {pool.max_pods}\n"]
    if disks.of(pool):
        folders = '"/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"'
        tables.append(
            "[settings.bootstrap-commands.k8s-ephemeral-storage]\n"
            'commands = [["apiclient", "ephemeral-storage", "init"], '
            f'["apiclient", "ephemeral-storage", "bind", "--dirs", {folders}]]\n'
            'essential = true\nmode = "always"\n'
        )
    if shared := bottlerocket.settings(env, pool_name):
        tables.append(shared)
    return "\n".join(tables)
