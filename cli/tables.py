"""The one look of tables."""

from rich.table import Table


def table(*titles: str) -> Table:
    """Give an empty table without lines: what is copied from the screen stays readable."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        grid.add_column(title, overflow="fold")
    return grid
