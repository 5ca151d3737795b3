"""Render modes: text, pixels and a window, for PettingZoo and Gymnasium; and nobody peeks in any of them."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo.utils.wrappers
import pytest
from random_play import random_actions

from katz_env import Katzenjammer, Tables, katzenjammer_v0
from katz_env.drawing import pixels

ENV_ID = "katz_env/Katzenjammer-v0"


@pytest.fixture
def no_screen(monkeypatch):
    """A window system without a screen, and no waiting between pictures."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("katz_env.core.rendering.RENDER_FPS", 1000)


def play(env, steps):
    """Random moves in a Gymnasium environment; yields after each, and after the reset."""
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    yield
    for _ in range(steps):
        _, _, over, _, info = env.step(int(random_actions(info["action_mask"][None], rng)[0]))
        yield
        if over:
            return


def play_all(env, steps):
    """Random moves in a PettingZoo environment; yields after each, and after the reset."""
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    yield
    for _ in range(steps):
        if any(env.terminations.values()):
            return
        env.step(int(random_actions(env.observe(env.agent_selection)["action_mask"][None], rng)[0]))
        yield


@pytest.mark.parametrize("players", [2, 3, 6])
def test_frames_have_one_size_for_the_whole_game(players):
    env = katzenjammer_v0.raw_env(players, render_mode="rgb_array")
    frames = [env.render() for step, _ in enumerate(play_all(env, 200)) if step % 20 == 0]
    assert len(frames) > 1
    assert {(frame.shape, frame.dtype.name) for frame in frames} == {(frames[0].shape, "uint8")}
    assert all(length % 2 == 0 for length in frames[0].shape[:2])  # as videos need it
    assert not np.array_equal(frames[0], frames[-1])


def test_a_frame_is_the_drawing():
    env = katzenjammer_v0.raw_env(3, render_mode="rgb_array", render_seat="open")
    env.reset(seed=3)
    np.testing.assert_array_equal(env.render(), pixels.rgb(env._tables.svg(), 1.5))


@pytest.mark.parametrize(("render_seat", "seat"), [("turn", None), (2, 2), ("open", "open")])
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_render_seat_says_from_whose_eyes(render_seat, seat, mode):
    env = katzenjammer_v0.raw_env(3, render_mode=mode, render_seat=render_seat)
    env.reset(seed=4)
    eyes = int(env._tables.turn[0]) if seat is None else None if seat == "open" else seat
    table = env._tables.records[0]
    expected = env.game.text(table, eyes) if mode == "ansi" else pixels.rgb(env.game.svg(table, eyes), 1.5)
    assert np.array_equal(env.render(), expected)


@pytest.mark.parametrize("render_seat", [3, -1, True, "closed", None])
def test_an_unknown_render_seat_is_refused(render_seat):
    with pytest.raises(ValueError, match=r"render_seat is .*; it must be 'turn', 'open' or a seat from 0 to 2"):
        katzenjammer_v0.raw_env(3, render_seat=render_seat)


def test_gymnasium_shows_what_the_open_seat_sees():
    env = gymnasium.make(ENV_ID, seat=1, render_mode="rgb_array")
    for step, _ in enumerate(play(env, 12)):
        if step % 6:
            continue
        raw = env.unwrapped
        seen = raw.game.redact(raw._tables.records, np.array([1]))[0]
        np.testing.assert_array_equal(env.render(), pixels.rgb(raw.game.svg(seen, 1), 1.5))


def test_a_vector_environment_gives_a_frame_for_each_table():
    envs = gymnasium.make_vec(ENV_ID, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    frames = envs.render()
    assert len(frames) == 2
    for frame, table in zip(frames, envs.unwrapped._tables.records, strict=True):
        np.testing.assert_array_equal(frame, pixels.rgb(envs.unwrapped.game.svg(table, int(table["turn"])), 1.5))


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_an_unknown_mode_is_refused(make):
    with pytest.raises(ValueError, match="render_mode is 'hologram'; it must be None or one of 'ansi', 'rgb_array'"):
        make(ENV_ID, render_mode="hologram")


# --- videos


# moviepy leaves the pipes to its ffmpeg open until they are collected, at a time that nobody knows.
leaves_pipes_open = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


@leaves_pipes_open
def test_gymnasium_records_a_video(tmp_path):
    env = gymnasium.make(ENV_ID, num_players=2, render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "videos"), video_length=3)
    for _ in play(env, 4):
        pass
    env.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    frames, size = frames_of(video)
    assert frames >= 3
    assert size == env.unwrapped.render().shape[:2]


