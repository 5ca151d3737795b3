"""Katz und Maus for PettingZoo: ``katz_und_maus_v0.env()``."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from katz_env.core.aec import GameAECEnv, wrapped
from katz_env.core.registry import make_game

NAME = "katz_und_maus_v0"


def raw_env(
    num_players: int = 2,
    reward: str = "win",
    render_mode: str | None = None,
    render_seat: int | str = "turn",
    history: int = 0,
    **options: Any,
) -> GameAECEnv:
    """Make the environment without wrappers: fast, with `moves` and `play`; an illegal action is a ValueError.

    Parameters
    ----------
    num_players
        The number of players, which must be 2.
    reward
        ``"win"``: at the end, 1 split among the winners minus 1/2 for both; ``"score"``: minus the cards left in the stock.
    render_mode
        None, ``"ansi"`` (text), ``"rgb_array"`` (pixels) or ``"human"`` (a window).
    render_seat
        The point of view: ``"turn"`` is the seat to act, ``"open"`` shows both hands, an integer is that seat.
    history
        The number of latest events that observations contain, for policies with a memory.
    **options
        The fields of `katz_env.games.katz_und_maus.Rules`.
    """
    game = make_game("katz_und_maus", num_players=num_players, **options)
    return GameAECEnv(game, reward, render_mode, render_seat, NAME, history)


def env(
    num_players: int = 2,
    reward: str = "win",
    render_mode: str | None = None,
    render_seat: int | str = "turn",
    history: int = 0,
    **options: Any,
) -> AECEnv[str, Any, int]:
    """Make the environment in PettingZoo's usual wrappers: an illegal action ends the game with reward -1 for its agent."""
    return wrapped(raw_env(num_players, reward, render_mode, render_seat, history, **options))
