"""Names of container images."""

import re
from typing import NamedTuple

_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?P<repository>(?:(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
"""The grammar of https://github.com/distribution/reference (regexp.go)."""
_LONGEST = 255
"""Characters of its repository (https://github.com/distribution/reference, RepositoryNameTotalLengthMax)."""
TAG = r":(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})$"
"""A tag at the end, as Python and CEL read it alike; what follows a colon and holds a slash is a registry's port."""
ALLOWED = "[registry/]repository in lower case, with a tag or digest"


class Reference(NamedTuple):
    """What a name of an image says."""

    repository: str
    tag: str | None
    digest: str | None

    @property
    def exact(self) -> bool:
        """Whether it always means the same image, as far as a name can say."""
        return self.digest is not None or self.tag not in (None, "latest")


def parse(image: str) -> Reference | None:
    """Read a name; None when no registry could have such an image."""
    match = _IMAGE.fullmatch(image)
    if match is None or len(match["repository"]) > _LONGEST:
        return None
    return Reference(match["repository"], match["tag"], match["digest"])
