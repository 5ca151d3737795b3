"""Agents learn nothing of what they may not know: neither the seed of the deals from their generators, nor hidden cards."""

import numpy as np
import pytest

from katz_env import Agent, Arena, CompiledAgent, Decision, Katzenjammer, SingleEnv, Tables, make_agent
from katz_env.core.agents import nth_legal
from katz_env.core.arena import OPEN, FixedSeating
from katz_env.core.jit import COMPILED, compiled
from katz_env.core.rng import one_way_generator

GAME = Katzenjammer(2)


class Curious(Agent):
    """Plays randomly and keeps what its generator tells of itself."""

    name = "curious"

    def __init__(self):
        self.entropies, self.player = [], make_agent("random")

    def act(self, view):
        self.entropies.append(view.rng.bit_generator.seed_seq.entropy)
        return self.player.act(view)


def entropy_in_environment(seed):
    agent = Curious()
    env = SingleEnv(GAME, opponents=agent)
    for _ in range(20):
        _, info = env.reset(seed=seed)
        env.step(int(info["action_mask"].argmax()))
        if agent.entropies:
            return agent.entropies[0]
    raise AssertionError("the agent was never asked")


# --- generators


def test_the_generator_of_an_agent_starts_from_a_digest():
    for seed in (0, 1, 7):
        entropy = entropy_in_environment(seed)
        assert isinstance(entropy, int)
        assert entropy.bit_length() > 200
        drawn = np.random.default_rng(seed).integers(0, 2**63, 64)  # what the environment's own generator draws
        assert not {entropy >> shift & (2**63 - 1) for shift in range(192)} & set(map(int, drawn))


def test_generators_are_reproducible_and_differ_by_seed_agent_and_purpose():
    assert entropy_in_environment(3) == entropy_in_environment(3) != entropy_in_environment(4)
    arenas = [
        Arena(Tables(GAME, 1, seed=1), [Curious(), Curious()], FixedSeating((0, 1)), np.random.default_rng(5)) for _ in "ab"
    ]
    rngs = [arena._rng(player) for arena in arenas for player in (0, 1)]
    states = [rng.bit_generator.seed_seq.entropy for rng in rngs]
    assert states[:2] == states[2:]
    assert states[0] != states[1]
    drawn = {
        one_way_generator(*of).integers(2**63) for of in (("a", 1, 2), ("a", 12), ("b", 1, 2), ("a", 1), ("a1", 2), ("a",))
    }
    assert len(drawn) == 6
    assert one_way_generator("a", 1, 2**200).random() == one_way_generator("a", np.int64(1), 2**200).random()


def test_a_tournament_gives_no_agent_its_seed():
    from katz_agents import evaluate

    first, second = Curious(), Curious()
    first.name, second.name = "first", "second"
    assert evaluate([first, second], 2, deals=2, seed=11).seed == 11
    for entropy in first.entropies + second.entropies:
        assert entropy.bit_length() > 200


def test_a_tournament_without_a_seed_draws_one_from_the_full_range():
    from katz_agents import evaluate

    seeds = [evaluate(["random", "random"], 2, deals=2).seed for _ in range(4)]
    assert len(set(seeds)) == 4
    assert max(seeds).bit_length() > 50


# --- hidden cards


@compiled
def peek(t, seat, mask, draw, log):
    """A legal action that depends on every card of the table and on its generator; it is noted in `log` (100,)."""
    total = np.uint64(t.rng)
    for place in range(t.deal.shape[0]):
        total = total * np.uint64(31) + np.uint64(t.deal[place] + 1)
    for other in range(t.hand.shape[0]):
        for kind in range(t.hand.shape[1]):
            total = total * np.uint64(31) + np.uint64(t.hand[other, kind])
    action = nth_legal(mask, float(total >> np.uint64(40)) / 2.0**24)
    log[0] += 1
    log[log[0]] = action
    return action


class Peeking(CompiledAgent):
    """Would play another move if it saw another hidden card."""

    name = "peeking"

    def __init__(self):
        self.log = np.zeros(100, np.int64)

    def decision(self, game):
        return Decision(peek, self.log)


def two_worlds(number=30):
    """Tables at which seat 0 is to act, and the same with other cards hidden from it."""
    tables, seats = Tables(GAME, 4 * number, seed=2), np.zeros(number, np.int64)
    for _ in range(15):
        tables.step(tables.action_masks.argmax(1))
    records = tables.records[tables.turn == 0][:number]
    others = GAME.redeal(GAME.redact(records, seats), seats, np.random.default_rng(6))
    assert (others["hand"][:, 1] != records["hand"][:, 1]).any(1).mean() > 0.5
    return records, others


def restored(records):
    tables = Tables(GAME, len(records), seed=3, autoreset=False)
    tables.restore(records)
    return tables


@pytest.mark.parametrize("asked", [False, True])
def test_no_agent_is_given_hidden_cards(asked):
    """Compiled and asked; with a log of moves an arena asks every agent."""

    def first_move(record):
        agent = Peeking()
        arena = Arena(restored(record[None]), [agent], FixedSeating((0, OPEN)), np.random.default_rng(4), log_moves=asked)
        assert (arena._compiled is None) == asked
        arena.start()
        assert agent.log[0] > 0
        return agent.log[1]

    for record, other in zip(*two_worlds(), strict=True):
        assert first_move(record) == first_move(other)


def test_an_agent_that_sees_hidden_cards_would_play_other_moves():
    moves = []
    for records in two_worlds():
        masks = restored(records).action_masks
        tables = records.view(np.recarray) if not COMPILED else records
        moves.append([peek(t, 0, mask.copy(), 0.0, np.zeros(100, np.int64)) for t, mask in zip(tables, masks, strict=True)])
    assert moves[0] != moves[1]


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])
def test_with_other_hidden_cards_our_agents_play_the_same_moves(name):
    views = [restored(records).view(np.arange(30), np.random.default_rng(7)) for records in two_worlds()]
    moves = [make_agent(name).act(view) for view in views]
    np.testing.assert_array_equal(moves[0], moves[1])
