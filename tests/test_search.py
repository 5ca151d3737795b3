"""The search player, and what holds for every agent: nobody's decision depends on hidden cards."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from katz_agents.katzenjammer.value_network import NOTHING, load_network
from katz_agents.match import play_match
from katz_agents.policy_file import save_policy
from katz_agents.search import Search
from katz_env import Katzenjammer, Tables, agent_names, make_agent

FOURSOMES = 2


def table(game, hands, *, pile, mice, displayed, supply, phase=FOURSOMES, row=""):
    """One table where seat 0 is to act: as bandleader in the foursomes, or after seat n-1 in the auction.

    What lies neither in a hand, the row or the pile nor on display lies on the discard pile.
    """
    n = game.num_players
    count = {place: Counter(cards) for place, cards in (("row", row), ("pile", pile))}
    discard = Counter(dict.fromkeys(game.cards, game.rules.copies)) - count["row"] - count["pile"]
    for hand in hands:
        discard -= Counter(hand)
    discard -= Counter("J" * sum(displayed))
    kinds = lambda cards: [Counter(cards)[card] for card in game.cards]  # noqa: E731
    records = game.new_tables(1)
    t = records[0]
    t["hand"], t["row"] = [kinds(hand) for hand in hands], kinds(row)
    t["displayed"], t["mice"] = displayed, mice
    t["discard"] = [discard[card] for card in game.cards]
    t["supply"], t["phase"], t["high_bidder"], t["rng"] = supply, phase, -1, 1
    t["turn"], t["bandleader"] = 0, 0 if phase == FOURSOMES else n - 1
    placed = "".join("".join(hand) for hand in hands) + row + "J" * sum(displayed) + "".join(discard.elements())
    t["deal"] = [game.cards.index(card) for card in placed + pile]
    t["position"] = len(placed)
    tables = Tables(game, 1, autoreset=False)
    tables.restore(records)
    return tables


def chosen(tables, **settings):
    agent = Search(**{"playouts": 200, **settings})
    (action,) = agent.act(tables.view(np.array([0]), np.random.default_rng(0)))
    return tables.game.action_name(tables.records[0], int(action))


GAME = Katzenjammer(3)
PILE = "112233445512345123451234J"


def test_it_takes_the_last_mice_to_win():
    tables = table(GAME, ["4444123", "55", "33"], pile=PILE, mice=[8, 9, 0], displayed=[1, 6, 0], supply=3)
    assert chosen(tables) == "four 4444"


def test_it_presents_before_the_last_card_is_turned():
    tables = table(GAME, ["5555", "1", "3"], pile="2", mice=[2, 4, 3], displayed=[2, 2, 2], supply=11)
    assert chosen(tables) == "four 5555"


def test_it_throws_four_jokers_away_to_win():
    # Displayed or declared as any value, the jokers would cost five mice. Thrown away, they leave the penalty to the others.
    tables = table(GAME, ["JJJJ", "2", "3"], pile="2", mice=[3, 6, 6], displayed=[1, 4, 4], supply=5)
    assert chosen(tables) == "four JJJJ"


def test_it_buys_the_row_that_wins():
    # The next reveal ends the game. The row completes four 4's, and nobody else has a card to bid with.
    tables = table(GAME, ["441", "", ""], pile="2", mice=[3, 5, 4], displayed=[2, 2, 2], supply=8, phase=0, row="44")
    assert chosen(tables) == "1x1"


@pytest.mark.parametrize("players", [2, 3, 6])  # each number takes long to compile
def test_moves_are_legal_and_do_not_depend_on_threads(players):
    game = Katzenjammer(players)
    tables = Tables(game, 24, seed=players)
    rng = np.random.default_rng(0)
    for _ in range(12):
        tables.step(make_agent("greedy").act(tables.view(np.arange(24), rng)))
    answers = []
    for threads in (1, 2, 5):
        view = tables.view(np.arange(24), np.random.default_rng(1))
        answers.append(Search(playouts=40, worlds=7, num_threads=threads).act(view))
        assert view.action_masks[np.arange(24), answers[-1]].all()
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_it_beats_two_greedy():
    match = play_match(GAME, [Search(playouts=200), *[make_agent("greedy")] * 2], 12, np.random.default_rng(4))
    assert match.interval()[0] > 0.7  # 0.33 is fair


def test_unusual_rules_are_played_out_to_the_end():
    game = Katzenjammer(3, mice=7)
    assert load_network(game) is NOTHING
    match = play_match(game, [Search(playouts=100), *[make_agent("greedy")] * 2], 8, np.random.default_rng(4))
    assert match.interval()[0] > 0.5


def test_more_moves_than_playouts():
    tables = Tables(GAME, 5, seed=1)
    view = tables.view(np.arange(5), np.random.default_rng(1))
    assert view.action_masks[np.arange(5), Search(playouts=1, worlds=1).act(view)].all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"playouts": 0}, "playouts is 0; it must be an integer from 1 to"),
        ({"playouts": 10.5}, "playouts is 10.5"),
        ({"worlds": "many"}, "worlds is 'many'"),
        ({"num_threads": 0}, "num_threads is 0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Search(**settings)


def agents(tmp_path):
    rng = np.random.default_rng(0)
    save_policy(tmp_path / "policy.npz", GAME, [(rng.normal(size=(GAME.observation_size, 256)), np.zeros(256))])
    settings = {"search": "search:playouts=60,worlds=10", "policy": f"policy:{tmp_path / 'policy.npz'}"}
    return [make_agent(settings.get(name, name)) for name in agent_names()]


def test_no_agent_peeks(tmp_path):
    """With the hidden cards swapped for another possible world, every agent decides the same, in every phase and seat."""
    game, size = GAME, 150
    tables = Tables(game, size, seed=3)
    rng = np.random.default_rng(2)
    seen = set()
    players = agents(tmp_path)
    for step in range(24):
        if step % 3 == 0:
            everyone = np.arange(size)
            view = tables.view(everyone, rng)
            other = Tables(game, size, seed=9)
            other.restore(game.redeal(view.tables, view.seats, rng))
            assert not np.array_equal(other.records["hand"], tables.records["hand"])
            for agent in players:
                first, second = (agent.act(t.view(everyone, np.random.default_rng(step))) for t in (tables, other))
                assert np.array_equal(first, second), agent
            seen |= set(zip(tables.records["phase"].tolist(), tables.turn.tolist(), strict=True))
        tables.step(make_agent("greedy" if step % 2 else "random").act(tables.view(np.arange(size), rng)))
    assert seen == {(phase, seat) for phase in range(3) for seat in range(3)}


def test_the_worlds_grow_with_the_playouts():
    assert [Search(playouts).worlds for playouts in (1, 1000, 4000, 16_000, 10**9)] == [250, 250, 1000, 4000, 10**6]
    assert Search(4000, worlds=3).worlds == 3
