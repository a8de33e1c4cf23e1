"""Networks by their addresses."""

import pytest

from model import networks


@pytest.mark.parametrize("text", ["0.0.0.0/0", "0.0.0.0/00", "0.0.0.0/1", "128.0.0.0/1", "::/0", "2000::/3"])
def test_the_whole_internet_and_its_halves_are_wide(text: str) -> None:
    assert networks.wide(text)


@pytest.mark.parametrize("text", ["192.0.2.0/24", "192.0.2.7", "17.0.0.0/8", "10.0.0.0/8", "fc00::/7", "2001:db8::/32"])
def test_what_somebody_has_is_not_wide(text: str) -> None:
    assert not networks.wide(text)


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="everywhere"):
        networks.wide("everywhere")
