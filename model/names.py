"""Names that Kubernetes accepts, those included that are made from other names.

Sources: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ (DNS-1123 labels of 63 and subdomains
of 253 characters, DNS-1035 labels that begin with a letter) and .../labels/ (keys of an optional prefix of 253 and a
name of 63 characters, values of 63).
"""

import hashlib
import re
from dataclasses import dataclass

LABEL = 63
"""Longest DNS label, and longest label value."""
SUBDOMAIN = 253
"""Longest DNS subdomain, which most objects take as a name."""

_ALNUM = "abcdefghijklmnopqrstuvwxyz0123456789"
_UPPER = _ALNUM.upper()


@dataclass(frozen=True)
class Kind:
    """A kind of name.

    Attributes:
        called: What it is called in messages.
        inner: Characters that may stand in it.
        edge: Characters that may stand at both ends.
        first: Characters that may begin it.
        limit: The most characters.
        empty: Whether it may be empty.
    """

    called: str
    inner: str
    edge: str
    first: str
    limit: int
    empty: bool = False

    @property
    def allowed(self) -> str:
        """The rule in words."""
        letters = "letters" if "A" in self.inner else "lower-case letters"
        marks = " ".join(mark for mark in "-_." if mark in self.inner)
        ends = "a letter or digit at both ends" if self.first == self.edge else "a letter first, no mark last"
        return f"{letters}, digits, {marks}; {ends}; at most {self.limit} characters"

    def fault(self, name: str) -> str | None:
        """What is wrong with a name: its first bad character, or its length; None when it is legal."""
        if not name:
            return None if self.empty else "a name must not be empty"
        for position, character in enumerate(name, start=1):
            if character not in self.inner:
                return f"{character!r} (character {position}) must not stand in a {self.called}"
        if name[0] not in self.first:
            return f"a {self.called} must not begin with {name[0]!r}"
        if name[-1] not in self.edge:
            return f"a {self.called} must not end with {name[-1]!r}"
        if len(name) > self.limit:
            return f"has {len(name)} characters, a {self.called} has at most {self.limit}"
        return None


DNS_LABEL = Kind("name", f"{_ALNUM}-", _ALNUM, _ALNUM, LABEL)
"""DNS-1123 label: namespaces, pools, parts of other names."""
DNS_SUBDOMAIN = Kind("name", f"{_ALNUM}-.", _ALNUM, _ALNUM, SUBDOMAIN)
"""DNS-1123 subdomain: nodes and most cluster-wide objects."""
LABEL_VALUE = Kind("label value", f"{_ALNUM}{_UPPER}-_.", _ALNUM + _UPPER, _ALNUM + _UPPER, LABEL, empty=True)
_LABEL_NAME = Kind("label key", f"{_ALNUM}{_UPPER}-_.", _ALNUM + _UPPER, _ALNUM + _UPPER, LABEL)
_LABEL_PREFIX = Kind("label key's prefix", f"{_ALNUM}-.", _ALNUM, _ALNUM, SUBDOMAIN)
LABEL_KEY_ALLOWED = f"an optional DNS prefix and '/', then {_LABEL_NAME.allowed}"
_DOTS = re.compile(r"\.\.|\.-|-\.")


def dns_1035(limit: int) -> Kind:
    """A DNS-1035 label, which begins with a letter, of at most that many characters."""
    return Kind("name", f"{_ALNUM}-", _ALNUM, _ALNUM[:26], limit)


def subdomain_fault(name: str) -> str | None:
    """What is wrong with a DNS subdomain; None when it is legal."""
    fault = DNS_SUBDOMAIN.fault(name)
    if fault is None and (found := _DOTS.search(name)):
        ends = "each part between dots begins and ends with a letter or digit"
        return f"{found[0]!r} (character {found.start() + 1}): {ends}"
    return fault


def label_key_fault(key: str) -> str | None:
    """What is wrong with a label or taint key; None when it is legal."""
    prefix, slash, name = key.rpartition("/")
    if slash:
        fault = _LABEL_PREFIX.fault(prefix)
        if fault is None and (found := _DOTS.search(prefix)):
            fault = f"{found[0]!r} must not stand in a label key's prefix"
        if fault is not None:
            return fault
    return _LABEL_NAME.fault(name)


def fit(name: str, limit: int) -> str:
    """The name itself when it fits, else its beginning and a hash of all of it.

    The same name always gives the same result, and names that differ only in what is cut off stay different.
    """
    if len(name) <= limit:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{name[: limit - len(mark) - 1].rstrip('-._')}-{mark}"
