"""Many tables for Stable-Baselines3 and sb3-contrib: ``katz_env.sb3.make_vec_env("katz_env/Katzenjammer-v0")``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import gymnasium

from katz_env.core.arena import Opponents, one_open_seat
from katz_env.core.gym_env import ILLEGAL_REWARD
from katz_env.core.registry import make_game
from katz_env.core.self_play import SelfPlay
from katz_env.core.validation import check_at_least
from katz_env.core.versions import numbers_of

if TYPE_CHECKING:
    from katz_env.core.sb3_vec_env import GameVecEnv

_OLDEST = (2, 4)
"""The oldest version of Stable-Baselines3 whose ``VecEnv`` this was tried with."""


def make_vec_env(
    env_id: str = "katz_env/Katzenjammer-v0",
    num_envs: int = 1024,
    *,
    seed: int | None = None,
    opponents: Opponents = "greedy",
    seat: int | None = None,
    reward: str = "win",
    render_mode: str | None = None,
    num_threads: int | None = None,
    history: int = 0,
    **settings: Any,
) -> GameVecEnv:
    """Make a ``VecEnv`` that steps many tables at once in this process.

    Parameters
    ----------
    env_id
        The Gymnasium id of a game, such as ``"katz_env/Katzenjammer-v0"``.
    num_envs
        The number of tables, N.
    seed
        Seeds the first `reset`; None leaves that to the ``seed`` method.
    opponents, seat, reward, render_mode, num_threads, history
        The settings of ``gymnasium.make_vec``.
    **settings
        The rules of the game, such as ``num_players=4``.

    Raises
    ------
    ValueError
        If the id is not that of a game of this package, or a setting is not one of its possible values.
    TypeError
        If a setting is unknown.
    ImportError
        If Stable-Baselines3 is not installed, or is too old.
    """
    _check_installed()
    from katz_env.core.sb3_vec_env import GameVecEnv

    check_at_least("num_envs", num_envs, 1)
    game = make_game(_game_name(env_id), **settings)
    agents, seating = one_open_seat(game.num_players, opponents, seat)
    play = SelfPlay(
        game,
        num_envs,
        agents=agents,
        seating=seating,
        reward=reward,
        num_threads=num_threads,
        illegal_reward=ILLEGAL_REWARD,
        history=history,
    )
    env = GameVecEnv(play, render_mode=render_mode)
    if seed is not None:
        env.seed(seed)
    return env


def _game_name(env_id: Any) -> str:
    """Return the name of the game that is registered with Gymnasium under an id."""
    spec = gymnasium.registry.get(env_id.partition(":")[2] or env_id) if isinstance(env_id, str) else None
    if spec is None or "game" not in spec.kwargs:
        known = ", ".join(repr(name) for name, spec in gymnasium.registry.items() if name.startswith("katz_env/"))
        raise ValueError(f"there is no environment {env_id!r} of katz_env; there is {known}")
    return str(spec.kwargs["game"])


def _check_installed() -> None:
    oldest = ".".join(map(str, _OLDEST))
    try:
        found = version("stable-baselines3")
    except PackageNotFoundError:
        raise ImportError(f"katz_env.sb3 needs stable-baselines3>={oldest}; install the extra: katz_env[train]") from None
    if numbers_of(found) < _OLDEST:
        raise ImportError(f"katz_env.sb3 needs stable-baselines3>={oldest}; {found} is installed")
