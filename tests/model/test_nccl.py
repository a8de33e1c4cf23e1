"""Variables of NCCL that people set themselves."""

import pytest

from catalog import reader as catalog
from model import nccl
from model.nccl import Setting
from model.problems import Problem
from tests.model.documents import environment, errors, only, put, warnings

INFINIBAND = Setting("train", "infiniband", 8, {"NCCL_NET": "IB"}, ("eth0",))
ROCE = Setting(
    "train", "roce", 8, {"NCCL_NET": "IB", "NCCL_SOCKET_IFNAME": "=eth0", "NCCL_IB_TC": "106"}, ("eth0", "net1")
)
EFA = Setting("train", "efa", 32, {}, ("eth0",))
TCP = Setting("train", "tcp", 0, {}, ("eth0",))
HOST = Setting("train", "roce", 8, {"NCCL_NET": "IB", "NCCL_SOCKET_IFNAME": "=bond0"}, ())


def judged(name: str, value: str, where: Setting | None = INFINIBAND) -> Problem | None:
    found = list(nccl.problems(("env",), {name: value}, where))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("value", "severity", "fix"),
    [
        ("mlx5_1,mlx5_11", "warning", '"=mlx5_1,mlx5_11"'),
        ("mlx5_0:1,mlx5_1", "warning", '"=mlx5_0:1,mlx5_1"'),
        ("^mlx5_1", "warning", '"^=mlx5_1"'),
        ("=^mlx5_0", "error", "^=mlx5_0"),
        ("mlx5_0; mlx5_1", "error", "=mlx5_0,mlx5_1"),
        ("mlx5_0, mlx5_1", "error", "=mlx5_0,mlx5_1"),
        ("mlx5_0,,mlx5_2", "error", "=mlx5_0,mlx5_2"),
        ("=mlx5_0,=mlx5_1", "error", "=mlx5_0,mlx5_1"),
        ("mlx5_0,^mlx5_1", "error", "=mlx5_0,mlx5_1"),
        ("", "error", "leave it out"),
        ("=", "error", "leave it out"),
        ("^", "error", None),
        ("^mlx5", "error", "leave it out"),
        ("^mlx", "error", "leave it out"),
        ("mlx5_0", "warning", "leave it out"),
        ("=mlx5_0,mlx5_1", "warning", "leave it out"),
    ],
)
def test_hcas_are_a_list_of_prefixes(value, severity, fix):
    problem = judged("NCCL_IB_HCA", value)
    assert problem
    assert (problem.severity, problem.fix) == (severity, fix)
    if fix not in (None, "leave it out"):
        # A mended list is not the next mistake.
        assert judged("NCCL_IB_HCA", fix.strip('"'), None) is None


@pytest.mark.parametrize(
    "value", ["^mlx5_0", "mlx5", "^mlx4", "^=mlx5_1,mlx5_2", "=" + ",".join(f"mlx5_{n}" for n in range(8))]
)
def test_lists_that_mean_what_they_say(value):
    assert judged("NCCL_IB_HCA", value) is None


def test_a_prefix_tells_what_else_it_means():
    problem = judged("NCCL_IB_HCA", "mlx5_1")
    assert problem
    assert "mlx5_10 to mlx5_19" in problem.message
    idle = judged("NCCL_IB_HCA", "=mlx5_0,mlx5_1")
    assert idle
    assert "6 of the 8 NICs" in idle.message
    assert judged("NCCL_IB_HCA", "=mlx5_0,mlx5_1", None) is None


@pytest.mark.parametrize(
    ("value", "severity", "fix"),
    [
        ("0", "warning", "LOC"),
        ("1", "warning", "PIX"),
        ("2", "warning", "PXB"),
        ("3", "warning", "PHB"),
        ("4", "warning", "leave it out"),
        ("5", "warning", "leave it out"),
        ("9", "warning", "leave it out"),
        ("SYS", "warning", "leave it out"),
        ("phb", "error", "PHB"),
        ("LOCAL", "error", "LOC"),
        ("", "error", "leave it out"),
    ],
)
@pytest.mark.parametrize("name", ["NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"])
def test_distances_are_words_of_today(name, value, severity, fix):
    problem = judged(name, value)
    assert problem
    assert (problem.severity, problem.fix) == (severity, fix)


@pytest.mark.parametrize("value", ["LOC", "PIX", "PXB", "PHB", "P2C"])
def test_distances_that_are_words_are_fine(value):
    assert judged("NCCL_NET_GDR_LEVEL", value) is None


