"""Which fabric a pool can have, and what may be said of it."""

import pytest

from tests.model.documents import drop, errors, only, put, warnings

SHAPE = {"cpu": 192, "memory": "2Ti", "gpu": {"model": "h100-sxm-80gb", "count": 8}}
HOST = {"cpu": 208, "memory": "2Ti", "nics": {"model": "connectx-7", "count": 8}}
EFA = SHAPE | {"nics": {"model": "efa", "count": 32}}


def fabric(choice):
    return put("pools.train.fabric", choice)


def infiniband(**options):
    return fabric({"kind": "infiniband", **options})


def roce(**options):
    return fabric({"kind": "roce", "interfaces": ["enp24s0np0"], "networks": ["rails/rail-0"], **options})


def shape(value):
    def change(document):
        document["pools"]["train"].pop("server")
        document["pools"]["train"]["shape"] = value

    return change


@pytest.mark.parametrize(
    "changes",
    [
        [fabric("tcp")],
        [fabric("infiniband")],
        [infiniband(slots=1)],
        [infiniband(slots=1000)],
        [infiniband(mode="sriov", virtualFunctions=127)],
        [infiniband(hcas=["mlx5_0", "mlx5_11:1"], interfaces=["ibp24s0", "ens1f0.100"])],
        [infiniband(mode="sriov", interfaces=[f"ib{number}" for number in range(8)])],
        [roce(networks=["a", "b"], interfaces=["eth1", "eth2"], socketInterface="net2")],
        [infiniband(mode="sriov", networks=["a"], socketInterface="net8")],
        [infiniband(mode="sriov", virtualFunctions=2, hcas=[f"mlx5_{number}" for number in range(8, 24)])],
        [infiniband(socketInterface="eth0")],
        [infiniband(storageHcas=["mlx5_1"], memlock="unlimited")],
        [roce(trafficClass=106, slots=63)],
        [fabric({"kind": "roce", "mode": "host", "interfaces": ["eth1"], "socketInterface": "bond0"})],
        [shape(EFA), fabric("efa")],
        [shape(EFA), fabric("tcp")],
        [shape(SHAPE | {"nics": {"model": "connectx-7", "count": 8}}), fabric("infiniband")],
        [
            put("pools.train.server", "hgx-h100"),
            put("pools.train.host", HOST),
            fabric("infiniband"),
        ],
    ],
)
def test_what_machines_can_do_is_allowed(changes):
    assert not errors(*changes)
    assert not warnings(*changes)


def test_efa_is_refused_on_servers_of_your_own():
    path, problem = only(errors(fabric("efa")))
    assert path == "pools.train.fabric"
    assert "EFA is a NIC of AWS instances" in problem.message
    assert problem.fix == "fabric: infiniband"


def test_efa_does_no_infiniband():
    path, problem = only(errors(shape(EFA), fabric("infiniband")))
    assert path == "pools.train.fabric"
    assert problem.allowed == "efa, tcp"


def test_a_shape_says_its_nics():
    path, problem = only(errors(shape(SHAPE), fabric("infiniband")))
    assert path == "pools.train.fabric"
    assert "its shape names none" in problem.message
    assert "connectx-7" in (problem.allowed or "")


def test_nics_around_a_board_are_its_makers_choice():
    changes = [put("pools.train.server", "hgx-h100"), put("pools.train.host", {"cpu": 208, "memory": "2Ti"})]
    _, problem = only(errors(*changes, fabric("infiniband")))
    assert "hgx-h100 is a board" in problem.message
    assert problem.fix == "host: {nics: {model: …, count: …}}"


@pytest.mark.parametrize(
    ("nics", "at", "said"),
    [
        ({"model": "connectx7", "count": 8}, "model", "the catalogue has no such NIC"),
        ({"model": "connectx-7", "count": 0}, "count", "must be at least 1"),
        ({"model": "connectx-7", "count": 65}, "count", "no machine has so many ports"),
    ],
)
def test_nics_are_of_the_catalogue_and_countable(nics, at, said):
    path, problem = only(errors(shape(SHAPE | {"nics": nics}), fabric("infiniband")))
    assert path == f"pools.train.shape.nics.{at}"
    assert said in problem.message


@pytest.mark.parametrize(
    ("slots", "said"),
    [(0, "offers nothing"), (-1, "must not be negative"), (2501, "each slot needs a pod")],
)
def test_slots_are_pods(slots, said):
    path, problem = only(errors(infiniband(slots=slots)))
    assert path == "pools.train.fabric.slots"
    assert said in problem.message


def test_roce_has_room_for_63():
    path, problem = only(warnings(roce(slots=1000)))
    assert path == "pools.train.fabric.slots"
    assert problem.allowed == "at most 63"
    assert not warnings(roce(slots=63))


