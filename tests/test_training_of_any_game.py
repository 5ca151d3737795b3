"""A policy is trained for a game that the training script has never heard of, and plays it better than chance."""

import subprocess
import sys
from pathlib import Path

from any_game import KUHN

from katz_agents.tournament import evaluate

ROOT = Path(__file__).parents[1]
SETTINGS = """
    --game kuhn_poker --reward score --total-steps 60000 --num-envs 256 --rollout-steps 8 --imitation-steps 0
    --opponents random --evaluation-opponents random --evaluate-every 30000 --evaluation-deals 50
    --hidden 32 --learning-rate 0.003 --processes 1 --snapshot-every 20000
"""


def test_a_policy_learns_kuhn_poker(tmp_path):
    command = [sys.executable, "train/ppo.py", *SETTINGS.split(), "--seed", "1", "--run-dir", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    results = evaluate([f"policy:{tmp_path / 'run' / 'policy.npz'}", "random"], deals=400, seed=1, game=KUHN)
    assert results.mean("score", 0)[1] > 0.05  # with a clear interval
