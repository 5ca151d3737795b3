"""No two moves share an action id: rules under which they would are refused."""

import itertools

import pytest

from katz_env import Katzenjammer, Rules
from katz_env.games.katzenjammer import ActionTable


def test_rules_with_more_values_than_a_bid_can_have_cards_are_refused_with_the_reason():
    message = "values is 8; with copies=2 it must be at most 4: a bid of different values must not name more cards than"
    with pytest.raises(ValueError, match=message):
        Rules(2, values=8, copies=2, set_size=2, hand_size=7)
    with pytest.raises(ValueError, match="values is 5; with copies=2 it must be at most 4"):
        Katzenjammer(3, values=5, copies=2, set_size=2, hand_size=1)
    assert Rules(2, values=4, copies=2, set_size=2, hand_size=2).values == 4


def test_every_bid_that_a_hand_can_pay_has_an_id_of_its_own():
    accepted = 0
    for values, copies, set_size in itertools.product(range(2, 9), range(2, 8), range(2, 9)):
        try:
            rules = Rules(2, values=values, copies=copies, set_size=set_size, hand_size=1)
        except ValueError:
            continue
        table, accepted = ActionTable(rules), accepted + 1
        bids = [(count, 0) for count in range(2, values + 1)]  # of different values, jokers among them
        bids += [(count, value) for count in range(1, 2 * copies + 1) for value in range(1, values + 1)]
        ids = [table.bid(*bid) for bid in bids]
        assert len(set(ids)) == len(ids)
        assert min(ids) >= 1
        assert max(ids) < table.first_pay_equal
        for bid, action in zip(bids, ids, strict=True):
            assert (table.decode(action).count, table.decode(action).value) == bid
    assert accepted > 50
