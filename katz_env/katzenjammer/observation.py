"""What a seat sees, as one list of named parts.

The list makes the flat vector, the named views (`katz_env.core.game.named`) and the tables in the documentation. The engine
writes the parts in this order; a test compares every part with the table. Seats are counted from the observer: index 0 is
the observer itself, index 1 its left neighbour.
"""

from __future__ import annotations

from katz_env.core.game import Part
from katz_env.katzenjammer.rules import Rules


def observation_parts(rules: Rules) -> tuple[Part, ...]:
    """The parts of an observation, int8 counts before scaling."""
    n, kinds = rules.num_players, rules.values + 1
    return (
        Part("hand", (kinds,), 1 / 2, "own cards by kind (values ascending, jokers last)"),
        Part("row", (kinds,), 1, "the revealed row by kind"),
        Part("discard", (kinds,), 1 / 8, "the discard pile by kind"),
        Part("draw_pile", (1,), 1 / 32, "cards left in the draw pile"),
        Part("supply", (1,), 1 / 10, "mice left"),
        Part("phase", (4,), 1, "one-hot: auction, payment, foursomes, over"),
        Part("bid_number", (1,), 1 / 3, "cards of the highest bid, 0 without a bid"),
        Part("bid_kind", (kinds,), 1, "one-hot: different values, then each value; all zero without a bid"),
        Part("bid_rank", (1,), 1 / 24, "the highest bid's action id, its place in the order of bids; at most 127"),
        Part("hand_sizes", (n,), 1 / 8, "for each seat: cards in hand"),
        Part("mice", (n,), 1 / 8, "for each seat: mice won"),
        Part("displayed", (n,), 1 / 4, "for each seat: displayed jokers"),
        Part("passed", (n,), 1, "for each seat: 1 if out of this auction"),
        Part("bandleader", (n,), 1, "one-hot: the bandleader's seat"),
        Part("high_bidder", (n,), 1, "one-hot: the seat of the highest bid; all zero without a bid"),
        Part("turn", (n,), 1, "one-hot: the seat to act (the last to have acted when the game is over)"),
        Part(
            "claims", (n, kinds), 1 / 3, "for each seat: the largest number bid in this auction, by kind of bid (0: different)"
        ),
        Part("known", (n, kinds), 1 / 2, "for each seat: cards that everybody knows to be in the hand, by kind"),
    )


def state_parts(rules: Rules) -> tuple[Part, ...]:
    """The parts of the perfect-information state: an observation, and what is hidden from it."""
    n, kinds = rules.num_players, rules.values + 1
    pile = rules.num_cards - n * rules.hand_size
    return (
        *observation_parts(rules),
        Part("hands", (n, kinds), 1 / 2, "for each seat: cards by kind"),
        Part("pile", (kinds,), 1 / 8, "the draw pile by kind"),
        Part("next_cards", (pile,), 1 / kinds, "the draw pile in its order, the next card first: kind + 1, 0 past its end"),
    )
