"""The command ``katz`` where people run it: closed and full streams, narrow encodings, interrupts, full disks, odd files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from full_disk import fill, small_file_system

from katz_env import Katzenjammer
from katz_env.command_line import game_from

ROOT = Path(__file__).parent.parent
RECORDED = ROOT / "tests" / "data" / "games.jsonl"
KATZ = f"{sys.executable} -W error -c 'import katz_command; katz_command.main()'"
PATIENCE = 300  # seconds after which a silent program is given up; a first start compiles


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which ``katz`` is the command."""
    script = f'katz() {{ {KATZ} "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, check=False, env=os.environ | environment, timeout=PATIENCE
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with a file of two game records."""
    monkeypatch.chdir(tmp_path)
    lines = RECORDED.read_text().splitlines()[:2]
    (tmp_path / "games.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


# --- streams


@pytest.mark.parametrize("streams", ["2>&-", ">&-", ">&- 2>&-", "<&-", "> /dev/full", "2> /dev/full", "> /dev/full 2>&1"])
def test_a_closed_or_full_stream_is_no_error(streams, here):
    ended = shell(f"katz play-out --games 2 --out out.jsonl {streams} && katz replay out.jsonl --html out.html {streams}")
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr
    assert b"Exception" not in ended.stderr
    assert len((here / "out.jsonl").read_text().splitlines()) == 2
    assert (here / "out.html").read_text().endswith("</html>\n")


def test_a_closed_stream_does_not_hide_that_a_line_is_wrong(here):
    (here / "games.jsonl").write_text("{")
    assert shell("katz replay games.jsonl 2>&-").returncode == 1


@pytest.mark.parametrize("line", ["--help | true", "--version | true", "--version > /dev/full", "--version >&-"])
def test_what_nobody_reads_is_no_error(line):
    ended = shell(f"set -o pipefail; katz {line}")
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_measurements_that_cannot_be_written_are_an_error():
    arguments = "--num-players 3 --num-tables 8 --seconds 0.01 --repeats 1"
    ended = shell(f"katz bench {arguments} > /dev/full")
    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines()[-1] == "katz: No space left on device"


def test_without_standard_input_a_game_is_saved_as_it_began(here):
    ended = shell("katz play --opponents greedy --seed 1 --out played.jsonl <&-")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert json.loads((here / "played.jsonl").read_text())["end"] == "unfinished"


@pytest.mark.parametrize("encoding", ["ascii", "cp932"])
@pytest.mark.parametrize("arguments", ["--help", "play --opponents greedy --seed 3 < /dev/null"])
def test_output_in_a_narrow_encoding_is_written_in_simpler_characters(encoding, arguments, here):
    ended = shell(f"katz {arguments}", PYTHONIOENCODING=encoding)
    assert (ended.returncode, ended.stderr) == (0, b"")
    shown = ended.stdout.decode(encoding)
    if "help" in arguments:
        assert "* play-out" in shown
        assert "?" not in shown
    else:
        assert "......" in shown  # the cards of a hidden hand


# --- files


def test_what_may_have_no_end_is_not_read(here):
    os.mkfifo(here / "pipe")
    for name in ("pipe", "/dev/zero"):
        for command in ("replay", "draw --out a.svg"):
            ended = shell(f"katz {command} {name}")
            assert ended.returncode == 1
            assert ended.stderr.decode() == f"katz: cannot read {name}: it is not a regular file\n"


def test_a_file_is_replaced_only_by_a_whole_one(here):
    with small_file_system(here):
        out, filler = here / "out.jsonl", here / "filler"
        for command in ("play-out --games 1000 --out", f"replay {RECORDED} --html", f"draw {RECORDED} --zoom 20 --out"):
            out = here / ("out.png" if "draw" in command else "out.jsonl")
            out.write_text("what was there before")
            fill(filler)
            ended = shell(f"katz {command} {out} --force")
            assert ended.returncode == 1
            assert ended.stderr.decode().splitlines()[-1].endswith(f"cannot write {out}: No space left on device")
            assert out.read_text() == "what was there before"
            filler.unlink()
            assert sorted(path.name for path in here.iterdir()) == [out.name]
            out.unlink()


def test_games_that_were_written_before_the_disk_was_full_are_kept(here):
    with small_file_system(here, 128):
        ended = shell("katz play-out --games 1000 --out out.jsonl")
        assert ended.returncode == 1
        written = (here / "out.jsonl").read_text().splitlines()
        assert len(written) == 64  # a batch
        last = ended.stderr.decode().splitlines()[-1]
        assert last == "katz: cannot write all of out.jsonl: No space left on device; out.jsonl has 64 of 1000 games"
        assert [json.loads(line)["end"] for line in written]


def test_a_replaced_file_keeps_its_permissions_and_a_link_its_target(here):
    target, link = here / "target.jsonl", here / "link.jsonl"
    target.touch(0o640)
    link.symlink_to(target)
    assert shell("katz play-out --games 1 --out link.jsonl --force").returncode == 0
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(target.read_text().splitlines()) == 1


@pytest.mark.parametrize("out", ["/dev/null", "pipe.svg", "folder.svg"])
def test_what_is_no_regular_file_is_never_replaced(out, here):
    os.mkfifo(here / "pipe.svg")
    (here / "folder.svg").mkdir()
    command = f"draw games.jsonl --out {out}" if out.endswith("svg") else f"play-out --games 1 --out {out}"
    ended = shell(f"katz {command} --force")
    assert ended.returncode == 1
    assert ended.stderr.decode() == f"katz: cannot write {out}: it is not a regular file; name another one\n"


def test_names_of_files_need_not_be_text(here):
    (here / "games.jsonl").rename(os.fsdecode(b"games\xff.jsonl"))
    ended = shell(r"katz replay $'games\xff.jsonl' --html $'page\xff.html'")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "<title>games�.jsonl</title>" in Path(os.fsdecode(b"page\xff.html")).read_text()


# --- interrupts


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_command_keeps_the_games_that_are_finished(signum, here):
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import katz_command as c; c.main()"
    arguments = ["play-out", "--games", "10000000", "--out", "out.jsonl"]
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    while not any(path.stat().st_size for path in here.glob(".*.part")):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signum)
    shown = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(PATIENCE) == 128 + signum
    games = len((here / "out.jsonl").read_text().splitlines())
    assert games > 0
    assert shown.splitlines()[-1] == f"katz: interrupted; out.jsonl has {games} of 10000000 games"
    assert sorted(path.name for path in here.iterdir()) == ["games.jsonl", "out.jsonl"]


HALF_MADE = """
import os, signal, sys, time

