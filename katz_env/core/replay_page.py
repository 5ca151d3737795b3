"""One web page that steps through recorded games, without a network or anything else beside it.

The page holds the pictures of all positions in pieces (see `Picture`), each piece once, and puts them together itself.
``replay_page.html`` beside this file is the page without its data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from katz_env.core.agents import Agent
from katz_env.core.game import Game
from katz_env.core.records import Games, replay
from katz_env.core.tables import Tables
from katz_env.drawing.picture import Symbols, definitions


class Page:
    """Collects games and writes the page.

    Parameters
    ----------
    title
        What stands at its top.
    agent
        Whose moves are shown beside those that were played; None for nobody's.
    rng
        The agent's generator.
    """

    def __init__(self, title: str, agent: Agent | None = None, rng: np.random.Generator | None = None) -> None:
        if agent is not None and rng is None:
            raise ValueError("an agent needs a generator: give rng")
        self.title, self.agent, self.rng = title, agent, rng
        self.games: list[dict[str, Any]] = []
        self._pieces: dict[str, int] = {}
        self._symbols: dict[str, str] = {}

    def add(self, record: Mapping[str, Any], games: Games, name: str) -> None:
        """Add a game.

        Parameters
        ----------
        record
            The game record; `verify` should have passed it.
        games
            The known games.
        name
            What the page calls it.

        Raises
        ------
        RecordError
            If the record cannot be replayed.
        """
        tables, positions = None, []
        for tables in replay(record, games):
            positions.append(tables.records[0].copy())
        assert tables is not None  # `replay` yields at least the deal
        game, records = tables.game, np.array(positions, tables.game.dtype)
        names, over = seat_names(record, game.num_players), game.over(records[-1:])[0]  # a game may be broken off
        pictures = [game.picture(position, names) for position in records]
        self._symbols |= pictures[0].symbols
        self.games.append(
            {
                "name": name,
                "names": names,
                "width": pictures[0].width,
                "height": pictures[0].height,
                "positions": [
                    {
                        "turn": int(position["turn"]),
                        "public": self._numbers(picture.public),
                        "hidden": self._numbers(picture.hidden),
                        "shown": self._numbers(picture.shown),
                    }
                    for position, picture in zip(records, pictures, strict=True)
                ],
                "moves": self._moves(game, records[:-1], record["moves"]),
                "points_name": game.points_name,
                "points": game.points(records).tolist(),
                "results": {key: values[0].tolist() for key, values in game.results(records[-1:]).items()} if over else None,
            }
        )

    def _moves(self, game: Game, records: Any, names: list[str]) -> list[dict[str, Any]]:
        """The moves with what else was legal, and what the agent would have done."""
        if not names:
            return []
        tables = Tables(game, len(names), seed=0, autoreset=False)
        tables.restore(records)
        chosen: list[str | None] = [None] * len(names)
        if self.agent is not None and self.rng is not None:
            actions = self.agent.act(tables.view(np.arange(len(names)), self.rng))
            chosen = [game.action_name(table, int(action)) for table, action in zip(records, actions, strict=True)]
        moves = []
        for table, mask, name, choice in zip(records, tables.action_masks, names, chosen, strict=True):
            moves.append({"name": name, "legal": list(game.legal_names(table, mask))})
            if choice is not None:
                moves[-1]["agent"] = choice
        return moves

    def _numbers(self, pieces: Iterable[str]) -> list[int]:
        """The numbers under which the page keeps these pieces of pictures."""
        return [self._pieces.setdefault(piece, len(self._pieces)) for piece in pieces]

    def html(self) -> str:
        """The page."""
        data = {
            "agent": None if self.agent is None else self.agent.name,
            "pieces": list(self._pieces),
            "games": self.games,
        }
        symbols: Symbols = self._symbols
        page = files("katz_env.core").joinpath("replay_page.html").read_text(encoding="utf-8")
        filled = {
            "TITLE": escape(self.title),
            "SYMBOLS": definitions("".join(self._pieces), symbols),
            # Nothing in a text may end the script: JSON writes these characters in another way that means the same.
            "DATA": json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "\\u003c!--"),
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda mark: filled[mark[1]], page)


def seat_names(record: Mapping[str, Any], num_players: int) -> list[str]:
    """What the seats of a record are called: its agents, without their settings, or ``player``; with the seat's number."""
    agents = record.get("agents")
    if not isinstance(agents, list) or len(agents) != num_players or not all(isinstance(agent, str) for agent in agents):
        agents = ["player"] * num_players
    return [f"{agent.partition(':')[0]}_{seat}" for seat, agent in enumerate(agents)]
