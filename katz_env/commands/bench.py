"""The command ``katz bench``."""

from __future__ import annotations

from dataclasses import dataclass

from katz_env import Game
from katz_env.command_line import check_at_least, game_from
from katz_env.standard_streams import lost_output

DEFAULT_PLAYERS = 2, 3, 4, 6


@dataclass
class Bench:
    """Measure decisions a second of this installation on this machine."""

    game: str = "katzenjammer"
    """The name of the game."""
    num_players: int | None = None
    """Measure this number of players only; by default 2, 3, 4 and 6, where the game can be played by so many."""
    rules: tuple[str, ...] = ()
    """Other settings of the rules, each as KEY=VALUE."""
    num_tables: int = 4096
    """The number of tables that are stepped together; one table alone is measured too."""
    seconds: float = 1.0
    """Seconds for each measurement."""
    repeats: int = 5
    """The number of measurements of each figure, taken in turn; the median is shown."""

    def run(self) -> int:
        """Measure and print a table."""
        from katz_env.bench import run

        check_at_least(self, num_tables=1, repeats=1)
        if not 0 < self.seconds <= 3600:
            raise ValueError(f"--seconds is {self.seconds}; it must be above 0, and 3600 at most")
        run(self._games(), self.num_tables, self.seconds, self.repeats)
        if error := lost_output():
            raise error
        return 0

    def _games(self) -> list[Game]:
        """The game for each number of players; ValueError if it can be played by none of them."""
        if self.num_players is not None:
            return [game_from(self.game, self.num_players, self.rules)]
        games, refusal = [], ValueError()
        for num_players in DEFAULT_PLAYERS:
            try:
                games.append(game_from(self.game, num_players, self.rules))
            except ValueError as error:
                refusal = error
        if not games:
            raise refusal
        return games
