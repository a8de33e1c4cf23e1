"""Valid documents of many forms, for properties that hold for all of them."""

from typing import Any

from hypothesis import strategies as st

from catalog import reader as catalog
from model import mig

_NAME = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
_LEVELS = ["topology.example.com/zone", "topology.example.com/spine", "topology.example.com/rack"]
_CARDS = {"model": "connectx-7", "count": 8}
_INTERFACES = [f"ibp{number}s0" for number in range(8)]


@st.composite
def _cut(draw: st.DrawFn, gpu: catalog.Gpu) -> dict[str, Any]:
    """Instances that a GPU has room for."""
    profiles: dict[str, int] = {}
    for name in draw(st.permutations(sorted(gpu.mig))):
        most = mig.most(gpu.mig, profiles, name)
        if most > 0 and (not profiles or draw(st.booleans())):
            profiles[name] = draw(st.integers(1, most))
    cut: dict[str, Any] = {"profiles": profiles}
    strategies = ["mixed", "single"] if len(profiles) == 1 else ["mixed"]
    return cut | ({"strategy": draw(st.sampled_from(strategies))} if draw(st.booleans()) else {})


@st.composite
def _sharing(draw: st.DrawFn, gpu: catalog.Gpu) -> Any:
    """A plan of any kind that a GPU can follow."""
    slices = {"timeSlicing": {"replicas": draw(st.integers(2, 8))}}
    kind = draw(st.sampled_from(["none", "slices", "mps", *(["mig", "sliced mig"] if gpu.mig else [])]))
    if kind == "none":
        return "none"
    if kind == "slices":
        return slices
    if kind == "mps":
        return {"mps": {"replicas": draw(st.integers(2, 48 if gpu.compute >= (7, 5) else 16))}}
    return {"mig": draw(_cut(gpu))} | (slices if kind == "sliced mig" else {})


@st.composite
def _fabric(draw: st.DrawFn, slots: int) -> Any:
    """A fabric of machines with ConnectX cards."""
    kind, mode = draw(st.sampled_from(["infiniband", "roce"])), draw(st.sampled_from(["shared", "sriov"]))
    fabric: dict[str, Any] = {"kind": kind, "mode": mode, "interfaces": _INTERFACES, "networks": ["rdma"]}
    if mode == "sriov":
        fabric["virtualFunctions"] = draw(st.integers(1, 8))
    else:
        # With operators one policy holds for all pools.
        fabric["slots"] = slots
    return draw(st.sampled_from(["tcp", fabric]))


@st.composite
def _pool(draw: st.DrawFn, levels: list[str], slots: int) -> dict[str, Any]:
    most = draw(st.integers(1, 24))
    pool: dict[str, Any] = {"size": most if draw(st.booleans()) else {"min": draw(st.integers(0, most)), "max": most}}
    gpu = None
    if draw(st.booleans()):
        pool["server"] = draw(st.sampled_from(sorted(catalog.servers())))
        gpu = catalog.servers()[pool["server"]].gpu
        if catalog.servers()[pool["server"]].board:
            pool["host"] = {"nics": _CARDS}
        pool["fabric"] = draw(_fabric(slots))
    else:
        cpu, memory = draw(st.integers(8, 256)), draw(st.integers(16, 2048))
        pool["shape"] = {"cpu": cpu, "memory": f"{memory}Gi"}
        gpu = draw(st.sampled_from([None, *sorted(catalog.gpus())]))
        if gpu:
            pool["shape"]["gpu"] = {"model": gpu, "count": draw(st.integers(1, 8))}
    if gpu and draw(st.booleans()):
        pool["sharing"] = draw(_sharing(catalog.gpus()[gpu]))
    keys = draw(st.lists(st.sampled_from(["nvidia.com/gpu", "team", "example.com/dedicated"]), unique=True))
    effects = st.sampled_from(["NoSchedule", "NO_EXECUTE", "PreferNoSchedule"])
    pool["taints"] = [{"key": key, "value": draw(_NAME), "effect": draw(effects)} for key in keys]
    if levels and draw(st.booleans()):
        domains, widest = {}, 1
        for level in levels:
            widest *= draw(st.integers(1, 3))
            if widest > most:
                break
            domains[level.rpartition("/")[2]] = widest
        pool["domains"] = domains
    return pool


