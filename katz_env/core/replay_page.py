"""A web page that steps through recorded games: one file, which needs no network and no other file.

The page holds the pieces of the pictures of all positions (see `Picture`), each piece once, and its script puts them together.
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
from numpy.typing import NDArray

from katz_env.core.agents import Agent
from katz_env.core.game import Game
from katz_env.core.game_records import replay
from katz_env.core.tables import Tables
from katz_env.drawing.picture import Symbols, definitions

LONGEST_NAME = 80
"""The number of characters of a name that are kept; a record may hold a name of any length."""


class Page:
    """A replay page: it collects games and writes the HTML.

    Parameters
    ----------
    title
        The heading of the page.
    agent
        The agent whose choices are shown beside the moves that were played; None for nobody's.
    rng
        The agent's generator; required with an agent.
    """

    def __init__(self, title: str, agent: Agent | None = None, rng: np.random.Generator | None = None) -> None:
        if agent is not None and rng is None:
            raise ValueError("an agent needs a generator: give rng")
        self.title, self.agent, self.rng = title, agent, rng
        self.games: list[dict[str, Any]] = []
        self._pieces: dict[str, int] = {}
        self._symbols: dict[str, str] = {}

    def add(self, record: Mapping[str, Any], name: str) -> None:
        """Add a game.

        Parameters
        ----------
        record
            The game record; `verify` should have accepted it.
        name
            The name of the game on the page.

        Raises
        ------
        RecordError
            If the record cannot be replayed.
        ValueError
            If the agent does not choose a legal action; the message names the agent.
        """
        tables, positions = None, []
        for tables in replay(record):
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
        """Return each move with the legal moves at its position, and with the agent's choice."""
        if not names:
            return []
        tables = Tables(game, len(names), seed=0, autoreset=False)
        tables.restore(records)
        legal = [list(game.legal_names(table, mask)) for table, mask in zip(records, tables.action_masks, strict=True)]
        moves: list[dict[str, Any]] = [{"name": name, "legal": each} for name, each in zip(names, legal, strict=True)]
        if self.agent is not None and self.rng is not None:
            for move, table, action in zip(moves, records, self._choices(tables, self.agent, self.rng), strict=True):
                move["agent"] = game.action_name(table, int(action))
        return moves

    @staticmethod
    def _choices(tables: Tables, agent: Agent, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the actions that the agent chooses at all tables; raise ValueError if one is illegal."""
        masks = tables.action_masks.copy()  # the agent could change the masks that it receives
        chosen = np.asarray(agent.act(tables.view(np.arange(len(masks)), rng)))
        if chosen.shape != (len(masks),) or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"agent {agent.name} answered with an array {chosen.dtype} {chosen.shape}; it must be {len(masks)} action ids"
            )
        for number, (mask, action) in enumerate(zip(masks, chosen, strict=True), 1):
            if not 0 <= action < len(mask) or not mask[action]:
                legal = ", ".join(map(str, np.flatnonzero(mask)))
                raise ValueError(f"agent {agent.name} chose the illegal action {action} at move {number}; legal are {legal}")
        return chosen

    def _numbers(self, pieces: Iterable[str]) -> list[int]:
        """Return the indices of these pieces of pictures in the page's list of pieces."""
        return [self._pieces.setdefault(piece, len(self._pieces)) for piece in pieces]

    def html(self) -> str:
        """Return the page as HTML."""
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
            # No string may end the script element: these escapes mean the same in JSON.
            "DATA": json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "\\u003c!--"),
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda mark: filled[mark[1]], page)


def seat_names(record: Mapping[str, Any], num_players: int) -> list[str]:
    """Return the names of the seats of a record, such as ``greedy_0``: the agent without its settings, or ``player``."""
    agents = record.get("agents")
    if not isinstance(agents, list) or len(agents) != num_players or not all(isinstance(agent, str) for agent in agents):
        agents = ["player"] * num_players
    names = (agent.partition(":")[0] for agent in agents)
    return [f"{name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + '…'}_{seat}" for seat, name in enumerate(names)]
