"""The scripts that made the scripted players: bad settings are named at once, and nothing that was fitted is lost."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from katz_agents.katzenjammer import value_network

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "train"))

import fit_value_network  # noqa: E402
import tune_heuristic  # noqa: E402

QUICK = fit_value_network.Settings((2,), positions=64, validation=16, epochs=1, batch_size=16)
WRONG_FIT = [
    ({"num_players": (7,)}, "num_players is 7"),
    ({"num_players": ()}, "--num-players must name"),
    ({"others": ()}, "--others must name at least one agent"),
    ({"others": ("greedy", "nobody")}, "there is no agent 'nobody'"),
    ({"num_players": (5,), "others": ("ppo",)}, "ppo is shipped for 2, 3, 4 players"),
    ({"positions": 0}, "--positions is 0"),
    ({"validation": 0}, "--validation is 0"),
    ({"epochs": 0}, "--epochs is 0"),
    ({"batch_size": 0}, "--batch-size is 0"),
    ({"learning_rate": float("nan")}, "--learning-rate is nan"),
    ({"seed": -1}, "--seed is -1"),
    ({"out": Path("networks")}, "--out is networks; it must end in .npz"),
    ({"out": Path("no/such/folder.npz")}, "there is no folder no/such"),
]
WRONG_SEARCH = [
    ({"num_players": ()}, "--num-players must name"),
    ({"num_players": (9,)}, "num_players is 9"),
    ({"generations": -1}, "--generations is -1"),
    ({"population": 7}, "--population is 7; it must be even"),
    ({"elite": 33}, "--population is 32; it must be even, and at least --elite, 33"),
    ({"elite": 0}, "--elite is 0"),
    ({"deals": 0}, "--deals is 0"),
    ({"final_deals": 0}, "--final-deals is 0"),
    ({"spread": float("inf")}, "--spread is inf"),
    ({"rate": float("nan")}, "--rate is nan"),
    ({"greedy_share": 1.5}, "--greedy-share is 1.5"),
    ({"seed": -1}, "--seed is -1"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_FIT)
def test_wrong_settings_of_a_fit_are_named(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        fit_value_network.fit_all(dataclasses.replace(QUICK, **({"out": tmp_path / "value_network.npz"} | change)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("change", "message"), WRONG_SEARCH)
def test_wrong_settings_of_a_search_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        tune_heuristic.tune(dataclasses.replace(tune_heuristic.Settings(), **change))


@pytest.mark.parametrize("script", ["fit_value_network.py", "fit_position_value.py", "tune_heuristic.py"])
def test_the_commands_answer_in_one_line(script):
    command = [sys.executable, str(ROOT / "train" / script), "--seed", "-1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, f"train/{script}: --seed is -1; it must be at least 0\n")


def test_a_fit_keeps_the_other_networks_also_when_it_cannot_be_saved(tmp_path, monkeypatch, capsys):
    path = tmp_path / "value_network.npz"
    np.savez(path, **{name: array for name, array in np.load(value_network.FILE).items() if name.endswith("_3")})
    before = path.read_bytes()

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez_compressed", full)
        with pytest.raises(OSError, match="No space left"):
            fit_value_network.fit_all(dataclasses.replace(QUICK, out=path))
    assert path.read_bytes() == before
    assert fit_value_network.fit_all(dataclasses.replace(QUICK, out=path)) == 0
    assert "2 players: the network explains " in capsys.readouterr().out
    with np.load(path) as file:
        assert {f"{name}_{n}" for name in value_network.Network._fields for n in (2, 3)} == set(file)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_something_else_is_not_overwritten(tmp_path):
    path = tmp_path / "value_network.npz"
    path.write_text("shopping list")
    with pytest.raises(ValueError, match="holds no networks"):
        fit_value_network.fit_all(dataclasses.replace(QUICK, out=path))
    assert path.read_text() == "shopping list"
