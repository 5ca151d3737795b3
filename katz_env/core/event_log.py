"""The event log: what happened at a table, in order, and who may see it. Commentary is written from it.

The compiled functions of a game call `emit` where something happens at the table, unless their log is None because nobody
asked for events; then the compiler removes the calls. A forced move looks like a chosen one, because both go through the same
function of the game, and no event says which seat had a decision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katz_env.core.jit import compiled

EVERYONE = -1
"""In ``seen_by``: every seat may see the cards of the event."""

NOBODY = -1
"""In ``seat``: the event belongs to no seat."""


class Log(NamedTuple):
    """The events of the last step or deal of many tables; without the first axis, those of one table.

    Attributes
    ----------
    events : structured array (N, most events)
        The events; see `event_dtype`.
    counts : int64 (N, 1)
        The number of events at each table.
    """

    events: NDArray[Any]
    counts: NDArray[np.int64]


def event_dtype(width: int) -> np.dtype[Any]:
    """Return the dtype of one event.

    Parameters
    ----------
    width
        The number of kinds of cards that an event of the game counts.
    """
    fields = [
        ("kind", np.int8),  # what happened, an index into the game's `event_kinds`
        ("seat", np.int8),  # the seat that the event belongs to, -1 if none
        ("seen_by", np.int8),  # the seat that sees the cards, -1 if everyone does; that the event happened is public
        ("number", np.int16),  # a number whose meaning depends on the kind, such as an action id
        ("cards", np.int8, (width,)),  # how many cards of each kind
    ]
    return np.dtype((np.record, np.dtype(fields)))


def new_log(num_tables: int, most: int, width: int) -> Log:
    """Return an empty log for `num_tables` tables, with room for `most` events at each; see `event_dtype` for `width`."""
    return Log(np.zeros((num_tables, most), event_dtype(width)), np.zeros((num_tables, 1), np.int64))


@compiled(inline=True)
def log_of(log: Log | None, i: int) -> Log | None:
    """Return the log of table `i`, or None without a log."""
    if log is None:
        return None
    return Log(log.events[i], log.counts[i])


@compiled(inline=True)
def count_events(log: Log | None) -> int:
    """Return the number of events in the log of one table; 0 without a log."""
    if log is not None:
        return log.counts[0]
    return 0


@compiled(inline=True)
def truncate(log: Log | None, count: int) -> None:
    """Keep only the first `count` events in the log of one table."""
    if log is not None:
        log.counts[0] = count


@compiled(inline=True)
def emit(log: Log, kind: int, seat: int, number: int = 0, seen_by: int = EVERYONE) -> None:
    """Append an event without cards to the log of one table. Events beyond the log's room are counted, but not written.

    Call this under ``if log is not None``: the compiler then removes the call where nobody asked for events.
    """
    k = log.counts[0]
    if k < log.events.shape[0]:
        event = log.events[k]
        event.kind = kind
        event.seat = seat
        event.number = number
        event.seen_by = seen_by
        for card in range(event.cards.shape[0]):
            event.cards[card] = 0
    log.counts[0] = k + 1


@compiled(inline=True)
def emit_cards(log: Log, card: int, count: int) -> None:
    """Add `count` cards of the kind `card` to the last event in the log of one table; call it under the same condition."""
    k = log.counts[0] - 1
    if k < log.events.shape[0]:
        log.events[k].cards[card] += count


def read(log: Log, table: int, seat: int | None) -> NDArray[Any]:
    """Return a copy of the events at a table as a seat may see them, a structured array ``(k,)``.

    Parameters
    ----------
    log
        The log of many tables.
    table
        The index of the table.
    seat
        The observing seat; the counts of cards that it may not see are zero. None sees all cards.

    Raises
    ------
    RuntimeError
        If there were more events than the log has room for, because the game's `max_events` is too small.
    """
    count, room = int(log.counts[table, 0]), log.events.shape[1]
    if count > room:
        raise RuntimeError(f"a step had {count} events; the game states at most {room}")
    events = log.events[table, :count].copy()
    if seat is not None:
        hidden = (events["seen_by"] != EVERYONE) & (events["seen_by"] != seat)
        events["cards"][hidden] = 0
    return events
