"""A benchmark's report as a page that needs nothing else: tables, and plots as SVG within it."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pygal
from pygal.graph.graph import Graph

from twin.bench import placement, utilisation
from twin.bench.course import Bar

# Its usual script is fetched from the network.
_LOOK: dict[str, Any] = {"js": (), "height": 400}
_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } td, th { border-bottom: 1px solid #ccc; padding: .3rem .8rem;
text-align: left; vertical-align: top } .met { color: #176c2c } .missed { color: #a11 } figure { margin: 1rem 0 }
"""


def page(report: Mapping[str, Any], bars: Iterable[Bar]) -> str:
    """Give the report as HTML.

    Args:
        report: What is written as JSON, too.
        bars: What was to be reached.
    """
    figures = report["figures"]
    machine = report["machine"]
    head = (
        f"{report['nodes']} nodes with {report['nodes'] * 8} GPUs, mix {report['mix']} with seed {report['seed']}, "
        f"run times 1:{report['scale']}; {machine['cores']} cores, {machine['memory']} GiB; {report['date']}"
    )
    parts = [
        f"<h1>Gangline: how gangs are scheduled</h1><p>{html.escape(head)}</p>",
        (
            "<p>Real: the API server, Volcano, KubeRay, their configuration by the same stack as everywhere. "
            "Simulated: nodes and what runs on them. Times are those of watch events.</p>"
        ),
        _bars(bars),
        _latency(figures["latency"]),
        _periods(figures["periods"]) if figures["periods"] else "",
        _utilisation(figures["utilisation"]),
        _placement(figures["placement"]),
        _claims(figures["claims"]),
        _others(report),
        _usage(figures["usage"]),
    ]
    title = "<title>Gangline: how gangs are scheduled</title>"
    return f"<!doctype html><meta charset=utf-8>{title}<style>{_STYLE}</style>{''.join(parts)}\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def row(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(cells, 'td') for cells in rows)}</table>"


def _plot(chart: Graph) -> str:
    return f"<figure>{chart.render(is_unicode=True, disable_xml_declaration=True)}</figure>"


def _bars(bars: Iterable[Bar]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(bar.what)}<td>{html.escape(bar.wanted)}<td>{html.escape(bar.found)}"
        f"<td class={'met' if bar.met else 'missed'}>{'met' if bar.met else 'missed'}"
        for bar in bars
    )
    return f"<h2>Bars</h2><table><tr><th>what<th>wanted<th>measured<th>{rows}</table>"


def _latency(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    chart = pygal.Box(title="Gang on an idle cluster, create to all bound", y_title="seconds", **_LOOK)
    rows = []
    for variant, sizes in found.items():
        for size, figures in sizes.items():
            chart.add(f"{variant}, {size} nodes", figures["seconds"])
            rows.append((variant, size, figures["p50"], figures["p99"], figures["max"], len(figures["seconds"])))
    head = ("Volcano", "nodes", "P50 s", "P99 s", "maximum s", "gangs")
    return f"<h2>Latency</h2>{_plot(chart)}{_table(head, rows)}"


def _periods(found: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (period, each["p50"], each["max"], "-" if each["scheduler cores"] is None else f"{each['scheduler cores']:.2f}")
        for period, each in found.items()
    ]
    head = ("schedule period", "P50 s", "maximum s", "cores of the scheduler")
    return f"<h2>Schedule period</h2><p>Largest gang, our configuration.</p>{_table(head, rows)}"


def _utilisation(found: Mapping[str, Mapping[str, Any]]) -> str:
    chart = pygal.Line(title="GPUs in use", y_title="%", range=(0, 100), show_dots=False, **_LOOK)
    chart.x_title = f"time from the first submission to the last completion, in {utilisation.STEPS} parts"
    rows = []
    for variant, run in found.items():
        chart.add(variant, [round(100 * part, 2) for part in run["curve"]])
        rows.append(
            (
                variant,
                f"{run['busy']:.1%}",
                f"{run['useful']:.1%}",
                f"{run['window']:.0f}",
                f"{run['makespan']:.0f}",
                f"{run['ideal']:.0f}",
                run["waits"]["p50"],
                run["waits"]["p99"],
                run["restarts"],
            )
        )
    head = ("scheduler", "in use", "by work that completed", "window s", "makespan s", "ideal s")
    head += ("wait P50 s", "wait P99 s", "evicted pods")
    note = (
        "<p>The busy window leaves out the ramp and what comes after the last submission. kube-scheduler places pods "
        "one by one, and a pod's run time begins when it is placed, whether the rest of its gang is or not: it is here "
        "for information.</p>"
    )
    return f"<h2>Utilisation</h2>{note}{_plot(chart)}{_table(head, rows)}"


def _placement(found: Mapping[str, Mapping[str, Any]]) -> str:
    chart = pygal.Bar(title=f"Gangs of {placement.MEASURED} nodes together", range=(0, 100), y_title="%", **_LOOK)
    chart.x_labels = list(found)
    chart.add("in one rack", [round(100 * each["one_rack"], 1) for each in found.values()])
    chart.add("in one spine", [round(100 * each["one_spine"], 1) for each in found.values()])
    rows = [
        (
            name,
            each["submitted"],
            each["unplaced"],
            f"{each['one_rack']:.1%}",
            f"{each['one_spine']:.1%}",
            f"{each['load']:.0%}",
            each["waits"].get("p50", "-"),
            each["waits"].get("p99", "-"),
        )
        for name, each in found.items()
    ]
    head = ("", "submitted", "never placed", "one rack", "one spine", "load", "wait P50 s", "wait P99 s")
    note = (
        "<p>Parts are of all gangs that were submitted. Those that were never placed are in the waits, with how long "
        "they had waited in the end.</p>"
    )
    return f"<h2>Topology</h2>{note}{_plot(chart)}{_table(head, rows)}"


def _claims(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    rows = [
        (
            variant,
            name,
            "never" if each["seconds"] is None else f"{each['seconds']:.1f}",
            each["broken"],
            each["fewest"],
            each["evicted"],
            each["least"],
            {True: "yes", False: "no", None: "-"}[each["restarted"]],
        )
        for variant, claims in found.items()
        for name, each in claims.items()
    ]
    head = ("Volcano", "who claims", "met after s", "gangs broken", "fewest possible", "pods evicted")
    head += ("others kept nodes", "broken ones completed")
    note = "<p>`usual`: stock with reclaim, preempt and the capacity plugin. Stock alone never takes a share back.</p>"
    return f"<h2>Shares and priorities</h2>{note}{_table(head, rows)}"


def _others(report: Mapping[str, Any]) -> str:
    figures, cluster = report["figures"], report["cluster"]
    recovery = figures["recovery"]
    again = f"{recovery['p50']} s, at most {recovery['max']} s" if recovery else "never"
    rows = [
        ("all nodes are there and schedulable", f"{cluster['nodes']:.1f} s"),
        ("`pulumi up` of the whole stack", f"{cluster['up']:.0f} s"),
        ("a gang is whole again after a node died", again),
        ("Ray clusters of a head and two workers", f"{figures['ray clusters per minute']:.0f} a minute"),
    ]
    return f"<h2>Others</h2>{_table(('what', 'measured'), rows)}"


def _usage(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    names = sorted({process for used in found.values() for process in used})
    rows = [
        (
            part,
            *(f"{used[name]['cores']:.2f} / {used[name]['memory'] >> 20}" if name in used else "-" for name in names),
        )
        for part, used in found.items()
    ]
    return f"<h2>Cores / MiB of each process</h2>{_table(('meanwhile', *names), rows)}"