@leaves_pipes_open
def test_pettingzoo_records_a_video(tmp_path):
    env = katzenjammer_v0.env(2, render_mode="rgb_array")
    env = pettingzoo.utils.wrappers.RecordVideo(env, str(tmp_path / "videos"), video_length=3)
    for _ in play_all(env, 4):
        pass
    env.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    frames, size = frames_of(video)
    assert frames >= 3
    assert size == env.unwrapped.render().shape[:2]


def frames_of(video):
    """The number of frames of a video, and their height and width."""
    from moviepy import VideoFileClip

    with VideoFileClip(str(video)) as clip:
        frames = list(clip.iter_frames())
    return len(frames), frames[0].shape[:2]


# --- the window


@pytest.fixture
def shown(monkeypatch, no_screen):
    """What was drawn into the window, as it happens."""
    import pygame

    frames = []

    class RecordedWindow(pygame.Window):
        def flip(self):
            super().flip()
            frames.append(pygame.surfarray.array3d(self.get_surface()).swapaxes(0, 1))

    monkeypatch.setattr(pygame, "Window", RecordedWindow)
    return frames


def window_of(env):
    """The pygame window of an environment; None if it is closed."""
    return env.unwrapped._renderer._window._window


def test_human_gymnasium_shows_every_step(shown):
    env = gymnasium.make(ENV_ID, seat=0, render_mode="human")
    steps = sum(1 for _ in play(env, 3))
    assert env.render() is None
    assert len(shown) == steps + 1
    assert shown[-1].max() > 200
    np.testing.assert_array_equal(shown[-1], shown[-2])
    assert not np.array_equal(shown[0], shown[-1])
    env.close()


def test_human_pettingzoo_shows_every_step(shown):
    env = katzenjammer_v0.env(3, render_mode="human")
    assert sum(1 for _ in play_all(env, 3)) == len(shown) == 4
    expected = pixels.rgb(env.unwrapped.game.svg(env.unwrapped._tables.records[0], int(env.unwrapped._tables.turn[0])), 1.5)
    np.testing.assert_array_equal(shown[-1], expected)
    env.close()


def test_a_window_that_the_user_closes_stays_closed_and_the_game_goes_on(shown):
    import pygame

    env = katzenjammer_v0.raw_env(3, render_mode="human")
    steps = play_all(env, 5)
    next(steps)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window_of(env)))
    next(steps)
    assert window_of(env) is None
    before = len(shown)
    assert sum(1 for _ in steps) == 4
    assert len(shown) == before
    env.close()
    env.close()


def test_a_resized_window_is_drawn_anew(shown):
    env = katzenjammer_v0.raw_env(3, render_mode="human")
    steps = play_all(env, 1)
    next(steps)
    window_of(env).size = 300, 700
    next(steps)
    assert shown[-1].shape == (700, 300, 3)
    rows = np.flatnonzero(shown[-1].any(axis=(1, 2)))
    assert 200 < len(rows) < 240  # as wide as the window, its height in proportion
    assert abs(rows[0] - (699 - rows[-1])) <= 1
    env.close()


def test_the_window_answers_while_a_picture_is_shown(no_screen, monkeypatch):
    import pygame

    monkeypatch.setattr("katz_env.core.rendering.RENDER_FPS", 5)
    answered, get = [], pygame.event.get
    monkeypatch.setattr(pygame.event, "get", lambda: answered.append(1) or get())
    env = katzenjammer_v0.raw_env(3, render_mode="human")
    env.reset(seed=1)
    assert len(answered) >= 3
    env.close()


def test_windows_of_several_environments_do_not_disturb_each_other(shown):
    import pygame

    first, second = (katzenjammer_v0.raw_env(3, render_mode="human") for _ in range(2))
    cart_pole = gymnasium.make("CartPole-v1", render_mode="human")  # opens the one window of pygame.display
    for env in (first, cart_pole, second):
        env.reset(seed=1)
    assert window_of(first) is not window_of(second)
    for event in (pygame.event.Event(pygame.WINDOWCLOSE, window=window_of(second)), pygame.event.Event(pygame.QUIT)):
        pygame.event.post(event)
    first.step(first.observe(first.agent_selection)["action_mask"].argmax())
    assert window_of(second) is not None
    assert pygame.event.peek(pygame.QUIT)  # it is kept for the owner of the other window
    second.render()
    assert window_of(second) is None
    first.close()
    cart_pole.step(0)
    cart_pole.close()  # ends all of pygame


