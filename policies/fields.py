"""Properties of resources as rules read them: missing, unknown, secret and misshapen values each have one meaning.

The engine hands properties over as JSON in which some values are marked: a well-known text stands for a value that
is not known before an update, a map with a signature wraps a secret or an asset. The marks are those of the engine's
wire (pulumi, sdk/go/common/resource/plugin/rpc.go and resource/properties.go).
"""

from dataclasses import dataclass
from typing import Any, Self

from model.quantities import Quantity, QuantityError

UNKNOWNS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # text
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # map
    }
)
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a mark, not a secret
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"

UNKNOWN = object()
"""The value of a field that will be known only when the resources it depends on exist."""


class UnreadableError(Exception):
    """A field that a rule needs cannot be read, so that the rule cannot judge.

    Attributes:
        field: The field.
        reason: What is wrong with it, to be read after the field's path.
    """

    def __init__(self, field: "Field", reason: str) -> None:
        super().__init__(f"{field.path} {reason}")
        self.field = field
        self.reason = reason


Place = str | tuple["Place", str | int]
"""Where a value is: a path, or a key or an index in another place. Paths are written when somebody reads one."""


@dataclass(frozen=True, slots=True)
class Field:
    """A value somewhere in the properties of a resource.

    Reading methods return None for what is missing (JSON null counts as missing, as in Kubernetes) and raise
    UnreadableError for what is unknown or of another shape than asked for. Written into a message a field gives its
    value, unless that is a secret.

    Attributes:
        value: The plain value: JSON, None or UNKNOWN.
        place: Where it is.
        secret: Whether the value is or belongs to a secret.
    """

    value: Any
    place: Place = ""
    secret: bool = False

    @property
    def path(self) -> str:
        """Where it is, such as `spec.containers[0].image`."""
        return _written(self.place)

    @classmethod
    def of(cls, raw: Any, place: Place = "", secret: bool = False) -> Self:
        """Read a value from the wire; a secret or an output is opened, however often it is wrapped."""
        while isinstance(raw, dict) and raw.get(SIGNATURE) in (SECRET, OUTPUT):
            # An output says of itself whether it is secret, and has no value while that is unknown.
            secret = secret or raw[SIGNATURE] == SECRET or raw.get("secret") is True
            raw = raw.get("value", UNKNOWN)
        if isinstance(raw, str) and raw in UNKNOWNS:
            raw = UNKNOWN
        return cls(raw, place, secret)

    def __getitem__(self, key: str) -> Self:
        """Give a member of a map; a field without value when the map or the member is missing.

        A member of what is unknown is that unknown itself, so that a report names what has to become known.
        """
        if self.value is UNKNOWN:
            return self
        members = self._shaped(dict, "a map")
        return self.of(None if members is None else members.get(key), (self.place, key), self.secret)

    def at(self, *keys: str) -> Self:
        """Give a member of a member."""
        field = self
        for key in keys:
            field = field[key]
        return field

    def members(self) -> dict[str, Self]:
        """Give the members of a map by name, sorted; none when it is missing. The wire keeps no order of its own."""
        members = self._shaped(dict, "a map") or {}
        return {key: self.of(members[key], (self.place, key), self.secret) for key in sorted(members)}

    def items(self) -> list[Self]:
        """Give the items of a list; none when it is missing."""
        items = self._shaped(list, "a list") or ()
        return [self.of(value, (self.place, index), self.secret) for index, value in enumerate(items)]

    def text(self) -> str | None:
        """Read a text."""
        return self._shaped(str, "text")

    def boolean(self) -> bool | None:
        """Read true or false."""
        return self._shaped(bool, "true or false")

    def quantity(self) -> Quantity | None:
        """Read a Kubernetes quantity: text or a number.

        Raises:
            UnreadableError: It is unknown or no quantity.
        """
        value = self._known()
        if value is None:
            return None
        try:
            # Kubernetes reads a JSON number as a quantity too, and here it is the wire that made a double of it.
            exact = _exact(value)
            return Quantity.parse(str(exact) if isinstance(exact, float) else exact)
        except QuantityError as error:
            raise UnreadableError(
                self, "is a secret that is no quantity" if self.secret else f"holds {error}"
            ) from None

    def whole(self) -> int | None:
        """Read a whole number: a number, or text as in a quantity.

        Raises:
            UnreadableError: It is unknown, or no whole number.
        """
        amount = self.quantity()
        if amount is not None and amount.value % 1:
            raise UnreadableError(self, f"holds {self} where a whole number belongs")
        return None if amount is None else int(amount.value)

    def plain(self) -> Any:
        """Read the whole value with everything in it, whole numbers as int.

        Raises:
            UnreadableError: Something in it is unknown; the field of that is named.
        """
        value = self._known()
        if isinstance(value, dict):
            return {key: field.plain() for key, field in self.members().items()}
        if isinstance(value, list):
            return [field.plain() for field in self.items()]
        return _exact(value)

    def __str__(self) -> str:
        if self.value is UNKNOWN:
            return "[unknown]"
        return "[secret]" if self.secret else str(_exact(self.value))

    def _known(self) -> Any:
        if self.value is UNKNOWN:
            raise UnreadableError(self, "is not known yet")
        return self.value

    def _shaped(self, shape: Any, name: str) -> Any:
        value = self._known()
        signed = isinstance(value, dict) and SIGNATURE in value
        if value is None:
            return None
        if not isinstance(value, shape) or signed:
            raise UnreadableError(self, f"is {_shape(value)} where {name} belongs")
        return value


def absent(path: str) -> Field:
    """Give the field of a value that is not there."""
    return Field(None, path)


def _exact(value: Any) -> Any:
    """Undo the wire, on which every number is a double."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _written(place: Place) -> str:
    steps: list[str | int] = []
    while not isinstance(place, str):
        place, step = place
        steps.append(step)
    for step in reversed(steps):
        place = f"{place}[{step}]" if isinstance(step, int) else _member(place, step)
    return place


def _member(path: str, key: str) -> str:
    if not key.replace("_", "").replace("-", "").isalnum():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def _shape(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, dict):
        return "an asset" if SIGNATURE in value else "a map"
    if isinstance(value, str):
        return "text"
    return "a number" if isinstance(value, (int, float)) else "a list"
