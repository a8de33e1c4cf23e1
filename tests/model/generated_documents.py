"""Valid documents of many forms, for properties that hold for all of them."""

from typing import Any

from hypothesis import strategies as st

_NAME = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
_LEVELS = ["topology.example.com/zone", "topology.example.com/spine", "topology.example.com/rack"]
_GPUS = ["h100-sxm-80gb", "a100-sxm-80gb"]


@st.composite
def _pool(draw: st.DrawFn, levels: list[str]) -> dict[str, Any]:
    most = draw(st.integers(1, 24))
    pool: dict[str, Any] = {"size": most if draw(st.booleans()) else {"min": draw(st.integers(0, most)), "max": most}}
    if draw(st.booleans()):
        pool["server"] = draw(st.sampled_from(["dgx-h100", "dgx-a100", "dgx-b200"]))
        gpus = True
    else:
        cpu, memory = draw(st.integers(8, 256)), draw(st.integers(16, 2048))
        pool["shape"] = {"cpu": cpu, "memory": f"{memory}Gi"}
        gpus = draw(st.booleans())
        if gpus:
            pool["shape"]["gpu"] = {"model": draw(st.sampled_from(_GPUS)), "count": draw(st.integers(1, 8))}
    if gpus and draw(st.booleans()):
        pool["sharing"] = {"timeSlicing": {"replicas": draw(st.integers(2, 8))}}
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


def _images(pool: dict[str, Any], install: str) -> list[str]:
    """The images that nodes of a pool may have."""
    found = ["al2023", "ubuntu"]
    if "server" in pool or "gpu" in pool["shape"]:
        # Those that bring the driver, or to which the operator brings it.
        found = ["al2023-nvidia", "prepared", *(["rhel", "ubuntu"] if install == "operator" else [])]
        found += ["dgx-os"] if "server" in pool else []
        kinds = set(pool.get("sharing", ()))
        found += ["bottlerocket-nvidia"] if kinds <= {"timeSlicing", "mps"} else []
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
    pools = draw(st.dictionaries(_NAME, _pool(levels), min_size=1, max_size=4))
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
        count: Any = draw(st.integers(0, 1)) if draw(st.booleans()) else {"min": 0, "max": draw(st.integers(0, 9))}
        clusters[name] = {
            "namespace": "team",
            "queue": draw(st.sampled_from(_leaves(queues))),
            "pool": pool,
            "ray": "2.52.0",
            "head": {"cpu": 1, "memory": "1Gi"},
            "workers": {"count": count, "cpu": 1, "memory": "1Gi"},
        }
    document["ray"] = {"clusters": clusters}
    return document
