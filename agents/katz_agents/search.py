"""Monte Carlo search over hidden worlds: tries the legal moves in re-dealt worlds and plays these out with a quick player.

For every decision the hidden cards are re-dealt consistently with all that the seat knows, the bids of the auction included.
A playout goes on to the next reveal, where a small network judges it (see ``chance.py``); without a network, for unusual rules,
it goes on to the end of the game. Sequential halving (Karnin, Koren, Somekh 2013, "Almost optimal exploration in multi-armed
bandits") gives more playouts to better moves: in each round every surviving move is played out equally often, in the same
worlds, and the better half survives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_agents import chance, greedy, heuristic
from katz_env import Agent, View
from katz_env.core.game import check_integer
from katz_env.core.linked import linked
from katz_env.core.threads import MAX_THREADS, available_cores, in_threads
from katz_env.katzenjammer import Katzenjammer, engine

REDEAL_TRIES = 100  # rejections before a world is repaired instead


class Search(Agent):
    """Chooses the move with the best mean reward over playouts in possible worlds.

    In playouts the seat plays on like `heuristic`. Who the others are is unknown: in each world each of them plays like
    `heuristic` or, once in four times, like `greedy`.

    Parameters
    ----------
    playouts
        Playouts for one decision, shared by its legal moves.
    worlds
        Different worlds that are dealt for one decision.
    num_threads
        Threads that share the tables of a view; None for all available cores. The moves do not depend on it.
    """

    name = "search"

    def __init__(self, playouts: int = 1000, worlds: int = 250, num_threads: int | None = None) -> None:
        check_integer("playouts", playouts, 1, 10**9)
        check_integer("worlds", worlds, 1, 10**6)
        if num_threads is not None:
            check_integer("num_threads", num_threads, 1, MAX_THREADS)
        self.playouts, self.worlds = playouts, worlds
        self.num_threads = num_threads or available_cores()

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for every table."""
        if not isinstance(view.game, Katzenjammer):
            raise ValueError(f"search plays Katzenjammer Blues, not {view.game!r}")
        actions = np.empty(len(view), np.int64)
        seeds = view.rng.integers(0, 2**64, (len(view), self.worlds), np.uint64)
        network = chance.load_network(view.game)
        players = (heuristic.Weights(), *greedy.card_counts(view.game.rules.values))

        def search(start: int, stop: int) -> None:
            scratch = view.game.new_tables(self.worlds + 1)
            failed = _search_many(
                view.tables,
                view.seats,
                view.action_masks,
                seeds,
                start,
                stop,
                self.playouts,
                players,
                network,
                scratch,
                actions,
            )
            if failed >= 0:
                raise ValueError(f"table {failed} has no possible world: some bid of its auction cannot be paid")

        in_threads(search, len(view), self.num_threads)
        return actions


class _Buffers(NamedTuple):
    """Scratch memory of one thread."""

    mask: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    scores: NDArray[np.int16]
    features: NDArray[np.int8]
    hidden1: NDArray[np.float32]
    hidden2: NDArray[np.float32]


@linked(engine, greedy, heuristic, chance)
def _playout(t: Any, seat: int, position: int, coins: int, players: Any, network: Any, b: Any) -> float:
    """Play the table on; the win share that `seat` gets, or may expect when more than `position` cards have left the deck.

    The players see what lies in their hands in this world; `coins` has a bit for each seat, set where greedy sits.
    """
    weights, gains, costs = players
    while t.phase != engine.OVER:
        if t.position != position and len(b.hidden1) > 0:
            chance.write_features(t, seat, b.features)
            return chance.chance_to_win(b.features, network, b.hidden1, b.hidden2)
        engine.write_mask(t, b.mask)
        if t.turn != seat and coins >> t.turn & 1:
            action = greedy.decide(t, t.turn, b.mask, gains, costs)
        else:
            action = heuristic.decide(t, t.turn, b.mask, weights)
        engine.play(t, action)
    engine.write_outcome(t, engine.WIN, b.rewards, b.scores)
    return b.rewards[seat] + 1.0 / len(b.rewards)


@linked(engine, greedy, heuristic, chance)
def _search(
    table: Any,
    seat: int,
    mask: Any,
    seeds: Any,
    playouts: int,
    players: Any,
    network: Any,
    scratch: Any,
    moves: Any,
    values: Any,
    buffers: Any,
) -> int:
    """The best move by sequential halving, or -1 if the table has no possible world; `scratch` holds worlds and one table."""
    worlds, t = scratch.shape[0] - 1, scratch[scratch.shape[0] - 1]
    position = int(table.position)
    for k in range(worlds):
        scratch[k] = table
        if not engine.redeal(scratch[k], seat, seeds[k], REDEAL_TRIES):
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
            coins = np.int64((seeds[k % worlds] & seeds[k % worlds] >> np.uint64(8)) >> np.uint64(40))  # a bit in four is set
            for m in range(alive):
                scratch[worlds] = scratch[k % worlds]
                t.rng = t.rng + np.uint64(k)  # the same chance for every move
                engine.play(t, moves[m])
                values[m] += _playout(t, seat, position, coins, players, network, buffers)
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


@linked(engine, greedy, heuristic, chance)
def _search_many(
    tables: Any,
    seats: Any,
    masks: Any,
    seeds: Any,
    start: int,
    stop: int,
    playouts: int,
    players: Any,
    network: Any,
    scratch: Any,
    actions: Any,
) -> int:
    """Search the tables start..stop; the index of a table without a possible world, or -1."""
    (n, kinds), size = tables[0].hand.shape, masks.shape[1]
    moves, values = np.empty(size, np.int64), np.empty(size, np.float64)
    buffers = _Buffers(
        np.empty(size, np.bool_),
        np.empty(n, np.float32),
        np.empty(n, np.int16),
        np.empty(chance.num_features(n, kinds), np.int8),
        np.empty(len(network.biases1), np.float32),
        np.empty(len(network.biases2), np.float32),
    )
    for i in range(start, stop):
        actions[i] = _search(
            tables[i], seats[i], masks[i], seeds[i], playouts, players, network, scratch, moves, values, buffers
        )
        if actions[i] < 0:
            return i
    return -1
