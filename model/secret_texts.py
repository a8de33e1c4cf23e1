"""What a key or a token looks like, and what things are called that hold one.

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html (AWS's documents end examples in
EXAMPLE); https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github;
https://docs.gitlab.com/security/tokens/; https://huggingface.co/docs/hub/security-tokens; RFC 7519 (signed tokens).
"""

import re
from collections.abc import Iterable

_KINDS = (
    # What looks like a key or a token and is nothing else, and what it is called.
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("an access key of AWS", r"\b(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z2-7]{16}\b"),
    ("a token of GitHub", r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})"),
    ("a token of GitLab", r"\bglpat-[A-Za-z0-9_-]{20}"),
    ("a token of Hugging Face", r"\bhf_[A-Za-z]{34}\b"),
    ("a key of NVIDIA's registry", r"\bnvapi-[A-Za-z0-9_-]{60,}"),
    ("a token of Slack", r"\bxox[abeoprs]-[0-9A-Za-z-]{20,}"),
    ("a signed token", r"\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
)
_ANY = re.compile("|".join(f"({pattern})" for _, pattern in _KINDS))
_NAME = re.compile(r"(?i:passw|passphrase|secret|token|credential|(?:api|access|private|signing)[-_]?key)|KEY\b|_KEY_")
_REFERENCE = re.compile(r"(?:Name|Ref|Refs)$")
"""How fields end that only name what holds one."""
_LOGIN = re.compile(r"://[^/\s:@]*:[^/\s@]+@")


def found(text: str) -> str | None:
    """What a text holds that is a key or a token and nothing else, in words; None where it holds none."""
    match = _ANY.search(text)
    return _KINDS[(match.lastindex or 1) - 1][0] if match else None


def likely(path: Iterable[str | int], text: str) -> bool:
    """Whether a text may be a secret, by what the things are called that it stands in, or by itself.

    For what is shown to people: in doubt it is one.
    """
    named = (str(step) for step in path)
    return (
        any(_NAME.search(step) and not _REFERENCE.search(step) for step in named)
        or found(text) is not None
        or _LOGIN.search(text) is not None
    )
