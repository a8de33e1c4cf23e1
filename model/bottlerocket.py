"""Settings of Bottlerocket nodes, whose image runs the device plugin itself and is told by them how GPUs are shared.

Source: https://bottlerocket.dev/en/os/1.57.x/api/settings/kubelet-device-plugins; the GPUs that it can cut:
https://github.com/bottlerocket-os/bottlerocket-core-kit, sources/nvidia-migmanager.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from catalog import reader as catalog

from . import mig, nodes
from .pools import Pool
from .problems import Problem, Subject, Unanswerable, each, known

if TYPE_CHECKING:
    from .environment import Environment

IMAGE = "bottlerocket-nvidia"

_CUT = ("a100.40gb", "a100.80gb", "h100.80gb", "h200.141gb", "b200.180gb")
_PLUGIN = "settings.kubelet-device-plugins.nvidia"


def settings(env: "Environment", pool_name: str) -> str | None:
    """What the user data of a pool's nodes must say (TOML), so that they offer what the pool does; None for nothing."""
    pool = env.pools[pool_name]
    sharing = pool.sharing
    if pool.image != IMAGE or sharing == "none":
        return None
    shared: dict[str, Mapping[str, object]] = {}
    strategies: dict[str, str] = {}
    if sharing.mig:
        strategies["device-partitioning-strategy"] = "mig"
        (profile,) = sharing.mig.profiles
        shared["mig.profile"] = {f'"{_model(pool)}"': profile}
    if sharing.time_slicing:
        strategies["device-sharing-strategy"] = "time-slicing"
        replicas = sharing.time_slicing.replicas
        shared["time-slicing"] = {
            "replicas": replicas,
            "rename-by-default": True,
            "fail-requests-greater-than-one": True,
        }
    if sharing.mps:
        strategies["device-sharing-strategy"] = "mps"
        shared["mps"] = {"replicas": sharing.mps.replicas, "rename-by-default": True}
    tables = [_table(_PLUGIN, strategies), *(_table(f"{_PLUGIN}.{name}", table) for name, table in shared.items())]
    return "\n".join(tables)


def _table(name: str, values: Mapping[str, object]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_written(value)}\n" for key, value in values.items())])


def _written(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _model(pool: Pool) -> str:
    """The name that Bottlerocket has for a pool's GPU: `h100.80gb`; its own where memory is no part of that (`a30`)."""
    family, _, rest = _gpu(pool).name.partition("-")
    return f"{family}.{rest.rpartition('-')[2]}" if rest else family


def _gpu(pool: Pool) -> catalog.Gpu:
    gpu = nodes.machine(pool).gpu
    if gpu is None or not gpu.mig:  # told by the rules of sharing
        raise Unanswerable
    return gpu


def references(env: "Environment") -> Iterator[Problem]:
    """Ways to cut GPUs that the image does not know."""
    yield from each(("pools",), env.pools, env, _mig)


def _mig(it: Subject[Pool]) -> Iterator[Problem]:
    pool = it.value
    if pool.image != IMAGE or pool.sharing == "none" or pool.sharing.mig is None:
        return
    at, cut = (*it.at, "sharing", "mig"), pool.sharing.mig
    if _model(pool) not in _CUT:
        message = f"Bottlerocket does not cut GPUs of the model {_model(pool)}"
        yield Problem((*it.at, "sharing"), "mig", message, ", ".join(_CUT))
        return
    counts = {profile: known(count) for profile, count in cut.profiles.items()}
    if len(counts) > 1:
        message = "Bottlerocket cuts all GPUs of a node into instances of one profile"
        yield Problem((*at, "profiles"), list(counts), message, "one profile")
        return
    if cut.strategy != "single":
        message = "Bottlerocket calls all instances nvidia.com/gpu"
        yield Problem((*at, "strategy"), cut.strategy, message, "single", "strategy: single")
    ((profile, count),) = counts.items()
    most = mig.most(_gpu(pool).mig, {}, profile)
    if count != most:
        message = f"Bottlerocket cuts a GPU into as many instances as fit, and of {profile} {most} do"
        yield Problem((*at, "profiles", profile), count, message, str(most), f"{profile}: {most}")