@pytest.mark.parametrize(
    ("name", "value", "severity", "said"),
    [
        ("NCCL_ALGO", "RING", "warning", "now cannot"),
        ("NCCL_ALGO", "Tree,Ring", "warning", "now cannot"),
        ("NCCL_ALGO", "allreduce:tree;reduce:ring", "warning", "now cannot"),
        ("NCCL_ALGO", "spiral", "error", "refuses to start"),
        ("NCCL_ALGO", "allred:tree", "error", "is no collective"),
        ("NCCL_ALGO", "tree;ring", "error", "is for no collective"),
        ("NCCL_ALGO", "", "error", "refuses to start"),
        ("NCCL_PROTO", "simple", "warning", "now cannot"),
        ("NCCL_PROTO", "LL128", "warning", "wrong results"),
        ("NCCL_PROTO", "LL64", "error", "refuses to start"),
    ],
)
def test_forced_choices(name, value, severity, said):
    problem = judged(name, value)
    assert problem
    assert problem.severity == severity
    assert said in problem.message


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_ALGO", "^NVLS"), ("NCCL_PROTO", "^LL128"), ("NCCL_ALGO", "allreduce:^pat")]
)
def test_leaving_one_out_is_how_faults_are_worked_around(name, value):
    assert judged(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "said", "fix"),
    [
        ("NCCL_IB_TIMEOUT", "32", "out of range", None),
        ("NCCL_IB_TIMEOUT", "0", "out of range", None),
        ("NCCL_IB_TIMEOUT", "022", "octal: 18", "22"),
        ("NCCL_IB_TIMEOUT", "twenty", "reads it as 0", None),
        ("NCCL_IB_TIMEOUT", "22s", "reads it as 22", "22"),
        ("NCCL_IB_TIMEOUT", "", "is empty", "leave it out"),
        ("NCCL_IB_RETRY_CNT", "10", "out of range", None),
        ("NCCL_IB_SL", "16", "out of range", None),
        ("NCCL_CROSS_NIC", "3", "out of range", None),
        ("NCCL_IB_DISABLE", "true", "reads it as 0", "1"),
        ("NCCL_P2P_DISABLE", "yes", "reads it as 0", "1"),
        ("NCCL_BUFFSIZE", "8M", "reads it as 8", "8"),
        ("NCCL_DEBUG", "verbose", "ignores it", None),
        ("NCCL_DEBUG", "WARNING", "ignores it", "WARN"),
        ("NCCL_IB_DISABLE", "1", "turns off the fabric", "leave it out"),
        ("NCCL_NET", "Socket", "that is TCP", "leave it out"),
        ("NCCL_NET", "infiniband", "NCCL calls it IB", "IB"),
        ("NCCL_NET", "RoCE", "NCCL calls it IB", "IB"),
        ("NCCL_NET", "IB,Socket", "is a list", "IB"),
        ("NCCL_NET", "", "is empty", "leave it out"),
        ("NCCL_NET", " IB", "has blanks", "IB"),
        ("NCCL_NET", "/opt/lib/libnccl-net.so", "NCCL_NET_PLUGIN names", "IB"),
        ("NCCL_IB_TIMEOUT", "-1", "out of range", None),
        ("NCCL_IB_TC", "-2", "out of range", None),
        ("NCCL_IB_DISABLE", "-1", "out of range", None),
        ("NCCL_BUFFSIZE", "-5", "out of range", None),
        ("NCCL_BUFFSIZE", "0", "out of range", None),
        ("NCCL_SOCKET_IFNAME", "ens5", "finds no interface", "leave it out"),
        ("NCCL_SOCKET_IFNAME", "^eth", "finds no interface", "leave it out"),
    ],
)
def test_values_that_nccl_reads_otherwise(name, value, said, fix):
    problem = judged(name, value)
    assert problem
    assert problem.severity == "error"
    assert said in problem.message
    assert problem.fix == fix


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_DEBUG", "WARN"),
        ("NCCL_DEBUG", "info"),
        ("NCCL_DEBUG_SUBSYS", "INIT,NET"),
        ("NCCL_IB_TIMEOUT", "22"),
        ("NCCL_IB_TIMEOUT", "0x16"),
        ("NCCL_IB_TC", "-1"),
        ("NCCL_IB_ADAPTIVE_ROUTING", "-2"),
        ("NCCL_CUMEM_ENABLE", "-2"),
        ("NCCL_BUFFSIZE", "8388608"),
        ("NCCL_NET_PLUGIN", "none"),
        ("NCCL_IB_QPS_PER_CONNECTION", "4"),
        ("NCCL_NVLS_ENABLE", "0"),
        ("NCCL_NET", "ib"),
        ("NCCL_NET", "IBext_v8"),
        ("NCCL_SOCKET_IFNAME", "eth0"),
        ("NCCL_SOCKET_IFNAME", "^lo,docker,veth,eni"),
        ("NCCL_TUNER_CONFIG_PATH", "/etc/tuner.conf"),
        ("HF_HOME", "/models"),
    ],
)
def test_values_that_nccl_reads_as_they_are_meant(name, value):
    assert judged(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "where", "said"),
    [
        ("NCCL_IB_HCA", "mlx5_0", EFA, "NCCL goes over libfabric"),
        ("NCCL_IB_TIMEOUT", "22", TCP, "NCCL goes over TCP sockets"),
        ("FI_PROVIDER", "efa", INFINIBAND, "libfabric on EFA only"),
        ("OFI_NCCL_PROTOCOL", "RDMA", TCP, "libfabric on EFA only"),
        ("NCCL_SOCKET_NTHREADS", "4", INFINIBAND, "for data over TCP"),
        ("NCCL_NSOCKS_PERTHREAD", "4", EFA, "for data over TCP"),
        ("NCCL_IB_GID_INDEX", "3", INFINIBAND, "GID indexes are for RoCE"),
        ("NCCL_IB_GID_INDEX", "3", ROCE, "pins an entry of the GID table"),
        ("NCCL_IB_TIMEOUT", "23", INFINIBAND, "documentation has 1 to 22"),
        ("NCCL_P2P_DISABLE", "1", INFINIBAND, "through host memory"),
        ("NCCL_SHM_DISABLE", "1", INFINIBAND, "through the network"),
        ("FI_EFA_USE_DEVICE_RDMA", "1", EFA, "libfabric 1.18"),
        ("RDMAV_FORK_SAFE", "1", EFA, "breaks things"),
        ("NCCL_IB_CUDA_SUPPORT", "1", None, "any more: GPUDirect RDMA is bounded by NCCL_NET_GDR_LEVEL"),
        ("NCCL_DEBGU", "INFO", None, "did you mean NCCL_DEBUG?"),
        ("nccl_debug", "INFO", None, "did you mean NCCL_DEBUG?"),
        ("NCCL_IB_HCAS", "mlx5", None, "did you mean NCCL_IB_HCA?"),
        ("NCCL_NET", "fastnet", INFINIBAND, "unless a plugin in the image is called so"),
    ],
)
def test_variables_of_something_else(name, value, where, said):
    problem = judged(name, value, where)
    assert problem
    assert problem.severity == "warning"
    assert said in problem.message


