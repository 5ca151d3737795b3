"""An exception while opponents play breaks the game off: only reset() is accepted, and nothing of another seat shows."""

import gymnasium
import numpy as np
import pytest

from katz_env import Agent, make_agent

ENV_ID = "katz_env/Katzenjammer-v0"
both_kinds = pytest.mark.parametrize("kind", ["asked", "compiled"])


class Interruptible(Agent):
    """Plays randomly; once it is armed, it raises whenever it is asked."""

    name = "interruptible"

    def __init__(self):
        self.armed, self.player = False, make_agent("random")

    def act(self, view):
        if self.armed:
            raise KeyboardInterrupt
        return self.player.act(view)


class Interrupts:
    """Interrupts the opponents of an environment, whether they are asked or play as compiled code."""

    def __init__(self, kind):
        self.agent = Interruptible() if kind == "asked" else make_agent("random")

    def arm(self, env):
        arena = env.unwrapped._arena
        self.agent.armed = True
        if arena._compiled is not None:  # it comes back to Python for random numbers, in the middle of a step

            def interrupt(player):
                raise KeyboardInterrupt

            arena._compiled.forget_draws()
            arena._rng = interrupt

    def disarm(self, env):
        self.agent.armed = False
        vars(env.unwrapped._arena).pop("_rng", None)


def single(kind, **settings):
    interrupts = Interrupts(kind)
    env = gymnasium.make(ENV_ID, num_players=2, opponents=interrupts.agent, render_mode="ansi", **settings)
    assert (env.unwrapped._arena._compiled is None) == (kind == "asked")
    return env, interrupts


def vector(kind):
    interrupts = Interrupts(kind)
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, num_players=2, opponents=interrupts.agent, render_mode="ansi")
    return envs, interrupts


def interrupted_step(env, interrupts):
    """Play until the opponent is interrupted; the info before that step."""
    _, info = env.reset(seed=1)
    interrupts.arm(env)
    for _ in range(100):
        before, masks = info, np.asarray(info["action_mask"])
        try:
            info = env.step(masks.argmax(-1))[-1]
        except KeyboardInterrupt:
            return before
    raise AssertionError("the opponent was never asked")


def interrupted_reset(env, interrupts):
    """Begin new games until the opponent is interrupted."""
    env.reset(seed=1)
    interrupts.arm(env)

    def begin_many():
        for seed in range(100):
            env.reset(seed=seed)

    with pytest.raises(KeyboardInterrupt):
        begin_many()


@both_kinds
def test_after_an_interrupted_step_nothing_but_reset_is_accepted(kind):
    env, interrupts = single(kind, seat=0)
    interrupted_step(env, interrupts)
    table = env.unwrapped._tables
    assert table.turn[0] == 1, "the opponent is to act"
    interrupts.disarm(env)
    before = table.records.copy()
    for action in (int(table.action_masks[0].argmax()), 300, 0):
        with pytest.raises(ValueError, match=r"the game was broken off by an exception; call reset\(\)"):
            env.step(action)
    np.testing.assert_array_equal(table.records, before)
    assert not env.unwrapped.action_masks().any()
    _, info = env.reset()
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))


@both_kinds
def test_after_an_interrupted_step_only_the_open_seat_shows(kind):
    env, interrupts = single(kind, seat=0)
    interrupted_step(env, interrupts)
    game, table = env.unwrapped.game, env.unwrapped._tables.records[0]
    assert env.render() == game.text(table, 0)
    shown = env.unwrapped.named_observation()
    np.testing.assert_array_equal(shown["hand"].ravel(), table["hand"][0])


@both_kinds
def test_after_an_interrupted_reset_nothing_shows_and_nothing_but_reset_is_accepted(kind):
    env, interrupts = single(kind)
    interrupted_reset(env, interrupts)
    interrupts.disarm(env)
    for look in (lambda: env.step(0), env.render, env.unwrapped.named_observation):
        with pytest.raises(ValueError, match=r"the game was broken off by an exception; call reset\(\)"):
            look()
    assert not env.unwrapped.action_masks().any()
    _, info = env.reset()
    assert info["action_mask"].sum() >= 2
    env.step(int(info["action_mask"].argmax()))


@both_kinds
@pytest.mark.parametrize("interrupted", [interrupted_step, interrupted_reset])
def test_after_an_interrupt_many_tables_accept_nothing_but_a_reset_of_all(kind, interrupted):
    envs, interrupts = vector(kind)
    interrupted(envs, interrupts)
    interrupts.disarm(envs)
    for look in (lambda: envs.step(np.zeros(3, int)), envs.render, envs.unwrapped.named_observations):
        with pytest.raises(ValueError, match=r"the game was broken off by an exception; call reset\(\)"):
            look()
    assert not envs.unwrapped.action_masks().any()
    with pytest.raises(ValueError, match="broken off by an exception: call reset"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    _, infos = envs.reset(options={"reset_mask": np.ones(3, bool)})
    assert (infos["action_mask"].sum(1) >= 2).all()
    envs.step(infos["action_mask"].argmax(1))


def test_before_the_first_reset_nothing_shows():
    env, envs = single("asked")[0].unwrapped, vector("asked")[0].unwrapped
    for look in (lambda: env.step(0), env.render, env.named_observation):
        with pytest.raises(ValueError, match=r"no game was dealt; call reset\(\)"):
            look()
    for look in (lambda: envs.step(np.zeros(3, int)), envs.render, envs.named_observations):
        with pytest.raises(ValueError, match=r"no game was dealt; call reset\(\)"):
            look()
    assert not env.action_masks().any()
    assert not envs.action_masks().any()


def test_an_action_that_is_no_integer_does_not_break_the_game_off():
    env, _ = single("asked")
    _, info = env.reset(seed=1)
    with pytest.raises(ValueError, match="it must be an integer"):
        env.step(1.5)
    assert env.unwrapped.action_masks().any()
    env.step(int(info["action_mask"].argmax()))
