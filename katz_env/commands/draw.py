"""The command ``katz draw``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tyro.conf import Positional

from katz_env.command_line import check_at_least
from katz_env.core.game_records import parse_line, read_lines, replay
from katz_env.core.output_files import check_output, write_file
from katz_env.core.replay_page import seat_names
from katz_env.drawing import pixels


@dataclass
class Draw:
    """Draw one position of a recorded game."""

    file: Positional[Path]
    """A file of game records, one JSON object a line."""
    out: Path
    """The picture to write: .svg, or .png with the extra "render"."""
    line: int = 1
    """The number of the line that holds the game."""
    moves: int = 0
    """The number of moves that are played before the picture is drawn."""
    seat: int | None = None
    """The seat whose view is drawn; by default all hands are open."""
    zoom: float = 2.0
    """Pixels per unit of the picture in a .png."""
    game: str | None = None
    """Accept only a record of this game; by default the record names its own."""
    force: bool = False
    """Overwrite the picture if it exists."""

    def run(self) -> int:
        """Replay to the position and write the picture."""
        if self.out.suffix not in (".svg", ".png"):
            raise ValueError(f"--out is {self.out}; it must end in .svg or .png")
        if not 0 < self.zoom <= 20:
            raise ValueError(f"--zoom is {self.zoom}; it must be above 0, and 20 at most")
        check_at_least(self, moves=0)
        check_output(self.out, force=self.force)
        line = next((line for number, line in read_lines(self.file) if number == self.line), None)
        if line is None:
            raise ValueError(f"{self.file} has no game in line {self.line}")
        record = parse_line(line)
        if self.game not in (None, record.get("game")):
            raise ValueError(f"line {self.line} of {self.file} is not a record of {self.game}")
        tables = next(islice(replay(record), min(self.moves, sys.maxsize), None), None)
        if tables is None:
            raise ValueError(f"--moves is {self.moves}; this game has {len(record['moves'])}")
        last = tables.game.num_players - 1
        if self.seat is not None and not 0 <= self.seat <= last:
            raise ValueError(f"--seat is {self.seat}; it must be from 0 to {last}")
        svg = tables.svg(seat=self.seat, names=seat_names(record, tables.game.num_players))
        write_file(self.out, svg.encode() if self.out.suffix == ".svg" else pixels.png(svg, self.zoom))
        print(f"{self.out} written")
        return 0
