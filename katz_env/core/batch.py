"""The loops over many tables, built for each game from the functions that it defines on one table.

A game passes its compiled functions as `TableFunctions`. `loops_of` makes the loops as closures over them, so that a loop and
the rules are compiled into one function, once for each table layout, and kept on disk under the game's name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.event_log import begin_game, begin_step, count_events, end_game, log_of, note_decision, truncate
from katz_env.core.jit import cached, compiled
from katz_env.core.packed import prefetch_record, prefetch_row
from katz_env.core.rng import random_below
from katz_env.core.types import Counts, EventLog, Indices, Mask, Ranks, Rewards, Scores, Seeds, Table, Tables

WIN, SCORE = 0, 1
REWARDS = ("win", "score")
"""The reward schemes: 1 split among the winners minus 1/n for everybody, or the score. Compiled code uses `WIN` and `SCORE`."""

_PREFETCH = 8
"""The loop prefetches a mask this many tables before it writes the mask. Any number from 4 to 16 measured the same."""

_PREFETCH_TABLES = 3
"""The loop prefetches a table this many tables before it steps it; 6 measured no better, and large tables fill the cache."""

Function = Callable[..., Any]


class TableFunctions(NamedTuple):
    """What a game implements: compiled functions on one table record ``t``; see `katz_env.core.jit.compiled`.

    `log` is the event log of the table, or None; see `katz_env.core.event_log`.
    """

    fill_deal: Function
    """``fill_deal(t)`` draws everything that chance decides, except the first seat, from the table's generator into
    ``t.deal``."""
    deal: Function
    """``deal(t, log)`` starts a game from ``t.deal`` and ``t.first_seat`` and plays forced moves."""
    play: Function
    """``play(t, action, log)`` plays a legal action of the seat to act, then every forced move."""
    write_mask: Function
    """``write_mask(t, mask)`` fills `mask`, bool ``(A,)``, with the legal actions of the seat to act."""
    write_observation: Function
    """``write_observation(t, seat, out)`` fills `out`, int8 ``(D,)``, with what a seat sees."""
    write_state: Function
    """``write_state(t, seat, out)`` fills `out`, int8 ``(S,)``, with the perfect-information state, seats counted from
    `seat`."""
    write_scores: Function
    """``write_scores(t, scores, ranks)`` fills the `scores`, int16 ``(n,)``, and `ranks`, int32 ``(n,)``, of a finished
    table. The highest rank wins; equal ranks share the victory."""
    redact: Function
    """``redact(t, seat)`` wipes everything that a seat cannot know."""
    resample: Function
    """``resample(t, seat) -> bool`` fills a redacted table with a random world that `seat`, which is to act, cannot tell from
    the real one. It returns False if there is no such world, because the table cannot have come from a game."""
    renew: Function
    """``renew(t) -> bool`` recomputes the fields that follow from others. It returns False if the table cannot have come from a
    game."""


class StepOutputs(NamedTuple):
    """The arrays that a step fills; the first axis of each is the table."""

    observations: NDArray[np.int8]
    """``(N, D)``: what the seat to act sees."""
    action_masks: NDArray[np.bool_]
    """``(N, A)``: the legal actions of the seat to act."""
    turn: NDArray[np.int8]
    """``(N,)``: the seat to act."""
    rewards: NDArray[np.float32]
    """``(N, n)``: the rewards of the last step."""
    terminated: NDArray[np.bool_]
    """``(N,)``: whether a game ended in the last step, or had ended before and was not dealt anew."""
    scores: NDArray[np.int16]
    """``(N, n)``: the final scores of terminated games, zero elsewhere."""
    ranks: NDArray[np.int32]
    """``(N, n)``: the ranks of terminated games; the highest rank wins."""
    final_records: NDArray[Any]
    """``(N,)``: the last finished game of each table, as it ended."""


class Loops(NamedTuple):
    """The loops of a game. All but `deal_random` take the tables as a structured array `records`."""

    deal_random: Function
    """``deal_random(t, n, log)`` deals a random game, and deals again while the game ends before its first decision. It is a
    building block."""
    step_some: Function
    """``step_some(records, where, actions, start, stop, reward, autoreset, out, log)`` is `step` without the check, a building
    block."""
    deal: Function
    """``deal(records, where, deals, first_seats, n, log)`` deals the given games; negative entries are drawn."""
    refresh: Function
    """``refresh(records, where, reward, out)`` fills the outputs of tables that were dealt or restored."""
    step: Function
    """``step(records, where, actions, start, stop, legal, reward, autoreset, out, log) -> int`` plays ``actions[k]`` at table
    ``where[k]`` for k from start to stop. Unless `legal` says that all actions are legal, they are checked first: the index k
    of the first illegal action is returned and no table changes. Otherwise -1 is returned."""
    observe: Function
    """``observe(records, seats, out)`` writes the observation of ``seats[i]`` at each table into ``out[i]``."""
    state: Function
    """``state(records, seats, out)`` writes the perfect-information state of each table into ``out[i]``."""
    outcome: Function
    """``outcome(records, reward, rewards, scores, ranks)`` writes the results of finished tables; other rows stay unchanged."""
    redact: Function
    """``redact(records, seats)`` redacts each table for its seat, in place."""
    resample: Function
    """``resample(records, seats, seeds) -> int`` fills redacted tables with worlds, in place. It returns the index of the first
    table that has none, or -1."""
    renew: Function
    """``renew(records, mask, possible, num_legal)`` recomputes derived fields in place and writes, for each table, whether it
    is possible and how many legal moves it has; `mask` is scratch memory."""


@cached
def first_illegal(
    where: NDArray[np.int64], actions: NDArray[np.int64], masks: NDArray[np.bool_], terminated: NDArray[np.bool_]
) -> int:
    """Return the first k whose action is illegal at table ``where[k]``, or -1; finished tables ignore their actions."""
    size, count = where.shape[0], masks.shape[1]
    legal = True
    for k in range(size):  # the common case, that all are legal, is checked without branches
        action = np.uint64(actions[k])  # a negative one is very large now
        possible = action < np.uint64(count)
        # Unsigned indices save the test for negative ones, to which Numba would add the length.
        legal &= possible & masks[np.uint64(where[k]), action if possible else np.uint64(0)]
    if legal:
        return -1
    for k in range(size):
        i, action = where[k], actions[k]
        illegal = action < 0 or action >= count or not masks[i, action]
        if illegal and not (terminated[i] and not masks[i].any()):
            return k
    return -1


@compiled
def write_rewards(reward: int, scores: Scores, ranks: Ranks, rewards: Rewards) -> None:
    """Write the rewards of one finished game: the winners share the victory, or every seat gets its own score."""
    n, winners = ranks.shape[0], 0
    best = ranks[0]
    for seat in range(n):
        best = max(best, ranks[seat])
    for seat in range(n):
        winners += ranks[seat] == best
    for seat in range(n):
        if reward == SCORE:
            rewards[seat] = scores[seat]
        else:
            rewards[seat] = (1.0 / winners if ranks[seat] == best else 0.0) - 1.0 / n


@functools.cache
def loops_of(name: str, functions: TableFunctions, over: int) -> Loops:
    """Return the loops of a game.

    Parameters
    ----------
    name
        The name of the game, under which its compiled code is kept on disk.
    functions
        The game's functions on one table.
    over
        The phase of a finished table.
    """
    fill_deal, start, play, write_mask, write_observation, write_state, write_scores, hide, fill_world, complete = functions

    @compiled
    def deal_random(t: Table, n: int, log: EventLog) -> None:
        before = count_events(log)
        while True:
            t.first_seat = random_below(t, n)
            fill_deal(t)
            truncate(log, before)
            begin_game(log)
            start(t, log)
            if t.phase != over:
                return

    @compiled
    def write_outcome(t: Table, reward: int, rewards: Rewards, scores: Scores, ranks: Ranks) -> None:
        write_scores(t, scores, ranks)
        write_rewards(reward, scores, ranks, rewards)

    @compiled
    def step_some(
        records: Tables,
        where: Indices,
        actions: Indices,
        start: int,
        stop: int,
        reward: int,
        autoreset: bool,
        out: StepOutputs,
        log: EventLog,
    ) -> None:
        n = out.rewards.shape[1]
        for k in range(np.uint64(start), np.uint64(stop)):  # unsigned indices cannot be negative, which spares tests
            i = np.uint64(where[k])
            prefetch_row(out.action_masks, where[min(k + np.uint64(_PREFETCH), np.uint64(stop - 1))])
            prefetch_record(records, where[min(k + np.uint64(_PREFETCH_TABLES), np.uint64(stop - 1))])
            t, events = records[i], log_of(log, i)
            was_over = t.phase == over
            begin_step(events)
            if not was_over:
                note_decision(events, t.turn)
                play(t, actions[k], events)
            elif autoreset:
                deal_random(t, n, events)
            if t.phase != over:
                if out.terminated[i]:
                    out.terminated[i] = False
                    out.rewards[i, :] = 0
                    out.scores[i, :] = 0
            elif was_over:
                out.rewards[i, :] = 0  # the rewards were paid when the game ended
            else:
                out.terminated[i] = True
                end_game(events)
                write_outcome(t, reward, out.rewards[i], out.scores[i], out.ranks[i])
                out.final_records[i] = t
                if autoreset:
                    deal_random(t, n, events)
            write_mask(t, out.action_masks[i])
            write_observation(t, t.turn, out.observations[i])
            out.turn[i] = t.turn

    def entry(function: Function) -> Any:
        return cached(function, name=f"{name}.{function.__name__}")

    @entry
    def deal(records: Tables, where: Indices, deals: Counts, first_seats: Counts, n: int, log: EventLog) -> None:
        for k in range(where.shape[0]):
            t, events = records[where[k]], log_of(log, where[k])
            begin_step(events)
            given = True
            for place in range(deals.shape[1]):
                given &= deals[k, place] >= 0
            while True:
                t.first_seat = first_seats[k] if first_seats[k] >= 0 else random_below(t, n)
                if not given:
                    fill_deal(t)
                for place in range(deals.shape[1]):
                    if deals[k, place] >= 0:
                        t.deal[place] = deals[k, place]
                truncate(events, 0)
                begin_game(events)
                start(t, events)
                if given or t.phase != over:
                    break

    @entry
    def refresh(records: Tables, where: Indices, reward: int, out: StepOutputs) -> None:
        for k in range(where.shape[0]):
            i = where[k]
            t = records[i]
            out.terminated[i] = t.phase == over
            out.rewards[i, :] = 0
            out.scores[i, :] = 0
            if out.terminated[i]:
                write_outcome(t, reward, out.rewards[i], out.scores[i], out.ranks[i])
                out.final_records[i] = t
            write_mask(t, out.action_masks[i])
            write_observation(t, t.turn, out.observations[i])
            out.turn[i] = t.turn

    @entry
    def step(
        records: Tables,
        where: Indices,
        actions: Indices,
        start: int,
        stop: int,
        legal: bool,
        reward: int,
        autoreset: bool,
        out: StepOutputs,
        log: EventLog,
    ) -> int:
        if not legal:
            illegal = first_illegal(where, actions, out.action_masks, out.terminated)
            if illegal >= 0:
                return illegal
        step_some(records, where, actions, start, stop, reward, autoreset, out, log)
        return -1

    @entry
    def observe(records: Tables, seats: Indices, out: Counts) -> None:
        for i in range(records.shape[0]):
            write_observation(records[i], seats[i], out[i])

    @entry
    def state(records: Tables, seats: Indices, out: Counts) -> None:
        for i in range(records.shape[0]):
            write_state(records[i], seats[i], out[i])

    @entry
    def outcome(records: Tables, reward: int, rewards: Rewards, scores: Scores, ranks: Ranks) -> None:
        for i in range(records.shape[0]):
            if records[i].phase == over:
                write_outcome(records[i], reward, rewards[i], scores[i], ranks[i])

    @entry
    def redact(records: Tables, seats: Indices) -> None:
        for i in range(records.shape[0]):
            hide(records[i], seats[i])

    @entry
    def resample(records: Tables, seats: Indices, seeds: Seeds) -> int:
        for i in range(records.shape[0]):
            records[i].rng = seeds[i]
            if not fill_world(records[i], seats[i]):
                return i
        return -1

    @entry
    def renew(records: Tables, mask: Mask, possible: Mask, num_legal: Indices) -> None:
        for i in range(records.shape[0]):
            possible[i] = complete(records[i])
            write_mask(records[i], mask)
            count = 0
            for action in range(mask.shape[0]):
                count += mask[action]
            num_legal[i] = count

    return Loops(deal_random, step_some, deal, refresh, step, observe, state, outcome, redact, resample, renew)
