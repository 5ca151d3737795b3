"""The rules of Katz und Maus on one table, compiled.

Every function takes a table record ``t``; see ``rules.py``. `play` plays one legal action and then every forced move, so a
table always waits for a seat with at least two legal moves, or is over. No function allocates arrays, raises, or uses Python
objects.

The *kind* of a card is the index of its rank, 0 for the ace; kings, which are wild, have the last kind. So a stack of height h
wants the kind h. The talon is the end of the deck, from ``t.drawn`` on. Unsigned indices save the test for negative ones, to
which Numba would add the length.
"""

from __future__ import annotations

import numpy as np

from katz_env.core.event_log import NOBODY, emit, emit_cards
from katz_env.core.jit import compiled
from katz_env.core.packed import ONES, WORD, load_word, store_word
from katz_env.core.rng import shuffle
from katz_env.core.types import EventLog, Mask, Ranks, Scores, Table
from katz_env.games.katz_und_maus.rules import (
    COMPLETED,
    DEALT,
    DISCARDED,
    DREW,
    ENDED,
    FROM_DEPOSIT,
    FROM_HAND,
    FROM_STOCK,
    GREW,
    LED,
    OPENED,
    OVER,
    PASSED_ON,
    PLAYING,
    SHOWN,
)


@compiled
def fill_deal(t: Table) -> None:
    """Put the whole deck into a random order, drawn from the table's generator."""
    kinds, size = t.hidden.shape[0], t.deal.shape[0]
    for i in range(size):
        t.deal[i] = i % kinds
    shuffle(t, t.deal)


@compiled
def deal(t: Table, log: EventLog) -> None:
    """Deal stocks and hands from ``t.deal``, and play forced moves; the seat ``t.first_seat`` begins."""
    n, kinds = t.hand.shape
    t.hand[:] = 0
    t.hidden[:] = t.deal.shape[0] // kinds
    t.heights[:] = 0
    t.deposit_sizes[:] = 0
    t.buried[:] = 0
    t.deposit_tops[:] = 0
    t.deposited[:] = 0
    t.phase = PLAYING
    t.turn = t.first_seat
    t.drawn = n * int(t.stock_size)
    for seat in range(n):
        t.stock_sizes[seat] = t.stock_size
        t.hand_sizes[seat] = 0
        open_stock(t, seat, log)
    for seat in range(n):
        draw(t, seat, DEALT, log)
    if log is not None:
        emit(log, LED, t.turn)
    play_forced_moves(t, log)


@compiled(inline=True)
def open_stock(t: Table, seat: int, log: EventLog) -> None:
    """Turn up the next card of a stock that is not empty."""
    size = int(t.stock_size)
    kind = t.deal[np.uint64(seat * size + size - int(t.stock_sizes[np.uint64(seat)]))]
    t.stock_tops[np.uint64(seat)] = kind
    t.hidden[np.uint64(kind)] -= 1
    if log is not None:
        emit(log, OPENED, seat, t.stock_sizes[seat])
        emit_cards(log, kind, 1)


@compiled(inline=True)
def draw(t: Table, seat: int, event: int, log: EventLog) -> None:
    """Draw cards from the talon up to a full hand, as far as it goes; `event` is the kind of event that this is."""
    place, size = int(t.drawn), int(t.hand_sizes[np.uint64(seat)])
    most = min(int(t.hand_size), size + t.deal.shape[0] - place)
    if log is not None and size < most:
        emit(log, event, seat, most - size, seat)
    while size < most:
        kind = np.uint64(t.deal[np.uint64(place)])
        t.hand[np.uint64(seat), kind] += 1
        t.hidden[kind] -= 1
        if log is not None:
            emit_cards(log, kind, 1)
        size += 1
        place += 1
    t.hand_sizes[np.uint64(seat)] = most
    t.drawn = place


# --- moves ---------------------------------------------------------------------------------------------------------------


@compiled
def play(t: Table, action: int, log: EventLog) -> None:
    """Play the legal action `action` of the seat to act, then every forced move."""
    move(t, action, log)
    play_forced_moves(t, log)


