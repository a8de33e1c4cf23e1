"""The one look of tables."""

from rich.table import Table


def table(*titles: str) -> Table:
    """Give an empty table without lines: what is copied from the screen stays readable."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        # The first column holds names, which people copy.
        grid.add_column(title, overflow="fold", no_wrap=title == titles[0])
    return grid
