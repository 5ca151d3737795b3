"""The player ``greedy``: it takes tiles that count something for it as cheaply as it can, and gets rid of high cards otherwise.

It looks at the trick as it lies and at what the next tile counts. If that is something good, it plays the lowest card that
wins the trick as it lies (the highest if it leads), or its lowest card if none does. If it is not, it plays the highest card
that does not win, or its lowest card. Trumps count as higher than all other cards.
"""

from __future__ import annotations

from katz_agents.meow.trick import wins_now
from katz_env import Decision, Game
from katz_env.core.jit import compiled
from katz_env.core.types import Mask, Table
from katz_env.games.meow.rules import GREEN


def decision(game: Game) -> Decision:
    """Return the decision function of the player."""
    del game
    return Decision(decide)


@compiled
def decide(t: Table, seat: int, mask: Mask, draw: float, settings: tuple[()]) -> int:
    """Return the action of one seat at one table."""
    ranks = t.in_play.shape[0]
    wanted, leads = t.gain[seat] > 0, t.played_count == 0
    best, best_value = -1, -1000
    for action in range(mask.shape[0]):
        if not mask[action]:
            continue
        colour = action // ranks
        height = action - ranks * colour + (ranks if colour == GREEN else 0)
        value = -height  # by default the lowest card
        if leads:
            value = height if wanted else -height
        elif wins_now(t, colour, action - ranks * colour + 1):
            value += 500 if wanted else -500
        elif not wanted:
            value = height
        if value > best_value:
            best, best_value = action, value
    return best
