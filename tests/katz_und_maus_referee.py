"""A slow referee for Katz und Maus, written from the rules page and from nothing else.

It moves one card at a time, as a person at the table would, and shares no code with the compiled engine: tests play both side
by side and compare `Referee.snapshot` with the engine's record after every move. Please keep it plain, and never make it
faster by borrowing an idea from the engine, because two programs with the same mistake agree.

Cards are the characters A, 2 to 9, T, J, Q and K; moves are the names of the rules page.
"""

RANKS = "A23456789TJQ"
WILD = "K"


class Referee:
    """One table, played by names of moves; forced moves are played for the players.

    Attributes
    ----------
    stocks, hands, talon : list[list[str]], list[list[str]], list[str]
        Cards of each seat's stock, top card first; of its hand; and of the talon, top card first.
    stacks : list[list[str]]
        The cards of each stack in the middle, the lowest first.
    deposits : list[list[list[str]]]
        For each seat its deposits, the lowest card first.
    removed : list[str]
        The cards of the stacks that were taken away.
    turn : int
        The seat to act; at the end the seat that moved last.
    end : str or None
        "stock" or "talon" once the game is over.
    events : set[str]
        What happened in the game that is rare enough to be worth a test.
    """

    def __init__(
        self,
        *,
        deck,
        first_seat,
        ranks=12,
        copies=12,
        stock_size=15,
        hand_size=5,
        stacks=4,
        deposits=4,
        talon_end="round",
        merge_equal=False,
    ):
        self.ranks, self.hand_size, self.talon_end, self.merge_equal = RANKS[:ranks], hand_size, talon_end, merge_equal
        cards = list(deck)
        assert sorted(cards) == sorted((self.ranks + WILD) * copies)
        self.cards = len(cards)
        self.most_moves = 2 * len(cards) - 2 * stock_size + 2
        self.stocks, self.hands = [], []
        for pile, size in ((self.stocks, stock_size), (self.hands, hand_size)):
            for _ in range(2):
                pile.append([cards.pop(0) for _ in range(size)])
        self.talon = cards
        self.deepest = (len(self.talon) + 1) // 2
        self.stacks = [[] for _ in range(stacks)]
        self.deposits = [[[] for _ in range(deposits)] for _ in range(2)]
        self.removed = []
        self.first, self.turn, self.end = first_seat, first_seat, None
        self.moves, self.events = 0, set()
        self._play_forced_moves()

    # --- legal moves

    def legal(self):
        """The names of the legal moves of the seat to act."""
        if self.end:
            return []
        seat, moves = self.turn, []
        for number, stack in enumerate(self.stacks, 1):
            if self.merge_equal and any(len(other) == len(stack) for other in self.stacks[: number - 1]):
                continue
            for card in sorted(set(self.hands[seat])):
                if self._fits(card, stack):
                    moves.append(f"{card}>s{number}")
            for place, deposit in enumerate(self.deposits[seat], 1):
                if deposit and self._fits(deposit[-1], stack):
                    moves.append(f"d{place}>s{number}")
            if self._fits(self.stocks[seat][0], stack):
                moves.append(f"stock>s{number}")
        for place, deposit in enumerate(self.deposits[seat], 1):
            if self.merge_equal and not deposit and any(not other for other in self.deposits[seat][: place - 1]):
                continue
            moves += [f"{card}>d{place}" for card in sorted(set(self.hands[seat]))]
        if not self.hands[seat] and not self.talon:
            moves.append("end")
        return moves

    def _fits(self, card, stack):
        return card in (WILD, self.ranks[len(stack)])

    # --- moves

    def play(self, move):
        """Play a legal move of the seat to act, then every forced move."""
        assert move in self.legal(), move
        self._move(move)
        self._play_forced_moves()

    def _play_forced_moves(self):
        while not self.end and len(self.legal()) == 1:
            self.events.add("forced")
            self._move(self.legal()[0])

    def _move(self, move):
        self.moves += 1
        assert self.moves <= self.most_moves
        seat = self.turn
        if move == "end":
            self.events.add("end")
            self._end_turn()
            return
        source, target = move.split(">")
        place = int(target[1:]) - 1
        if target[0] == "d":
            self.hands[seat].remove(source)
            deposit = self.deposits[seat][place]
            deposit.append(source)
            assert len(deposit) <= self.deepest
            if not self.hands[seat]:
                self.events.add("last hand card discarded")
            self._end_turn()
            return
        if source == "stock":
            card = self.stocks[seat].pop(0)
        elif source[0] == "d":
            card = self.deposits[seat][int(source[1:]) - 1].pop()
        else:
            card = source
            self.hands[seat].remove(card)
        stack = self.stacks[place]
        stack.append(card)
        if len(stack) == len(self.ranks):
            self.events.add("stack taken away")
            self.removed += stack
            self.stacks[place] = []
        if not self.stocks[seat]:
            self.end = "stock"
        elif not self.hands[seat] and source != "stock" and source[0] != "d":
            self.events.add("hand played away")
            self._draw()

    def _draw(self):
        seat = self.turn
        while len(self.hands[seat]) < self.hand_size and self.talon:
            self.hands[seat].append(self.talon.pop(0))

    def _end_turn(self):
        self._draw()
        round_is_over = self.turn != self.first
        if not self.talon and (round_is_over or self.talon_end == "turn"):
            self.end = "talon"
        else:
            self.turn = 1 - self.turn

    # --- results

    def scores(self):
        """Minus the cards left in each stock."""
        return [-len(stock) for stock in self.stocks]

    def winners(self):
        """The seats with the best score."""
        return [seat for seat in range(2) if self.scores()[seat] == max(self.scores())]

    # --- what is compared with the engine

    def snapshot(self):
        """The table as the fields of the engine's record that need no explanation."""
        kinds = self.ranks + WILD
        return {
            "turn": self.turn,
            "first_seat": self.first,
            "phase": 1 if self.end else 0,
            "drawn": self.cards - len(self.talon),
            "hand": [[hand.count(card) for card in kinds] for hand in self.hands],
            "hand_sizes": [len(hand) for hand in self.hands],
            "stock_sizes": [len(stock) for stock in self.stocks],
            "stock_tops": [kinds.index(stock[0]) if stock else -1 for stock in self.stocks],
            "heights": [len(stack) for stack in self.stacks],
            "deposit_sizes": [[len(deposit) for deposit in deposits] for deposits in self.deposits],
            "hidden": [(self.talon + self.stocks[0][1:] + self.stocks[1][1:]).count(card) for card in kinds],
        }

    def all_cards(self):
        """Every card, wherever it is."""
        piles = [*self.stocks, *self.hands, self.talon, self.removed, *self.stacks, *self.deposits[0], *self.deposits[1]]
        return sorted(card for pile in piles for card in pile)
