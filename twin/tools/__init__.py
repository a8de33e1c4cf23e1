"""The tools of the twin: real programs at pinned releases, found, fetched or built (docs/guides/tools.md)."""

from twin.tools.cache import cache_root
from twin.tools.doctor import Row, report
from twin.tools.errors import ToolError
from twin.tools.obtain import ToolStatus, Way, ensure, here, status
from twin.tools.pins import Source, Tool, load_sources, load_tools, used_by
from twin.tools.progress import Progress, shown_on
from twin.tools.sources import ensure_sources, materialise

__all__ = [
    "Progress",
    "Row",
    "Source",
    "Tool",
    "ToolError",
    "ToolStatus",
    "Way",
    "cache_root",
    "ensure",
    "ensure_sources",
    "here",
    "load_sources",
    "load_tools",
    "materialise",
    "report",
    "shown_on",
    "status",
    "used_by",
]
