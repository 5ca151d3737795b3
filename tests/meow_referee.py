"""A slow referee for Meow, written from the rules and from nothing else.

It moves one card at a time, as a person at the table would, and shares no code with the compiled engine: tests play both side
by side and compare them after every move. Please keep it plain, and never make it faster by borrowing an idea from the engine,
because two programs with the same mistake agree.

Cards are names such as "B8", "P18" or "G1"; tiles are names such as "+5", "-10", "fish" or "vase".
"""

COLOURS = "BPG"
TRUMP = "G"


def colour_of(card):
    return card[0]


def rank_of(card):
    return int(card[1:])


def in_order(cards):
    """Cards sorted by colour and rank."""
    return sorted(cards, key=lambda card: (COLOURS.index(colour_of(card)), rank_of(card)))


def cards_in_play(num_players, expert, ranks, tricks):
    """The names of all cards that are shuffled."""
    if expert:
        each = num_players * tricks // 3
        kept = [*range(1, each), ranks]
    else:
        kept = range(1, ranks + 1)
    return [f"{colour}{rank}" for colour in COLOURS for rank in kept]


def winning_place(cards, highest):
    """The place of the card that wins a trick; the first card is the one that was led, `highest` is the highest rank."""
    deciding = TRUMP if any(colour_of(card) == TRUMP for card in cards) else colour_of(cards[0])
    able = [card for card in cards if colour_of(card) == deciding]
    one, top = f"{deciding}1", f"{deciding}{highest}"
    if one in able and top in able:
        return cards.index(one)
    return cards.index(max(able, key=rank_of))


def score_of(tiles, vase_scores):
    """What the won tiles of a player count together."""
    bones = sorted(int(tile) for tile in tiles if tile.startswith("-"))  # the worst first
    for tile in tiles:
        if tile == "fish" and bones:
            bones.pop(0)
    bowls = [int(tile) for tile in tiles if tile.startswith("+")]
    return sum(bowls) + sum(bones) + vase_scores[tiles.count("vase")]


class Referee:
    """One table, played by names of cards; forced cards are played for the players.

    `history` tells everything that happened, in order: ("opened", round), ("laid", tile), ("dealt", seat, cards),
    ("leads", seat), ("played", seat, card), ("won", seat, tile) and ("ended",).
    """

    def __init__(self, num_players, decks, tiles, first_seat, *, expert, ranks, tricks, vase_scores):
        self.num_players, self.ranks, self.tricks, self.vase_scores = num_players, ranks, tricks, vase_scores
        self.decks, self.first_seat = [list(deck) for deck in decks], first_seat
        self.stacks = [list(tiles[tricks * i : tricks * (i + 1)]) for i in range(len(decks))]
        for deck in self.decks:
            assert sorted(deck) == sorted(cards_in_play(num_players, expert, ranks, tricks))
        self.won = [[] for _ in range(num_players)]
        self.round, self.over, self.history = 0, False, []
        self.open_round()
        self.play_forced_cards()

    def open_round(self):
        n = self.num_players
        deck, self.row = list(self.decks[self.round]), list(self.stacks[self.round])
        self.hands = []
        for _ in range(n):
            self.hands.append([deck.pop(0) for _ in range(self.tricks)])
        self.undealt = deck
        self.marker = (self.first_seat + self.round) % n
        self.played = [[] for _ in range(n)]
        self.lacks = [set() for _ in range(n)]
        self.history.append(("opened", self.round + 1))
        self.history += [("laid", tile) for tile in self.row]
        self.history += [("dealt", seat, in_order(hand)) for seat, hand in enumerate(self.hands)]
        self.history.append(("leads", self.marker))
        self.lead(self.marker)

    def lead(self, seat):
        self.leader = self.turn = seat
        self.trick = []  # seats and cards

    def legal(self):
        """The cards that the player to move may play."""
        hand = self.hands[self.turn]
        if self.trick:
            led = colour_of(self.trick[0][1])
            following = [card for card in hand if colour_of(card) == led]
            if following:
                return in_order(following)
        return in_order(hand)

    def play(self, card):
        """A card that the player to move has chosen, then all forced ones."""
        assert card in self.legal()
        self.lay(card)
        self.play_forced_cards()

    def play_forced_cards(self):
        while not self.over and len(self.legal()) == 1:
            self.lay(self.legal()[0])

    def lay(self, card):
        seat = self.turn
        self.hands[seat].remove(card)
        self.played[seat].append(card)
        self.trick.append((seat, card))
        self.history.append(("played", seat, card))
        led = colour_of(self.trick[0][1])
        if colour_of(card) != led:
            self.lacks[seat].add(led)
        if len(self.trick) < self.num_players:
            self.turn = (seat + 1) % self.num_players
            return
        winner = self.trick[winning_place([card for _, card in self.trick], self.ranks)][0]
        tile = self.row.pop(0)
        self.won[winner].append(tile)
        self.history.append(("won", winner, tile))
        self.lead(winner)
        if not self.row:
            if self.round + 1 < len(self.decks):
                self.round += 1
                self.open_round()
            else:
                self.over = True
                self.history.append(("ended",))

    def scores(self):
        return [score_of(tiles, self.vase_scores) for tiles in self.won]

    def gains(self):
        """What the next tile would add to the score of each player."""
        if not self.row:
            return [0] * self.num_players
        return [score_of([*tiles, self.row[0]], self.vase_scores) - score_of(tiles, self.vase_scores) for tiles in self.won]

    def winners(self):
        return [seat for seat, score in enumerate(self.scores()) if score == max(self.scores())]

    def results(self):
        """The results by seat, as game records name them."""
        found = []
        for seat, tiles in enumerate(self.won):
            bowls = sum(int(tile) for tile in tiles if tile.startswith("+"))
            fishbones = self.scores()[seat] - bowls - self.vase_scores[tiles.count("vase")]
            share = 1 / len(self.winners()) if seat in self.winners() else 0
            found.append(
                {
                    "score": self.scores()[seat],
                    "bowls": bowls,
                    "fishbones": fishbones,
                    "fish": tiles.count("fish"),
                    "vases": tiles.count("vase"),
                    "win_share": share,
                }
            )
        return found
