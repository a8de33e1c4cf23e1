"""Network interfaces of EFA nodes, by instance type and card.

The rule is AWS's own of 2026 (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html): the
primary interface, on card 0, is a plain one; each card that carries EFA takes one `efa-only` interface, which has no
address: card 0 as its second, every other card as its first. It follows from the cards, not from their number: card 0
of p6-b300 carries no EFA.
"""

from dataclasses import dataclass
from typing import Literal

from catalog.reader import Instance


@dataclass(frozen=True)
class Interface:
    """A network interface of a node.

    Attributes:
        card: Number of the network card.
        device: Its number on that card.
        kind: `interface` (plain, with addresses) or `efa-only` (EFA, without).
    """

    card: int
    device: int
    kind: Literal["interface", "efa-only"]


def layout(instance: Instance) -> tuple[Interface, ...]:
    """The interfaces of an instance with all of its EFA devices.

    Raises:
        ValueError: It carries no EFA, or a card has no room for its interface.
    """
    if not instance.efa:
        raise ValueError(f"{instance.name} carries no EFA")
    found = [Interface(0, 0, "interface")]
    for number, card in enumerate(instance.cards):
        device = 1 if number == 0 else 0
        if card.efa:
            if device >= card.interfaces:
                raise ValueError(f"{instance.name}: card {number} takes {card.interfaces} interfaces only")
            found.append(Interface(number, device, "efa-only"))
    return tuple(found)
