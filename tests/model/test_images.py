"""Images of nodes: what they bring, and that driver and device plugin have exactly one owner on each node."""

from typing import Any

import pytest

from catalog import reader as catalog
from model import agents, images
from tests.model.documents import Change, environment, errors, only, put

OPERATOR = put("devices", {"install": "operator"})


def image(name: str, pool: str = "train") -> Change:
    """The change to an image, and to a server that such images run on."""

    def change(value: dict[str, Any]) -> None:
        value["pools"][pool]["image"] = name
        if "server" in value["pools"][pool] and "dgx" not in name and name != "prepared":
            value["pools"][pool]["server"] = "hgx-h100"

    return change


@pytest.mark.parametrize("mode", ["plugins", "operator"])
@pytest.mark.parametrize("name", [None, *catalog.images()])
def test_each_node_has_one_owner_of_each_part(mode: str, name: str | None):
    """Or the document is refused; there is no third way."""
    changes = [put("devices", {"install": mode}), *([image(name)] if name else [])]
    if found := errors(*changes):
        path, problem = only(found)
        assert path == "pools.train.image"
        assert "driver" in problem.message
        return
    env = environment(*changes)
    assert images.driver_owner(env, "train") in ("image", "operator")
    assert images.toolkit_owner(env, "train") in ("image", "operator")
    owner = images.plugin_owner(env, "train")
    assert ("train" in images.plugin_pools(env)) == (owner == "gangline")
    assert ("train" in images.managed_pools(env)) == (owner != "image")
    assert (owner == "operator") == (mode == "operator" and not images.brings(env, "train", "device-plugin"))


def test_a_pool_that_names_no_image():
    env = environment()
    assert images.driver_owner(env, "train") == images.toolkit_owner(env, "train") == "image"
    assert images.plugin_pools(env) == images.exporter_pools(env) == agents.gpu_pools(env)
    env = environment(OPERATOR)
    assert images.driver_owner(env, "train") == images.toolkit_owner(env, "train") == "operator"
    assert images.plugin_pools(env) == images.exporter_pools(env) == ()
    assert images.managed_pools(env) == agents.gpu_pools(env)


def test_an_unknown_image_is_told_with_the_nearest():
    path, problem = only(errors(image("dgxos")))
    assert (path, problem.fix) == ("pools.train.image", "dgx-os")
    assert "al2023-nvidia" in (problem.allowed or "")


@pytest.mark.parametrize(
    ("name", "mode", "fix"),
    [
        ("ubuntu", "plugins", "devices: {install: operator}, or image: prepared, where you installed it yourself"),
        ("al2023", "plugins", "image: al2023-nvidia"),
        ("al2023", "operator", "image: al2023-nvidia"),
        ("bottlerocket", "operator", "image: bottlerocket-nvidia"),
    ],
)
def test_gpus_that_nobody_gives_a_driver(name: str, mode: str, fix: str):
    path, problem = only(errors(put("devices", {"install": mode}), image(name)))
    assert (path, problem.value, problem.fix) == ("pools.train.image", name, fix)
    assert "dgx-os" in (problem.allowed or "")


def test_nodes_without_gpus_need_no_driver():
    environment(image("al2023", "system"))


def test_dgx_os_is_for_dgx_servers():
    path, problem = only(errors(image("dgx-os", "serve")))
    assert path == "pools.serve.image"
    assert "dgx-h100" in (problem.allowed or "")


def test_a_device_plugin_of_the_image_is_the_only_one():
    env = environment(image("bottlerocket-nvidia", "serve"))
    assert images.plugin_owner(env, "serve") == "image"
    assert images.plugin_pools(env) == images.managed_pools(env) == ("train",)
    assert images.exporter_pools(env) == ("train", "serve"), "no image brings an exporter"


def test_the_operator_stays_off_nodes_whose_image_runs_the_plugin():
    env = environment(OPERATOR, image("bottlerocket-nvidia", "serve"))
    assert images.operator_pools(env) == images.managed_pools(env) == ("train",)
    assert images.exporter_pools(env) == ("serve",)
    env = environment(OPERATOR, image("bottlerocket-nvidia"), image("bottlerocket-nvidia", "serve"))
    assert images.operator_pools(env) == ()
    assert images.node_labels(env, "serve") == {}


def test_auto_mode_shares_no_gpus():
    path, problem = only(errors(image("eks-auto", "serve")))
    assert (path, problem.value, problem.fix) == ("pools.serve.sharing", "timeSlicing", "sharing: none")
    assert problem.allowed == "none"


def test_only_auto_mode_brings_the_plugin_of_efa():
    bringing = [name for name, it in catalog.images().items() if "efa-plugin" in it.brings]
    assert bringing == ["eks-auto"]
    assert images.brings(environment(image("eks-auto")), "train", "efa-plugin")


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ([], {}),
        ([OPERATOR], {}),
        # Nobody needs the operator's driver: it is off, and no label is needed to keep it away.
        ([OPERATOR, image("dgx-os"), image("prepared", "serve")], {}),
        (
            [OPERATOR, image("dgx-os"), image("ubuntu", "serve")],
            {"nvidia.com/gpu.deploy.container-toolkit": "false", "nvidia.com/gpu.deploy.driver": "false"},
        ),
        (
            [OPERATOR, image("bottlerocket-nvidia"), image("prepared", "serve")],
            {"nvidia.com/gpu.deploy.operands": "false"},
        ),
    ],
)
def test_labels_keep_the_operator_from_what_the_image_brings(changes: list[Change], labels: dict[str, str]):
    env = environment(*changes)
    assert images.node_labels(env, "train") == labels
    assert images.node_labels(env, "system") == {}


@pytest.mark.parametrize("name", [name for name, it in catalog.images().items() if it.ec2])
@pytest.mark.parametrize("mode", ["plugins", "operator"])
def test_images_of_ec2_run_on_no_dgx(name: str, mode: str):
    changes = [put("devices", {"install": mode}), put("pools.train.image", name)]
    path, problem = only(errors(*changes))
    assert (path, problem.value) == ("pools.train.image", name)
    assert "runs on Amazon EC2 only" in problem.message
    assert "dgx-os" in (problem.allowed or "")
    if "driver" in catalog.images()[name].brings:
        environment(*changes, put("pools.train.server", "hgx-h100"))


def test_no_fix_leads_to_an_image_that_does_not_run_there():
    path, problem = only(errors(put("pools.train.image", "bottlerocket")))
    assert (path, problem.fix) == ("pools.train.image", "image: prepared, where you installed it yourself")
    assert problem.allowed == "dgx-os, prepared"
