"""The shape of a row: what the stand-in must know of a resource type beyond the shapes of the API and of the SDK.

In parameters `$name` stands for a property of the resource, `$id` for its id, and `$account` and `$region` for where it
lives; a property is matched with the member of an API shape that has its name, whatever the case.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """One call of the API.

    Attributes:
        operation: Name of the operation as boto3 spells it.
        parameters: Parameters beside those that come from properties.
        service: The service, where it is another one than the row's.
        when: Says for a context (properties, `id`, `account`, `region`) whether to call at all.
        ignore: Error codes after which the aim is reached just as well.
        each: Makes the call once for each thing in the result of this one, which is `$each`.
    """

    operation: str
    parameters: Parameters = field(default_factory=dict)
    service: str = ""
    when: Callable[[Mapping[str, Any]], bool] | None = None
    ignore: frozenset[str] = frozenset()
    each: "Read | None" = None


@dataclass(frozen=True)
class Read(Call):
    """A call that reads.

    Attributes:
        result: JMESPath of what was asked for in the answer.
        into: Name under which to keep the result; empty: its members are taken as they are.
    """

    result: str = "@"
    into: str = ""


@dataclass(frozen=True)
class Update(Call):
    """A call that changes properties of a resource in place, and sets those after creation that creation cannot take.

    Attributes:
        properties: The properties that it changes, all in one call.
        resets: What a property becomes when it is no longer given. Without an entry that is refused.
        whole: Whether the call replaces all that it sets, so that what is not given any more need not be reset.
        parameters_of: Gives the parameters of each call, from the properties before (empty after creation) and now.
    """

    properties: tuple[str, ...] = ()
    resets: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    parameters_of: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Parameters]] | None = None


@dataclass(frozen=True)
class Tags:
    """How a service keeps tags.

    Attributes:
        add: Call that sets tags; `$tags` stands for them in the service's form.
        remove: Call that takes tags away; `$keys` stands for their keys.
        create: Member of the creation's shape that takes tags; empty: they are added afterwards.
        keys: Names of key and value in the service's list of tags; empty: the service has a map.
        specification: Resource type in EC2's form of tags at creation; empty: no such form.
        read: JMESPath of the tags in what was read.
    """

    add: Call
    remove: Call
    create: str = "Tags"
    keys: tuple[str, str] | tuple[()] = ("Key", "Value")
    specification: str = ""
    read: str = "Tags"

    def form(self, tags: Mapping[str, str]) -> Any:
        """Give tags in the service's form."""
        if not self.keys:
            return dict(tags)
        key, value = self.keys
        return [{key: name, value: text} for name, text in sorted(tags.items())]

    def parse(self, found: Any) -> dict[str, str]:
        """Read tags in the service's form. Those that AWS itself sets are nobody's."""
        pairs = (
            dict(found or {}) if not self.keys else {entry[self.keys[0]]: entry[self.keys[1]] for entry in found or ()}
        )
        return {name: text for name, text in pairs.items() if not name.startswith("aws:")}

    def creation(self, tags: Mapping[str, str]) -> dict[str, Any]:
        """Give the parameter of a creation."""
        if not self.create or not tags:
            return {}
        form = self.form(tags)
        return {self.create: [{"ResourceType": self.specification, "Tags": form}] if self.specification else form}


@dataclass(frozen=True)
class Row:
    """A resource type.

    Attributes:
        service: Name of the service as boto3 spells it.
        create: Makes it.
        id: The id: a JMESPath over the answer of `create`, or a template of properties (`{clusterName}:{addonName}`).
        reads: Read it; the first says whether it exists.
        delete: Calls that delete it, in order.
        updates: Change it in place.
        replaced: Properties, or members of object properties, whose change replaces the resource.
        replaced_too: Gives further such properties from the inputs before and now.
        tags: How it is tagged; None if it is not.
        after: Calls directly after creation.
        composed: Properties that the functions among the parameters of `create` make use of.
        inside: Member of the API's shapes that holds properties, before those beside it.
        renames: API names of properties, by dotted property path, where they are not the same.
        encoders: Parameters of the API from a property's value, where names do not do.
        outputs: JMESPath of an output, or a function of what was read and the context, where names do not do.
        echo: Properties of the provider alone: the cloud does not know them, so that they cannot drift.
        defaults: What a property is when it is not given.
        autoname: The property that gets a name made of the logical name when it is not given.
        longest: How long such a name may be.
        alone: Whether there can be only one of its place, so that the old one goes before the new one comes.
        fresh: Outputs that any update may change.
        gone: Error codes that say that it does not exist.
    """

    service: str
    create: Call
    id: str
    reads: tuple[Read, ...]
    delete: tuple[Call, ...] = ()
    updates: tuple[Update, ...] = ()
    replaced: frozenset[str] = frozenset()
    replaced_too: Callable[[Mapping[str, Any], Mapping[str, Any]], frozenset[str]] | None = None
    tags: Tags | None = None
    after: tuple[Call, ...] = ()
    composed: frozenset[str] = frozenset()
    inside: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)
    encoders: Mapping[str, Callable[[Any], Parameters]] = field(default_factory=dict)
    outputs: Mapping[str, str | Callable[[Mapping[str, Any], Mapping[str, Any]], Any]] = field(default_factory=dict)
    echo: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    autoname: str = ""
    longest: int = 63
    alone: bool = False
    fresh: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    @property
    def updated(self) -> frozenset[str]:
        """Names of the properties that can change in place."""
        return frozenset(name for update in self.updates for name in update.properties)

    @property
    def carried(self) -> frozenset[str]:
        """Names of the properties that the stand-in carries. All others are refused."""
        roots = {path.partition(".")[0] for path in self.replaced}
        return frozenset(roots | self.updated | self.echo | ({"tags"} if self.tags else set()))
