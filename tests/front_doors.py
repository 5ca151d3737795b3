"""Goes through every front door with the core dependencies alone: ``python tests/front_doors.py``, without pytest or PyTorch.

tests/other_pythons.py starts it in every supported interpreter.
"""

import sys

import gymnasium
import numpy as np

from katz_env import Katzenjammer, SelfPlay, Tables, katzenjammer_v0, make_agent

ENV_ID = "katz_env/Katzenjammer-v0"


def through_tables() -> None:
    """Play a thousand games at many tables."""
    tables, rng, games = Tables(Katzenjammer(num_players=3), 256, seed=1), np.random.default_rng(1), 0
    while games < 1000:
        tables.step(np.argmax(rng.random(tables.action_masks.shape) * tables.action_masks, axis=1))
        games += int(tables.terminated.sum())
        assert np.allclose(tables.rewards.sum(1), 0, atol=1e-6)


def through_pettingzoo() -> None:
    """Play one game of agents by their views."""
    env, bot, rng = katzenjammer_v0.env(num_players=3), make_agent("greedy"), np.random.default_rng(1)
    env.reset(seed=1)
    for _ in env.agent_iter():
        _, _, over, _, _ = env.last()
        env.step(None if over else int(bot.act(env.unwrapped.view(rng))[0]))
    assert not env.agents


def through_gymnasium() -> None:
    """Play one game against compiled agents, and one against the shipped network."""
    for opponents in ("greedy", "ppo"):
        env = gymnasium.make(ENV_ID, num_players=3, opponents=opponents)
        _, info = env.reset(seed=1)
        over = False
        while not over:
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        assert 0 <= info["win_share"] <= 1


def through_vector() -> None:
    """Play at many tables against compiled agents."""
    envs = gymnasium.make_vec(ENV_ID, num_envs=64, num_players=3, opponents="greedy")
    _, infos = envs.reset(seed=1)
    ended = 0
    while ended < 64:
        _, _, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
        ended += int(terminated.sum())


def through_vector_with_masks_in_observations() -> None:
    """Play at many tables in the other autoreset modes, with the history."""
    for mode in ("next_step", "disabled"):
        settings = {"num_players": 3, "mask": "observation", "history": 4, "autoreset_mode": mode}
        envs = gymnasium.make_vec(ENV_ID, num_envs=16, **settings)
        observations, _ = envs.reset(seed=1)
        ended = 0
        while ended < 16:
            observations, _, terminated, _, _ = envs.step(observations["action_mask"].argmax(1))
            ended += int(terminated.sum())
            if mode == "disabled" and terminated.any():
                observations, _ = envs.reset(options={"reset_mask": terminated})


def through_self_play() -> None:
    """Play all seats."""
    play, paid = SelfPlay(Katzenjammer(num_players=3), 16), 0
    play.reset(1)
    while paid < 100:
        paid += len(play.step(play.action_masks.argmax(1)).tables)


if __name__ == "__main__":
    through_tables()
    through_pettingzoo()
    through_gymnasium()
    through_vector()
    through_vector_with_masks_in_observations()
    through_self_play()
    assert "torch" not in sys.modules
    print("played through Tables, PettingZoo, gym.make, gym.make_vec and SelfPlay")
