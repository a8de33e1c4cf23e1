"""All rules of the pack, topic by topic, in the order of the reference."""

from types import ModuleType

from policies import (
    charts,
    containers,
    counter_files,
    device_plugins,
    exporters,
    gpu_parts,
    gpu_traffic,
    gpu_visibility,
    host_access,
    images,
    lifetimes,
    namespaces,
    nccl_variables,
    plain_secrets,
    plugin_files,
    pools,
    privileges,
    queues,
    ray_objects,
    rbac,
    scheduler_files,
    services,
    supply_chain,
    team_queues,
    tenants,
    volcano_jobs,
    workloads,
)
from policies.aws import (
    buckets,
    budget,
    capacity,
    cluster,
    data,
    efa,
    identity,
    keys,
    lustre,
    machines,
    network,
    registry,
)
from policies.rules import Law

TOPICS: dict[str, tuple[ModuleType, ...]] = {
    # Each module has its rules in `RULES`, and their cases in tests/policies/cases.
    "Devices and pools": (
        gpu_parts,
        device_plugins,
        plugin_files,
        gpu_visibility,
        pools,
        exporters,
        counter_files,
    ),
    "Fabric": (gpu_traffic, nccl_variables),
    "Queues and teams": (queues, team_queues, tenants, scheduler_files),
    "Workloads": (workloads, volcano_jobs, ray_objects, lifetimes),
    "Pods and their nodes": (privileges, host_access, containers, namespaces),
    "Who may do what, and who may enter": (rbac, services),
    "Images and charts": (images, supply_chain, charts),
    "Storage and data on AWS": (buckets, data, keys, lustre),
    "Clusters, machines and networks on AWS": (cluster, network, machines, efa, registry),
    "Identity on AWS, and secrets": (identity, plain_secrets),
    "Capacity and cost": (capacity, budget),
}

MODULES = tuple(module for topic in TOPICS.values() for module in topic)
RULES: tuple[Law, ...] = tuple(rule for module in MODULES for rule in module.RULES)