@pytest.mark.parametrize("name", ["NCCL_HOME", "NCCL_VERSION", "NCCL_INCLUDE_DIR", "NCCL_ROOT"])
def test_what_is_like_no_variable_is_not_mended(name):
    problem = judged(name, "x", None)
    assert problem
    assert (problem.severity, problem.fix) == ("warning", None)


@pytest.mark.parametrize("name", ["BLOCKING_WAIT", "ASYNC_ERROR_HANDLING", "DESYNC_DEBUG"])
def test_variables_of_pytorch_have_other_names_today(name):
    problem = judged(f"NCCL_{name}", "1", None)
    assert problem
    assert (problem.severity, problem.fix) == ("warning", f"TORCH_NCCL_{name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_NET", "Socket"),
        ("NCCL_NET_PLUGIN", "none"),
        ("NCCL_NET_PLUGIN", ""),
        ("FI_PROVIDER", "tcp"),
        ("FI_PROVIDER", "^efa"),
    ],
)
def test_efa_is_not_turned_off_in_passing(name, value):
    problem = judged(name, value, EFA)
    assert problem
    assert (problem.severity, problem.fix) == ("error", "leave it out")
    assert "pool train has efa" in problem.message


@pytest.mark.parametrize(
    ("name", "value"),
    [("NCCL_NET", "AWS Libfabric"), ("NCCL_NET_PLUGIN", "aws-ofi"), ("FI_PROVIDER", "efa"), ("FI_PROVIDER", "^tcp")],
)
def test_efa_may_be_named(name, value):
    assert judged(name, value, EFA) is None


def test_there_is_no_infiniband_elsewhere():
    for where in (EFA, TCP):
        problem = judged("NCCL_NET", "IB", where)
        assert problem
        assert problem.severity == "error"


@pytest.mark.parametrize(
    ("name", "value"), [("NCCL_SOCKET_IFNAME", "net1"), ("NCCL_IB_TC", "104"), ("NCCL_SOCKET_IFNAME", "^net")]
)
def test_what_follows_from_the_fabric_is_said_there(name, value):
    problem = judged(name, value, ROCE)
    assert problem
    assert problem.message == f"it follows from pools.train.fabric: {ROCE.derived[name]}"
    assert judged(name, ROCE.derived[name], ROCE) is None


