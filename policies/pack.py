"""All rules of the pack, in the order of the reference."""

from policies import (
    containers,
    counter_files,
    device_plugins,
    gpu_parts,
    gpu_visibility,
    host_access,
    images,
    namespaces,
    nccl_variables,
    plain_secrets,
    plugin_files,
    pools,
    privileges,
    queues,
    rbac,
    services,
    team_queues,
    volcano_jobs,
    workloads,
)
from policies.aws import buckets, capacity, cluster, data, efa, identity, keys, lustre, machines, network, registry
from policies.rules import Law

MODULES = (
    workloads,
    gpu_parts,
    device_plugins,
    gpu_visibility,
    plugin_files,
    counter_files,
    queues,
    team_queues,
    nccl_variables,
    images,
    privileges,
    host_access,
    containers,
    volcano_jobs,
    rbac,
    services,
    namespaces,
    pools,
    buckets,
    data,
    keys,
    lustre,
    cluster,
    network,
    identity,
    machines,
    registry,
    efa,
    capacity,
    plain_secrets,
)
"""The topics: each has its rules in `RULES`, and their cases in tests/policies/cases under the same name."""

RULES: tuple[Law, ...] = tuple(rule for module in MODULES for rule in module.RULES)
