"""Determinized Monte Carlo search: every legal move is tried in random worlds, which are then played out.

For every decision the hidden cards are dealt anew, consistently with everything that the seat knows. The `PlayoutModel` of
the game chooses the moves of a playout, and may end it early with the estimate of a value network. Sequential halving
(Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits") gives more playouts to better moves: in
each round every surviving move is played out equally often, in the same worlds, and the better half survives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents.katz_und_maus import search_model as katz_und_maus
from katz_agents.katzenjammer import search_model as katzenjammer
from katz_agents.meow import search_model as meow
from katz_agents.playouts import PlayoutModel, random_model
from katz_env import Agent, Game, View
from katz_env.core.batch import WIN, TableFunctions, write_rewards
from katz_env.core.jit import cached, compiled
from katz_env.core.thread_pool import MAX_THREADS, available_cores, in_threads
from katz_env.core.types import Indices, Mask, Seeds, Table, Tables
from katz_env.core.validation import check_integer


class Search(Agent):
    """A player that chooses the move with the best mean win share over playouts in possible worlds.

    Parameters
    ----------
    playouts
        The number of playouts for one decision, shared by its legal moves.
    worlds
        The number of worlds that are dealt for one decision. None for a quarter of the playouts, but at least 250: a move is
        played out in the same way whenever it is tried in the same world, so more playouts need more worlds.
    num_threads
        The number of threads that share the tables of a view; None for as many as `available_cores` grants. The moves do not
        depend on it.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """

    name = "search"
    version = 2
    models: ClassVar[dict[str, Callable[[Game], PlayoutModel]]] = {
        "katzenjammer": katzenjammer.model_of,
        "katz_und_maus": katz_und_maus.model_of,
        "meow": meow.model_of,
    }
    """The functions that return the playout model of a game, by its name; other games are played out with random moves."""

    def __init__(self, playouts: int = 1000, worlds: int | None = None, num_threads: int | None = None) -> None:
        check_integer("playouts", playouts, 1, 10**9)
        if worlds is not None:
            check_integer("worlds", worlds, 1, 10**6)
        if num_threads is not None:
            check_integer("num_threads", num_threads, 1, MAX_THREADS)
        self.playouts, self.worlds = playouts, worlds or min(10**6, max(250, playouts // 4))
        self.num_threads = num_threads or available_cores()

    def act(self, view: View) -> NDArray[np.int64]:
        """Return a legal action for every table, int64 ``(k,)``.

        Raises
        ------
        ValueError
            If a table has no possible world.
        """
        game, actions = view.game, np.empty(len(view), np.int64)
        seeds = view.rng.integers(0, 2**64, (len(view), self.worlds), np.uint64)
        model = self.models.get(game.name, random_model)(game)
        search_some = _loop_of(
            game.name, game.functions, game.over_phase, model.resample, model.choose, model.judge, model.leave_out
        )

        def search(start: int, stop: int) -> None:
            failed = search_some(
                view.tables,
                view.seats,
                view.action_masks,
                seeds,
                start,
                stop,
                self.playouts,
                float(model.trust),
                model.settings,
                game.new_tables(self.worlds + 1),
                _new_scratch(game),
                model.new_scratch(),
                actions,
            )
            if failed >= 0:
                raise ValueError(f"table {failed} has no possible world: {game.impossible_world}")

        in_threads(search, len(view), self.num_threads)
        return actions


class _Scratch(NamedTuple):
    """The scratch memory of one thread."""

    mask: NDArray[np.bool_]
    moves: NDArray[np.int64]
    values: NDArray[np.float64]
    rewards: NDArray[np.float32]
    scores: NDArray[np.int16]
    ranks: NDArray[np.int32]


def _new_scratch(game: Game) -> _Scratch:
    n, size = game.num_players, game.num_actions
    return _Scratch(
        np.empty(size, np.bool_),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
        np.empty(n, np.float32),
        np.empty(n, np.int16),
        np.empty(n, np.int32),
    )


@compiled
def keep_better_half(moves: NDArray[np.int64], values: NDArray[np.float64], alive: int) -> int:
    """Sort the first `alive` moves by value, best first (ties by id), and return the size of the better half."""
    for i in range(1, alive):
        move, value = moves[i], values[i]
        j = i
        while j > 0 and (values[j - 1] < value or (values[j - 1] == value and moves[j - 1] > move)):
            moves[j], values[j] = moves[j - 1], values[j - 1]
            j -= 1
        moves[j], values[j] = move, value
    return (alive + 1) // 2


@functools.cache
def _loop_of(
    name: str,
    functions: TableFunctions,
    over: int,
    resample: Callable[..., bool],
    choose: Callable[..., int],
    judge: Callable[..., float],
    leave_out: Callable[..., bool],
) -> Any:
    """Return the compiled search in one game; it returns the index of a table without a possible world, or -1."""
    play, write_mask, write_scores = functions.play, functions.write_mask, functions.write_scores

    @compiled(allocates=True)
    def play_out(t: Table, me: int, root: Table, bits: int, settings: Any, s: _Scratch, model_scratch: Any) -> float:
        """Play a table on, and return the win share of `me`, or the one that the model expects.

        All players see their own hands in this world.
        """
        while t.phase != over:
            value = judge(t, me, root, settings, model_scratch)
            if value >= 0:
                return value
            write_mask(t, s.mask)
            play(t, choose(t, me, s.mask, bits, settings), None)
        write_scores(t, s.scores, s.ranks)
        write_rewards(WIN, s.scores, s.ranks, s.rewards)
        return s.rewards[me] + 1.0 / len(s.rewards)

    @compiled(allocates=True)
    def search_one(
        table: Table,
        me: int,
        mask: Mask,
        seeds: Seeds,
        playouts: int,
        trust: float,
        settings: Any,
        worlds: Tables,
        s: _Scratch,
        model_scratch: Any,
    ) -> int:
        """Return the best move by sequential halving, or -1 without a possible world; the last of `worlds` is scratch."""
        count, t = worlds.shape[0] - 1, worlds[worlds.shape[0] - 1]
        for k in range(count):
            worlds[k] = table
            worlds[k].rng = seeds[k]
            if not resample(worlds[k], me):
                return -1
        preferred, alive = choose(table, me, mask, 0, settings) if trust > 0 else -1, 0
        for action in range(mask.shape[0]):
            if mask[action] and (action == preferred or not leave_out(table, action, settings)):
                s.moves[alive] = action
                s.values[alive] = 0.0
                alive += 1
        rounds = 1
        while 1 << rounds < alive:
            rounds += 1
        played = 0
        for _ in range(rounds):
            each = max(1, playouts // (rounds * alive))
            for k in range(played, played + each):
                seed = seeds[k % count]
                bits = np.int64((seed & seed >> np.uint64(8)) >> np.uint64(40))  # each bit is set in one world of four
                for m in range(alive):
                    worlds[count] = worlds[k % count]
                    t.rng = t.rng + np.uint64(k)  # the same random numbers for every move
                    play(t, s.moves[m], None)
                    s.values[m] += play_out(t, me, table, bits, settings, s, model_scratch)
            for m in range(alive):
                s.values[m] += trust * each if s.moves[m] == preferred else 0.0
            played += each
            alive = keep_better_half(s.moves, s.values, alive)
        return s.moves[0]

    def search_some(
        tables: Tables,
        seats: Indices,
        masks: Mask,
        seeds: Seeds,
        start: int,
        stop: int,
        playouts: int,
        trust: float,
        settings: Any,
        worlds: Tables,
        s: _Scratch,
        model_scratch: Any,
        actions: Indices,
    ) -> int:
        for i in range(start, stop):
            actions[i] = search_one(
                tables[i], seats[i], masks[i], seeds[i], playouts, trust, settings, worlds, s, model_scratch
            )
            if actions[i] < 0:
                return i
        return -1

    return cached(search_some, name=f"{name}.{choose.__module__}.search_some", allocates=True)
