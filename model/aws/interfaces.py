"""Network interfaces of EFA nodes, by instance type and card.

The rule is AWS's own of 2026 (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html): the
primary interface, on card 0, is a plain one; each card that carries EFA takes one `efa-only` interface, which has no
address: card 0 as its second, every other card as its first. It follows from the cards, not from their number: card 0
of p6-b300 carries no EFA.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from catalog.reader import Instance


@dataclass(frozen=True)
class Interface:
    """A network interface of a node.

    Attributes:
        card: Number of the network card.
        device: Its number on that card.
        kind: `interface` (plain, with addresses), `efa-only` (EFA, without) or `efa` (both).
    """

    card: int
    device: int
    kind: Literal["interface", "efa-only", "efa"]

    @property
    def efa(self) -> bool:
        """Whether it carries EFA."""
        return self.kind != "interface"


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


def faults(instance: Instance, found: Sequence[Interface]) -> Iterator[tuple[int | None, str]]:
    """What keeps interfaces that somebody wrote from all EFA devices of an instance, or EC2 from making them.

    Args:
        instance: The instance type.
        found: Its interfaces.

    Returns:
        Number of the interface, None for all of them, and what is wrong.
    """
    seen = set[tuple[int, int]]()
    for number, each in enumerate(found):
        at = (each.card, each.device)
        if each.card >= len(instance.cards):
            yield number, f"{instance.name} has {len(instance.cards)} network cards"
        elif each.device >= (most := instance.cards[each.card].interfaces):
            yield number, f"card {each.card} of {instance.name} takes {most} interfaces"
        elif each.efa and not instance.cards[each.card].efa:
            yield number, f"card {each.card} of {instance.name} carries no EFA"
        elif at in seen:
            yield number, f"card {each.card} has a device {each.device} already"
        elif at == (0, 0) and each.kind == "efa-only":
            yield number, "the primary interface needs an address"
        seen.add(at)
    if found and (0, 0) not in seen:
        yield None, "card 0 has no device 0, which is the primary interface"
    used = sum(each.efa for each in found)
    if 0 < used < instance.efa:
        yield None, f"{used} of the {instance.efa} EFA devices of {instance.name} are used"
