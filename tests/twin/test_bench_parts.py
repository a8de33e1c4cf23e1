"""Parts of the benchmark that need no cluster."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from model import document, queues
from model.volcano import queue_spec, scheduler_configuration
from twin.bench import course, ground, page, placement, reclaiming
from twin.bench.mix import LONGEST, SHORTEST, SIZES, mix
from twin.bench.scene import percentiles
from twin.bench.variants import Variant, stock, usual
from twin.bench.watching import Seen
from twin.errors import TwinError


def test_a_mix_follows_from_its_seed_and_the_nodes_there_are() -> None:
    one, same, other = (mix(seed, 1024, 400, scale=1, prefix="x") for seed in (1, 1, 2))
    assert one == same
    assert [gang.nodes for gang in one.gangs] != [gang.nodes for gang in other.gangs]
    larger = mix(1, 2048, 400, scale=1, prefix="x")
    assert [gang.nodes for gang in one.gangs[:20]] != [gang.nodes for gang in larger.gangs[:20]]
    named = mix(1, 1024, 400, scale=1, prefix="y")
    assert [(g.nodes, g.seconds) for g in named.gangs] == [(g.nodes, g.seconds) for g in one.gangs]


def test_a_mix_has_all_sizes_and_as_much_work_as_was_asked_for() -> None:
    made = mix(1, 1024, 400, scale=1, prefix="x")
    assert {gang.nodes for gang in made.gangs} == set(SIZES)
    assert all(SHORTEST <= (gang.seconds or 0) <= LONGEST for gang in made.gangs)
    assert 400 <= made.node_seconds / 1024 < 400 + 128 * LONGEST / 1024
    assert made.ideal(1024) == made.node_seconds / 1024


def test_a_small_cluster_gets_no_gang_of_more_than_an_eighth_of_it() -> None:
    made = mix(1, 64, 100, scale=8, prefix="x")
    assert max(gang.nodes for gang in made.gangs) == 8
    assert max(gang.seconds or 0 for gang in made.gangs) <= LONGEST // 8


@pytest.mark.parametrize(
    ("sizes", "need", "most", "least"),
    [
        ([32] * 32, 64, 1024, 2),
        ([64, 32, 32, 16], 64, 144, 1),
        ([64, 32, 32, 16], 65, 144, 2),
        ([64, 32, 32, 16], 64, 63 + 1, 1),
        ([64, 32, 32, 16], 40, 48, 2),  # the one that is large enough is more than may be taken
        ([16], 0, 16, 0),
    ],
)
def test_the_fewest_gangs_that_make_room(sizes: list[int], need: int, most: int, least: int) -> None:
    assert reclaiming.fewest(sizes, need, most) == least


def test_where_no_gangs_make_room_that_is_said() -> None:
    with pytest.raises(TwinError, match="frees 40 nodes without taking more than 31"):
        reclaiming.fewest([32, 32], 40, 31)


@pytest.mark.parametrize("nodes", [64, 1024])
@pytest.mark.parametrize("plan", [reclaiming.by_share, reclaiming.whole_share, reclaiming.by_priority])
def test_holders_fill_the_cluster_and_claims_fit_into_a_share(plan, nodes: int) -> None:
    holders, claimants, keep = plan(nodes, 30, "x")
    assert sum(gang.nodes for gang in holders) == nodes
    assert sum(gang.nodes for gang in claimants) <= nodes // 2
    assert nodes - sum(gang.nodes for gang in claimants) >= keep


@pytest.mark.parametrize("nodes", [64, 1024])
def test_the_document_of_the_benchmark_is_accepted(nodes: int) -> None:
    environment = document.judge(ground.document(nodes)).required("bench")
    assert "gangreclaim" in scheduler_configuration(environment)["actions"]
    assert environment.pools[ground.POOL].most == nodes


@pytest.mark.parametrize("length", [course.SHORT, course.FULL])
def test_preemption_is_measured_in_a_queue_that_is_at_its_capability(length: course.Length) -> None:
    environment = document.judge(ground.document(length.nodes)).required("bench")
    holders, claimants, _ = reclaiming.by_priority(length.nodes, length.holding, "x")
    assert {gang.queue for gang in (*holders, *claimants)} == {ground.EVERYTHING}
    limit = queue_spec(queues.by_path(environment)[ground.EVERYTHING])["capability"]
    assert limit == {"nvidia.com/gpu": str(sum(gang.nodes for gang in holders) * ground.GPUS)}
    assert "a higher priority" in length.claims


def chart(folder: Path) -> Path:
    (folder / "config").mkdir()
    plugins = [{"name": "gang", "enablePreemptable": False}, {"name": "overcommit"}, {"name": "proportion"}]
    configuration = {"actions": "enqueue, allocate, backfill", "tiers": [{"plugins": plugins}]}
    (folder / "config" / "volcano-scheduler.conf").write_text(yaml.safe_dump(configuration))
    (folder / "templates").mkdir()
    for name, lines in {"scheduler": SCHEDULER, "controllers": CONTROLLERS}.items():
        (folder / "templates" / f"{name}.yaml").write_text(lines)
    (folder / "values.yaml").write_text(yaml.safe_dump({"custom": DEFAULTS}))
    return folder


SCHEDULER = """\
          args:
            - --logtostderr
            - --enable-healthz=true
            - --leader-elect={{ .Values.custom.leader_elect_enable }}
            {{- if .Values.custom.scheduler_kube_api_qps }}
            - --kube-api-qps={{.Values.custom.scheduler_kube_api_qps}}
            {{- end }}
            - --schedule-period={{.Values.custom.scheduler_schedule_period}}
            {{- if ne .Values.custom.scheduler_percentage_nodes_to_find nil }}
            - --percentage-nodes-to-find={{.Values.custom.scheduler_percentage_nodes_to_find}}
            {{- end }}
            - --plugins-dir={{ .Values.custom.scheduler_plugins_dir }}
            - --ignored-provisioners={{ .Values.custom.ignored_provisioners}}
            - -v={{.Values.custom.scheduler_log_level}}
            - 2>&1
