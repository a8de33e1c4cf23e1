"""Layouts of MIG instances: what fits on one GPU, and how it is called."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import reader as catalog
from model import mig, names

CUTTABLE = [name for name, gpu in catalog.gpus().items() if gpu.mig]

# The most instances of each profile, from the smallest profile up, as `nvidia-smi mig -lgip` shows them
# (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html).
INSTANCES = {"seven": [7, 1, 4, 3, 2, 1, 1], "four": [4, 1, 2, 1, 1]}

# `all-balanced` of the GPU operator (https://github.com/NVIDIA/gpu-operator,
# assets/state-mig-manager/0400_configmap.yaml).
BALANCED = {
    "a30": {"1g.6gb": 2, "2g.12gb": 1},
    "a100-sxm-40gb": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1},
    "a100-pcie-40gb": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1},
    "a100-sxm-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "a100-pcie-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "h100-pcie-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "h100-sxm-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "h100-nvl-94gb": {"1g.12gb": 2, "2g.24gb": 1, "3g.47gb": 1},
    "gh200-96gb": {"1g.12gb": 2, "2g.24gb": 1, "3g.48gb": 1},
    "h200-sxm-141gb": {"1g.18gb": 2, "2g.35gb": 1, "3g.71gb": 1},
    "b200-sxm-180gb": {"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1},
    "gb200-186gb": {"1g.23gb": 2, "2g.47gb": 1, "3g.93gb": 1},
}

H100 = catalog.gpus()["h100-sxm-80gb"].mig


@pytest.mark.parametrize("name", CUTTABLE)
def test_as_many_instances_fit_as_the_driver_offers(name: str):
    profiles = catalog.gpus()[name].mig
    expected = INSTANCES["four" if name == "a30" else "seven"]
    assert [mig.most(profiles, {}, profile) for profile in profiles] == expected


@pytest.mark.parametrize("name", CUTTABLE)
def test_the_balanced_layout_of_the_gpu_operator_fits_and_is_full(name: str):
    profiles, layout = catalog.gpus()[name].mig, BALANCED[name]
    assert mig.fits(profiles, layout)
    assert sum(profiles[profile].compute * count for profile, count in layout.items()) in (4, 7)


@pytest.mark.parametrize(
    "layout",
    [
        # Rows of the table of combinations in the MIG user guide.
        {"4g.40gb": 1, "3g.40gb": 1},
        {"4g.40gb": 1, "2g.20gb": 1, "1g.10gb": 1},
        {"4g.40gb": 1, "1g.10gb": 3},
        {"3g.40gb": 2},
        {"3g.40gb": 1, "2g.20gb": 2},
        {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2},
        {"3g.40gb": 1, "1g.10gb": 4},
        {"2g.20gb": 3, "1g.10gb": 1},
        {"2g.20gb": 1, "1g.10gb": 5},
        {"1g.20gb": 4},
        {"2g.20gb": 3, "1g.20gb": 1},
        {"1g.10gb": 6, "1g.10gb+me": 1},
        {"7g.80gb": 1},
        {},
    ],
)
def test_layouts_that_the_hardware_has(layout: dict[str, int]):
    assert mig.fits(H100, layout)


@pytest.mark.parametrize(
    "layout",
    [
        {"1g.10gb": 8},
        {"2g.20gb": 4},  # eight memory slices, but the last pair is no place for 2g
        {"4g.40gb": 2},
        {"4g.40gb": 1, "2g.20gb": 2},  # the same with the first half taken
        {"3g.40gb": 2, "1g.10gb": 1},  # 3g takes half of the memory
        {"7g.80gb": 1, "1g.10gb": 1},
        {"1g.10gb+me": 2},
        {"1g.20gb": 4, "1g.10gb": 1},
        {"3g.40gb": 1, "1g.10gb": 5},
    ],
)
def test_layouts_that_the_hardware_does_not_have(layout: dict[str, int]):
    assert not mig.fits(H100, layout)


@settings(deadline=None)
@given(st.sampled_from(CUTTABLE), st.data())
def test_what_fits_takes_no_more_than_there_is_and_still_fits_with_less(name: str, data: st.DataObject):
    profiles = catalog.gpus()[name].mig
    drawn = Counter(data.draw(st.lists(st.sampled_from(sorted(profiles)), min_size=1, max_size=7)))
    whole = max(profiles.values(), key=lambda profile: profile.compute)
    if not mig.fits(profiles, drawn):
        assert not mig.fits(profiles, {**drawn, next(iter(drawn)): drawn[next(iter(drawn))] + 1})
        return
    for part in ("compute", "memory"):
        assert sum(getattr(profiles[it], part) * count for it, count in drawn.items()) <= getattr(whole, part)
    for profile in drawn:
        assert mig.fits(profiles, {**drawn, profile: drawn[profile] - 1})
        assert mig.most(profiles, drawn, profile) >= drawn[profile]


@settings(deadline=None)
@given(st.sampled_from(CUTTABLE), st.data())
def test_layouts_are_named_so_that_a_label_can_hold_them(name: str, data: st.DataObject):
    profiles = catalog.gpus()[name].mig
    drawn = Counter(data.draw(st.lists(st.sampled_from(sorted(profiles)), min_size=1, max_size=7)))
    if mig.fits(profiles, drawn):
        assert names.LABEL_VALUE.fault(mig.layout_name(drawn)) is None


def test_resources_are_named_as_the_device_plugin_names_them():
    assert mig.resource("1g.10gb") == "nvidia.com/mig-1g.10gb"
    assert mig.resource("1g.10gb+me") == "nvidia.com/mig-1g.10gb.me"