def test_a_window_opens_again_after_another_environment_has_ended_pygame(shown):
    import pygame

    env = katzenjammer_v0.raw_env(3, render_mode="human")
    steps = play_all(env, 4)
    next(steps)
    for restart in (lambda: None, pygame.init):
        pygame.quit()
        restart()
        before = len(shown)
        next(steps)
        assert len(shown) == before + 1
    pygame.quit()
    env.close()


def test_copies_of_an_environment_with_a_window_have_windows_of_their_own(no_screen):
    env = gymnasium.make(ENV_ID, render_mode="human").unwrapped
    env.reset(seed=1)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other._renderer._window is not env._renderer._window
        other.render()
    env.close()


def shown_without_a_screen(**variables):
    """What a process that opens a window says where there is no screen."""
    code = "from katz_env import katzenjammer_v0\nkatzenjammer_v0.raw_env(3, render_mode='human').reset(seed=1)"
    kept = {name: value for name, value in os.environ.items() if name.startswith("NUMBA")}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=kept | variables)
    assert result.stdout == ""
    return result


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process without these variables has no screen")
def test_without_a_screen_a_warning_says_what_to_do_instead():
    result = shown_without_a_screen()
    assert result.returncode == 0
    assert "UserWarning: there is no screen, so nobody sees the window; render_mode='rgb_array' needs none" in result.stderr


def test_a_window_that_cannot_be_opened_is_an_error_that_says_what_to_do_instead():
    result = shown_without_a_screen(SDL_VIDEODRIVER="nonsense")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: cannot open a window (")
    assert last.endswith("); render_mode='rgb_array' needs none")


# --- without the extra


@pytest.mark.parametrize(
    ("mode", "missing"), [("rgb_array", "resvg_py"), ("rgb_array", "PIL.Image"), ("human", "pygame"), ("human", "resvg_py")]
)
@pytest.mark.parametrize("make", [lambda mode: gymnasium.make(ENV_ID, render_mode=mode), None])
def test_a_missing_extra_is_named_when_something_is_to_be_drawn(mode, missing, make, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    make = make or (lambda mode: katzenjammer_v0.env(3, render_mode=mode))

    def draw():
        env = make(mode)
        env.reset(seed=1)
        env.render()

    command = r'pip install -c constraints.txt -e "\.\[render\]"'
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=command) as caught:
        draw()
    assert missing in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_an_uninstalled_package_left_is_not_the_package(monkeypatch, tmp_path):
    import PIL.Image  # noqa: F401 - found before the path is changed
    import resvg_py  # noqa: F401

    (tmp_path / "pygame" / "__pycache__").mkdir(parents=True)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pygame"]:
        monkeypatch.delitem(sys.modules, name)
    kept = [path for path in sys.path if not (Path(path) / "pygame" / "__init__.py").exists()]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *kept])
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match="there is no pygame: drawing needs the extra render"):
        gymnasium.make(ENV_ID, render_mode="human")
    monkeypatch.delitem(sys.modules, "pygame")


def test_text_pictures_and_notebooks_need_no_extra(monkeypatch):
    for missing in ("resvg_py", "PIL", "PIL.Image", "pygame"):
        monkeypatch.setitem(sys.modules, missing, None)
    env = gymnasium.make(ENV_ID, render_mode="ansi")
    env.reset(seed=1)
    assert "player_0" in env.render()
    assert Tables(Katzenjammer(3), 1, seed=1)._repr_svg_().startswith("<svg")


def test_stable_baselines_makes_environments_without_the_extra(monkeypatch):
    from stable_baselines3.common.env_util import make_vec_env

    for missing in ("resvg_py", "PIL", "PIL.Image", "pygame"):
        monkeypatch.setitem(sys.modules, missing, None)
    envs = make_vec_env(ENV_ID, n_envs=2, env_kwargs={"num_players": 2})
    assert envs.reset().shape == envs.step([0, 0])[0].shape
