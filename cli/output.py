"""Where the command line writes."""

import os

from rich.console import Console

console = Console(highlight=False)
if not console.is_terminal and "COLUMNS" not in os.environ:
    console.width = 160  # a log has no width, and 80 would fold every table
"""Results and progress that a person reads."""

errors = Console(stderr=True, highlight=False)
"""Warnings and refusals."""