@pytest.mark.parametrize(
    ("options", "at", "said"),
    [
        ({"mode": "host"}, "mode", "needs no pods in the network of their node"),
        ({"mode": "sriov", "slots": 8}, "slots", "has no effect with mode sriov"),
        ({"virtualFunctions": 8}, "virtualFunctions", "has no effect with mode shared"),
        ({"mode": "sriov", "virtualFunctions": 0}, "virtualFunctions", "must be at least 1"),
        ({"mode": "sriov", "virtualFunctions": 128}, "virtualFunctions", "is more than 127"),
        ({"virtualFunctions": 0}, "virtualFunctions", "has no effect with mode shared"),
        ({"interfaces": [".."]}, "interfaces[0]", "is no name of one network interface"),
        ({"interfaces": [f"ib{number}" for number in range(9)]}, "interfaces", "there are 9, and a node has 8"),
        ({"mode": "sriov", "interfaces": ["ib0"]}, "interfaces", "of 1 of the 8 NICs"),
        ({"hcas": [f"mlx5_{number}" for number in range(9)]}, "hcas", "there are 9, and a node has 8"),
        (
            {"mode": "sriov", "virtualFunctions": 2, "hcas": [f"mlx5_{number}" for number in range(17)]},
            "hcas",
            "there are 17, and a node has 16 virtual functions",
        ),
        ({"networks": ["a", "b", "a"]}, "networks[2]", "is named twice"),
        ({"socketInterface": "ib0"}, "socketInterface", "a pod has eth0 and lo, none is called so"),
        ({"networks": ["a"], "socketInterface": "net2"}, "socketInterface", "a pod has eth0, net1 and lo"),
        ({"mode": "sriov", "networks": ["a"], "socketInterface": "net9"}, "socketInterface", "net1 to net8 and lo"),
        ({"trafficClass": 106}, "trafficClass", "is one of RoCE"),
        ({"interfaces": ["ib*"]}, "interfaces[0]", "is no name of one network interface"),
        ({"interfaces": ["an-interface-name"]}, "interfaces[0]", "is no name of one network interface"),
        ({"interfaces": ["ib0", "ib0"]}, "interfaces[1]", "is named twice"),
        ({"socketInterface": "=eth0"}, "socketInterface", "is no name of one network interface"),
        ({"hcas": ["=mlx5_0"]}, "hcas[0]", "exact already"),
        ({"hcas": ["^mlx5_0"]}, "hcas[0]", "exact already"),
        ({"hcas": ["mlx5_0; mlx5_1"]}, "hcas[0]", "one per item"),
        ({"hcas": ["mlx5_0,mlx5_1"]}, "hcas[0]", "one per item"),
        ({"hcas": [""]}, "hcas[0]", "one per item"),
        ({"hcas": ["mlx5_0:0"]}, "hcas[0]", "one per item"),
        ({"hcas": ["mlx5_0"], "storageHcas": ["mlx5_1"]}, "storageHcas", "NCCL reads one list"),
        ({"networks": ["Rails/x"]}, "networks[0]", "must not stand in a name"),
        ({"networks": ["a/b/c"]}, "networks[0]", "must not stand in a name"),
        ({"mode": "sriov", "networks": ["a", "b"]}, "networks", "the same for all"),
    ],
)
def test_options_that_mean_nothing_or_the_wrong_thing(options, at, said):
    path, problem = only(errors(infiniband(**options)))
    assert path == f"pools.train.fabric.{at}"
    assert said in problem.message


@pytest.mark.parametrize(
    ("change", "at", "said"),
    [
        (infiniband(hcas=["mlx5_0"]), "hcas", "leaves 7 of the 8 NICs of a node idle"),
        (infiniband(hcas=["mlx5_0:1", "mlx5_0:2"]), "hcas", "leaves 7 of the 8 NICs"),
        (roce(interfaces=["eth1", "eth2"]), "networks", "there are 1 for 2 NICs of a node: the rest stays idle"),
        (roce(networks=["a", "b"]), "networks", "some are two of one NIC"),
    ],
)
def test_nics_that_are_left_idle_are_told(change, at, said):
    assert not errors(change)
    path, problem = only(warnings(change))
    assert path == f"pools.train.fabric.{at}"
    assert said in problem.message


def test_lists_in_one_item_are_taken_apart():
    _, problem = only(errors(infiniband(hcas=["mlx5_0; mlx5_1"])))
    assert problem.fix == "[mlx5_0, mlx5_1]"
    _, problem = only(errors(infiniband(hcas=["^mlx5_0"])))
    assert problem.fix == "storageHcas: [mlx5_0]"


