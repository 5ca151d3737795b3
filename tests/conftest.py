"""What many tests share; and the toy game, an installed package for the tests and for the processes that they start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from katz_env import cli
from katz_env.core.jit import COMPILED

TOY_GAME = str(Path(__file__).parent / "toy_game")
"""Kuhn poker with its entry point, as ``pip install`` would lay it down."""

if TOY_GAME not in sys.path:
    sys.path.append(TOY_GAME)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), TOY_GAME)))

# What runs in the background, as under nohup, ignores these signals, and the commands that the tests start would inherit that.
for signum, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(signum) == signal.SIG_IGN:
        signal.signal(signum, handler)


@pytest.fixture(params=range(2, 7))
def players(request):
    """Every number of players, one after the other."""
    return request.param


@pytest.fixture(autouse=True)
def unraisable_errors_are_told():
    """An interrupted command has Python say nothing of them, since its process ends; here the process goes on."""
    hook = sys.unraisablehook
    yield
    sys.unraisablehook = hook


@pytest.fixture
def katz_here(monkeypatch, capsys):
    """The command in this process, which takes less time: ``(exit code, lines on stdout, lines on stderr)``."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["katz", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code, out.splitlines(), err.splitlines()

    return run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is marked `uncompiled` in a process of its own with the compiler off."""
    if not (COMPILED and pyfuncitem.get_closest_marker("uncompiled")):
        return None
    overflow = "ignore:overflow encountered:RuntimeWarning"  # the generator multiplies modulo 2**64
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-o", "addopts=", "-q", "-W", overflow, pyfuncitem.nodeid]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=pyfuncitem.config.rootpath, env=environment, capture_output=True, text=True)
    if done.returncode:
        pytest.fail(done.stdout, pytrace=False)
    return True


@pytest.fixture
def stopped_at(monkeypatch):
    """Runs in this process get Ctrl-C in the middle of the rollout that passes so many decisions."""
    from katz_train.training_callback import TrainingCallback  # only where it is needed: it imports PyTorch

    limit = [10**9]
    step = TrainingCallback._on_step

    def interrupted(self):
        if self.num_timesteps >= limit[0]:
            limit[0] = 10**9
            self.interrupts._handle(2, None)
        return step(self)

    monkeypatch.setattr(TrainingCallback, "_on_step", interrupted)
    return limit