class HalfMade:
    def __init__(self):
        os.kill(os.getpid(), signal.{signal})
        time.sleep(60)
        self.pointer = 1

    def __del__(self):
        self.pointer
"""
"""An object that a signal interrupts while it is made: Numba and LLVM have such ones while they compile."""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "run",
    [
        "from katz_env.command_line import run_command; sys.exit(run_command(HalfMade, 'it'))",
        "sys.path.insert(0, 'train'); from katz_train.interrupts import run_script\n"
        "def work(interrupts):\n"
        "    with interrupts.abandonable():\n"
        "        HalfMade()\n"
        "run_script(work, 'it')",
    ],
    ids=["run_command", "run_script"],
)
def test_what_an_interrupt_leaves_half_made_is_not_told(run, signum):
    code = HALF_MADE.format(signal=signum.name) + run
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 128 + signum
    assert ended.stderr in ("it: interrupted\n", "it: stopped by SIGTERM\n")


def test_an_interrupt_while_modules_are_imported_ends_the_command_with_one_line():
    code = (
        "import signal, sys, katz_command\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'katz_env':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "katz_command.main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "katz: interrupted\n")


# --- extras and games


def test_without_the_extra_the_modules_can_be_imported_and_the_command_names_it():
    code = (
        "import sys\n"
        "for name in ('tyro', 'rich', 'tqdm'): sys.modules[name] = None\n"
        "import katz_env.command_line, katz_env.cli\n"
        "sys.argv = ['katz', 'replay', 'x.jsonl']\n"
        "katz_env.cli.main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    install = 'pip install -c constraints.txt -e ".[train]"'
    assert ended.stderr == f"katz: there is no tyro: the command needs the extra train: {install}\n"


def test_a_game_is_made_from_its_name_its_players_and_its_rules():
    assert game_from("katzenjammer", None) == Katzenjammer()
    assert game_from("katzenjammer", 4, ["mice=15", "values=4"]) == Katzenjammer(4, 15, values=4)


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("whist", [], "there is no game 'whist'; installed are .*katzenjammer"),
        ("katzenjammer", ["mice"], "--rules has 'mice'; a rule is written KEY=VALUE, such as mice=15"),
        ("katzenjammer", ["=3"], "--rules has '=3'; a rule is written KEY=VALUE"),
        ("katzenjammer", ["num_players=3"], "the number of players is set by --num-players"),
        ("katzenjammer", ["mice=3", "mice=4"], "--rules sets mice twice"),
        ("katzenjammer", ["mice=many"], "mice is 'many'; it must be an integer from 1 to 127"),
        ("katzenjammer", ["colours=3"], "unexpected keyword argument 'colours'"),
    ],
)
def test_a_wrong_game_or_rule_is_refused(name, rules, message):
    with pytest.raises(ValueError, match=message):
        game_from(name, None, rules)


def test_records_say_which_game_they_are_and_can_be_asked_to_be_of_one(here):
    assert shell("katz replay games.jsonl --game katzenjammer").returncode == 0
    ended = shell("katz replay games.jsonl --game whist")
    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines()[0] == "games.jsonl: line 1: it is not a record of whist"
    ended = shell("katz draw games.jsonl --game whist --out a.svg")
    assert (ended.returncode, ended.stderr.decode()) == (1, "katz: line 1 of games.jsonl is not a record of whist\n")
