"""`doctor`: what is here, what is missing, and how each thing would be had."""

from rich.table import Table

from .output import console


def doctor() -> None:
    """Say which tools are here, which are missing, how each would be had and how long that takes. Changes nothing."""
    from twin import tools

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("tool", "version", "where", "how it would be had", "notes"):
        table.add_column(title)
    for row in tools.report():
        table.add_row(row.tool, row.version, row.where, row.ways, row.notes)
    console.print(table)
