"""The catalogue: every fact is typed, plausible and has a source."""

import re
from decimal import Decimal

import pytest

from catalog import reader
from model import names
from model.quantities import Quantity

EVERYTHING = {
    **reader.gpus(),
    **reader.servers(),
    **reader.images(),
    **reader.releases(),
    **reader.nics(),
    **reader.fabrics(),
    **reader.addons(),
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_every_fact_has_a_source(name: str):
    assert re.search(r"https://[^\s)]+", EVERYTHING[name].source)
    assert EVERYTHING[name].name == name
    assert names.DNS_LABEL.fault(name) is None


@pytest.mark.parametrize("gpu", reader.gpus().values(), ids=lambda gpu: gpu.name)
def test_gpus_are_named_as_feature_discovery_labels_them(gpu: reader.Gpu):
    assert names.LABEL_VALUE.fault(gpu.product) is None
    assert re.match(r"NVIDIA-|Tesla-", gpu.product)
    assert re.fullmatch(r"[0-9]+Mi", gpu.memory)
    assert (7, 0) <= gpu.compute <= (12, 1)
    if said := re.search(r"([0-9]+)gb$", gpu.name):
        ratio = Quantity.parse(gpu.memory).value / (int(said[1]) * 1024**3)
        assert Decimal("0.98") < ratio < Decimal("1.03"), "makers' gigabytes are near 2^30 bytes"


@pytest.mark.parametrize("gpu", [gpu for gpu in reader.gpus().values() if gpu.mig], ids=lambda gpu: gpu.name)
def test_mig_profiles_say_in_their_names_what_they_take(gpu: reader.Gpu):
    whole = max(profile.memory for profile in gpu.mig.values())
    for profile in gpu.mig.values():
        said = re.fullmatch(r"([1-7])g\.([0-9]+)gb(\+me)?", profile.name)
        assert said is not None
        assert profile.compute == int(said[1])
        assert profile.media == bool(said[3])
        part = Quantity.parse(gpu.memory).value / 1024**3 * profile.memory / whole
        assert abs(int(said[2]) - part) <= max(Decimal(3), part / 20), "gigabytes in names are rounded up"
        assert all(start + profile.memory <= whole for start in profile.starts)


@pytest.mark.parametrize("server", reader.servers().values(), ids=lambda server: server.name)
def test_servers_have_gpus_of_the_catalogue(server: reader.Server):
    assert server.gpu in reader.gpus()
    assert server.gpus > 0
    assert server.board == server.name.startswith("hgx-")
    assert server.cpu % 2 == 0
    assert Quantity.parse(server.memory) >= Quantity.parse("512Gi")


@pytest.mark.parametrize("server", reader.servers().values(), ids=lambda server: server.name)
def test_nics_belong_to_servers_and_not_to_boards(server: reader.Server):
    assert (server.nics is None) == server.board
    for nics in (server.nics, server.others):
        assert nics is None or (nics.model in reader.nics() and nics.count > 0)


@pytest.mark.parametrize("nic", reader.nics().values(), ids=lambda nic: nic.name)
def test_nics_are_known_by_pci_ids(nic: reader.Nic):
    for number in (nic.vendor, *nic.devices, *([nic.virtual] if nic.virtual else [])):
        assert re.fullmatch(r"[0-9a-f]{4}", number)
    assert set(nic.links) <= {fabric.link for fabric in reader.fabrics().values()}


@pytest.mark.parametrize("release", reader.releases().values(), ids=lambda release: release.name)
def test_releases_are_exact(release: reader.Release):
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9]+\.[0-9]+\.[0-9]+)?", release.version)
    assert re.match(r"(https|oci)://", release.repository) if release.chart else not release.repository
    assert release.chart or release.images
    for image in release.images.values():
        assert "latest" not in image


@pytest.mark.parametrize("release", reader.releases().values(), ids=lambda release: release.name)
def test_an_oldest_release_is_exact_and_says_why(release: reader.Release):
    if release.oldest is None:
        assert not release.needs
        return
    oldest, version = ([int(part) for part in text.split(".")] for text in (release.oldest, release.version))
    assert len(oldest) == 3
    assert oldest <= version
    assert re.search(r"https://[^\s)]+", release.needs)


def test_what_is_made_for_one_minor_of_kubernetes_has_its_version():
    minors = {minor for addon in reader.addons().values() for minor in addon.versions}
    for release in reader.releases().values():
        for minor, version in release.by_kubernetes.items():
            assert version.startswith(f"{minor}.")
            assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version)
        assert not release.by_kubernetes or set(release.by_kubernetes) == minors
        assert not release.by_kubernetes or release.version in release.by_kubernetes.values()


@pytest.mark.parametrize("addon", reader.addons().values(), ids=lambda addon: addon.name)
def test_add_ons_of_eks_are_exact_for_each_minor(addon: reader.Addon):
    assert set(addon.versions) == {"1.33", "1.34", "1.35", "1.36"}
    for minor, version in addon.versions.items():
        assert re.fullmatch(r"v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+", version)
        if addon.name == "kube-proxy":
            assert version.startswith(f"v{minor}."), "it must not be newer than the API server"


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        reader.servers()["x"] = None  # pyright: ignore[reportIndexIssue]
    with pytest.raises(AttributeError):
        reader.gpus()["h100-sxm-80gb"].memory = "1"  # pyright: ignore[reportAttributeAccessIssue]


def test_each_file_is_read_once():
    assert reader.gpus() is reader.gpus()
