"""The course of a benchmark: what is measured, in which order, with which variant, and what was to be reached."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from twin.bench import gangs, jobs, latency, mix, placement, ray, reclaiming, recovery, utilisation, variants
from twin.bench.reclaiming import Claim
from twin.bench.scene import Scene, percentiles
from twin.bench.usage import metered
from twin.keeper import Keeper

Figures = dict[str, Any]


_CLAIMS = {
    "one gang of a share": reclaiming.by_share,
    "a whole share": reclaiming.whole_share,
    "a higher priority": reclaiming.by_priority,
}
_TOPOLOGY = {"off": None, "soft": (1, "soft"), "hard": (1, "hard")}


@dataclass(frozen=True)
class Length:
    """How much is measured.

    Attributes:
        nodes: GPU nodes.
        variants: Configurations of Volcano, in the order in which they are put to work.
        sizes: Nodes of the gangs whose latency is measured.
        times: How often each is.
        periods: Schedule periods that are tried.
        busy: Seconds that the mix would keep all nodes busy.
        scale: How many times shorter its run times are.
        schedulers: Whose utilisation is measured.
        placing: Seconds for which gangs come and go.
        topology: What they ask of topology.
        holding: Seconds that gangs run from which others claim.
        claims: Who claims.
        recoveries: Nodes that die.
        rays: Ray clusters.
    """

    nodes: int
    variants: tuple[str, ...]
    sizes: tuple[int, ...]
    times: int
    periods: tuple[str, ...]
    busy: int
    scale: int
    schedulers: tuple[str, ...]
    placing: int
    topology: tuple[str, ...]
    holding: int
    claims: tuple[str, ...]
    recoveries: int
    rays: int


FULL = Length(
    nodes=1024,
    variants=("ours", "stock", "usual"),
    sizes=(1, 16, 128),
    times=20,
    periods=("200ms", "600ms", "1s"),
    busy=260,
    scale=1,
    schedulers=("ours", "stock", "kube-scheduler"),
    placing=110,
    topology=("off", "soft", "hard"),
    holding=60,
    claims=tuple(_CLAIMS),
    recoveries=5,
    rays=50,
)
SHORT = replace(
    FULL,
    nodes=64,
    variants=("ours", "stock"),
    sizes=(1, 8),
    times=3,
    periods=(),
    busy=20,
    scale=16,
    schedulers=("ours", "stock"),
    placing=12,
    topology=("off", "soft"),
    holding=20,
    claims=("one gang of a share", "a higher priority"),
    recoveries=2,
    rays=5,
)


@dataclass(frozen=True)
class Bar:
    """Something that was to be reached.

    Attributes:
        what: What.
        wanted: What was wanted, in words.
        found: What was measured.
        met: Whether it was reached.
    """

    what: str
    wanted: str
    found: str
    met: bool


class Course:
    """Measures one thing after the other, and keeps what each process used meanwhile.

    Attributes:
        figures: What was measured, by topic.
    """

    def __init__(
        self, scene: Scene, keeper: Keeper, length: Length, seed: int, chart: Path, keep: Callable[[Figures], None]
    ) -> None:
        """Prepare.

        Args:
            scene: The cluster, with our configuration deployed.
            keeper: Knows its processes.
            length: How much is measured.
            seed: What the job mix follows from.
            chart: Volcano's chart.
            keep: Given the figures after each part, so that what was measured outlives a failure.
        """
        self._scene = scene
        self._keep = keep
        self._keeper = keeper
        self._length = length
        self._seed = seed
        self._ours = variants.deployed(scene.client)
        self._stock = variants.stock(self._ours, chart)
        self.figures: Figures = {"usage": {}}

    def run(self) -> Figures:
        """Measure everything."""
        reclaiming.ensure_priorities(self._scene.client)
        self._scene.clear()
        known = {each.name: each for each in (self._ours, self._stock, variants.usual(self._stock))}
        for name in self._length.variants:
            variants.put(self._scene.client, known[name])
            if name != "usual":
                self._part(f"latency, {name}", partial(self._latency, name))
                self._part(f"utilisation, {name}", partial(self._utilisation, name, jobs.submit))
                self._part(f"placement, {name}", partial(self._placement, name))
            if name != "stock":  # it has no action that takes anything back
                self._part(f"claims, {name}", partial(self._claims, name))
        if "kube-scheduler" in self._length.schedulers:
            self._part("utilisation, kube-scheduler", partial(self._utilisation, "kube-scheduler", jobs.submit_plain))
        self._periods()
        variants.put(self._scene.client, self._ours)
        self._part("gangs", self._gangs)
        self._part("recovery", self._recovery)
        self._part("ray", self._ray)
        return self.figures

    def _part(self, name: str, measure: Callable[[], None]) -> None:
        self._scene.say(name)
        with metered(self._keeper) as used:
            measure()
        self.figures["usage"][name] = {process: asdict(usage) for process, usage in used.items()}
        self._keep(self.figures)
        self._scene.clear()

    def _latency(self, variant: str) -> None:
        found = self.figures.setdefault("latency", {}).setdefault(variant, {})
        for size in self._length.sizes:
            seconds = latency.latencies(self._scene, size, self._length.times, f"latency-{variant}")
            found[str(size)] = {**percentiles(seconds), "seconds": _rounded(seconds)}

    def _periods(self) -> None:
        found = self.figures.setdefault("periods", {})
        largest = self._length.sizes[-1]
        for period in self._length.periods:
            self._scene.say(f"schedule period {period}")
            variants.put(self._scene.client, self._ours.changed(period, {"--schedule-period": period}))
            with metered(self._keeper) as used:
                seconds = latency.latencies(self._scene, largest, self._length.times // 4, f"period-{period}")
            cores = sum(usage.cores for name, usage in used.items() if name.startswith("vc-scheduler"))
            found[period] = {**percentiles(seconds), "seconds": _rounded(seconds), "scheduler cores": cores}

    def _utilisation(self, variant: str, submit: Callable[..., None]) -> None:
        length = self._length
        planned = mix.mix(self._seed, length.nodes, length.busy, scale=length.scale, prefix=f"mix-{variant}")
        run = utilisation.run(self._scene, planned, submit)
        waits = percentiles(list(run.waits.values()))
        self.figures.setdefault("utilisation", {})[variant] = {**asdict(run), "waits": waits}

    def _placement(self, variant: str) -> None:
        found = self.figures.setdefault("placement", {})
        for name in self._length.topology:
            if variant == "ours" or name == "off":  # stock Volcano has no plugin for topology
                called = f"placed-{variant}-{name}"
                spread = placement.spread(self._scene, self._seed, self._length.placing, _TOPOLOGY[name], called)
                waits = percentiles(spread.waits) if spread.waits else {}
                found[f"{variant}, {name}"] = {**asdict(spread), "waits": waits}
                self._scene.clear()

    def _claims(self, variant: str) -> None:
        found = self.figures.setdefault("claims", {}).setdefault(variant, {})
        # The whole is to take an hour, and one claim shows what the older actions do.
        names = self._length.claims if variant == "ours" else self._length.claims[:1]
        with reclaiming.guaranteed(self._scene.client, self._length.nodes):
            for number, name in enumerate(names):
                plan = _CLAIMS[name](self._length.nodes, self._length.holding, f"claim-{variant}-{number}")
                claimed: Claim = reclaiming.claim(self._scene, *plan)
                found[name] = asdict(claimed)
                self._scene.clear()

    def _gangs(self) -> None:
        self.figures["gangs"] = gangs.faults(self._scene, "whole")

    def _recovery(self) -> None:
        seconds = recovery.recoveries(self._scene, self._length.sizes[1], self._length.recoveries, "dead")
        self.figures["recovery"] = {**percentiles(seconds), "seconds": _rounded(seconds)} if seconds else {}

    def _ray(self) -> None:
        self.figures["ray clusters per minute"] = ray.clusters_per_minute(self._scene, self._length.rays, "ray")


def _rounded(seconds: list[float]) -> list[float]:
    return [round(each, 3) for each in seconds]


def bars(figures: Figures, length: Length) -> list[Bar]:
    """Compare what was measured with what was to be reached."""
    largest = str(length.sizes[-1])
    ours, stock = figures["latency"]["ours"][largest], figures["latency"]["stock"][largest]
    busy = {name: run["busy"] for name, run in figures["utilisation"].items()}
    soft, off = figures["placement"]["ours, soft"], figures["placement"]["ours, off"]
    found = [
        Bar(
            "gangs are whole or not there", "no fault", "; ".join(figures["gangs"]) or "no fault", not figures["gangs"]
        ),
        Bar(
            f"gang of {largest} nodes, create to all bound",
            "median 2 s, maximum 3 s",
            f"{ours['p50']:.2f} s, {ours['max']:.2f} s (stock {stock['p50']:.2f} s, {stock['max']:.2f} s)",
            ours["p50"] <= 2 and ours["max"] <= 3,
        ),
        Bar(
            "GPUs in use in the busy window",
            "95 %, and above stock",
            ", ".join(f"{name} {part:.1%}" for name, part in busy.items()),
            busy["ours"] >= max(0.95, busy["stock"]),
        ),
        Bar(
            f"gangs of {placement.MEASURED} within one rack, soft",
            f"95 % of all submitted, {placement.LOAD * 100:.0f} % of the nodes busy but for one gang",
            f"{_together(soft)} (topology off: {_together(off)})",
            soft["one_rack"] >= 0.95 and soft["load"] >= placement.LOAD - _tolerance(length),
        ),
    ]
    for name, claimed in figures["claims"]["ours"].items():
        seconds = claimed["seconds"]
        took = "never" if seconds is None else f"{seconds:.1f} s"
        kept = name == "a higher priority" or claimed["least"] >= length.nodes // 4
        met = seconds is not None and seconds <= 10 and claimed["broken"] <= claimed["fewest"]
        told = f"{took}, {claimed['broken']} gangs of {claimed['fewest']}"
        found.append(
            Bar(f"claim: {name}", "10 s, fewest gangs, restarted", told, met and kept and claimed["restarted"])
        )
    return found


def _together(spread: Figures) -> str:
    unplaced = f", {spread['unplaced']} never placed" if spread["unplaced"] else ""
    return f"{spread['one_rack']:.1%} of {spread['submitted']}{unplaced}, {spread['load']:.1%} busy"


def _tolerance(length: Length) -> float:
    """Give how far below its aim the load may be and still be told from nothing less.

    Gangs come and go whole. When the largest one ends, that part of the cluster is idle until whoever submits has seen
    it and the next gang has nodes, however well that is placed: a load is not known more closely than by one gang.
    """
    return placement.MEASURED / length.nodes
