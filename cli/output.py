"""Where the command line writes."""

from rich.console import Console

console = Console(highlight=False)
"""Results and progress that a person reads."""

errors = Console(stderr=True, highlight=False)
"""Warnings and refusals."""
