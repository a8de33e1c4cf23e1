"""How NCCL reads the values of its variables: numbers, words, distances, choices and lists of prefixes.

Sources, in https://github.com/NVIDIA/nccl: src/misc/param.cc (ncclLoadParam), src/graph/paths.cc (ncclGetLevel),
src/graph/tuning.cc (parseList), src/misc/utils.cc (parseStringList, matchIfList).
"""

import re
from collections.abc import Iterable

from catalog.reader import Levels

from .problems import Path, Problem, nearest

_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)")
_LEADING = re.compile(r"\s*([+-]?[0-9]+)")
FARTHEST = "SYS"
ACROSS = "also across the sockets of the CPU, which is often slower than through memory"
"""What the farthest distance means."""


def is_number(value: str) -> bool:
    """Whether NCCL reads all of a value as a number."""
    return _NUMBER.fullmatch(value) is not None and not re.fullmatch(r"[+-]?0[0-9]+", value)


def number(at: Path, value: str, bounds: tuple[int, int] | None, automatic: int | None = None) -> Problem | None:
    """What is wrong with a number; `automatic` is a default out of bounds that leaves the choice to NCCL."""
    low, high = bounds if bounds else (None, None)
    allowed = f"{low} to {high}" if bounds else "a whole number"
    if bounds == (0, 1):
        allowed = "0, 1"
    if automatic is not None:
        allowed += f"; {automatic}, for NCCL's own choice"
    if value == "":
        return Problem(at, value, "is empty, which NCCL takes for not set", allowed, "leave it out")
    if not is_number(value):
        leading = _LEADING.match(value)
        read = leading[1] if leading and not re.fullmatch(r"[+-]?0[0-9]+", value) else "0" if not leading else None
        if read is None:
            message = f"begins with 0, so NCCL reads it as octal: {_octal(value)}"
            return Problem(at, value, message, allowed, value.lstrip("+").lstrip("0") or "0")
        meant = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}.get(value.strip().lower())
        fix = meant or (read if leading else None)
        return Problem(at, value, f"is no number: NCCL reads it as {read}", allowed, fix)
    amount = int(value, 0)
    if low is None or high is None or amount == automatic or low <= amount <= high:
        return None
    return Problem(at, value, "is out of range: a field of the hardware or NCCL itself cuts it", allowed)


def _octal(value: str) -> int:
    digits = re.match(r"[0-7]*", value.lstrip("+-"))
    return int(digits[0] or "0", 8) if digits else 0


def word(at: Path, value: str, words: tuple[str, ...]) -> Problem | None:
    """What is wrong with a word out of some, whatever its case."""
    if value.upper() in words:
        return None
    return Problem(at, value, "NCCL knows no such word and ignores it", ", ".join(words), nearest(value, words))


def level(at: Path, value: str, levels: Levels) -> Problem | None:
    """What is wrong with a distance: words are upper-case, numbers are of an older scale."""
    if value in levels.words:
        return None
    allowed = ", ".join(levels.words)
    if value == "":
        return Problem(at, value, "is empty, which NCCL takes for not set", allowed, "leave it out")
    if value[:1].isdecimal():
        digits = re.match(r"[0-9]+", value)
        old = min(int(digits[0]) if digits else 0, len(levels.numbers) - 1)
        meant = levels.numbers[old]
        message = f"is of an older scale, where it means {meant}"
        if meant == FARTHEST:
            return Problem(at, value, f"{message}: {ACROSS}", allowed, "leave it out", severity="warning")
        return Problem(at, value, message, allowed, meant, severity="warning")
    message = "NCCL knows no such distance and ignores it"
    return Problem(at, value, message, allowed, nearest(value, levels.words))


def choice(at: Path, value: str, elements: tuple[str, ...], collectives: tuple[str, ...]) -> Problem | None:
    """What is wrong with a choice of algorithms or protocols: `[^]a,b` or `collective:a,b;collective:...`."""
    known, functions = {element.lower() for element in elements}, {name.lower() for name in collectives}
    for position, part in enumerate(value.split(";")):
        prefix, colon, listed = part.rpartition(":")
        if colon and prefix.lower() not in functions:
            message = f"{prefix} is no collective: NCCL refuses to start"
            return Problem(at, value, message, ", ".join(collectives), nearest(prefix, collectives))
        if not colon and position > 0:
            return Problem(
                at, value, f"{part} is for no collective: NCCL refuses to start", "allreduce:tree;reduce:ring"
            )
        for element in listed.removeprefix("^").split(","):
            if element.lower() not in known:
                message = f"{element or 'an empty name'} is unknown: NCCL refuses to start"
                return Problem(at, value, message, ", ".join(elements), nearest(element, elements))
    return None


