"""The shipped players: found by name, small, without PyTorch, each with a card that belongs to it; other games are refused."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import tyro

from katz_agents.estimates import NO_ESTIMATES, Estimates
from katz_agents.match import play_match
from katz_agents.policy_file import save_policy
from katz_agents.pretrained import Ppo, pretrained_path, pretrained_players
from katz_env import Katzenjammer, Tables, make_agent, make_game

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import pretrained

ENV_ID = "katz_env/Katzenjammer-v0"
PLAYERS = (2, 3, 4)
SHIPPED = [(game, n) for game, steps in pretrained.STEPS.items() for n in steps]


def test_players_are_shipped_as_the_trainer_says():
    assert pretrained_players() == list(PLAYERS)
    for game, steps in pretrained.STEPS.items():
        assert pretrained_players(game) == sorted(steps)
        for n in steps:
            assert pretrained_path(n, game).stat().st_size <= 1_500_000


@pytest.mark.parametrize(("game", "n"), SHIPPED)
def test_the_card_belongs_to_the_player(game, n):
    text = pretrained_path(n, game).with_suffix(".md").read_text(encoding="utf-8")
    assert text.startswith(f"# ppo for {n} players\n")
    (command,) = re.findall(r"Command: `python train/pretrained\.py (.*)`", text)
    learner = tyro.cli(pretrained.Settings, args=command.split()).of_learner()
    assert f"Seed {learner.seed}, {learner.total_steps:,} decisions" in text
    assert learner.make_game().name == game
    layers = make_agent(f"policy:{pretrained_path(n, game)}").layers
    assert tuple(weight.shape[1] for weight, _ in layers[:-1]) == learner.hidden
    for name in ("random", "greedy", "heuristic", "search:playouts=1000"):
        (row,) = re.findall(rf"\| {n - 1} x `{name}` \| (\S+) \| (\S+) to (\S+) \| (\d+) \|", text)
        share, low, high, deals = map(float, row)
        assert low <= share <= high
        assert deals >= 2
        if name in ("random", "greedy"):
            assert low > 1 / n


def test_the_table_in_the_readme_is_that_of_the_cards():
    text = pretrained.README.read_text(encoding="utf-8")
    table = pretrained.readme_table()
    assert pretrained.fill(text, table) == text
    assert table.count("\n") == 1 + len(SHIPPED)


@pytest.mark.parametrize(("game", "n"), SHIPPED)
def test_it_plays_about_as_well_as_its_card_says(game, n):
    text = pretrained_path(n, game).with_suffix(".md").read_text(encoding="utf-8")
    told = float(re.findall(rf"\| {n - 1} x `greedy` \| (\S+) \|", text)[0])
    line_up = [make_agent("ppo")] + [make_agent("greedy")] * (n - 1)
    match = play_match(make_game(game, num_players=n), line_up, 100, np.random.default_rng(7))
    share, low, high = match.interval()
    assert abs(share - told) < 1.5 * (high - low) / 2 + 0.02


def test_it_is_an_opponent_without_pytorch():
    script = (
        "import gymnasium, katz_env, sys\n"
        f"env = gymnasium.make('{ENV_ID}', num_players=3, opponents='ppo')\n"
        "env.reset(seed=1)\n"
        "loaded = {name.split('.')[0] for name in sys.modules} & {'torch', 'stable_baselines3', 'sb3_contrib'}\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)\n"
    )
    result = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_network_follows_the_number_of_players():
    agent = Ppo()
    for n in PLAYERS:
        tables = Tables(Katzenjammer(n), 40, seed=1)
        view = tables.view(np.arange(40), np.random.default_rng(0))
        assert np.array_equal(agent.act(view), make_agent(f"policy:{pretrained_path(n)}").act(view))


def test_games_it_was_not_trained_for_are_refused():
    for n in (5, 6):
        with pytest.raises(ValueError, match=f"ppo is shipped for 2, 3, 4 players; this game has {n}"):
            gymnasium.make(ENV_ID, num_players=n, opponents="ppo").reset(seed=1)
    with pytest.raises(ValueError, match="ppo for 3 players was trained for settings .*'mice': 20.* this game has .*'mice': 7"):
        gymnasium.make(ENV_ID, num_players=3, mice=7, opponents="ppo").reset(seed=1)
    with pytest.raises(ValueError, match="sample is 'yes'; it must be True or False"):
        make_agent("ppo:sample=yes")


def test_one_command_trains_measures_and_writes_the_card(tmp_path, monkeypatch):
    quick = {"num_envs": 8, "rollout_steps": 16, "hidden": (16, 16), "evaluation_deals": 2, "snapshot_every": 128}
    quick["imitation_steps"] = 128
    of_learner = pretrained.Settings.of_learner
    monkeypatch.setattr(pretrained.Settings, "of_learner", lambda self: dataclasses.replace(of_learner(self), **quick))
    chosen = pretrained.Settings(3, seed=5, total_steps=200, run_dir=tmp_path / "run", out=tmp_path / "out", search_deals=0)
    chosen = dataclasses.replace(chosen, estimate_games=1)
    assert pretrained.build(chosen) == 0
    assert sorted(path.name for path in (tmp_path / "out" / "katzenjammer").iterdir()) == ["3.md", "3.npz"]
    text = (tmp_path / "out" / "katzenjammer" / "3.md").read_text()
    assert "Command: `python train/pretrained.py 3 --seed 5 --total-steps 200 --search-deals 0`" in text
    assert f"Versions: ppo {Ppo.version}, python " in text
    assert "layers of\n16 and 16 units" in text
    assert "It first imitated `heuristic` for 128 decisions." in text
    with pytest.raises(ValueError, match="players are shipped for 2, 3, 4 players, not for 5"):
        pretrained.build(pretrained.Settings(5))


def test_a_network_that_is_replaced_is_kept_under_its_last_version(tmp_path, capsys):
    path, new = tmp_path / "3.npz", tmp_path / "new.npz"
    current = Ppo.version
    game = Katzenjammer(3)

    def write(path, weight, estimates=NO_ESTIMATES):
        layers = [
            (np.full((game.observation_size, game.num_actions), weight, np.float32), np.zeros(game.num_actions, np.float32))
        ]
        save_policy(path, game, layers, estimates)
        return path.read_bytes()

    write(new, 1)
    assert pretrained.version_of_new(path, new) == current, "the first one"
    write(path, 1, Estimates(leaf=None, value=[(np.ones((game.observation_size, 1), np.float32), np.zeros(1, np.float32))]))
    assert pretrained.version_of_new(path, new) == current, "the same moves again"
    old = write(path, 2)
    path.with_suffix(".md").write_text("card of the old one")
    assert pretrained.version_of_new(path, new) == current + 1
    assert f"raise Ppo.version, in agents/katz_agents/pretrained/__init__.py, to {current + 1}" in capsys.readouterr().out
    write(path, 3)
    assert pretrained.version_of_new(path, new) == current + 1, "not yet raised"
    assert (tmp_path / f"3-v{current}.npz").read_bytes() == old
    assert (tmp_path / f"3-v{current}.md").read_text() == "card of the old one"
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"3-v{current}.md", f"3-v{current}.npz", "3.npz", "new.npz"]


@pytest.mark.parametrize(("setting", "value"), [("search_deals", -1), ("search_deals", 1), ("total_steps", 0), ("seed", -1)])
def test_a_setting_out_of_range_is_refused_before_the_training(tmp_path, setting, value):
    chosen = pretrained.Settings(3, run_dir=tmp_path / "run", out=tmp_path / "out", **{setting: value})
    with pytest.raises(ValueError, match=f"--{setting.replace('_', '-')} is {value}; it must be at least"):
        pretrained.build(chosen)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_refused_before_the_training(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        pretrained.build(pretrained.Settings(3, run_dir=tmp_path / "run", out=tmp_path / "file" / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
