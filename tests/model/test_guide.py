"""What the guides to the document show is what a person gets."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from model import document
from model.problems import render

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def _blocks(guide: str) -> list[tuple[str, str]]:
    """The parts of documents that a guide shows, each with the answer that stands under it."""
    text = (GUIDES / guide).read_text("utf-8")
    return re.findall(r"```yaml\n(.*?)```\n(?:\n```\n(.*?)\n```)?", text, re.DOTALL)


BLOCKS, SHARING, FABRIC = _blocks("document.md"), _blocks("sharing.md"), _blocks("fabric.md")
STORAGE, WORKLOADS = _blocks("storage.md"), _blocks("workloads.md")
REST: dict[str, Any] = {
    "cluster": {"name": "guide", "provider": "existing", "kubernetes": "1.35", "context": "guide"},
    "pools": {"train": {"server": "dgx-h100", "size": 1}},
}


@pytest.mark.parametrize(("part", "answer"), BLOCKS + SHARING + FABRIC + STORAGE + WORKLOADS)
def test_each_part_is_answered_as_the_guide_says(part: str, answer: str):
    verdict = document.judge({**REST, **yaml.safe_load(part)})
    assert render(verdict.problems) == answer


def test_shared_gpus_are_as_many_as_the_guide_says():
    from model import nodes

    shared = next(yaml.safe_load(part) for part, _ in BLOCKS if "timeSlicing" in part)
    env = document.load({**REST, **shared})
    assert dict(nodes.gpu_resources(env.pools["serve"])) == {"nvidia.com/gpu.shared": 32}


@pytest.mark.parametrize(
    ("pool", "offered"),
    [
        ("notebooks", {"nvidia.com/gpu.shared": 32}),
        ("serve", {"nvidia.com/gpu.shared": 64}),
        ("small", {"nvidia.com/mig-1g.10gb": 16, "nvidia.com/mig-2g.20gb": 8, "nvidia.com/mig-3g.40gb": 8}),
        ("lab", {"nvidia.com/mig-1g.10gb.shared": 112}),
    ],
)
def test_nodes_offer_what_the_guide_to_sharing_says(pool: str, offered: dict[str, int]):
    from model import nodes

    parts = [yaml.safe_load(part) for part, answer in SHARING if not answer]
    env = document.load({**REST, **next(part for part in parts if pool in part["pools"])})
    assert dict(nodes.gpu_resources(env.pools[pool])) == offered


def test_a_rack_holds_what_the_guide_says():
    ray = next(yaml.safe_load(part) for part, _ in BLOCKS if "ray:" in part)
    ray["ray"]["clusters"]["tuning"]["workers"]["count"] = 17
    assert "a rack of pool train holds 16" in render(document.judge({**REST, **ray}).problems)


_FABRICS: dict[str, Any] = {
    "`tcp`": "tcp",
    "`infiniband`": "infiniband",
    "`infiniband`, `mode: sriov`": {"kind": "infiniband", "mode": "sriov"},
    "`roce`": {"kind": "roce", "networks": ["rails/rail-0"]},
    "`roce`, `mode: host`": {"kind": "roce", "mode": "host", "socketInterface": "bond0"},
    "`efa`": "efa",
}


def test_what_follows_from_a_fabric_is_as_its_guide_says():
    from model import fabric, pod_patch, rdma
    from model.quantities import Quantity

    rows = re.findall(
        r"^\| (`.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", (GUIDES / "fabric.md").read_text("utf-8"), re.M
    )
    shown = {row[0]: row[1:] for row in rows[1:]}
    assert set(shown) == set(_FABRICS)
    for called, choice in _FABRICS.items():
        nics = {"model": "efa", "count": 32} if choice == "efa" else {"model": "connectx-7", "count": 8}
        shape = {"cpu": 192, "memory": "2Ti", "gpu": {"model": "h100-sxm-80gb", "count": 8}, "nics": nics}
        env = document.load({**REST, "pools": {"train": {"shape": shape, "size": 1, "fabric": choice}}})
        pool = env.pools["train"]
        patch = pod_patch.patch(env, "train", gpus=8, memory=Quantity.parse("1Ti"))
        offered = [f"{count} × `{name}`" for name, count in fabric.resources(pool).items()]
        pages = f", and {patch.resources['hugepages-2Mi']} in huge pages" if "hugepages-2Mi" in patch.resources else ""
        asked = [f"{amount}{pages}" for name, amount in patch.resources.items() if name != "hugepages-2Mi"]
        variables = [f"`{name}={value}`" for name, value in sorted(patch.environment.items())]
        plugin = rdma.plugin(pool)
        assert shown[called] == (
            ", ".join(offered) or "nothing",
            ", ".join(asked) or "nothing",
            ", ".join(variables) or "none",
            f"`{plugin}`" if plugin else "none",
        )


def test_the_interfaces_in_the_guide_to_fabrics_are_as_many_as_the_server_has():
    from catalog import reader as catalog

    named = next(yaml.safe_load(part) for part, _ in FABRIC if "ibp24s0" in part)
    ports = catalog.servers()["dgx-h100"].nics
    assert ports
    assert len(named["pools"]["train"]["fabric"]["interfaces"]) == ports.count