def forced(name: str, value: str) -> str | None:
    """What a choice takes away; None where it only leaves some out."""
    if all(part.rpartition(":")[2].startswith("^") for part in value.split(";")):
        return None
    if name == "NCCL_PROTO":
        danger = "; where the path between GPUs does not keep 128 bytes together, LL128 gives wrong results"
        return f"NCCL chooses by size and topology, and now cannot{danger if 'll128' in value.lower() else ''}"
    return "NCCL chooses by size and topology, with NVLink and switch offload where there are, and now cannot"


def prefixes(at: Path, name: str, value: str) -> Problem | None:
    """What is wrong with a list of prefixes: `[^][=]name[:port],name...`."""
    devices = "HCAs" if name == "NCCL_IB_HCA" else "interfaces"
    allowed = "=mlx5_0,mlx5_1" if name == "NCCL_IB_HCA" else "=eth0"
    if value in ("", "="):
        return Problem(at, value, f"names none: NCCL takes all {devices}", f"such as {allowed}", "leave it out")
    if value in ("^", "^="):
        return Problem(at, value, f"leaves out what begins with nothing: all {devices}", f"such as {allowed}")
    if value.startswith("=^"):
        message = "^ comes first: this looks for a name that begins with ^, and there is none"
        return Problem(at, value, message, f"such as ^{allowed}", f"^={value[2:]}")
    items = value.removeprefix("^").removeprefix("=").split(",")
    mark = value[: len(value) - len(",".join(items))]
    plain = [part for item in items for part in re.split(r"[;\s]+", item.lstrip("^= ")) if part]
    families = ("mlx4", "mlx5") if name == "NCCL_IB_HCA" else ()

    def loose(names: list[str]) -> list[str]:
        return [] if "=" in mark else [it for it in names if it not in families and _grows(it)]

    # A mended list must not be the next mistake.
    fix = f"{mark}{'=' if loose(plain) else ''}{','.join(plain)}" if plain else None
    for item in items:
        if item == "":
            return Problem(at, value, "has an empty name, which NCCL skips", f"such as {allowed}", fix)
        if item[0] in "^=":
            message = f"{item[0]} counts at the very beginning only: here it is part of a name, {item}"
            return Problem(at, value, message, f"such as {allowed}", fix)
        if re.search(r"[;\s]", item):
            message = f"names are separated by commas alone: NCCL looks for one called {item!r}"
            return Problem(at, value, message, f"such as {allowed}", fix)
    first = next(iter(loose(items)), None)
    if first is None:
        return None
    others = f"{first.partition(':')[0]}0 to {first.partition(':')[0]}9"
    message = f"names are prefixes: {first} also means {others}, where there are such"
    return Problem(at, value, message, f"such as {mark}={','.join(items)}", f'"{mark}={",".join(items)}"', "warning")


def _grows(item: str) -> bool:
    """Whether another device's name may begin with this one: mlx5_10 with mlx5_1, but none with mlx5_0."""
    name = item.partition(":")[0]
    digits = re.search(r"[0-9]+$", name)
    return digits is not None and not re.fullmatch(r"0+", digits[0])


def chosen(value: str, names: Iterable[str]) -> list[str]:
    """Which of some names a list of prefixes means."""
    leave = value.startswith("^")
    listed = value.removeprefix("^")
    exact = listed.startswith("=")
    items = [item.partition(":")[0] for item in listed.removeprefix("=").split(",") if item]

    def meant(name: str) -> bool:
        return any(name == item if exact else name.startswith(item) for item in items)

    return [name for name in names if meant(name) != leave]


def definite_names(value: str) -> int:
    """How many devices a list names; 0 where it leaves some out, or may mean more by a prefix."""
    items = set(value.removeprefix("=").split(","))
    definite = value.startswith("=") or all(re.search(r"_0+(:|$)", item) for item in items)
    return len(items) if definite and not value.startswith("^") else 0


def leaves_out_all(value: str, family: str) -> bool:
    """Whether a list leaves out every device of a family, such as `mlx5_`."""
    return value.startswith("^") and not value.startswith("^=") and any(map(family.startswith, value[1:].split(",")))
