"""Learning curves as data: collected from runs, kept by program and seed, drawn; those of the documentation are whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "train"))

import learning_curves
from learning_curves import Point, Settings, collect, points_of, read

SHIPPED = sorted((Path(__file__).parent.parent / "docs" / "curves").glob("*.csv"))


def run_of(folder: Path, seed: int, share: float = 0.5, simple: bool = False) -> Path:
    """A run directory with one measurement."""
    folder.mkdir(parents=True)
    settings = {"game": "meow", "num_players": 3, "rules": [], "seed": seed, "imitation_steps": seed}
    (folder / "settings.json").write_text(json.dumps({"settings": settings}))
    if simple:
        (folder / "curve.csv").write_text(f"steps,greedy\n100,{share}\n")
    else:
        curve = [{"steps": 100, "pool": 0.1, "greedy": share}]
        (folder / "evaluation.json").write_text(json.dumps({"curve": curve}))
    return folder


def test_runs_of_both_programs_are_collected_and_drawn(tmp_path):
    runs = (run_of(tmp_path / "a", 0), run_of(tmp_path / "b", 1, simple=True), run_of(tmp_path / "c", 1))
    assert collect(Settings(runs, tmp_path / "out")) == 0
    assert read(tmp_path / "out" / "meow-3.csv") == [
        Point("ppo.py", 1, 100, "greedy", 0.5),
        Point("ppo.py --imitation-steps 0", 0, 100, "greedy", 0.5),
        Point("ppo_simple.py", 1, 100, "greedy", 0.5),
    ]
    assert (tmp_path / "out" / "meow-3.png").stat().st_size > 10_000


def test_a_run_takes_the_place_of_one_with_the_same_program_and_seed(tmp_path):
    for name, seed, share in (("a", 1, 0.2), ("b", 2, 0.3), ("c", 1, 0.4)):
        assert collect(Settings((run_of(tmp_path / name, seed, share),), tmp_path / "out")) == 0
    assert [(point.seed, point.win_share) for point in read(tmp_path / "out" / "meow-3.csv")] == [(1, 0.4), (2, 0.3)]


def test_what_is_no_run_is_named_and_nothing_is_written(tmp_path):
    (tmp_path / "empty").mkdir()
    unfinished = run_of(tmp_path / "unfinished", 0)
    (unfinished / "evaluation.json").unlink()
    for folder in (tmp_path / "empty", unfinished, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match=f"{folder.name} is no directory of a run that came to its end"):
            collect(Settings((run_of(tmp_path / f"good-{folder.name}", 1), folder), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_curves_of_the_documentation_have_three_seeds_of_each_program(path):
    points = read(path)
    programs = {point.program for point in points}
    with_imitation = {"ppo.py"} if path.stem == "katz_und_maus-2" else set()
    assert programs == {"ppo.py --imitation-steps 0", "ppo_simple.py", *with_imitation}
    assert {(point.program, point.seed) for point in points} == {(program, seed) for program in programs for seed in range(3)}
    assert all(0 <= point.win_share <= 1 for point in points)
    assert path.with_suffix(".png").exists()
    for opponent in learning_curves.DRAWN:
        assert {point.seed for point in points if point.opponent == opponent} == {0, 1, 2}


def test_the_fixtures_are_read_as_they_are_written(tmp_path):
    name, points = points_of(run_of(tmp_path / "a", 2, 0.25))
    learning_curves.write(tmp_path / "points.csv", points)
    assert (name, read(tmp_path / "points.csv")) == ("meow-3", points)