@compiled(inline=True)
def move(t: Table, action: int, log: EventLog) -> None:
    """Play one legal action of the seat to act."""
    kinds, stacks, deposits = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1]
    first_from_deposit = kinds * stacks
    first_from_stock = first_from_deposit + deposits * stacks
    first_discard = first_from_stock + stacks
    seat, action = int(t.turn), int(action)
    if action >= first_discard:
        choice = action - first_discard
        if choice < kinds * deposits:
            lay_on_deposit(t, seat, choice // deposits, choice % deposits)
            if log is not None:
                emit(log, DISCARDED, seat, action)
                emit_cards(log, choice // deposits, 1)
        elif log is not None:
            emit(log, PASSED_ON, seat)
        end_turn(t, log)
    elif action >= first_from_stock:
        if log is not None:
            emit(log, FROM_STOCK, seat, action)
            emit_cards(log, t.stock_tops[seat], 1)
        raise_stack(t, action - first_from_stock, log)
        t.stock_sizes[np.uint64(seat)] -= 1
        if t.stock_sizes[np.uint64(seat)] == 0:
            t.stock_tops[np.uint64(seat)] = -1
            finish(t, 1, log)
        else:
            open_stock(t, seat, log)
    elif action >= first_from_deposit:
        choice = action - first_from_deposit
        kind = take_from_deposit(t, seat, choice // stacks)
        if log is not None:
            emit(log, FROM_DEPOSIT, seat, action)
            emit_cards(log, kind, 1)
        raise_stack(t, choice % stacks, log)
    else:
        kind = action // stacks
        t.hand[np.uint64(seat), np.uint64(kind)] -= 1
        t.hand_sizes[np.uint64(seat)] -= 1
        if log is not None:
            emit(log, FROM_HAND, seat, action)
            emit_cards(log, kind, 1)
        raise_stack(t, action % stacks, log)
        if t.hand_sizes[np.uint64(seat)] == 0:
            draw(t, seat, DREW, log)


@compiled(inline=True)
def raise_stack(t: Table, stack: int, log: EventLog) -> None:
    """Lay a card on a stack, and take the stack away when it is complete."""
    height, complete = int(t.heights[np.uint64(stack)]) + 1, t.hidden.shape[0] - 1
    t.heights[np.uint64(stack)] = 0 if height == complete else height
    if log is not None:
        emit(log, GREW, t.turn, height)
        if height == complete:
            emit(log, COMPLETED, t.turn, stack)


@compiled(inline=True)
def lay_on_deposit(t: Table, seat: int, kind: int, deposit: int) -> None:
    """Lay a hand card on a deposit; the card that this pushes out of the upper ones is counted as buried."""
    kinds, deposits = t.hidden.shape[0], t.deposit_sizes.shape[1]
    s, d = np.uint64(seat), np.uint64(deposit)
    t.hand[s, np.uint64(kind)] -= 1
    t.hand_sizes[s] -= 1
    size = t.deposit_sizes[s, d]
    t.deposited[s, d, np.uint64(size)] = kind + 1
    t.deposit_sizes[s, d] = size + 1
    upper = load_word(t.deposit_tops, (seat * deposits + deposit) * SHOWN, SHOWN)
    store_word(t.deposit_tops[s], deposit * SHOWN, upper >> 8 | (kind + 1) << 56)
    if upper & 127:
        t.buried[s, np.uint64(deposit * kinds + (upper & 127) - 1)] += 1


@compiled(inline=True)
def take_from_deposit(t: Table, seat: int, deposit: int) -> int:
    """Take the top card from a deposit, and return its kind."""
    kinds, deposits = t.hidden.shape[0], t.deposit_sizes.shape[1]
    s, d = np.uint64(seat), np.uint64(deposit)
    size = int(t.deposit_sizes[s, d]) - 1
    t.deposited[s, d, np.uint64(size)] = 0
    t.deposit_sizes[s, d] = size
    upper = load_word(t.deposit_tops, (seat * deposits + deposit) * SHOWN, SHOWN)
    lowest = 0
    if size >= SHOWN:
        lowest = int(t.deposited[s, d, np.uint64(size - SHOWN)])
        t.buried[s, np.uint64(deposit * kinds + lowest - 1)] -= 1
    store_word(t.deposit_tops[s], deposit * SHOWN, (upper & (1 << 56) - 1) << 8 | lowest)
    return (upper >> 56) - 1


@compiled(inline=True)
def end_turn(t: Table, log: EventLog) -> None:
    """Let the mover draw; then it is the other's turn, or the game ends because the talon is empty."""
    draw(t, int(t.turn), DREW, log)
    if t.drawn == t.deal.shape[0] and (t.turn != t.first_seat or t.ends_with_turn != 0):
        finish(t, 0, log)
    else:
        t.turn = 1 - t.turn


@compiled(inline=True)
def finish(t: Table, by_stock: int, log: EventLog) -> None:
    """End the game."""
    t.phase = OVER
    if log is not None:
        emit(log, ENDED, t.turn if by_stock else NOBODY, by_stock)


# --- legal moves ---------------------------------------------------------------------------------------------------------


@compiled
def play_forced_moves(t: Table, log: EventLog) -> None:
    """Play forced moves until the seat to act has at least two legal moves or the game is over."""
    deposits = t.deposit_sizes.shape[1]
    while t.phase == PLAYING:
        if deposits > 1 and t.merge_equal == 0 and t.hand_sizes[np.uint64(t.turn)] > 0:
            return  # the common case: a hand card goes on several deposits
        choices, only = count_moves(t)
        if choices > 1:
            return
        move(t, only, log)


@compiled(inline=True)
def can_choose_stack(t: Table, stack: int) -> bool:
    """Return whether moves to a stack are legal as far as symmetry goes."""
    if t.merge_equal != 0:
        for other in range(stack):
            if t.heights[other] == t.heights[stack]:
                return False
    return True


@compiled(inline=True)
def can_choose_deposit(t: Table, deposit: int) -> bool:
    """Return whether discards to a deposit are legal as far as symmetry goes."""
    if t.merge_equal != 0 and t.deposit_sizes[t.turn, deposit] == 0:
        for other in range(deposit):
            if t.deposit_sizes[t.turn, other] == 0:
                return False
    return True


@compiled(inline=True)
def fits(t: Table, kind: int, stack: int) -> bool:
    """Return whether a card of a kind, -1 for none, goes onto a stack."""
    return kind == t.heights[stack] or kind == t.hidden.shape[0] - 1


@compiled(inline=True)
def deposit_top(t: Table, seat: int, deposit: int) -> int:
    """Return the kind of the top card of a deposit, -1 if it is empty."""
    return int(t.deposit_tops[seat, np.uint64(deposit * SHOWN + SHOWN - 1)]) - 1


@compiled
def count_moves(t: Table) -> tuple[int, int]:
    """Return the number of legal moves of the seat to act (2 may stand for more) and one of their ids."""
    kinds, stacks, deposits, seat = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1], t.turn
    count, only = 0, -1
    for stack in range(stacks):
        if not can_choose_stack(t, stack):
            continue
        for kind in range(kinds):
            if t.hand[seat, kind] > 0 and fits(t, kind, stack):
                count, only = count + 1, stacks * kind + stack
        for deposit in range(deposits):
            if fits(t, deposit_top(t, seat, deposit), stack):
                count, only = count + 1, stacks * (kinds + deposit) + stack
        if fits(t, int(t.stock_tops[seat]), stack):
            count, only = count + 1, stacks * (kinds + deposits) + stack
    first_discard = stacks * (kinds + deposits + 1)
    for deposit in range(deposits):
        if count < 2 and can_choose_deposit(t, deposit):
            for kind in range(kinds):
                if t.hand[seat, kind] > 0:
                    count, only = count + 1, first_discard + deposits * kind + deposit
    if t.hand_sizes[seat] == 0 and t.drawn == t.deal.shape[0]:
        count, only = count + 1, first_discard + deposits * kinds
    return count, only


@compiled(inline=True)
def equal_bytes(word: int, byte: int) -> int:
    """Return a word with 1 in each byte where `word` has `byte`, else 0; all bytes are below 128."""
    return ((word ^ byte * ONES) + 127 * ONES >> 7 & ONES) ^ ONES


@compiled(inline=True)
def stack_choices(t: Table) -> int:
    """Return a word with 1 in the byte of each stack that `can_choose_stack`."""
    stacks = t.heights.shape[0]
    choices = ONES >> 8 * (8 - stacks)
    if t.merge_equal != 0:
        for stack in range(1, stacks):
            if not can_choose_stack(t, stack):
                choices &= ~(1 << 8 * stack)
    return choices


@compiled(inline=True)
def deposit_choices(t: Table) -> int:
    """Return a word with 1 in the byte of each deposit that `can_choose_deposit`."""
    deposits = t.deposit_sizes.shape[1]
    choices = ONES >> 8 * (8 - deposits)
    if t.merge_equal != 0:
        for deposit in range(1, deposits):
            if not can_choose_deposit(t, deposit):
                choices &= ~(1 << 8 * deposit)
    return choices


@compiled(inline=True)
def write_choices(mask: Mask, k: int, word: int, count: int, has_room: bool) -> int:
    """Write the first `count` bytes of a word to ``mask[k:]``, and return the place after them.

    If the mask `has_room` for a whole word the other bytes are written too, and must be overwritten.
    """
    if has_room:
        store_word(mask, k, word)
    else:
        for i in range(count):
            mask[k + i] = word >> 8 * i & 1 != 0
    return k + count


@compiled(inline=True)
def write_mask(t: Table, mask: Mask) -> None:
    """Fill `mask` ``(A,)`` with the legal actions of the seat to act.

    The ids of the moves of one card to all stacks, or to all deposits, are adjacent: they are written as words, the bytes of
    which are stacks or deposits.
    """
    kinds, stacks, deposits, seat = t.hidden.shape[0], t.heights.shape[0], t.deposit_sizes.shape[1], np.uint64(t.turn)
    wild = kinds - 1
    if t.phase != PLAYING:
        for action in range(stacks * (kinds + deposits + 1) + deposits * kinds + 1):
            mask[action] = False
        return
    for action in range(stacks * wild):
        mask[action] = False
    heights, choices = load_word(t.heights, 0, stacks), stack_choices(t)
    for stack in range(stacks):
        wanted = np.uint64(t.heights[np.uint64(stack)])
        mask[np.uint64(stacks) * wanted + np.uint64(stack)] = (t.hand[seat, wanted] > 0) & (choices >> 8 * stack & 1 != 0)
    has_room = stacks + deposits * kinds + 1 >= WORD
    k = write_choices(mask, stacks * wild, choices if t.hand[seat, np.uint64(wild)] > 0 else 0, stacks, has_room)
    for deposit in range(deposits):
        kind = deposit_top(t, seat, deposit)
        k = write_choices(mask, k, choices if kind == wild else equal_bytes(heights, kind & 127) & choices, stacks, has_room)
    kind = int(t.stock_tops[seat])
    k = write_choices(mask, k, choices if kind == wild else equal_bytes(heights, kind & 127) & choices, stacks, has_room)
    targets = deposit_choices(t)
    for card in range(kinds):
        word = targets if t.hand[seat, np.uint64(card)] > 0 else 0
        k = write_choices(mask, k, word, deposits, deposits * (kinds - card) + 1 >= WORD)
    mask[k] = (t.hand_sizes[seat] == 0) & (t.drawn == t.deal.shape[0])


@compiled
def write_scores(t: Table, scores: Scores, ranks: Ranks) -> None:
    """Write the final scores and ranks: the score is minus the number of cards left in the player's stock."""
    for seat in range(t.stock_sizes.shape[0]):
        scores[seat] = -t.stock_sizes[seat]
        ranks[seat] = -t.stock_sizes[seat]
