"""Definitions that a chart keeps as whole templates: Kueue's, in `templates/crd`.

They differ from definitions in four ways only: common labels, an annotation for cert-manager, and in those of two
versions the Service that converts one into the other.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from components.sources import SourceError
from model.namespaces import KUEUE

FOLDER = "templates/crd"
RELEASE = "kueue"
"""The name of the release: the chart names its Service after it."""

_COMMENT = re.compile(r"(?s)\{\{-? */\*.*?\*/ *-?\}\}")
_CERT_MANAGER = re.compile(r"(?m)^ *\{\{- if \.Values\.enableCertManager \}\}\n(?: .*\n)*? *\{\{- end \}\}\n")
_LABELS = re.compile(r'(?m)^ *labels:\n *\{\{- include "kueue\.labels" \. \| nindent \d+ \}\}\n')
_VALUES = {"{{ .Release.Namespace }}": KUEUE, '{{ include "kueue.fullname" . }}': RELEASE}


def files(folder: Path) -> list[Path]:
    """Give the templates of a chart that are definitions."""
    return sorted((folder / FOLDER).glob("*.yaml"))


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Give each with what the chart makes of it.

    Raises:
        SourceError: One has something in it that is not known.
    """
    for file in files(folder):
        text = file.read_text(encoding="utf-8")
        for known in (_COMMENT, _CERT_MANAGER, _LABELS):
            text = known.sub("", text)
        for placed, value in _VALUES.items():
            text = text.replace(placed, value)
        if "{{" in text:
            line = next(line.strip() for line in text.splitlines() if "{{" in line)
            raise SourceError(f"{file.name}: a definition is rendered in a way that is not known: {line}")
        yield file, text
