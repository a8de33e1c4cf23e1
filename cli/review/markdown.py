"""A review as Markdown, as GitHub and GitLab show it in a comment."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .findings import DOCUMENT, Finding
from .report import Review

if TYPE_CHECKING:
    from model.document_changes import DocumentChange
    from twin.differences import Change, Difference

LIMIT = 60_000
"""Bytes of a report. A comment on GitHub holds 65,536 letters, and what posts it adds a line and cuts by bytes."""
_STEPS = (10_000, 200, 50, 15, 5)
"""How many entries of each list are written out, tried in order until the report is short enough."""
_OPEN = 6
"""Lines up to which a list is not folded."""
_SHOWN = 60
"""Letters of a value."""
_TOLD = 1500
"""Letters of what is told of a broken rule."""
_WORDS = {"add": "added", "change": "changed", "replace": "replaced", "remove": "removed"}
_SIGNS = {"add": "➕", "change": "✏️", "replace": "♻️", "remove": "➖"}


def page(review: Review) -> str:
    """Give the report. Lists that would make it too long for a comment are cut, and say by how much."""
    pages = ("\n".join(_lines(review, most)) + "\n" for most in _STEPS)
    return next((page for page in pages if len(page.encode()) <= LIMIT), _least(review))


def _least(review: Review) -> str:
    said = ("", "", "**All else is left out: it would be too long for a comment.**")
    return "\n".join([_head(review), *_findings(review, _STEPS[-1]), *said]) + "\n"


def marker(environment: str) -> str:
    """Give the first line of a report, by which the comment of an environment is found again."""
    return f"<!-- gangline review {environment} -->"


def _lines(review: Review, most: int) -> Iterator[str]:
    yield _head(review)
    yield from _findings(review, most)
    if review.document is not None:
        yield from _pools(review.document)
        yield from _queues(review.document, most)
        yield from _disruptions(review.document, most)
        yield from _settings(review.document, most)
    yield from _resources(review, most)
    yield from _exemptions(review, most)
    yield from _unjudged(review, most)


def _head(review: Review) -> str:
    return f"{marker(review.environment)}\n## {_verdict(review)}\n\n{_summary(review)}"


def _verdict(review: Review) -> str:
    broken = review.broken
    if mistakes := [finding for finding in broken if finding.rule.id == DOCUMENT]:
        return f"❌ {code(review.environment)}: the document has {_count(len(mistakes), 'mistake')}"
    if broken:
        rules = len({finding.rule.id for finding in broken})
        places = f" in {len(broken)} places" if len(broken) > rules else ""
        return f"❌ {code(review.environment)}: {_count(rules, 'mandatory rule')} broken{places}"
    return f"✅ {code(review.environment)}: no mandatory rule is broken"


def _summary(review: Review) -> str:
    parts: list[str] = []
    if review.document is not None:
        before, after = review.document.gpus
        parts.append(f"**{_moved(before, after)} GPUs**" if before != after else f"{_range(after)} GPUs, as before")
        if drains := {each.subject for each in review.document.disruptions if each.drains}:
            parts.append(f"**nodes of {', '.join(plain(each) for each in sorted(drains))} are drained or replaced**")
        if review.document.settings:
            parts.append("**rules are held otherwise**")
    if review.changes is not None:
        counted = Counter(change.kind for change in review.changes)
        parts.append(f"resources: {', '.join(f'{counted[kind]} {word}' for kind, word in _WORDS.items())}")  # pyright: ignore[reportArgumentType]
    notes = [finding for finding in review.findings if finding.level == "advisory" and not finding.exempted]
    parts += [_count(len(notes), "note")] if notes else []
    word = "**Not compared**" if review.changes is None else "Compared"
    compared = f"{word} with {plain(review.against)}. No cluster and no cloud was asked."
    return f"{'; '.join(parts)}.\n\n{compared}" if parts else compared


def _findings(review: Review, most: int) -> Iterator[str]:
    for title, level in (("Rules broken", "mandatory"), ("Notes", "advisory")):
        found = [each for each in review.findings if each.level == level and not each.exempted]
        if found:
            yield from ("", f"### {title}", "")
            yield from _cut([line for each in found for line in [_finding(each)]], most)


def _finding(finding: Finding) -> str:
    head = [f"**{code(finding.rule.id)}**", code(str(finding.place))]
    head += [f"{finding.rule.severity}"] if finding.rule.severity else []
    head += [code(finding.resource)] if finding.resource else []
    message = finding.message if len(finding.message) <= _TOLD else f"{finding.message[:_TOLD]}…"
    field, colon, wrong = message.partition(": ")
    told = f"{code(field)}: {_paragraph(wrong)}" if colon and "\n" not in field else _paragraph(message)
    # The pack's own texts are written as Markdown, for its reference page.
    what = _written(finding.rule.what)
    lines = [f"1. {' · '.join(head)}"]
    lines += (
        [f"   {f'[{what}]({finding.rule.link})' if finding.rule.link else what}"] if finding.rule.id != DOCUMENT else []
    )
    lines += [f"   {told}"]
    if finding.fix:
        lines.append(f"   **Fix:** {code(finding.fix) if finding.rule.id == DOCUMENT else _written(finding.fix)}")
    return "  \n".join(lines)


def _pools(change: "DocumentChange") -> Iterator[str]:
    yield from ("", "### Pools", "")
    if not change.pools:
        yield "No pool changes its machines."
        return
    yield "| pool | machines | nodes | GPUs |"
    yield "| --- | --- | --- | --- |"
    for pool in change.pools:
        before, after = pool.before, pool.after
        machines = _arrow(before.machine or "none", after.machine or "none")
        models = " → ".join(dict.fromkeys(each for each in (before.gpu, after.gpu) if each))
        gpus = f"{_sized(before.gpus, after.gpus)} {plain(models)}" if models else "none"
        yield f"| {_cell(pool.name)} | {machines} | {_sized(before.nodes, after.nodes)} | {gpus} |"
    yield f"| all | | | {_sized(*change.gpus)} |"


def _queues(change: "DocumentChange", most: int) -> Iterator[str]:
    yield from ("", "### Queues", "")
    if not change.queues:
        yield "No queue changes its amounts."
        return
    rows = [
        f"| {_cell(each.queue)} | {each.kind} | {_cell(each.resource)} | {plain(each.before or '–')} "
        f"| {plain(each.after or '–')} |"
        for each in change.queues
    ]
    yield from ("| queue | amount | resource | before | after |", "| --- | --- | --- | --- | --- |")
    yield from _cut(rows, most, row="| {} | | | | |")


def _disruptions(change: "DocumentChange", most: int) -> Iterator[str]:
    yield from ("", "### What drains nodes or ends pods", "")
    if not change.disruptions:
        yield "Nothing."
        return
    ordered = sorted(change.disruptions, key=lambda each: not each.drains)
    lines = [
        f"- {'🟥 drains or replaces nodes' if each.drains else '🟨 ends pods'}: **{plain(each.subject)}**, "
        f"{plain(each.change)}: {plain(each.effect)}"
        for each in ordered
    ]
    yield from _cut(lines, most)


def _settings(change: "DocumentChange", most: int) -> Iterator[str]:
    if change.settings:
        yield from ("", "### How rules are held", "", "Where nothing is set (–), as the pack has them.", "")
        yield from ("| what | before | after |", "| --- | --- | --- |")
        rows = [
            f"| {plain(each.what)} | {plain(each.before or '–')} | {plain(each.after or '–')} |"
            for each in change.settings
        ]
        yield from _cut(rows, most, row="| {} | | |")


def _resources(review: Review, most: int) -> Iterator[str]:
    if review.changes is None:
        return
    yield from ("", "### Resources", "")
    if not review.changes:
        yield f"None of {review.resources} changes."
        return
    components: defaultdict[str, list[Change]] = defaultdict(list)
    for change in review.changes:
        components[_component(change)].append(change)
    for component, changes in list(components.items())[:most]:
        counted = Counter(change.kind for change in changes)
        told = ", ".join(f"{counted[kind]} {word}" for kind, word in _WORDS.items() if counted[kind])  # pyright: ignore[reportArgumentType]
        lines = [_change(change) for change in changes]
        if len(lines) <= _OPEN:
            yield from (f"{code(component)}: {told}", "", *_cut(lines, most), "")
        else:
            yield from ("<details>", f"<summary>{_html(component)}: {told}</summary>", "", *_cut(lines, most), "")
            yield from ("</details>", "")
    if (rest := len(components) - most) > 0:
        yield f"and {_count(rest, 'component')} more"


def _component(change: "Change") -> str:
    return (change.resource.parent or "").rpartition("::")[2] or "stack"


def _change(change: "Change") -> str:
    resource = change.resource
    line = f"- {_SIGNS[change.kind]} {change.kind} {resource.type.rpartition(':')[2]} {code(resource.name)}"
    if change.because:
        reasons = ", ".join(each if " " in each else code(each) for each in change.because)
        line += (
            f", since {reasons} cannot be changed in place" if " " not in change.because[0] else f", since {reasons}"
        )
    if change.kind in ("replace", "remove") and resource.protect:
        line += "; **it is protected, so an update refuses**"
    elif change.kind == "remove" and resource.retain_on_delete:
        line += "; what it made stays"
    differences = [_difference(each) for each in change.differences]
    shown, rest = differences[:_OPEN], len(differences) - _OPEN
    return "".join([line, *(f"  \n  {each}" for each in shown), f"  \n  and {rest} more" if rest > 0 else ""])


def _difference(difference: "Difference") -> str:
    from model import secret_texts
    from twin.differences import HIDDEN, MISSING, UNKNOWN

    path = code(_spelt(difference.path))
    values = (difference.before, difference.now)
    if any(isinstance(value, str) and secret_texts.likely(difference.path, value) for value in values):
        # Nobody has marked it, and yet it is not for a comment.
        before, now = (HIDDEN if isinstance(value, str) else value for value in values)
        difference = replace(difference, before=before, now=now)
    if difference.now is UNKNOWN and difference.before is UNKNOWN:
        return f"{path}: {UNKNOWN}"
    if difference.before is MISSING:
        return f"{path}: new{_told(difference.now)}"
    if difference.now is MISSING:
        return f"{path}: gone{_told(difference.before)}"
    before, after = _value(difference.before), _value(difference.now)
    return f"{path}: {before} → {after}" if before and after else path


def _told(value: Any) -> str:
    return f", {shown}" if (shown := _value(value)) else ""


def _value(value: Any) -> str:
    """Give a value that is short enough to say something; text for what is a mark."""
    from twin.differences import HIDDEN, UNKNOWN

    if value is HIDDEN or value is UNKNOWN:
        return repr(value)
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= _SHOWN and "\n" not in value):
        return code(str(value) or '""')
    return ""


def _exemptions(review: Review, most: int) -> Iterator[str]:
    exempted = [finding for finding in review.findings if finding.exempted]
    if exempted:
        yield from (
            "",
            "### Exemptions in use",
            "",
            "| rule | resource | by whom, why, until when |",
            "| --- | --- | --- |",
        )
        rows = [
            f"| {_cell(each.rule.id)} | {_cell(each.resource or '–')} | {plain(each.exempted)} |" for each in exempted
        ]
        yield from _cut(list(dict.fromkeys(rows)), most, row="| {} | | |")


def _unjudged(review: Review, most: int) -> Iterator[str]:
    if not review.rules:
        yield from ("", "Nothing else was looked at: the document has mistakes.")
        return
    yield from ("", "### What could not be judged", "")
    if not review.unjudged:
        yield f"Nothing: {_count(review.rules, 'rule')} read all of {review.resources} resources."
        return
    yield from _cut([f"- {_paragraph(line)}" for line in review.unjudged], most)


def _cut(lines: Sequence[str], most: int, row: str = "- {}") -> Iterable[str]:
    rest = len(lines) - most
    return [*lines[:most], *([row.format(f"and {rest} more")] if rest > 0 else [])]


def _sized(before: tuple[int, int], after: tuple[int, int]) -> str:
    if before == after:
        return _range(after)
    return f"{_range(before)} → {_range(after)} ({_moved(before, after)})"


def _moved(before: tuple[int, int], after: tuple[int, int]) -> str:
    return _range((after[0] - before[0], after[1] - before[1]), _signed)


def _range(ends: tuple[int, int], told: "Callable[[int], str]" = str) -> str:
    return told(ends[0]) if ends[0] == ends[1] else f"{told(ends[0])}..{told(ends[1])}"


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"−{-number}" if number < 0 else "±0"


def _arrow(before: str, after: str) -> str:
    return plain(after) if before == after else f"{plain(before)} → {plain(after)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _spelt(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        name = str(step)
        if isinstance(step, int):
            text += f"[{name}]"
        elif name.replace("_", "").replace("-", "").isalnum():
            text += f".{name}" if text else name
        else:
            text += f'["{name}"]'
    return text


def _paragraph(text: str) -> str:
    return "<br>".join(plain(line) for line in text.splitlines())


def _written(text: str) -> str:
    """Give a text that is Markdown already, on one line and without HTML."""
    return _html(" ".join(text.split()))


def code(text: str) -> str:
    """Give a text as code, whatever is in it."""
    line = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    around = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{around}{line}{around}{fence}"


def _cell(text: str) -> str:
    """Give a text as code within a table, where a bar in code ends the cell all the same."""
    return code(text).replace("|", "\\|")


def plain(text: str) -> str:
    """Give a text as it is: nothing in it is Markdown, HTML or a mention."""
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", _html(text)).replace("@", "&#64;")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
