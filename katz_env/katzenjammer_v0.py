"""Katzenjammer Blues for PettingZoo: ``katzenjammer_v0.env(num_players=3)``."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from katz_env.core.aec import GameAECEnv, wrapped
from katz_env.games.katzenjammer import Katzenjammer

NAME = "katzenjammer_v0"


def raw_env(
    num_players: int = 3,
    reward: str = "win",
    render_mode: str | None = None,
    mice: int | None = None,
    render_seat: int | str = "turn",
    history: int = 0,
    **options: int,
) -> GameAECEnv:
    """Make the environment without wrappers: fast, with `moves` and `play`; an illegal action is a ValueError.

    Parameters
    ----------
    num_players, mice, **options
        The fields of `katz_env.Rules`.
    reward
        ``"win"``: at the end, 1 split among the winners minus 1/n for everybody; ``"score"``: the final score.
    render_mode
        None, ``"ansi"`` (text), ``"rgb_array"`` (pixels) or ``"human"`` (a window).
    render_seat
        The point of view: ``"turn"`` is the seat to act, ``"open"`` shows all hands, an integer is that seat.
    history
        The number of latest events that observations contain, for policies with a memory.
    """
    return GameAECEnv(Katzenjammer(num_players, mice, **options), reward, render_mode, render_seat, NAME, history)


def env(
    num_players: int = 3,
    reward: str = "win",
    render_mode: str | None = None,
    mice: int | None = None,
    render_seat: int | str = "turn",
    history: int = 0,
    **options: int,
) -> AECEnv[str, Any, int]:
    """Make the environment in PettingZoo's usual wrappers: an illegal action ends the game with reward -1 for its agent."""
    return wrapped(raw_env(num_players, reward, render_mode, mice, render_seat, history, **options))
