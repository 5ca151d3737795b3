"""Compiled code of whole packages: an edit is seen in a new process, and the game is played where nothing can be kept."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import pytest

from katz_env import Katzenjammer
from katz_env.core import agents, batch, jit, rng

ROOT = Path(__file__).parent.parent
PLACES = ("katz_env", "agents", "train")
sys.path.insert(0, str(ROOT / "train"))
ignored = shutil.ignore_patterns("__pycache__", "pretrained", "runs")


def copied(folder):
    """A copy of the packages in a folder."""
    for place in PLACES:
        shutil.copytree(ROOT / place, folder / place, ignore=ignored)
    (folder / "agents" / "katz_agents" / "pretrained").mkdir()
    for source in (ROOT / "agents" / "katz_agents" / "pretrained").glob("*.py"):
        shutil.copy(source, folder / "agents" / "katz_agents" / "pretrained")
    return folder


@pytest.fixture
def packages(tmp_path):
    return copied(tmp_path / "packages")


def run(folder, program, *, cache, warning_filter="error", **environment):
    """What a program prints and what it says on stderr, in a new process that imports the packages in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join(str(folder / place) for place in ("", "agents", "train"))
    folders = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    program = f"import katz_env\nassert katz_env.__file__.startswith({str(folder)!r})\n{program}"
    done = subprocess.run(
        [sys.executable, "-B", "-W", warning_filter, "-c", program],
        env=kept | {"PYTHONPATH": path} | folders | environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


# --- edits

PROBES = """
import numpy
from katz_agents.policy import find_set
from katz_env import Katzenjammer
from katz_env.core.jit import cached
from katz_env.core.rng import random_below
from katz_env.games.katzenjammer.payment import first_payment
from katz_env.games.katzenjammer.rules import OVER
from katz_train.masked_softmax import _forward
table = Katzenjammer(2).new_tables(1)

@cached
def of_core(tables):
    return random_below(tables[0], 1000)

@cached
def of_game(tables):
    return first_payment(tables[0])

@cached
def of_rules(tables):
    return tables[0].phase == OVER

@cached
def of_agents(tables):
    return find_set(tables[0].hand[0], tables[0].best)

def of_train(tables):
    result, one = numpy.zeros((3, 1, 4), numpy.float32), numpy.zeros((2, 1), numpy.float32)
    _forward(result[0], numpy.ones((1, 4), bool), numpy.zeros(1, int), result[1], *one)
    return 1000 * one[1, 0]  # the entropy

entries = of_core, of_game, of_rules, of_agents, _forward
for probe, entry in zip((*entries[:-1], of_train), entries):
    value = int(probe(table))
    print(getattr(probe, "py_func", probe).__name__, value, "loaded" if entry.stats.cache_hits else "compiled")
"""
EDITS = {
    "of_core": ("katz_env/core/rng.py", "_mixed_below(t.rng, n)\n", "_mixed_below(t.rng + np.uint64(1), n)\n"),
    "of_game": (
        "katz_env/games/katzenjammer/payment.py",
        "return 1 + 2 * t.deal.shape[0]",
        "return 2 + 2 * t.deal.shape[0]",
    ),
    "of_rules": ("katz_env/games/katzenjammer/rules.py", "OVER = range(4)", "OVER = (1, 2, 3, 0)"),
    "of_train": (
        "train/katz_train/masked_softmax.py",
        "        total, weighted = 0.0, 0.0\n",
        "        total, weighted = 1.0, 0.0\n",
    ),
    "of_agents": ("agents/katz_agents/policy.py", "    return count\n", "    return count - 1\n"),
}


def probed(packages, cache):
    """What each of the small functions returns, and whether it was loaded or compiled."""
    (packages / "probes.py").write_text(PROBES, encoding="utf-8")
    out, _ = run(packages, "import probes", cache=cache)
    return {name: (value, how) for name, value, how in zip(out[::3], out[1::3], out[2::3], strict=True)}


def test_an_edit_of_any_package_is_seen_in_a_new_process(packages, tmp_path):
    cache = tmp_path / "cache"
    before = probed(packages, cache)
    assert {how for _, how in before.values()} == {"compiled"}
    files = set(cache.rglob("*.code"))
    now = probed(packages, cache)
    assert now == {name: (value, "loaded") for name, (value, _) in before.items()}
    for edited, (file, old, new) in EDITS.items():
        path = packages / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, file
        path.write_text(text.replace(old, new), encoding="utf-8")
        before, now = now, probed(packages, cache)
        assert now[edited][0] != before[edited][0], edited
        assert now[edited][1] == "compiled"
        for name in set(EDITS) - {edited}:
            calls = (name, edited) == ("of_train", "of_agents")  # the softmax calls a function of the agents
            assert (now[name][0] != before[name][0]) == calls
            concerned = edited == "of_core" or {name, edited} == {"of_game", "of_rules"} or calls
            assert now[name][1] == ("compiled" if concerned and name != "of_rules" else now[name][1])
        assert len(set(cache.rglob("*.code"))) == len(files), "code of older sources is removed"
    assert now["of_core"][1] == now["of_game"][1] == "loaded", "an edit of an agent compiles nothing of a game"
    assert not files & set(cache.rglob("*.code"))


DECORATED = re.compile(r"^\s*@(?:\w+\.)?(?:compiled|cached|entry)\b", re.MULTILINE)


def modules_with_compiled_functions():
    for place in ("katz_env", "agents/katz_agents", "train/katz_train"):
        for path in sorted((ROOT / place).rglob("*.py")):
            if DECORATED.search(path.read_text(encoding="utf-8")) and path.name != "jit.py":
                yield path


def test_every_module_with_compiled_functions_is_among_the_sources_of_what_it_is_compiled_into():
    found = list(modules_with_compiled_functions())
    assert len(found) > 10
    for path in found:
        if path.is_relative_to(ROOT / "katz_env" / "core"):
            sources = jit.sources_of(rng._fill_states)
        else:
            place = next(place for place in ("train", "agents", "") if path.is_relative_to(ROOT / place))
            module = import_module(".".join(path.relative_to(ROOT / place).with_suffix("").parts))
            functions = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
            blocks = [value.py_func for value in functions if hasattr(value, "py_func")]
            assert blocks, path
            sources = set.intersection(*(set(jit.sources_of(block)) for block in blocks))
        assert path in sources


def test_the_loops_of_a_game_are_compiled_from_core_and_from_all_modules_of_the_game():
    loops = Katzenjammer(3).loops
    folder = Path(inspect.getfile(Katzenjammer)).parent
    core = {Path(inspect.getfile(module)) for module in (agents, batch, jit, rng)}
    for loop in loops:
        assert core | set(folder.glob("*.py")) <= set(jit.sources_of(loop))


# --- no place for code

PLAY = """
import numpy
from katz_env.core.agents import random_legal
from katz_env.core.rng import table_seeds
actions = numpy.zeros(1, int)
random_legal(numpy.array([[False, True]]), numpy.zeros(1), actions)
print(actions[0], len(set(table_seeds(1, 2))))
"""
PLAY_A_GAME = """
import katz_env
tables = katz_env.Tables(katz_env.Katzenjammer(2), seed=1)
agent = katz_env.make_agent("random")
import numpy
rng = numpy.random.default_rng(0)
while not tables.terminated[0]:
    tables.step(agent.act(tables.view(numpy.array([0]), rng)))
print(*tables.scores[0])
"""
programs = pytest.mark.parametrize(
    "program", [PLAY, pytest.param(PLAY_A_GAME, marks=pytest.mark.full)], ids=["two functions", "a game"]
)
QUICK = {"NUMBA_OPT": "1"}  # compiles in half the time


def played(packages, program, tmp_path):
    """What the program prints where everything can be kept."""
    return run(packages, program, cache=tmp_path / "cache", **QUICK)[0]


@programs
def test_without_a_folder_that_may_be_written_code_is_compiled_in_memory(program, packages, tmp_path):
    # The only place that Numba looks at here is NUMBA_CACHE_DIR, which is not set.
    environment = QUICK | {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "TMPDIR": str(tmp_path)}
    before = {path for path in packages.rglob("*") if path.is_file()}
    out, err = run(packages, program, cache=None, **environment)
    assert out == played(packages, program, tmp_path)
    assert err == ""
    assert {path for path in packages.rglob("*") if path.is_file()} == before


@pytest.fixture
def mounted():
    """Mounts file systems of their own and unmounts them in the end; only the administrator may do that."""
    with ExitStack() as stack:

        def mount(folder, *options):
            folder.mkdir(exist_ok=True)
            if os.geteuid() or subprocess.run(["mount", *options, folder], capture_output=True, check=False).returncode:
                pytest.skip("no file system can be mounted here")
            stack.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
            return folder

        yield mount


@programs
def test_on_a_read_only_file_system_without_a_home_code_is_compiled_in_memory(program, packages, tmp_path, mounted):
    expected = played(packages, program, tmp_path)
    place = mounted(tmp_path / "read-only", "--bind", str(packages))
    subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
    with pytest.raises(OSError, match="Read-only"):
        (place / "a file").touch()
    home = str(place / "nobody")
    out, err = run(place, program, cache=None, HOME=home, XDG_CACHE_HOME=home, **QUICK)
    assert out == expected
    assert err == ""


@programs
def test_a_full_disk_is_said_once_and_the_game_goes_on(program, packages, tmp_path, mounted):
    place = mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=12k", "tmpfs")
    out, err = run(packages, program, cache=place, warning_filter="always", **QUICK)
    assert out == played(packages, program, tmp_path)
    assert len(re.findall("compiled code cannot be kept in .* No space left on device", err)) == 1
    assert len(err.strip().splitlines()) <= 2, "the warning, and the line that it comes from"
    assert not list(place.rglob(".*")), "nothing half-written is left behind"


# --- the game itself, with every file of its code damaged


@pytest.mark.full
def test_every_damaged_file_of_a_game_is_compiled_anew_and_replaced(packages, tmp_path):
    cache = tmp_path / "cache"
    expected, _ = run(packages, PLAY_A_GAME, cache=cache, **QUICK)
    files = sorted(cache.rglob("*.code"))
    assert len(files) >= 6
    whole = {path: path.read_bytes() for path in files}
    ways = (lambda old: b"", lambda old: old[: len(old) // 2], lambda old: bytes(len(old)), lambda old: whole[files[0]])
    for number, path in enumerate(files):
        path.write_bytes(ways[number % 4](whole[path]) if path != files[0] else b"")
    assert run(packages, PLAY_A_GAME, cache=cache, **QUICK) == (expected, "")
    assert sorted(cache.rglob("*.code")) == files
    for path in files:
        assert jit._parts(path.read_bytes())[1] == jit._parts(whole[path])[1]
    changed = {path: path.stat().st_mtime_ns for path in files}
    assert run(packages, PLAY_A_GAME, cache=cache, **QUICK) == (expected, "")
    assert {path: path.stat().st_mtime_ns for path in files} == changed, "now all are loaded"


STEPS = """
import sys
import numpy
from katz_env import Katzenjammer, Tables
for players in map(int, sys.argv[1].split(",")):
    tables = Tables(Katzenjammer(players), 20, seed=players)
    for _ in range(40):
        tables.step(tables.action_masks.argmax(1))
    print(players, tables.records["deal"].sum(), tables.records["hand"].tobytes().hex()[:60])
"""


@pytest.mark.full
def test_processes_that_start_together_with_an_empty_folder_play_the_same_games(packages, tmp_path):
    alone = dict.fromkeys("234")
    for players in alone:
        alone[players], _ = run(packages, STEPS.replace("sys.argv[1]", f"'{players}'"), cache=tmp_path / "alone", **QUICK)
    for number in range(2):
        cache = tmp_path / f"together{number}"
        program = packages / "program.py"
        program.write_text(STEPS, encoding="utf-8")
        path = os.pathsep.join(str(packages / place) for place in ("", "agents"))
        environment = os.environ | QUICK | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
        orders = ("2,3,4", "4,3,2", "3,4,2", "2,3,4")
        started = [
            subprocess.Popen(
                [sys.executable, "-W", "error", program, order], env=environment, stdout=subprocess.PIPE, text=True
            )
            for order in orders
        ]
        for order, process in zip(orders, started, strict=True):
            out, _ = process.communicate()
            assert process.returncode == 0
            assert out.split() == [word for players in order.split(",") for word in alone[players]]
        after, _ = run(packages, STEPS.replace("sys.argv[1]", "'2,3,4'"), cache=cache, **QUICK)
        assert after == [word for players in "234" for word in alone[players]]
