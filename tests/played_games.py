"""Plays random games in a process of its own and prints a digest of all that happened; tests compare the digests.

``python played_games.py tables 4 2 3`` plays tables of four, two and three players, in this order, and prints
``{"4": digest, "2": digest, "3": digest}``; ``stepped`` does the same with less to compile; ``here`` plays environments.

The other commands play after this process has itself stepped tables big enough for all its threads: ``forked`` and
``spawned`` in bare workers, ``async-fork`` and ``async-spawn`` in those of Gymnasium's AsyncVectorEnv, ``subproc-fork`` and
``subproc-spawn`` in those of SB3's SubprocVecEnv, ``threads`` in Python threads.
"""

import hashlib
import json
import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import numpy as np
from random_play import random_actions

from katz_env import Katzenjammer, Tables

ENV_ID, ENVS, STEPS = "katz_env/Katzenjammer-v0", 2, 60


def random_games(players, num_tables=1500, steps=60, num_threads=2):
    """Random games on tables that are stepped by several threads: the tables, the generator, the bytes of all steps."""
    tables = Tables(Katzenjammer(players), num_tables, seed=players, num_threads=num_threads)
    rng, digest = np.random.default_rng(1), []
    for _ in range(steps):
        tables.step(random_actions(tables.action_masks, rng))
        digest += [array.tobytes() for array in (tables.observations, tables.rewards, tables.scores)]
    return tables, rng, digest


def stepped_tables(players):
    """A digest of nothing but steps, which takes the least time to compile."""
    tables, _, digest = random_games(players)
    return hashlib.sha256(b"".join([*digest, *fields_of(tables.records)])).hexdigest()


def played_tables(players):
    """A digest of random games and of all that can be seen and imagined at their last positions."""
    tables, rng, digest = random_games(players)
    digest += [tables.observe(players - 1).tobytes(), tables.state().tobytes()]
    records = tables.records.copy()
    seats = records["turn"].astype(np.int64)
    worlds = tables.game.redeal(tables.game.redact(records, seats), seats, rng)
    return hashlib.sha256(b"".join([*digest, *fields_of(records), *fields_of(worlds)])).hexdigest()


def fields_of(records):
    """The bytes of the records field by field: those between the fields mean nothing."""
    return [records[field].tobytes() for field in records.dtype.names]


def first_legal(masks):
    return np.asarray(masks).argmax(axis=1)


def played_in_this_process():
    """What two environments with seeds 5 and 6 see, always playing their first legal action but one."""
    seen = []
    for seed in range(5, 5 + ENVS):
        env = gymnasium.make(ENV_ID, opponents="greedy").unwrapped
        observation, info = env.reset(seed=seed)
        seen.append([observation])
        for _ in range(STEPS):
            observation, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            if over:
                observation, info = env.reset()
            seen[-1].append(observation)
    return digest_of(np.array(seen).swapaxes(0, 1))


def digest_of(observations):
    return hashlib.sha256(np.asarray(observations, np.float32).tobytes()).hexdigest()


def played_by_gymnasium(context):
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    makers = [lambda: gymnasium.make(ENV_ID, opponents="greedy")] * ENVS
    envs = gymnasium.vector.AsyncVectorEnv(makers, context=context, autoreset_mode=mode)
    observations, infos = envs.reset(seed=5)
    seen = [observations.copy()]
    for _ in range(STEPS):
        observations, _, _, _, infos = envs.step(first_legal(infos["action_mask"]))
        seen.append(observations.copy())
    envs.close()
    return digest_of(seen)


def played_by_stable_baselines(context):
    from stable_baselines3.common.vec_env import SubprocVecEnv

    envs = SubprocVecEnv([lambda: gymnasium.make(ENV_ID, opponents="greedy")] * ENVS, start_method=context)
    envs.seed(5)
    seen = [envs.reset()]
    for _ in range(STEPS):
        observations, _, _, _ = envs.step(first_legal(envs.env_method("action_masks")))
        seen.append(observations)
    envs.close()
    return digest_of(seen)


def played_by_workers(context):
    with multiprocessing.get_context(context).Pool(2) as pool:
        return dict(zip("234", pool.map(played_tables, (2, 3, 4)), strict=True))


def played_by_threads():
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(played_tables, (2, 3, 4, 4, 3, 2)))
    assert digests[:3] == digests[:2:-1]
    return dict(zip("234", digests, strict=False))


def main(command, *players):
    if command not in ("tables", "stepped"):
        played_tables(3)  # on all threads of this process, before it starts its workers
    return {
        "stepped": lambda: {number: stepped_tables(int(number)) for number in players},
        "tables": lambda: {number: played_tables(int(number)) for number in players},
        "forked": lambda: played_by_workers("fork"),
        "spawned": lambda: played_by_workers("spawn"),
        "threads": played_by_threads,
        "here": played_in_this_process,
        "async-fork": lambda: played_by_gymnasium("fork"),
        "async-spawn": lambda: played_by_gymnasium("spawn"),
        "subproc-fork": lambda: played_by_stable_baselines("fork"),
        "subproc-spawn": lambda: played_by_stable_baselines("spawn"),
    }[command]()


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
