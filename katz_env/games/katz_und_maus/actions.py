"""The action table: ids, names and meaning of actions.

Python code takes all ids from `ActionTable`. The engine computes the same ids from the sizes of a record, and a test compares
the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from katz_env.core.validation import is_integer
from katz_env.games.katz_und_maus.rules import Rules

RANKS = "A23456789TJQ"
"""The characters of the ranks below the wild card."""

WILD = "K"
"""The character of the wild card."""


def card_characters(ranks: int) -> str:
    """Return the characters of the cards by kind: ``A23456789TJQK`` in the usual game."""
    return RANKS[:ranks] + WILD


@dataclass(frozen=True)
class Action:
    """The meaning of one action id.

    `kind` is ``from_hand``, ``from_deposit`` or ``from_stock`` for a card played onto a stack, ``discard`` for a hand card laid
    on a deposit, or ``end``; numbers that do not apply are -1.
    """

    id: int
    kind: str
    card: int = -1  # the kind of the hand card that is played or discarded
    stack: int = -1  # the index of the stack, from 0
    deposit: int = -1  # the index of the deposit from which or on which the card goes, from 0


class ActionTable:
    """All action ids of one set of rules, in order.

    Attributes
    ----------
    cards : str
        The characters of the cards by kind.
    first_from_deposit, first_from_stock, first_discard, end : int
        The first id of each group; those of hand cards onto stacks begin at 0.
    size : int
        The number of ids; 125 with the usual rules.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.cards = card_characters(rules.ranks)
        self.first_from_deposit = rules.kinds * rules.stacks
        self.first_from_stock = self.first_from_deposit + rules.deposits * rules.stacks
        self.first_discard = self.first_from_stock + rules.stacks
        self.end = self.first_discard + rules.kinds * rules.deposits
        self.size = self.end + 1

    def decode(self, action: int) -> Action:
        """Return the meaning of an id.

        Raises
        ------
        ValueError
            If the id is not in 0..size-1.
        """
        if not is_integer(action) or not 0 <= action < self.size:
            raise ValueError(f"action {action} does not exist; action ids are 0 to {self.size - 1}")
        if action < self.first_from_deposit:
            card, stack = divmod(action, self.rules.stacks)
            return Action(action, "from_hand", card=card, stack=stack)
        if action < self.first_from_stock:
            deposit, stack = divmod(action - self.first_from_deposit, self.rules.stacks)
            return Action(action, "from_deposit", stack=stack, deposit=deposit)
        if action < self.first_discard:
            return Action(action, "from_stock", stack=action - self.first_from_stock)
        if action < self.end:
            card, deposit = divmod(action - self.first_discard, self.rules.deposits)
            return Action(action, "discard", card=card, deposit=deposit)
        return Action(action, "end")

    def name(self, action: int) -> str:
        """Return the name of an action, such as ``7>s1``, ``d2>s1``, ``stock>s1``, ``7>d2`` or ``end``."""
        move = self.decode(action)
        if move.kind == "from_hand":
            return f"{self.cards[move.card]}>s{move.stack + 1}"
        if move.kind == "from_deposit":
            return f"d{move.deposit + 1}>s{move.stack + 1}"
        if move.kind == "from_stock":
            return f"stock>s{move.stack + 1}"
        return f"{self.cards[move.card]}>d{move.deposit + 1}" if move.kind == "discard" else "end"

    def documentation(self) -> list[tuple[str, str, str]]:
        """Return the rows of the action table for the documentation: ids, names and meaning."""
        stacks, deposits = self.rules.stacks, self.rules.deposits
        return [
            (
                f"0 to {self.first_from_deposit - 1}",
                "`7>s1`",
                f"play a hand card of kind r (A 0 ... Q 11, K 12) on stack g (0 to {stacks - 1}): id = {stacks} r + g",
            ),
            (
                f"{self.first_from_deposit} to {self.first_from_stock - 1}",
                "`d2>s1`",
                f"play the top of deposit d (0 to {deposits - 1}) on stack g: id = {self.first_from_deposit} + {stacks} d + g",
            ),
            (
                f"{self.first_from_stock} to {self.first_discard - 1}",
                "`stock>s1`",
                f"play the top of the stock on stack g: id = {self.first_from_stock} + g",
            ),
            (
                f"{self.first_discard} to {self.end - 1}",
                "`7>d2`",
                f"lay a hand card of kind r on deposit d, which ends the turn: id = {self.first_discard} + {deposits} r + d",
            ),
            (f"{self.end}", "`end`", "end the turn without a card in hand, when the talon is empty"),
        ]