@pytest.mark.parametrize("option", ["slots", "virtualFunctions", "trafficClass"])
def test_where_there_is_nothing_to_choose_nothing_is_chosen(option):
    path, problem = only(errors(shape(EFA), fabric({"kind": "efa", option: 4})))
    assert path == f"pools.train.fabric.{option}"
    assert problem.message == "has no effect on efa"


def test_tcp_locks_no_memory():
    path, _ = only(errors(fabric({"kind": "tcp", "memlock": "unlimited"})))
    assert path == "pools.train.fabric.memlock"
    path, _ = only(errors(fabric({"kind": "efa", "mode": "shared"}), shape(EFA)))
    assert path == "pools.train.fabric.mode"


def test_roce_needs_interfaces_in_the_pod_and_a_word_which():
    path, problem = only(errors(fabric("roce")))
    assert path == "pools.train.fabric"
    assert problem.fix == "fabric: {kind: roce, networks: […], interfaces: […]}"
    assert set(errors(fabric({"kind": "roce"}))) == {"pools.train.fabric.networks", "pools.train.fabric.interfaces"}
    # Its storage NICs are BlueField, so the model tells them apart.
    path, problem = only(errors(put("pools.train.server", "dgx-b200"), fabric("roce")))
    assert "networks" in (problem.allowed or "")
    assert "interfaces" not in (problem.allowed or "")


def test_pods_in_the_network_of_the_node_meet_on_one_interface():
    path, _ = only(errors(fabric({"kind": "roce", "mode": "host", "interfaces": ["eth1"]})))
    assert path == "pools.train.fabric.socketInterface"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"slots": 8}, "slots 8, and pool train has 63"),
        ({"interfaces": ["ib0"]}, "it has interfaces, unlike pool train"),
    ],
)
def test_the_network_operator_has_one_policy_for_all(other, said):
    pool = {"server": "dgx-a100", "size": 2, "fabric": {"kind": "infiniband", **other}}
    changes = [fabric("infiniband"), put("pools.old", pool)]
    assert not errors(*changes)
    path, problem = only(errors(*changes, put("devices", {"install": "operator"})))
    assert path == "pools.old.fabric"
    assert said in problem.message


def test_interfaces_of_one_pool_are_not_taken_on_nodes_of_another():
    old = {"server": "dgx-a100", "size": 2, "fabric": {"kind": "infiniband", "interfaces": ["ib1"]}}
    changes = [infiniband(interfaces=["ib0"]), put("pools.old", old)]
    assert not errors(*changes)
    path, problem = only(errors(*changes, put("devices", {"install": "operator"})))
    assert path == "pools.old.fabric"
    assert "it has interfaces ib1, and pool train has ib0" in problem.message
    old["fabric"] = {"kind": "infiniband", "interfaces": ["ib0"]}
    assert not errors(*changes, put("devices", {"install": "operator"}))


def workers(rdma):
    return put("ray.clusters.tuning.workers.rdma", rdma)


def test_a_ticket_is_no_bandwidth():
    path, problem = only(warnings(fabric("infiniband"), workers(8)))
    assert path == "ray.clusters.tuning.workers.rdma"
    assert "ticket" in problem.message
    for enough in (0, 1):
        assert not warnings(fabric("infiniband"), workers(enough))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([fabric("infiniband"), workers(-1)], "must not be negative"),
        ([workers(1)], "pool train has no RDMA"),
        ([infiniband(mode="sriov"), workers(9)], "a node of pool train offers 8"),
        ([shape(EFA), fabric("efa"), workers(33)], "offers 32"),
    ],
)
def test_workers_ask_for_what_nodes_have(changes, said):
    path, problem = only(errors(*changes))
    assert path == "ray.clusters.tuning.workers.rdma"
    assert said in problem.message


def test_a_misspelt_fabric_is_one_problem():
    path, problem = only(errors(fabric("infinband")))
    assert (path, problem.fix) == ("pools.train.fabric", "infiniband")
    for choice, at in (("ib", ""), ({"kind": "ib"}, ".kind")):
        path, problem = only(errors(fabric(choice)))
        assert (path, problem.fix) == (f"pools.train.fabric{at}", "infiniband")
    path, problem = only(errors(infiniband(slot=3)))
    assert problem.fix == "slots: …"
    assert not errors(infiniband(), drop("pools.train.labels"))


def test_huge_pages_need_room():
    def small(memory):
        def change(value):
            nics = {"model": "efa", "count": 1}
            value["pools"]["small"] = {"shape": {"cpu": 8, "memory": memory, "nics": nics}, "size": 1, "fabric": "efa"}

        return change

    path, problem = only(errors(small("10Gi")))
    assert path == "pools.small.fabric"
    assert "10256Mi aside in huge pages" in problem.message
    assert not errors(small("16Gi"))
    # What is too small for the kubelet alone is told once.
    assert list(errors(small("1Gi"))) == ["pools.small.shape.memory"]
