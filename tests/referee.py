"""A slow referee for Katzenjammer Blues, written from the rules page and from nothing else.

It moves one card at a time, as a person at the table would, and shares no code with the compiled engine: tests play
both side by side and compare `Referee.snapshot` with the engine's record after every move. Please keep it plain, and
never make it faster by borrowing an idea from the engine, because two programs with the same mistake agree.

Cards are the characters '1' to '9' for the values and 'J' for a joker. Moves are the names of the rules page.
"""

from collections import Counter
from copy import deepcopy
from itertools import combinations

AUCTION, PAYMENT, FOURSOMES, OVER = range(4)
JOKER = "J"
DIFFERENT = 0  # the kind of a bid of different values; a bid of equal values has its value as kind


def parse_bid(name: str) -> tuple[int, int]:
    """Read the name of a bid ("3x2" or "4d") as its number of cards and its kind.

    Of two bids the higher one is the larger tuple: more cards beat fewer, and with the same number a higher value
    beats a lower one and every value beats different values (kind 0).
    """
    if name.endswith("d"):
        return int(name[:-1]), DIFFERENT
    count, value = name.split("x")
    return int(count), int(value)


class Referee:
    """One table, played by names of moves; forced moves are played for the players.

    Parameters
    ----------
    num_players, bandleader : int
        2 to 6 players; the seat that reveals first.
    deck : str
        All cards, top card first: `copies` of each value and of the joker.
    mice : int or None
        Mice in the supply at the start; None means 20 for up to four players and 24 for more.
    values, copies, hand_size, set_size, joker_penalty : int
        Number of values (at most 9); copies of each card; cards dealt to each seat; cards of a "foursome"; mice lost
        for the most displayed jokers. The defaults are the printed game.

    Attributes
    ----------
    hands, known, row, discard : list[list[str]], list[Counter[str]], list[str], list[str]
        Cards in the order in which they came; `known` are those that everybody knows to be in a seat's hand.
    displayed, mice, supply : list[int], list[int], int
        Jokers in front of each seat; mice won (before the penalty); mice left.
    bandleader, turn, phase : int
        Seats of the bandleader and of the player to move (at the end: who moved last); 0 auction, 1 payment,
        2 foursomes, 3 over.
    bid, high_bidder, passed, claims : str or None, int, list[int], list[dict[int, int]]
        The highest bid of this auction and its seat (None and -1 if there is none); 1 for each seat that is out; for
        each seat the largest number it has bid by kind (0 = different values).
    position, end : int, str or None
        How many cards have left the deck; "deck" or "mice" once the game is over.
    """

    bid: str | None
    passed: list[int]
    claims: list[dict[int, int]]

    def __init__(
        self,
        num_players: int = 3,
        *,
        deck: str,
        bandleader: int,
        mice: int | None = None,
        values: int = 5,
        copies: int = 15,
        hand_size: int = 6,
        set_size: int = 4,
        joker_penalty: int = 5,
    ) -> None:
        if not (2 <= num_players <= 6 and 0 <= bandleader < num_players):
            raise ValueError(f"{num_players} players and bandleader {bandleader}, must be 2 to 6 and one of the seats")
        if mice is not None and mice < 1:
            raise ValueError(f"mice is {mice}, it must be at least 1")
        self.value_cards = [str(value) for value in range(1, values + 1)]
        self.card_kinds = [*self.value_cards, JOKER]
        if Counter(deck) != Counter(dict.fromkeys(self.card_kinds, copies)):
            raise ValueError(f"deck is {deck!r}, it must hold {copies} of each of {''.join(self.card_kinds)}")
        if len(deck) <= num_players * hand_size:
            raise ValueError(f"deck has {len(deck)} cards, more than {num_players} x {hand_size} are needed to begin")

        self.num_players, self.seats = num_players, range(num_players)
        self.values, self.set_size, self.joker_penalty = values, set_size, joker_penalty
        self.draw_pile = list(deck)
        self.position = 0
        self.hands = [[self._take_from_pile() for _ in range(hand_size)] for _ in self.seats]
        self.known: list[Counter[str]] = [Counter() for _ in self.seats]
        self.row: list[str] = []
        self.discard: list[str] = []
        self.displayed, self.mice = [0] * num_players, [0] * num_players
        self.supply = mice if mice is not None else 20 if num_players <= 4 else 24
        self.bandleader = self.turn = bandleader  # the turn, if the game ends before anybody has moved
        self.phase = AUCTION
        self.end: str | None = None
        self._reveal()
        self._play_forced_moves()

    def legal(self) -> list[str]:
        """Names of the legal moves of the seat to act, in no promised order; empty once the game is over."""
        if self.phase == AUCTION:
            return self._legal_bids()
        if self.phase == PAYMENT:
            return self._legal_payments()
        if self.phase == FOURSOMES:
            return self._legal_foursomes()
        return []

    def play(self, move: str) -> None:
        """Play one move (ValueError if not in `legal`), then all forced moves, to the next decision or the end."""
        if move not in self.legal():
            raise ValueError(f"{move!r} is not legal for seat {self.turn}, it must be one of {self.legal()}")
        self._make(move)
        self._play_forced_moves()

    def scores(self) -> list[int]:
        """Mice of each seat after the penalty for the most displayed jokers, which all who tie for the most pay."""
        if self.phase != OVER:
            raise ValueError(f"phase is {self.phase}, there are scores only when the game is over (phase {OVER})")
        most = max(self.displayed)
        return [self.mice[s] - (self.joker_penalty if self.displayed[s] == most else 0) for s in self.seats]

    def winners(self) -> list[int]:
        """Seats with the highest score and, among these, the fewest displayed jokers; several share the victory."""
        scores = self.scores()
        leaders = [seat for seat in self.seats if scores[seat] == max(scores)]
        fewest = min(self.displayed[seat] for seat in leaders)
        return [seat for seat in leaders if self.displayed[seat] == fewest]

    def snapshot(self) -> dict[str, object]:
        """Show the table as plain numbers and lists under the field names of the engine's record (no deck, no rng).

        Cards are counted by kind, values ascending and jokers last; claims have different values first, then the
        values. The bid is its action id, 0 for none.
        """
        bid_id = 0
        if self.bid is not None:
            count, kind = parse_bid(self.bid)
            bid_id = (self.values + 1) * (count - 1) + kind + 1
        same = ["position", "displayed", "mice", "supply", "bandleader", "turn", "phase", "high_bidder", "passed"]
        return {
            **{name: deepcopy(getattr(self, name)) for name in same},
            "hand": [[hand.count(card) for card in self.card_kinds] for hand in self.hands],
            "known": [[known[card] for card in self.card_kinds] for known in self.known],
            "row": [self.row.count(card) for card in self.card_kinds],
            "discard": [self.discard.count(card) for card in self.card_kinds],
            "bid": bid_id,
            "claims": [[claims.get(kind, 0) for kind in range(self.values + 1)] for claims in self.claims],
        }

    def _legal_bids(self) -> list[str]:
        hand = self.hands[self.turn]
        jokers = hand.count(JOKER)
        # One card is no bid of different values, and no more values differ than there are.
        distinct = len(set(hand) - {JOKER})
        bids = [f"{count}d" for count in range(2, min(distinct + jokers, self.values) + 1)]
        for card in self.value_cards:
            bids += [f"{count}x{card}" for count in range(1, hand.count(card) + jokers + 1)]
        current = parse_bid(self.bid) if self.bid is not None else (0, 0)
        return ["pass"] + [bid for bid in bids if parse_bid(bid) > current]

    def _legal_payments(self) -> list[str]:
        assert self.bid is not None
        count, kind = parse_bid(self.bid)
        hand = self.hands[self.turn]
        if kind == DIFFERENT:
            usable = [card for card in self.value_cards if card in hand]
        else:
            usable = [card for card in hand if card == str(kind)]
        payments = set()  # a set, because two cards of one value make the same payment
        for jokers in range(min(count, hand.count(JOKER)) + 1):
            for chosen in combinations(usable, count - jokers):
                payments.add("pay " + "".join(chosen) + JOKER * jokers)
        return sorted(payments)

    def _legal_foursomes(self) -> list[str]:
        hand = self.hands[self.turn]
        moves = ["done"]
        for card in self.value_cards:
            for jokers in range(min(self.set_size, hand.count(JOKER) + 1)):
                if hand.count(card) >= self.set_size - jokers:
                    moves.append("four " + card * (self.set_size - jokers) + JOKER * jokers)
        if hand.count(JOKER) >= self.set_size:
            all_jokers = "four " + JOKER * self.set_size
            moves += [all_jokers, *(f"{all_jokers}={card}" for card in self.value_cards)]
        return moves

    def _play_forced_moves(self) -> None:
        while len(moves := self.legal()) == 1:
            self._make(moves[0])

    def _make(self, move: str) -> None:
        if self.phase == AUCTION:
            if move == "pass":
                self.passed[self.turn] = 1
            else:
                self.bid, self.high_bidder = move, self.turn
                count, kind = parse_bid(move)
                self.claims[self.turn][kind] = count  # bids only rise, so it is the largest of its kind
            self._go_on_with_auction()
        elif self.phase == PAYMENT:
            self._pay(move.removeprefix("pay "))
        elif move == "done":
            self._reveal()
        else:
            self._present(move.removeprefix("four "))

    def _reveal(self) -> None:
        """Begin a round: reveal the row, let everybody draw after a joker, open the auction."""
        self.bid = None
        self.high_bidder = -1
        self.passed = [0] * self.num_players
        self.claims = [{} for _ in self.seats]
        row_ends = False
        while not row_ends:
            card = self._take_from_pile()
            row_ends = card == JOKER or card in self.row
            self.row.append(card)
            # The last card of the pile ends the game even if it also ends the row.
            if not self.draw_pile:
                self._finish("deck")
                return
        if self.row[-1] == JOKER:
            for step in range(1, self.num_players + 1):
                self.hands[(self.bandleader + step) % self.num_players].append(self._take_from_pile())
                if not self.draw_pile:
                    self._finish("deck")
                    return
        self.phase, self.turn = AUCTION, (self.bandleader + 1) % self.num_players

    def _go_on_with_auction(self) -> None:
        still_in = [seat for seat in self.seats if not self.passed[seat]]
        if still_in == [self.high_bidder]:
            self.turn, self.phase = self.high_bidder, PAYMENT
        elif not still_in:
            # Nobody has bid. The row's jokers are discarded too, and the same bandleader reveals again.
            self.discard.extend(self.row)
            self.row = []
            self._reveal()
        else:
            # A last seat that has not bid yet is still in here, and so it is still asked.
            self.turn = (self.turn + 1) % self.num_players
            while self.passed[self.turn]:
                self.turn = (self.turn + 1) % self.num_players

    def _pay(self, cards: str) -> None:
        for card in cards:
            self._spend(card)
        self.claims[self.turn] = {}
        # The row comes after the payment: its cards could not pay, and all of them are known to be in the hand now.
        self.hands[self.turn].extend(self.row)
        self.known[self.turn].update(self.row)
        self.row = []
        self.bandleader, self.phase = self.turn, FOURSOMES

    def _present(self, foursome: str) -> None:
        cards, _, declared = foursome.partition("=")
        without_value = set(cards) == {JOKER} and not declared
        for card in cards:
            self._spend(card, discard_joker=without_value)
        if without_value:
            return
        won = min(int(declared or cards[0]), self.supply)
        self.mice[self.turn] += won
        self.supply -= won
        if self.supply == 0:
            self._finish("mice")

    def _spend(self, card: str, *, discard_joker: bool = False) -> None:
        """Put one card down from the hand of the seat to act: on the discard pile, or displayed if it is a joker."""
        self.hands[self.turn].remove(card)
        # It may have been the known one of its kind, so one fewer is certain; never fewer than none.
        self.known[self.turn] -= Counter(card)
        if card == JOKER and not discard_joker:
            self.displayed[self.turn] += 1
        else:
            self.discard.append(card)

    def _take_from_pile(self) -> str:
        self.position += 1
        return self.draw_pile.pop(0)

    def _finish(self, end: str) -> None:
        """End the game: jokers in hands are displayed; the row stays, and the turn stays with the last to move."""
        for seat in self.seats:
            while JOKER in self.hands[seat]:
                self.hands[seat].remove(JOKER)
                self.displayed[seat] += 1
            self.known[seat][JOKER] = 0
        self.phase, self.end = OVER, end