"""
CONTROLLERS = """\
            - --leader-elect={{ .Values.custom.leader_elect_enable }}
            - --kube-api-qps={{.Values.custom.controller_kube_api_qps}}
            - --worker-threads={{.Values.custom.controller_worker_threads}}
            - -v={{.Values.custom.controller_log_level}}
"""
"""Lines of the chart, as it has them."""
DEFAULTS = {
    "leader_elect_enable": False,
    "scheduler_kube_api_qps": 2000,
    "scheduler_schedule_period": "1s",
    "scheduler_percentage_nodes_to_find": None,
    "scheduler_plugins_dir": "",
    "ignored_provisioners": None,
    "scheduler_log_level": 3,
    "controller_kube_api_qps": 50,
    "controller_worker_threads": 3,
    "controller_log_level": 4,
}
"""What they follow from, as the chart has it."""
OURS = Variant(
    "ours",
    "actions: allocate",
    {
        "volcano-scheduler": (
            "--logtostderr",
            "--enable-healthz=true",
            "--leader-elect=true",
            "--kube-api-qps=2000",
            "--schedule-period=600ms",
            "--percentage-nodes-to-find=10",
            "--ignored-provisioners=fsx.csi.aws.com",
            "-v=2",
        ),
        "volcano-controllers": ("--leader-elect=true", "--kube-api-qps=500", "--worker-threads=10", "-v=2"),
    },
)


def test_stock_volcano_is_its_chart_without_values_of_ours(tmp_path: Path) -> None:
    made = stock(OURS, chart(tmp_path))
    assert "proportion" in made.configuration
    assert {name: sorted(arguments) for name, arguments in made.arguments.items()} == {
        "volcano-scheduler": [
            "--enable-healthz=true",
            "--kube-api-qps=2000",
            "--leader-elect=false",
            "--logtostderr",
            "--schedule-period=1s",
            "-v=3",
        ],
        "volcano-controllers": ["--kube-api-qps=50", "--leader-elect=false", "--worker-threads=3", "-v=4"],
    }


def test_a_chart_that_writes_its_flags_in_another_way_is_not_taken_for_stock(tmp_path: Path) -> None:
    other = chart(tmp_path)
    (other / "templates" / "scheduler.yaml").write_text("args: {{ .Values.arguments }}")
    with pytest.raises(TwinError, match=r"scheduler\.yaml has no flags"):
        stock(OURS, other)


def test_the_usual_way_takes_shares_back_pod_by_pod(tmp_path: Path) -> None:
    made = yaml.safe_load(usual(stock(OURS, chart(tmp_path))).configuration)
    assert made["actions"].endswith("reclaim, preempt")
    assert made["tiers"][0]["plugins"] == [
        {"name": "gang", "enablePreemptable": False, "enableReclaimable": False},
        {"name": "capacity", "enableHierarchy": True},
    ]


def test_percentiles_of_times() -> None:
    assert percentiles([1.0]) == {"p50": 1.0, "p99": 1.0, "max": 1.0}
    assert percentiles([float(number) for number in range(101)]) == {"p50": 50.0, "p99": 99.0, "max": 100.0}


def figures() -> course.Figures:
    times = {"p50": 1.5, "p99": 2.5, "max": 2.5, "seconds": [1.5, 2.5]}
    run = {"busy": 0.97, "useful": 0.96, "window": 300.0, "makespan": 500.0, "ideal": 400.0, "restarts": 0}
    run |= {"waits": {"p50": 1.0, "p99": 2.0, "max": 3.0}, "curve": [0.5] * 100}
    placed = {"submitted": 50, "unplaced": 2, "one_rack": 0.96, "one_spine": 0.96, "load": 0.84}
    placed["waits"] = {"p50": 1.0, "p99": 2.0}
    claimed = {"seconds": 6.0, "broken": 2, "fewest": 2, "evicted": 64, "least": 960, "restarted": True}
    return {
        "latency": {"ours": {"128": times}, "stock": {"128": {**times, "p50": 5.0}}},
        "periods": {"200ms": {**times, "scheduler cores": 0.2}},
        "utilisation": {"ours": run, "stock": {**run, "busy": 0.95}},
        "placement": {"ours, off": {**placed, "one_rack": 0.2}, "ours, soft": placed},
        "claims": {"ours": {"one gang of a share": claimed}, "usual": {"one gang of a share": claimed}},
        "gangs": [],
        "recovery": times,
        "ray clusters per minute": 150.0,
        "usage": {"latency, ours": {"etcd": {"cores": 0.1, "memory": 1 << 28}}},
    }


def test_bars_are_met_or_missed_by_what_was_measured() -> None:
    assert [bar.met for bar in course.bars(figures(), course.FULL)] == [True] * 5
    worse = figures()
    worse["gangs"] = ["a pod of a gang <that does not fit> got a node"]
    worse["latency"]["ours"]["128"] = {"p50": 2.1, "p99": 2.5, "max": 2.5}
    worse["utilisation"]["stock"]["busy"] = 0.98
    worse["placement"]["ours, soft"] = {**worse["placement"]["ours, soft"], "one_rack": 0.94}
    worse["claims"]["ours"]["one gang of a share"] = {
        **worse["claims"]["ours"]["one gang of a share"],
        "seconds": None,
        "restarted": None,
    }
    assert [bar.met for bar in course.bars(worse, course.FULL)] == [False] * 5


@pytest.mark.parametrize(("nodes", "load", "met"), [(1024, 0.835, True), (1024, 0.83, False), (64, 0.61, True)])
def test_gangs_in_one_rack_count_only_on_a_loaded_cluster(nodes: int, load: float, met: bool) -> None:
    found = figures()
    found["placement"]["ours, soft"]["load"] = load
    assert course.bars(found, replace(course.FULL, nodes=nodes))[3].met is met


@pytest.mark.parametrize("change", [{"broken": 3}, {"least": 200}, {"restarted": False}, {"seconds": 10.5}])
def test_a_claim_that_costs_more_than_it_must_is_missed(change: dict[str, object]) -> None:
    found = figures()
    found["claims"]["ours"]["one gang of a share"] |= change
    assert not course.bars(found, course.FULL)[-1].met


def pods(bound: int, nodes: str = "abcdefghijklmnop", at: float = 12.0) -> list[Seen]:
    """A gang of sixteen, of which so many pods got a node."""
    return [
        Seen("x", 10.5, at + number / 10, nodes[number]) if number < bound else Seen("x", 10.5) for number in range(16)
    ]


def test_gangs_that_were_never_placed_count_as_submitted_and_as_waiting() -> None:
    racks = dict.fromkeys("abcdefghijklmnop", "one") | dict.fromkeys("ABCDEFGHIJKLMNOP", "two")
    spines = dict.fromkeys(racks, "one")
    apart = pods(16, "abcdefghABCDEFGH")
    made = placement.summed([(10, pods(16)), (10, apart), (10, pods(15)), (40, [])], 60, racks, spines, 0.85)
    assert made == placement.Spread(4, 2, 1 / 4, 2 / 4, [3.5, 3.5, 50, 20], 0.85)
    broken = [replace(seen, ended=15.0) for seen in pods(15)]
    again = [*broken, *pods(16, "ABCDEFGHIJKLMNOP", 20)]
    assert placement.summed([(10, again)], 60, racks, spines, 0.85) == placement.Spread(1, 0, 1, 1, [11.5], 0.85)
    assert placement.summed([], 60, racks, spines, 0.85) == placement.Spread(0, 0, 0, 0, [], 0.85)


def test_the_page_shows_every_figure_and_is_whole_in_itself() -> None:
    found = figures()
    found["gangs"] = ["a pod of a gang <that does not fit> got a node"]
    report = {"figures": found, "machine": {"cores": 2, "memory": 24}, "nodes": 1024, "mix": "mix-1", "seed": 1}
    report |= {"scale": 1, "date": "2026-11-30", "cluster": {"nodes": 5.0, "up": 90.0}}
    shown = page.page(report, course.bars(found, course.FULL))
    assert "<that" not in shown
    assert "&lt;that does not fit&gt;" in shown
    assert shown.count("<svg") == 3
    for text in ("97.0%", "missed", "150 a minute", "0.10 / 256", "kube-scheduler", "never placed"):
        assert text in shown
    assert 'href="http' not in shown
    assert "src=" not in shown
