"""The scripted players ``greedy`` and ``heuristic``, each with an implementation for every game that it plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from katz_agents.katz_und_maus import greedy as katz_und_maus_greedy
from katz_agents.katz_und_maus import heuristic as katz_und_maus_heuristic
from katz_agents.katzenjammer import greedy, heuristic
from katz_agents.meow import greedy as meow_greedy
from katz_agents.meow import heuristic as meow_heuristic
from katz_env import CompiledAgent, Decision, Game


class Scripted(CompiledAgent):
    """A player with hand-written rules for some games."""

    games: ClassVar[dict[str, Callable[[Game], Decision]]]
    """The functions that return the player's decision function for a game, by the name of the game."""

    def decision(self, game: Game) -> Decision:
        """Return the player's decision function for a game.

        Raises
        ------
        ValueError
            If the player does not play this game.
        """
        if game.name not in self.games:
            *others, last = self.games
            raise ValueError(f"{self.name} plays {', '.join(others)} and {last}, not {game.name}")
        return self.games[game.name](game)


class Greedy(Scripted):
    """A quick player that looks at the immediate gain of a move."""

    name = "greedy"
    games: ClassVar = {
        "katzenjammer": greedy.decision,
        "katz_und_maus": katz_und_maus_greedy.decision,
        "meow": meow_greedy.decision,
    }


class Heuristic(Scripted):
    """A strong player that compares the value of its position after every move."""

    name = "heuristic"
    games: ClassVar = {
        "katzenjammer": heuristic.decision,
        "katz_und_maus": katz_und_maus_heuristic.decision,
        "meow": meow_heuristic.decision,
    }
