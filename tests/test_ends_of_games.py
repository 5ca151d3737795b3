"""Every end of a game tells the same results under the same names, also one that an illegal action brought about."""

import gymnasium
import numpy as np
import pytest
from random_play import random_actions

from katz_env import Katzenjammer, Tables, katzenjammer_v0

ENV_ID = "katz_env/Katzenjammer-v0"
RESULTS = {"score", "mice", "jokers", "win_share", "illegal_action"}


def last_info(env, illegal_at=None, seed=1, rng=None):
    """Play first legal actions, or random ones, but an illegal one at decision number `illegal_at`; the info at the end."""
    _, info = env.reset(seed=seed)
    over, number = False, 0
    while not over:
        legal = np.flatnonzero(info["action_mask"])
        action = 300 if number == illegal_at else int(legal[0] if rng is None else rng.choice(legal))
        _, _, over, _, info = env.step(action)
        number += 1
    return info


def test_one_table_tells_the_same_at_every_end():
    env = gymnasium.make(ENV_ID, num_players=2, opponents="random")
    _, info = env.reset(seed=1)
    assert info.keys() == {"action_mask", "seat"}
    regular, broken_off = last_info(env), last_info(env, illegal_at=5)
    assert regular.keys() == broken_off.keys() == {"action_mask", "seat"} | RESULTS
    assert {name: type(value) for name, value in regular.items()} == {name: type(value) for name, value in broken_off.items()}
    assert regular["illegal_action"] is False
    assert broken_off["illegal_action"] is True


def test_a_game_that_is_broken_off_has_no_winner_and_the_score_so_far():
    env = gymnasium.make(ENV_ID, num_players=2, opponents="random").unwrapped
    scores = set()
    for seed in range(15):
        info = last_info(env, illegal_at=15, seed=seed, rng=np.random.default_rng(seed))
        if not info["illegal_action"]:
            continue
        record = env._tables.records[0]
        assert info["win_share"] == 0
        assert info["score"] == info["mice"] == record["mice"][info["seat"]]
        assert info["jokers"] == record["displayed"][info["seat"]]
        scores.add(info["score"])
    assert len(scores) > 1


def test_results_of_tables_in_play_have_no_winners():
    game = Katzenjammer(2)
    tables = Tables(game, 50, seed=1, autoreset=False)
    rng = np.random.default_rng(1)
    while tables.terminated.mean() < 0.5:
        tables.step(random_actions(tables.action_masks, rng))
    results, over = game.results(tables.records), game.over(tables.records)
    assert over.any()
    assert not over.all()
    np.testing.assert_array_equal(results["win_share"].sum(1), over)
    np.testing.assert_array_equal(results["score"][over], tables.scores[over])
    np.testing.assert_array_equal(results["score"][~over], tables.records["mice"][~over])


def test_many_tables_tell_the_same_at_every_end():
    envs = gymnasium.make_vec(ENV_ID, num_envs=40, num_players=2, opponents="random")
    _, infos = envs.reset(seed=1)
    seen = set()
    for number in range(200):
        actions = infos["action_mask"].argmax(1)
        actions[number % 40] = 300
        _, rewards, terminated, _, infos = envs.step(actions)
        final = infos["final_info"]
        assert final.keys() == {key for name in {"action_mask", "seat"} | RESULTS for key in (name, f"_{name}")}
        for name in {"action_mask", "seat"} | RESULTS:
            np.testing.assert_array_equal(final[f"_{name}"], terminated)
        illegal = np.arange(40) == number % 40
        np.testing.assert_array_equal(final["illegal_action"], illegal)
        assert (final["win_share"][illegal] == 0).all()
        assert (rewards[illegal] == -1).all()
        seen.add(int(terminated.sum()))
    assert max(seen) > 1, "games ended beside the one that was broken off"


@pytest.mark.parametrize("illegal_at", [None, 0, 9])
def test_every_seat_of_a_wrapped_game_is_told_the_same_at_every_end(illegal_at):
    env = katzenjammer_v0.env(2)
    env.reset(seed=3)
    number, culprit = 0, None
    while not any(env.terminations.values()):
        mask = env.last()[0]["action_mask"]
        if number == illegal_at:
            culprit = env.agent_selection
        env.step(int(mask.argmin() if culprit else mask.argmax()))
        number += 1
    assert {agent: info["illegal_action"] for agent, info in env.infos.items()} == {
        agent: agent == culprit for agent in env.possible_agents
    }
    assert all(info.keys() == RESULTS for info in env.infos.values())
    assert sum(info["win_share"] for info in env.infos.values()) == (0 if culprit else 1)
    told = {}
    for agent in env.agent_iter():
        told[agent] = env.last()[-1]
        env.step(None)
    assert told.keys() == set(env.possible_agents)
    assert all(info.keys() == RESULTS for info in told.values())


def test_plain_ppo_learns_under_a_monitor_that_asks_for_the_results(tmp_path):
    from stable_baselines3 import PPO
    from stable_baselines3.common.monitor import Monitor

    env = gymnasium.make(ENV_ID, num_players=2, opponents="random")
    watched = Monitor(env, str(tmp_path / "log"), info_keywords=("score", "win_share"))
    PPO("MlpPolicy", watched, n_steps=64, batch_size=32, n_epochs=1, device="cpu").learn(128)
    watched.close()
    assert len(watched.get_episode_rewards()) > 10  # without masks nearly every action is illegal
    header = (tmp_path / "log.monitor.csv").read_text().splitlines()[1]
    assert header.split(",")[-2:] == ["score", "win_share"]
