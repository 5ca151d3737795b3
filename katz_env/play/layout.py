"""Layouts that fit any width of a terminal: what does not fit in columns is wrapped, and nothing is cut off."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_GAP = 2  # spaces between columns
_TITLES_BESIDE = 30  # the least room for moves that leaves titles beside them; in less room titles stand above


class Columns:
    """A table with a row for each player; where it is too wide, a paragraph for each player.

    Parameters
    ----------
    headings
        The headings of the columns; empty where the cells need none.
    rows
        The cells, as many in each row as there are headings.
    right
        The headings of the columns that are aligned to the right.
    """

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[Text]], right: Collection[str] = ()) -> None:
        self.headings, self.rows, self.right = headings, rows, right

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, or the paragraphs."""
        table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="dim", pad_edge=False)
        for heading in self.headings:
            table.add_column(heading, justify="right" if heading in self.right else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        if Measurement.get(console, options.update(max_width=10_000), table).maximum <= options.max_width:
            yield table
            return
        for row in self.rows:
            cells = []
            for place, (heading, cell) in enumerate(zip(self.headings, row, strict=True)):
                if cell:
                    named = place and heading and heading != "player"
                    cells.append(Text.assemble((f"{heading} ", "dim"), cell) if named else cell)
            yield _wrapped(Text(" " * _GAP).join(cells))


class MoveList:
    """Groups of moves with their titles, in as many columns as there is room for.

    Parameters
    ----------
    groups
        For each group its title, its moves, and a grid of the same moves if they have an order in two dimensions.
    """

    def __init__(self, groups: Sequence[tuple[str, Sequence[Text], Sequence[Sequence[Text]] | None]]) -> None:
        self.groups = groups

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render all groups."""
        indent = max(len(title) for title, _, _ in self.groups) + _GAP
        beside = indent > _GAP and options.max_width - indent >= _TITLES_BESIDE
        room = options.max_width - (indent if beside else 0)
        for title, moves, grid in self.groups:
            lines = _in_columns(grid, room) if grid else None
            if lines is None:
                longest = max(move.cell_len for move in moves)
                number = max(1, (room + _GAP) // (longest + _GAP))
                lines = _in_columns([moves[i : i + number] for i in range(0, len(moves), number)], room)
            if lines is None:  # some moves are longer than a line
                lines = list(moves)
            if beside:
                heads = [Text(title.ljust(indent), style="dim")] + [Text(" " * indent)] * (len(lines) - 1)
                lines = [head + line for head, line in zip(heads, lines, strict=True)]
            elif title:
                lines = [Text(title, style="dim"), *lines]
            yield from map(_wrapped, lines)


def _in_columns(rows: Sequence[Sequence[Text]], room: int) -> list[Text] | None:
    """The rows as lines of aligned cells; None if they are wider than `room`."""
    widths = [max(row[i].cell_len for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    if sum(widths) + _GAP * (len(widths) - 1) > room:
        return None
    lines = []
    for row in rows:
        padded = [cell + Text(" " * (width - cell.cell_len)) for cell, width in zip(row, widths, strict=False)]
        line = Text(" " * _GAP).join(padded)
        line.rstrip()
        lines.append(line)
    return lines


def _wrapped(text: Text) -> Text:
    """A text that is wrapped at spaces, and within a word that is longer than a line."""
    text.overflow, text.no_wrap = "fold", False
    return text
