"""Monte Carlo search over hidden worlds: tries the legal moves in re-dealt worlds and plays these out with a quick player.

For every decision the hidden cards are re-dealt consistently with all that the seat knows, the bids of the auction included.
Sequential halving (Karnin, Koren, Somekh 2013, "Almost optimal exploration in multi-armed bandits") gives more playouts to
better moves: in each round every surviving move is played out equally often, in the same worlds with the same chance, and the
better half survives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katz_agents import greedy
from katz_env import Agent, View
from katz_env.core.linked import linked
from katz_env.core.threads import available_cores, in_threads
from katz_env.katzenjammer import Katzenjammer, engine

JOKER_WORTH = 2.0  # to the players in playouts; another card is worth its value
REDEAL_TRIES = 100  # rejections before a world is repaired instead


class Search(Agent):
    """Chooses the move with the best mean reward over playouts in possible worlds.

    Parameters
    ----------
    playouts
        Playouts for one decision, shared by its legal moves.
    worlds
        Different worlds that are dealt for one decision.
    noise
        The part of the moves in playouts that is random. The others are those of the greedy player, to whom a card counts as
        much as its value: a stronger player than the one that counts all cards alike.
    num_threads
        Threads that share the tables of a view; None for all available cores. The moves do not depend on it.
    """

    name = "search"

    def __init__(self, playouts: int = 1000, worlds: int = 100, noise: float = 0.1, num_threads: int | None = None) -> None:
        for name, value, high in (("playouts", playouts, 10**9), ("worlds", worlds, 10**6), ("num_threads", num_threads, 1024)):
            if value is None and name == "num_threads":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
                raise ValueError(f"{name} is {value!r}; it must be an integer from 1 to {high}")
        if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not 0 <= noise <= 1:
            raise ValueError(f"noise is {noise!r}; it must be a number from 0 to 1")
        self.playouts, self.worlds, self.noise = playouts, worlds, float(noise)
        self.num_threads = num_threads or available_cores()

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        if not isinstance(view.game, Katzenjammer):
            raise ValueError(f"search plays Katzenjammer Blues, not {view.game!r}")
        actions = np.empty(len(view), np.int64)
        seeds = view.rng.integers(0, 2**64, (len(view), self.worlds), np.uint64)
        worth = np.append(np.arange(1.0, view.game.rules.values + 1), JOKER_WORTH)
        noise = round(self.noise * 1024)

        def search(start: int, stop: int) -> None:
            scratch = view.game.new_tables(self.worlds + 1)
            failed = _search_many(
                view.tables, view.seats, view.action_masks, seeds, start, stop, self.playouts, noise, worth, scratch, actions
            )
            if failed >= 0:
                raise ValueError(f"table {failed} has no possible world: some bid of its auction cannot be paid")

        in_threads(search, len(view), self.num_threads)
        return actions


@linked(engine, greedy)
def _playout(t: Any, seat: int, noise: int, worth: Any, mask: Any, rewards: Any, scores: Any) -> float:
    """Play the table to its end; the reward of `seat`. The players see what lies in their hands in this world."""
    while t.phase != engine.OVER:
        engine.write_mask(t, mask)
        if noise > 0 and engine.random_below(t, 1024) < noise:
            action = _random_move(t, mask)
        else:
            action = greedy.decide(t, t.turn, mask, worth, worth)
        engine.play(t, action)
    engine.write_outcome(t, engine.WIN, rewards, scores)
    return rewards[seat]


@linked(engine)
def _random_move(t: Any, mask: Any) -> int:
    left = engine.random_below(t, mask.sum())
    for action in range(mask.shape[0]):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return 0


@linked(engine, greedy)
def _search(
    table: Any,
    seat: int,
    mask: Any,
    seeds: Any,
    playouts: int,
    noise: int,
    worth: Any,
    scratch: Any,
    moves: Any,
    values: Any,
    buffers: Any,
) -> int:
    """The best move by sequential halving, or -1 if the table has no possible world; `scratch` holds worlds and one table."""
    worlds, t = scratch.shape[0] - 1, scratch[scratch.shape[0] - 1]
    playout_mask, rewards, scores = buffers
    for w in range(worlds):
        scratch[w] = table
        if not engine.redeal(scratch[w], seat, seeds[w], REDEAL_TRIES):
            return -1
    alive = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            moves[alive] = action
            values[alive] = 0.0
            alive += 1
    rounds = 1
    while 1 << rounds < alive:
        rounds += 1
    played = 0
    for _ in range(rounds):
        each = max(1, playouts // (rounds * alive))
        for k in range(played, played + each):
            for m in range(alive):
                scratch[worlds] = scratch[k % worlds]
                t.rng = t.rng + np.uint64(k)  # the same chance for every move
                engine.play(t, moves[m])
                values[m] += _playout(t, seat, noise, worth, playout_mask, rewards, scores)
        played += each
        alive = _keep_better_half(moves, values, alive)
    return moves[0]


@linked()
def _keep_better_half(moves: Any, values: Any, alive: int) -> int:
    """Sort the moves by value, best first (ties by id), and return how many are in the better half."""
    for i in range(1, alive):
        move, value = moves[i], values[i]
        j = i
        while j > 0 and (values[j - 1] < value or (values[j - 1] == value and moves[j - 1] > move)):
            moves[j], values[j] = moves[j - 1], values[j - 1]
            j -= 1
        moves[j], values[j] = move, value
    return (alive + 1) // 2


@linked(engine, greedy)
def _search_many(
    tables: Any,
    seats: Any,
    masks: Any,
    seeds: Any,
    start: int,
    stop: int,
    playouts: int,
    noise: int,
    worth: Any,
    scratch: Any,
    actions: Any,
) -> int:
    """Search the tables start..stop; the index of a table without a possible world, or -1."""
    n, size = tables[0].mice.shape[0], masks.shape[1]
    moves, values = np.empty(size, np.int64), np.empty(size, np.float64)
    buffers = (np.empty(size, np.bool_), np.empty(n, np.float32), np.empty(n, np.int16))
    for i in range(start, stop):
        actions[i] = _search(tables[i], seats[i], masks[i], seeds[i], playouts, noise, worth, scratch, moves, values, buffers)
        if actions[i] < 0:
            return i
    return -1
