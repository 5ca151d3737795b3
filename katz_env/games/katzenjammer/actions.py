"""The action table: ids, names and cards of actions. With the printed rules an action is exactly one byte.

Python code takes all ids from `ActionTable`. The engine computes the same ids from the sizes of a record, and a test compares
the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from katz_env.core.validation import is_integer
from katz_env.games.katzenjammer.rules import Rules

PASS = 0


def card_characters(values: int) -> str:
    """Return the characters of the cards by kind: ``12345J`` in the printed game."""
    return "123456789"[:values] + "J"


@dataclass(frozen=True)
class Action:
    """The meaning of one action id.

    `kind` is ``pass``, ``bid``, ``pay_equal``, ``pay_different``, ``four``, ``four_free`` or ``done``; numbers that do not
    apply are zero.
    """

    id: int
    kind: str
    count: int = 0  # the number of cards of a bid
    value: int = 0  # the value of a bid or a foursome, 1..values; 0 in a bid means different values
    jokers: int = 0  # the jokers put down by pay_equal or a foursome
    value_set: int = 0  # the values put down by pay_different: bit v-1 stands for value v

    @property
    def name(self) -> str:
        """The name of a bid, ``pass`` or ``done``; `ActionTable.name` also names payments and foursomes."""
        if self.kind == "bid":
            return f"{self.count}d" if self.value == 0 else f"{self.count}x{self.value}"
        return self.kind


class ActionTable:
    """All action ids of one set of rules, in order.

    Attributes
    ----------
    kinds : int
        The number of kinds of cards, jokers included.
    first_pay_equal, first_pay_different, first_four, four_free, done : int
        The first id of each group; 0 is ``pass``, and bids begin at 1.
    size : int
        The number of ids; 256 with the printed rules.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.kinds = rules.values + 1
        self.first_pay_equal = 1 + 2 * rules.copies * self.kinds
        self.first_pay_different = self.first_pay_equal + rules.copies + 1
        self.first_four = self.first_pay_different + 2**rules.values
        self.four_free = self.first_four + rules.values * (rules.set_size + 1)
        self.done = self.four_free + 1
        self.size = self.done + 1

    def bid(self, count: int, value: int) -> int:
        """Return the id of a bid of `count` cards of `value`, or of different values if `value` is 0."""
        return self.kinds * (count - 1) + value + 1

    def decode(self, action: int) -> Action:
        """Return the meaning of an id.

        Raises
        ------
        ValueError
            If the id is not in 0..size-1.
        """
        if not is_integer(action) or not 0 <= action < self.size:
            raise ValueError(f"action {action} does not exist; action ids are 0 to {self.size - 1}")
        if action == PASS:
            return Action(action, "pass")
        if action < self.first_pay_equal:
            count, value = divmod(action - 1, self.kinds)
            return Action(action, "bid", count=count + 1, value=value)
        if action < self.first_pay_different:
            return Action(action, "pay_equal", jokers=action - self.first_pay_equal)
        if action < self.first_four:
            return Action(action, "pay_different", value_set=action - self.first_pay_different)
        if action < self.four_free:
            value, jokers = divmod(action - self.first_four, self.rules.set_size + 1)
            return Action(action, "four", value=value + 1, jokers=jokers)
        return Action(action, "four_free" if action == self.four_free else "done")

    def cards(self, action: int, bid: int) -> list[int]:
        """Return the cards that an action puts down, as counts by kind; `bid` is the id of the bid that a payment pays."""
        move, counts = self.decode(action), [0] * self.kinds
        if move.kind == "pay_equal":
            paid = self.decode(bid)
            counts[paid.value - 1] = paid.count - move.jokers
            counts[-1] = move.jokers
        elif move.kind == "pay_different":
            for value in range(self.rules.values):
                counts[value] = move.value_set >> value & 1
            counts[-1] = self.decode(bid).count - sum(counts)
        elif move.kind == "four":
            counts[move.value - 1] = self.rules.set_size - move.jokers
            counts[-1] = move.jokers
        elif move.kind == "four_free":
            counts[-1] = self.rules.set_size
        return counts

    def name(self, action: int, bid: int = 0) -> str:
        """Return the name of an action; `bid` is the id of the highest bid, on which the cards of a payment depend."""
        move = self.decode(action)
        if move.kind in ("pass", "bid", "done"):
            return move.name
        cards = "".join(c * k for c, k in zip(card_characters(self.rules.values), self.cards(action, bid), strict=True))
        if move.kind.startswith("pay"):
            return f"pay {cards}"
        declared = f"={move.value}" if move.kind == "four" and move.jokers == self.rules.set_size else ""
        return f"four {cards}{declared}"

    def documentation(self) -> list[tuple[str, str, str]]:
        """Return the rows of the action table for the documentation: ids, names and meaning."""
        rules, last_value = self.rules, self.rules.values
        return [
            ("0", "`pass`", "leave this auction"),
            (
                f"1 to {self.first_pay_equal - 1}",
                "`3x2`, `4d`",
                f"bids in their order: id = {self.kinds} (count - 1) + value + 1, "
                f"value 0 = different values; count 1 to {2 * rules.copies}",
            ),
            (
                f"{self.first_pay_equal} to {self.first_pay_different - 1}",
                "`pay 22J`",
                f"pay a bid of equal values with 0 to {rules.copies} jokers",
            ),
            (
                f"{self.first_pay_different} to {self.first_four - 1}",
                "`pay 13J`",
                f"pay a bid of different values with the set of values whose bits are id - {self.first_pay_different}, "
                "jokers for the rest",
            ),
            (
                f"{self.first_four} to {self.four_free - 1}",
                "`four 333J`, `four JJJJ=5`",
                f"foursome of value v (1 to {last_value}) with j jokers: "
                f"id = {self.first_four} + {rules.set_size + 1} (v - 1) + j",
            ),
            (f"{self.four_free}", "`four JJJJ`", "throw four jokers away: no mice"),
            (f"{self.done}", "`done`", "present no more foursomes"),
        ]