def test_the_same_interface_said_otherwise_is_fine():
    assert judged("NCCL_SOCKET_IFNAME", "eth0", ROCE) is None
    chosen = Setting("train", "infiniband", 8, {"NCCL_IB_HCA": "=mlx5_0"}, ("eth0",))
    assert judged("NCCL_IB_HCA", "=mlx5_0", chosen) is None, "the fabric is told"


def test_pods_in_the_network_of_their_node_have_its_interfaces():
    assert judged("NCCL_SOCKET_IFNAME", "=bond0", HOST) is None
    assert judged("NCCL_OOB_NET_IFNAME", "=ens5", HOST) is None


def test_sockets_are_counted_together():
    together = {"NCCL_SOCKET_NTHREADS": "8", "NCCL_NSOCKS_PERTHREAD": "16"}
    (problem,) = nccl.problems((), together, TCP)
    assert (problem.path, problem.allowed) == (("NCCL_NSOCKS_PERTHREAD",), "at most 8")
    assert not list(nccl.problems((), {**together, "NCCL_NSOCKS_PERTHREAD": "8"}, TCP))
    told = [problem.path for problem in nccl.problems((), together, INFINIBAND)]
    assert sorted(told) == [("NCCL_NSOCKS_PERTHREAD",), ("NCCL_SOCKET_NTHREADS",)], "once each"


def test_names_that_no_shell_can_use():
    problem = judged("1ST", "x", None)
    assert problem
    assert problem.severity == "error"


def test_every_variable_is_of_one_kind():
    table = catalog.nccl()
    kinds = (table.ranges, table.switches, table.numbers, table.words, table.lists, table.levels.names, table.texts)
    named = [name for kind in kinds for name in kind]
    assert len(named) == len(set(named)) > 200
    assert all(name.startswith("NCCL_") for name in named)
    assert not set(named) & set(table.gone)
    assert all(low < high for low, high in table.ranges.values())
    assert set(table.automatic) <= {*table.ranges, *table.switches}
    assert all(value < 0 for value in table.automatic.values())
    assert not set(named) & set(table.renamed)
    assert set(table.levels.numbers) <= set(table.levels.words)


def ray_env(**variables):
    return put("ray.clusters.tuning.env", variables)


def test_variables_of_ray_clusters_are_judged_where_they_run():
    infiniband = put("pools.train.fabric", "infiniband")
    path, problem = only(errors(infiniband, ray_env(NCCL_NET="Socket")))
    assert path == "ray.clusters.tuning.env.NCCL_NET"
    assert "pool train has infiniband" in problem.message
    path, _ = only(warnings(ray_env(NCCL_IB_TIMEOUT="22")))
    assert path == "ray.clusters.tuning.env.NCCL_IB_TIMEOUT"
    assert not warnings(infiniband, ray_env(NCCL_IB_TIMEOUT="22", NCCL_DEBUG="WARN"))


def test_workers_without_rdma_talk_over_tcp():
    path, _ = only(
        warnings(
            put("pools.train.fabric", "infiniband"), put("ray.clusters.tuning.workers.rdma", 0), ray_env(NCCL_IB_SL="1")
        )
    )
    assert path == "ray.clusters.tuning.env.NCCL_IB_SL"


def test_values_are_text():
    path, problem = only(errors(ray_env(NCCL_IB_SL=1)))
    assert path == "ray.clusters.tuning.env.NCCL_IB_SL"
    assert problem.fix == 'write "1"'


def test_without_a_pool_only_what_is_wrong_anywhere_is_told():
    found = errors(put("ray.clusters.tuning.pool", "nowhere"), ray_env(NCCL_IB_SL="99", NCCL_NET="Socket"))
    assert set(found) == {"ray.clusters.tuning.pool", "ray.clusters.tuning.env.NCCL_IB_SL"}


def test_attached_networks_give_interfaces():
    shared = {"kind": "roce", "interfaces": ["eth1", "eth2"], "networks": ["a", "b"]}
    where = nccl.setting(environment(put("pools.train.fabric", shared)), "train", gpus=8)
    assert where.interfaces == ("eth0", "net1", "net2")
    own = {"kind": "infiniband", "mode": "sriov", "networks": ["a"]}
    where = nccl.setting(environment(put("pools.train.fabric", own)), "train", gpus=2)
    assert where.interfaces == ("eth0", "net1", "net2")
