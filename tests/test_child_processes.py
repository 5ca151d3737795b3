"""Environments start in child processes that have not imported katz_env, by the id that names the module to import."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import gymnasium, numpy as np
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

ID = "katz_env:katz_env/Katzenjammer-v0"

if __name__ == "__main__":
    settings = dict(num_players=2, opponents="random")
    envs = make_vec_env(
        ID, n_envs=1, seed=1, vec_env_cls=SubprocVecEnv, vec_env_kwargs=dict(start_method={method!r}), env_kwargs=settings
    )
    envs.reset()
    for _ in range(3):
        masks = np.stack(envs.env_method("action_masks"))
        assert masks.sum(1).min() >= 2
        _, _, _, infos = envs.step(masks.argmax(1))
    envs.close()
    envs = gymnasium.make_vec(
        ID, num_envs=1, vectorization_mode="async", vector_kwargs=dict(context={method!r}, shared_memory=False), **settings
    )
    _, infos = envs.reset(seed=1)
    envs.step(infos["action_mask"].argmax(1))
    envs.close()
    print("played")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_make_environments_by_an_id_that_names_the_module(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{method!r}", repr(method)))
    # Without the compiler a few moves take less time than loading compiled code would, in each of the children.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["played"]
