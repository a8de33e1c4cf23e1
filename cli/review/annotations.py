"""What is broken, as annotations of a check on GitHub: lines of the log that its runner reads.

Their form: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands.
"""

from collections.abc import Iterator

from .report import Review


def lines(review: Review) -> Iterator[str]:
    """Give a line for each broken rule that is not exempted. The runner shows ten of a kind at most."""
    for finding in review.findings:
        if finding.exempted:
            continue
        kind = "error" if finding.level == "mandatory" else "warning"
        place, rule = finding.place, finding.rule
        told = f"{finding.resource}: {finding.message}" if finding.resource else finding.message
        message = _escaped(f"{told}\nfix: {finding.fix}" if finding.fix else told)
        yield f"::{kind} file={_property(place.file)},line={place.line},title={_property(rule.id)}::{message}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