def gpu_resources(pool: dict[str, Any]) -> dict[str, str | None]:
    """The names under which a pool offers its GPUs, each with the profile that a worker must name for it."""
    if "server" not in pool and "gpu" not in pool["shape"]:
        return {}
    plan = {} if pool.get("sharing", "none") == "none" else pool["sharing"]
    found: dict[str, str | None] = {"nvidia.com/gpu": None}
    if "mig" in plan and plan["mig"].get("strategy") != "single":
        found = {f"nvidia.com/mig-{profile.replace('+', '.')}": profile for profile in plan["mig"]["profiles"]}
    suffix = ".shared" if {"timeSlicing", "mps"} & set(plan) else ""
    return {f"{name}{suffix}": profile for name, profile in found.items()}


def _images(pool: dict[str, Any], install: str) -> list[str]:
    """The images that nodes of a pool may have."""
    found = ["al2023", "ubuntu"]
    if "server" in pool or "gpu" in pool["shape"]:
        # Those that bring the driver, or to which the operator brings it.
        found = ["prepared", *(["rhel", "ubuntu"] if install == "operator" else [])]
        if pool.get("server", "").startswith("dgx"):
            return [*found, "dgx-os"]
        kinds = set(pool.get("sharing", ()))
        found += ["al2023-nvidia", *(["bottlerocket-nvidia"] if kinds <= {"timeSlicing", "mps"} else [])]
        found += [] if kinds else ["eks-auto"]
    return found


@st.composite
def _queue(draw: st.DrawFn, deserved: int, capability: int, depth: int) -> dict[str, Any]:
    queue: dict[str, Any] = {"capability": {"cpu": capability}, "deserved": {"cpu": deserved}}
    if draw(st.booleans()):
        queue["guarantee"] = {"cpu": draw(st.integers(0, deserved))}
    names = draw(st.lists(_NAME, unique=True, max_size=3)) if depth > 1 else []
    if names:
        share = deserved // len(names)
        queue["queues"] = {name: draw(_queue(share, capability, depth - 1)) for name in names}
        for part in queue["queues"].values():
            part.pop("guarantee", None)
    return queue


def _leaves(queues: dict[str, Any], above: str = "") -> list[str]:
    found: list[str] = []
    for name, queue in queues.items():
        path = f"{above}{name}"
        found += _leaves(queue["queues"], f"{path}.") if queue.get("queues") else [path]
    return found


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A document without errors. Ray clusters ask for no more than one core and GPU, so that they fit anywhere."""
    levels = draw(st.sampled_from([_LEVELS[start:] for start in range(4)]))
    pools = draw(st.dictionaries(_NAME, _pool(levels, draw(st.integers(1, 63))), min_size=1, max_size=4))
    install = draw(st.sampled_from(["plugins", "operator"]))
    for pool in pools.values():
        if draw(st.booleans()):
            pool["image"] = draw(st.sampled_from(_images(pool, install)))
    cores = sum(8 * (pool["size"] if isinstance(pool["size"], int) else pool["size"]["max"]) for pool in pools.values())
    names = draw(
        st.lists(_NAME.filter(lambda name: name not in ("root", "default")), unique=True, min_size=1, max_size=3)
    )
    share = max(cores // 2 // len(names), 1)
    queues = {name: draw(_queue(min(share, cores // 2), max(share, 4) * 2, 3)) for name in names}
    for resource in sorted({name for pool in pools.values() for name in gpu_resources(pool)}):
        limited = draw(st.lists(st.sampled_from(names), unique=True))
        for name in limited:
            queues[name]["capability"][resource] = draw(st.integers(64, 128))
        # Some node offers one unit, so one queue may deserve it.
        for name in limited[:1]:
            queues[name]["deserved"][resource] = 1
    document: dict[str, Any] = {
        "cluster": {"name": "generated", "provider": "existing", "kubernetes": "1.35", "context": "nowhere"},
        "devices": {"install": install},
        "pools": pools,
        "queues": queues,
        "tenants": {"team": {"namespaces": ["team"], "queues": names}},
    }
    if levels:
        document["topology"] = {"labels": levels}
    clusters: dict[str, Any] = {}
    for name in draw(st.lists(_NAME, unique=True, max_size=3)):
        pool = draw(st.sampled_from(sorted(pools)))
        count: Any = 1 if draw(st.booleans()) else {"min": 0, "max": draw(st.integers(1, 9))}
        clusters[name] = {
            "namespace": "team",
            "queue": draw(st.sampled_from(_leaves(queues))),
            "pool": pool,
            "ray": "2.52.0",
            "head": {"cpu": 1, "memory": "1Gi"},
            "workers": {"count": count, "cpu": 1, "memory": "1Gi"},
        }
        if (offered := gpu_resources(pools[pool])) and draw(st.booleans()):
            profile = offered[draw(st.sampled_from(sorted(offered)))]
            clusters[name]["workers"] |= {"gpus": 1, **({"profile": profile} if profile else {})}
    document["ray"] = {"clusters": clusters}
    return document
