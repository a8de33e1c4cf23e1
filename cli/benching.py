"""`twin bench`: what the scheduler does with our configuration, measured on a thousand nodes beside stock Volcano."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import psutil
import typer
import yaml

from .output import console
from .tables import table

if TYPE_CHECKING:
    from twin.bench.course import Bar, Figures, Length
    from twin.cluster import Twin

_STACK = "bench"


def bench(
    short: Annotated[bool, typer.Option("--short", help="64 nodes and few repetitions, in five minutes.")] = False,
    seed: Annotated[int, typer.Option(help="What the job mix follows from, for a number of nodes.")] = 1,
) -> None:
    """Measure scheduling on 1,024 simulated nodes with 8 GPUs each: our configuration, and stock Volcano beside it.

    It has a twin of its own in .twin/bench, on which the same stack is brought up. Takes about an hour, and wants a
    machine that does nothing else. Writes report.json there, after each part, and report.html at the end.
    """
    from twin.bench import course, mix, page

    length = course.SHORT if short else course.FULL
    began = time.monotonic()
    report: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": {"cores": os.cpu_count(), "memory": psutil.virtual_memory().total >> 30},
        "nodes": length.nodes,
        "mix": mix.NAME,
        "seed": seed,
        "scale": length.scale,
    }
    with _ground(length) as (twin, cluster):

        def keep(figures: "Figures") -> None:
            report.update(seconds=round(time.monotonic() - began), cluster=cluster, figures=figures)
            (twin.paths.root / "report.json").write_text(json.dumps(report, indent=1) + "\n")

        figures = _measure(twin, length, seed, began, keep)
        keep(figures)
    bars = course.bars(figures, length)
    (twin.paths.root / "report.html").write_text(page.page(report, bars))
    _show(bars)
    console.print(f"{report['seconds']} s; {twin.paths.root}/report.html, report.json", soft_wrap=True)


@contextmanager
def _ground(length: "Length") -> Iterator[tuple["Twin", dict[str, float]]]:
    """Bring the stack up on a fresh twin; give it, and how long its nodes and the `up` took, in seconds."""
    from model import document
    from model.engine_names import DOCUMENT_KEY
    from model.offers import node_offers
    from twin.bench import ground
    from twin.cluster import Twin

    from . import local
    from .engine import Engine

    root = local.STATE / "bench"
    twin = Twin(root, local.programs())
    twin.stop()
    shutil.rmtree(root, ignore_errors=True)
    value = ground.document(length.nodes)
    environment = document.judge(value).required("bench")
    try:
        twin.start(lambda line: console.print(f"[dim]twin: {line}[/]"))
        began = time.monotonic()
        twin.apply_nodes(node_offers(environment))
        nodes = time.monotonic() - began
        engine = Engine.of_twin(twin.environment())
        config = _config(root, {DOCUMENT_KEY: value})
        engine.read("stack", "init", "--stack", _STACK, "--cwd", str(config.parent))
        began = time.monotonic()
        engine.run("up", "--stack", _STACK, "--config-file", str(config), "--yes", "--skip-preview")
        yield twin, {"nodes": nodes, "up": time.monotonic() - began}
    finally:
        twin.stop()


def _config(root: Path, config: dict[str, Any]) -> Path:
    file = root / "stacks" / f"Pulumi.{_STACK}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = {"pulumi:disable-default-providers": ["aws", "kubernetes"], **config}
    file.write_text(yaml.safe_dump({"config": whole}, sort_keys=False))
    # `stack init` writes beside the project file, and has no option for another stack file.
    (file.parent / "Pulumi.yaml").write_text("name: gangline\nruntime: python\n")
    return file


def _measure(twin: "Twin", length: "Length", seed: int, began: float, keep: "Callable[[Figures], None]") -> "Figures":
    from twin.bench import watching
    from twin.bench.course import Course
    from twin.bench.scene import Scene
    from twin.keeper import Keeper

    from . import local

    def say(line: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.0f} s[/]  {line}")

    chart = local.STATE / "sources" / local.SOURCES["volcano"]
    with twin.client() as client, twin.client() as listener, watching.watched(listener) as watch:
        scene = Scene(client, watch, length.nodes, say)
        return Course(scene, Keeper(twin.paths), length, seed, chart, keep).run()


def _show(bars: "list[Bar]") -> None:
    grid = table("what", "wanted", "measured", "")
    for bar in bars:
        grid.add_row(bar.what, bar.wanted, bar.found, "met" if bar.met else "[red]missed[/]")
    console.print(grid)
