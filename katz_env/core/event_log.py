"""The event log: what happened at a table, in order, and who may see it. Commentary is written from it.

The compiled functions of a game call `emit` where something happens at the table, unless their log is None because nobody
asked for events; then the compiler removes the calls. A forced move looks like a chosen one, because both go through the same
function of the game, and no event says which seat had a decision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from katz_env.core.jit import compiled

EVERYONE = -1
"""In ``seen_by``: every seat may see the cards of the event."""

CARD_SCALE = 0.1
"""The factor on the counts of cards in a `history`."""

LARGEST_COUNT = CARD_SCALE * 127
"""The largest value for cards in a `history`."""

NOBODY = -1
"""In ``seat``: the event belongs to no seat."""


class Log(NamedTuple):
    """The latest events of many tables, each in a ring buffer; without the first axis, those of one table.

    An event is counted from the first one of its table. Event k lies at the index ``k % room`` until later ones overwrite it.

    Attributes
    ----------
    events : structured array (N, room)
        The events; see `event_dtype`.
    counts : int64 (N, 1)
        The number of events in the last step or deal.
    before : int64 (N, 1)
        The number of events before the last step or deal.
    game_start : int64 (N, 1)
        The number of events before the current game.
    finished : int64 (N, 2)
        The numbers of events before the last finished game, and before its end.
    decided : int64 (N, n)
        The number of events before each seat's last decision in the current game, or before the game.
    """

    events: NDArray[Any]
    counts: NDArray[np.int64]
    before: NDArray[np.int64]
    game_start: NDArray[np.int64]
    finished: NDArray[np.int64]
    decided: NDArray[np.int64]


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


def new_log(num_tables: int, room: int, width: int, num_players: int) -> Log:
    """Return an empty log for `num_tables` tables that keeps `room` events of each; see `event_dtype` for `width`."""
    counts = [np.zeros((num_tables, columns), np.int64) for columns in (1, 1, 1, 2, num_players)]
    return Log(np.zeros((num_tables, room), event_dtype(width)), *counts)


@compiled(inline=True)
def log_of(log: Log | None, i: int) -> Log | None:
    """Return the log of table `i`, or None without a log."""
    if log is None:
        return None
    return Log(log.events[i], log.counts[i], log.before[i], log.game_start[i], log.finished[i], log.decided[i])


@compiled(inline=True)
def begin_step(log: Log | None) -> None:
    """Begin a step or a deal in the log of one table."""
    if log is not None:
        log.before[0] += log.counts[0]
        log.counts[0] = 0


@compiled(inline=True)
def begin_game(log: Log | None) -> None:
    """Begin a game in the log of one table."""
    if log is not None:
        log.game_start[0] = log.before[0] + log.counts[0]
        for seat in range(log.decided.shape[0]):
            log.decided[seat] = log.game_start[0]


@compiled(inline=True)
def end_game(log: Log | None) -> None:
    """End a game in the log of one table."""
    if log is not None:
        log.finished[0] = log.game_start[0]
        log.finished[1] = log.before[0] + log.counts[0]


@compiled(inline=True)
def note_decision(log: Log | None, seat: int) -> None:
    """Note in the log of one table that the events which follow are those since the last decision of a seat."""
    if log is not None:
        log.decided[seat] = log.before[0] + log.counts[0]


@compiled(inline=True)
def count_events(log: Log | None) -> int:
    """Return the number of events of the last step in the log of one table; 0 without a log."""
    if log is not None:
        return log.counts[0]
    return 0


@compiled(inline=True)
def truncate(log: Log | None, count: int) -> None:
    """Keep only the first `count` events of the last step in the log of one table."""
    if log is not None:
        log.counts[0] = count


@compiled(inline=True)
def emit(log: Log, kind: int, seat: int, number: int = 0, seen_by: int = EVERYONE) -> None:
    """Append an event without cards to the log of one table. Events beyond the log's room are counted, but not written.

    Call this under ``if log is not None``: the compiler then removes the call where nobody asked for events.
    """
    k = log.counts[0]
    if k < log.events.shape[0]:
        event = log.events[(log.before[0] + k) % log.events.shape[0]]
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
        log.events[(log.before[0] + k) % log.events.shape[0]].cards[card] += count


SINCE = ("step", "decision", "game")
"""From where on events are read: the last step or deal, the last decision of a seat, the beginning of its game."""


def read(log: Log, table: int, seat: int | None, since: str = "step") -> NDArray[Any]:
    """Return a copy of the events at a table as a seat may see them, a structured array ``(k,)``.

    Parameters
    ----------
    log
        The log of many tables.
    table
        The index of the table.
    seat
        The observing seat; the counts of cards that it may not see are zero. None sees all cards.
    since
        One of `SINCE`.

    Raises
    ------
    ValueError
        If there were more events since then than the log keeps.
    RuntimeError
        If there were more events in one step than the log has room for, because the game's `max_events` is too small.
    """
    room, count = log.events.shape[1], int(log.counts[table, 0])
    if count > room:
        raise RuntimeError(f"a step had {count} events; the game states at most {room}")
    end = int(log.before[table, 0]) + count
    start = {"step": log.before[table, 0], "game": log.game_start[table, 0], "decision": log.decided[table, seat or 0]}[since]
    if end - start > room:
        raise ValueError(f"there were {end - start} events since then, and {room} are kept; ask for a longer history")
    return _seen(log.events[table, np.arange(start, end) % room], seat)


def _seen(events: NDArray[Any], seats: ArrayLike | None) -> NDArray[Any]:
    """Wipe the cards that the observing seats may not see from events; None sees all."""
    if seats is not None:
        events["cards"][(events["seen_by"] != EVERYONE) & (events["seen_by"] != seats)] = 0
    return events


def history_width(num_kinds: int, num_players: int, width: int) -> int:
    """Return the number of values that describe an event to a network; see `history`."""
    return num_kinds + num_players + 1 + width


def history(
    log: Log, where: NDArray[np.int64], seats: NDArray[np.int64], length: int, game: tuple[int, int], finished: bool
) -> NDArray[np.float32]:
    """Return the last events of a game at some tables as one seat sees them, float32 ``(k, length, W)``.

    The latest event is the last one; where there are fewer, the first rows are zero. An event is described by its kind
    (one-hot), its seat, counted from the observer (one-hot; none if it belongs to no seat), its number divided by the number of
    actions and clipped to [-1, 1], and its card counts times `CARD_SCALE`.

    Parameters
    ----------
    log
        The log.
    where, seats
        The tables and the observing seats, ``(k,)``.
    length
        The number of events.
    game
        The number of kinds of events, and of action ids.
    finished
        Whether to tell of the last finished game instead of the current one.
    """
    room, n = log.events.shape[1], log.decided.shape[1]
    num_kinds, num_actions = game
    newest = log.before[where] + log.counts[where]
    starts, ends = (log.finished[where, :1], log.finished[where, 1:]) if finished else (log.game_start[where], newest)
    numbers = ends + np.arange(-length, 0)  # of the events, (k, length)
    known = (numbers >= starts) & (numbers >= newest - room)
    events = _seen(log.events[where[:, None], numbers % room], seats[:, None])
    away = (events["seat"] - seats[:, None]) % n
    parts = (
        events["kind"][..., None] == np.arange(num_kinds),
        (away[..., None] == np.arange(n)) & (events["seat"] != NOBODY)[..., None],
        np.clip(events["number"] / num_actions, -1, 1)[..., None],
        events["cards"] * CARD_SCALE,
    )
    return np.where(known[..., None], np.concatenate(parts, axis=2), 0).astype(np.float32)
