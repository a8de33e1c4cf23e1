"""Networks by their addresses."""

from ipaddress import ip_network

_LARGEST = {4: 8, 6: 16}
"""Bits of the prefix of the largest networks that one body was ever given
(https://www.iana.org/assignments/ipv4-address-space, https://www.iana.org/assignments/ipv6-unicast-address-assignments)."""


def wide(text: str) -> bool:
    """Whether a network is the whole internet, or such a part of it as nobody has: two halves are the whole.

    Args:
        text: Such as `192.0.2.0/24`; a single address is a network of its own.

    Raises:
        ValueError: It is no network.
    """
    network = ip_network(text, strict=False)
    return network.prefixlen < _LARGEST[network.version] and not network.is_private
