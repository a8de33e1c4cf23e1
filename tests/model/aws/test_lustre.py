"""FSx for Lustre: every deployment type with every speed and its sizes, and where it may stand."""

from typing import Any

import pytest

from model.aws import lustre
from model.aws.lustre_types import EFA, METADATA, TYPES, automatic_metadata
from tests.model.aws.documents import found, made, only
from tests.model.documents import Change, drop, put

SIZE, THROUGHPUT = "storage.shared.size", "storage.shared.throughput"
ZONED: Change = put("pools.serve.zone", "us-east-2a")


def fsx(**changes: Any) -> Change:
    """A Lustre file system on AWS: a valid one, with some keys changed, or left out with None."""
    value = {"kind": "lustre", "size": "4800Gi", "throughput": 250} | changes
    return put("storage", {"shared": {key: it for key, it in value.items() if it is not None}})


# By deployment, disk, throughput and EFA: sizes that there are, and sizes that there are not with those next to them.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html (StorageCapacity), and for EFA
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html.
SSD = (
    [1200, 2400, 4800, 7200, 48000, 65536 // 2400 * 2400 + 2400, 460800, 2_400_000],
    {
        600: [1200],
        1000: [1200],
        1201: [1200, 2400],
        1800: [1200, 2400],
        3600: [2400, 4800],
        65536: [64800, 67200],
        460801: [460800, 463200],
    },
)
STEPS: dict[tuple[str, str, int | None, bool], tuple[list[int], dict[int, list[int]]]] = {
    ("scratch-1", "ssd", None, False): (
        [1200, 2400, 3600, 7200, 10800, 360000],
        {1000: [1200], 1800: [1200, 2400], 3000: [2400, 3600], 4800: [3600, 7200], 65536: [64800, 68400]},
    ),
    ("scratch-2", "ssd", None, False): SSD,
    **{("persistent-1", "ssd", speed, False): SSD for speed in (50, 100, 200)},
    ("persistent-1", "hdd", 12, False): (
        [6000, 12000, 18000, 600000],
        {1200: [6000], 5999: [6000], 6001: [6000, 12000], 7200: [6000, 12000]},
    ),
    ("persistent-1", "hdd", 40, False): (
        [1800, 3600, 5400, 180000],
        {1200: [1800], 2400: [1800, 3600], 6000: [5400, 7200]},
    ),
    **{("persistent-2", "ssd", speed, False): SSD for speed in (125, 250, 500, 1000)},
    ("persistent-2", "ssd", 125, True): ([38400, 76800], {4800: [38400], 40800: [38400, 76800]}),
    ("persistent-2", "ssd", 250, True): ([19200, 38400], {4800: [19200], 24000: [19200, 38400]}),
    ("persistent-2", "ssd", 500, True): ([9600, 19200], {4800: [9600], 12000: [9600, 19200]}),
    ("persistent-2", "ssd", 1000, True): ([4800, 9600], {2400: [4800], 7200: [4800, 9600]}),
}
CASES = [(*kind, size, near) for kind, (_, wrong) in STEPS.items() for size, near in wrong.items()]


def of(deployment: str, disk: str, throughput: int | None, efa: bool, size: str) -> Change:
    return fsx(deployment=deployment, disk=disk, throughput=throughput, efa=efa, size=size)


def test_the_table_is_all_that_there_is() -> None:
    table = {(*kind, speed, False) for kind, it in TYPES.items() for speed in it.sizes}
    assert table | {("persistent-2", "ssd", speed, True) for speed in EFA.sizes} == set(STEPS)


@pytest.mark.parametrize(("deployment", "disk", "throughput", "efa"), STEPS)
def test_sizes_that_there_are(deployment: str, disk: str, throughput: int | None, efa: bool) -> None:
    for size in STEPS[deployment, disk, throughput, efa][0]:
        assert found(of(deployment, disk, throughput, efa, f"{size}Gi"), ZONED) == {}, size


@pytest.mark.parametrize(("deployment", "disk", "throughput", "efa", "size", "near"), CASES)
def test_sizes_that_there_are_not(
    deployment: str,
    disk: str,
    throughput: int | None,
    efa: bool,
    size: int,
    near: list[int],
) -> None:
    path, problem = only(of(deployment, disk, throughput, efa, f"{size}Gi"))
    assert path == SIZE
    assert problem.message.startswith(f"is {size} GiB, and {deployment} on {disk}")
    assert problem.allowed.endswith(f"; nearest {' and '.join(f'{it}Gi' for it in near)}")
    assert problem.fix == f"size: {' or '.join(f'{it}Gi' for it in near)}"


@pytest.mark.parametrize(
    ("size", "told"),
    [("1.2Ti", "is 1228.8 GiB"), ("1200G", "is 1117.5 GiB"), ("1200000Mi", "is 1171.8 GiB")],
)
def test_sizes_are_exact(size: str, told: str) -> None:
    path, problem = only(fsx(size=size))
    assert path == SIZE
    assert problem.message.startswith(told)


@pytest.mark.parametrize("size", ["1228800Mi", "4800Gi", "4.6875Ti"])
def test_a_size_may_be_written_as_one_likes(size: str) -> None:
    assert found(fsx(size=size), ZONED) == {}


@pytest.mark.parametrize(("deployment", "disk"), TYPES)
def test_every_throughput(deployment: str, disk: str) -> None:
    speeds = TYPES[deployment, disk].throughputs
    for throughput in (12, 40, 50, 100, 125, 200, 250, 500, 1000, 150):
        size = {12: "6000Gi", 40: "1800Gi"}.get(throughput, "7200Gi") if disk == "hdd" else "7200Gi"
        problems = found(fsx(deployment=deployment, disk=disk, throughput=throughput, size=size))
        if throughput in speeds:
            assert problems == {}, throughput
        elif speeds:
            assert list(problems) == [THROUGHPUT], throughput
            assert problems[THROUGHPUT].allowed == ", ".join(map(str, speeds))
            assert int(problems[THROUGHPUT].fix or "") in speeds
        else:
            assert problems[THROUGHPUT].fix == "leave it out"


@pytest.mark.parametrize(("deployment", "disk"), [kind for kind in TYPES if TYPES[kind].throughputs])
def test_a_persistent_one_says_how_fast(deployment: str, disk: str) -> None:
    path, problem = only(fsx(deployment=deployment, disk=disk, throughput=None, size="36000Gi"))
    assert path == THROUGHPUT
    assert problem.fix == f"throughput: {TYPES[deployment, disk].throughputs[0]}"


@pytest.mark.parametrize("deployment", ["scratch-1", "scratch-2", "persistent-2"])
def test_only_persistent_1_has_hdd(deployment: str) -> None:
    path, problem = only(fsx(deployment=deployment, disk="hdd", throughput=None))
    assert (path, problem.fix) == ("storage.shared.disk", "disk: ssd")


@pytest.mark.parametrize(
    ("deployment", "throughput"), [("scratch-1", None), ("scratch-2", None), ("persistent-1", 100)]
)
def test_only_persistent_2_is_reached_over_efa(deployment: str, throughput: int | None) -> None:
    path, _ = only(
        fsx(deployment=deployment, throughput=throughput, efa=True, size="9600Gi" if throughput else "7200Gi")
    )
    assert path == "storage.shared.efa"


def test_rates_of_metadata() -> None:
    assert (1500, 3000, 6000, *(12000 * step for step in range(1, 17))) == METADATA
    for rate in METADATA:
        assert found(fsx(size="1200Gi", metadata=rate)) == {}, rate
    for rate, near in ((1000, "1500"), (1501, "1500 and 3000"), (9000, "6000 and 12000"), (192001, "192000")):
        path, problem = only(fsx(size="1200Gi", metadata=rate))
        assert path == "storage.shared.metadata"
        assert problem.allowed.endswith(f"nearest {near}")
    _, problem = only(fsx(size="48000Gi", metadata=7000))
    assert problem.fix == "metadata: 24000"  # what AWS gives by itself, and takes nothing below


@pytest.mark.parametrize(
    ("size", "least"),
    [(1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000), (45600, 12000), (48000, 24000),
     (72000, 36000), (2_400_000, 192000)],
)  # fmt: skip
def test_metadata_is_not_below_what_aws_gives_by_itself(size: int, least: int) -> None:
    assert automatic_metadata(size) == least
    assert found(fsx(size=f"{size}Gi", metadata=least)) == {}
    if least > METADATA[0]:
        path, problem = only(fsx(size=f"{size}Gi", metadata=1500))
        assert (path, problem.allowed) == ("storage.shared.metadata", f"at least {least}")


@pytest.mark.parametrize(("deployment", "throughput"), [("scratch-2", None), ("persistent-1", 100)])
def test_metadata_is_asked_of_persistent_2_only(deployment: str, throughput: int | None) -> None:
    path, _ = only(fsx(deployment=deployment, throughput=throughput, metadata=6000))
    assert path == "storage.shared.metadata"


def test_one_mistake_is_one_problem() -> None:
    mistakes = fsx(size="1000Gi", throughput=200, metadata=5)
    assert set(found(mistakes)) == {SIZE, THROUGHPUT, "storage.shared.metadata"}


LINKS = [{"path": "/research/datasets", "prefix": "datasets/"}, {"path": "/research/models", "prefix": "models/"}]


def linked(links: Any, **changes: Any) -> tuple[Change, ...]:
    tenant = {"namespaces": ["research"], "queues": ["research"], "quota": {"storage": "1Ti"}}
    return (
        fsx(links=links, **changes),
        put("storage.archive", {"kind": "s3"}),
        put("queues", {"research": {"capability": {"gpu": 8}}}),
        put("tenants", {"research": tenant}),
        ZONED,
    )


@pytest.mark.parametrize(
    ("deployment", "throughput"), [("scratch-2", None), ("persistent-1", 100), ("persistent-2", 125)]
)
def test_links(deployment: str, throughput: int | None) -> None:
    assert found(*linked(LINKS, deployment=deployment, throughput=throughput)) == {}


def test_scratch_1_has_no_links() -> None:
    path, problem = only(*linked(LINKS, deployment="scratch-1", throughput=None, size="3600Gi"))
    assert (path, problem.fix) == ("storage.shared.links", "deployment: scratch-2")


def test_links_are_few() -> None:
    links = [{"path": f"/research/{it}", "prefix": f"{it}/"} for it in range(9)]
    assert found(*linked(links[:8])) == {}
    path, problem = only(*linked(links))
    assert (path, problem.allowed) == ("storage.shared.links", "at most 8")


@pytest.mark.parametrize(
    ("link", "place", "fix"),
    [
        ({"path": "research/sets"}, "path", "path: /research/sets"),
        ({"path": "/research/sets/"}, "path", "path: /research/sets"),
        ({"path": "/research//sets"}, "path", "path: /research/sets"),
        ({"path": "/research/../sets"}, "path", None),
        ({"path": ""}, "path", None),
        ({"path": "/research/datasets/imagenet"}, "path", None),
        ({"path": "/research"}, "path", None),
        ({"path": "/"}, "path", None),
        ({"path": "/vision/sets"}, "path", "path: /research/sets"),
        ({"path": "/sets"}, "path", "path: /research/sets"),
        ({"prefix": "sets"}, "prefix", "prefix: sets/"),
        ({"prefix": "/sets/"}, "prefix", "prefix: sets/"),
        ({"prefix": ""}, "prefix", None),
        ({"prefix": "/"}, "prefix", None),
        ({"prefix": "datasets/"}, "prefix", None),
        ({"prefix": "datasets/imagenet/"}, "prefix", None),
    ],
)
def test_links_do_not_overlap_and_lie_in_a_namespace(link: dict[str, str], place: str, fix: str | None) -> None:
    second = {"path": "/research/sets", "prefix": "sets/"} | link
    path, problem = only(*linked([LINKS[0], second]))
    assert (path, problem.fix) == (f"storage.shared.links[1].{place}", fix)


def test_links_go_to_a_bucket_that_is_made() -> None:
    for archive in (None, {"kind": "s3", "bucket": "acme", "endpoint": "https://minio.example.com", "secret": "keys"}):
        path, problem = only(*linked(LINKS), put("storage.archive", archive) if archive else drop("storage.archive"))
        assert (path, problem.fix) == ("storage.shared.links", "archive: {kind: s3}")


def test_it_stands_where_its_readers_are() -> None:
    assert lustre.zone(made(fsx())) == "us-east-2a"
    (path, problem) = only(fsx(), severity="warning")
    assert (path, problem.fix) == ("pools.serve.zone", "zone: us-east-2a")
    assert found(fsx(), ZONED, severity="warning") == {}


def test_its_zone_is_asked_for_when_nothing_says_it() -> None:
    path, problem = only(fsx(), drop("pools.train"))
    assert (path, problem.allowed) == ("storage.shared.zone", "us-east-2a, us-east-2b")
    assert found(fsx(zone="us-east-2b"), drop("pools.train")) == {}
    path, _ = only(fsx(), drop("pools.train"), drop("pools.serve"))
    assert path == "storage.shared.zone"


def test_pools_of_one_fabric_stand_in_its_zone() -> None:
    other = {"instance": "p5.48xlarge", "size": 2, "zone": "us-east-2b", "fabric": "efa"}
    path, problem = only(fsx(), put("pools.other", other), ZONED)
    assert path == "storage.shared.zone"
    assert "us-east-2a, us-east-2b" in problem.message
    path, problem = only(fsx(zone="us-east-2a"), put("pools.other", other), ZONED)
    assert path == "storage.shared.zone"
    assert problem.message.startswith("pool other is in us-east-2b")
    path, problem = only(fsx(zone="us-east-2c"))
    assert (path, problem.allowed) == ("storage.shared.zone", "us-east-2a, us-east-2b")


CHECKPOINTS = {"write": "shared", "keep": "shared", "every": "15m", "retain": 3}


@pytest.mark.parametrize(("deployment", "size"), [("scratch-1", "3600Gi"), ("scratch-2", "4800Gi")])
def test_nothing_is_kept_where_nothing_lasts(deployment: str, size: str) -> None:
    scratch = fsx(deployment=deployment, throughput=None, size=size)
    problem = found(scratch, put("storage.checkpoints", CHECKPOINTS), ZONED)["storage.checkpoints.keep"]
    assert problem.fix == "deployment: persistent-2"
    assert "one copy" in problem.message


def test_how_fast_it_is_written_to() -> None:
    assert lustre.write_rate(made(fsx(size="48000Gi", throughput=500))) == 48000 * 500 * 10**6 // 1024
    assert lustre.write_rate(made(fsx(deployment="scratch-2", throughput=None, size="2400Gi"))) == 234_375_000
    assert lustre.write_rate(made(fsx(efa=True, throughput=1000))) == 4_687_500_000


@pytest.mark.parametrize(
    ("key", "value"),
    [("deployment", "scratch-2"), ("disk", "hdd"), ("throughput", 500), ("efa", True), ("metadata", 6000),
     ("zone", "us-east-2a"), ("links", LINKS)],
)  # fmt: skip
def test_what_says_how_one_is_made_is_of_those_that_are_made(key: str, value: Any) -> None:
    path, problem = only(fsx(**{"throughput": None, "mount": "10.0.0.5@tcp:/scratch", key: value}))
    assert (path, problem.fix) == (f"storage.shared.{key}", "leave it out")


def test_the_speed_of_one_that_is_made_follows() -> None:
    path, _ = only(fsx(write="10G"))
    assert path == "storage.shared.write"
