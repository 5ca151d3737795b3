"""Whatever an agent of another package does wrong is said in one line that names the agent."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from katz_env import Agent, Arena, CompiledAgent, Decision, Katzenjammer, Tables, make_agent
from katz_env.core import registry
from katz_env.core.agents import ask
from katz_env.core.arena import OPEN, FixedSeating
from katz_env.core.jit import compiled
from katz_env.core.registry import AGENTS


class Answers(Agent):
    """Answers whatever it is told to."""

    def __init__(self, answer, name="stranger"):
        self.answer, self.name = answer, name

    def act(self, view):
        return self.answer(view) if callable(self.answer) else self.answer


class Cheat(Agent):
    """Makes all actions legal and takes one that was not."""

    name = "cheat"

    def act(self, view):
        illegal = np.argmin(view.action_masks, 1)
        view.action_masks[:] = True
        return illegal


@compiled
def cheat(t, seat, mask, draw, settings):
    illegal = 0
    while mask[illegal]:
        illegal += 1
    mask[:] = True
    return illegal


class CompiledCheat(CompiledAgent):
    """The same as compiled code."""

    name = "compiled cheat"

    def decision(self, game):
        return Decision(cheat)


def play(agent, num_tables=1):
    tables = Tables(Katzenjammer(2), num_tables, seed=1)
    arena = Arena(tables, [agent], FixedSeating((0, OPEN)), np.random.default_rng(1))
    for _ in range(10):
        arena.start()
        tables.reset()


# --- answers


@pytest.mark.parametrize("num_tables", [1, 5])
@pytest.mark.parametrize("agent", [Cheat(), CompiledCheat()])
def test_a_move_is_checked_against_masks_that_the_agent_cannot_change(agent, num_tables):
    with pytest.raises(ValueError, match=rf"<agent {agent.name}> chose the illegal action \d+$"):
        play(agent, num_tables)


@pytest.mark.parametrize("agent", [Cheat(), CompiledCheat()])
def test_who_asks_an_agent_alone_is_told_too(agent):
    tables = Tables(Katzenjammer(2), 5, seed=1)
    with pytest.raises(ValueError, match=rf"<agent {agent.name}> chose the illegal action \d+$"):
        ask(agent, tables.view(np.arange(5), np.random.default_rng(1)))
    assert tables.action_masks.any(1).all()
    assert not tables.action_masks.all(1).any()


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, r"object \(\)"), ([1.0], r"float64 \(1,\)"), ([[0, 0]], r"int64 \(1, 2\)"), (0, r"int64 \(\)"),
     ([True], r"bool \(1,\)"), (["pass"], r"<U4 \(1,\)"), ([[1], [2, 3]], r"object \(\)"), (lambda view: len, r"object \(\)"),
     (np.zeros(1, "m8[s]"), r"timedelta64\[s\] \(1,\)")],
)  # fmt: skip
def test_an_answer_that_is_no_actions_is_named(answer, said):
    with pytest.raises(ValueError, match=rf"<agent stranger> answered {said}; 1 action ids were asked for"):
        play(Answers(answer))


@pytest.mark.parametrize("action", [-1, 256, 255, 2**62, np.uint64(2**64 - 1)])
def test_an_action_that_does_not_exist_is_named(action):
    with pytest.raises(ValueError, match=r"<agent stranger> chose the illegal action -?\d+"):
        play(Answers(np.array([action])))


# --- packages


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs an agent that some source defines under a name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(source, value="stranger_agents:Stranger", name="stranger"):
        (tmp_path / "stranger_agents.py").write_text(source)
        sys.modules.pop("stranger_agents", None)
        found = (EntryPoint(name, value, AGENTS),)
        monkeypatch.setattr(registry, "entry_points", lambda group: found)

    yield install
    sys.modules.pop("stranger_agents", None)


IMPORTS = "from katz_env import Agent\n"
WRONG_PACKAGES = [
    ("import no_such_module", "the agent 'stranger' of the package stranger_agents cannot be loaded: No module named"),
    ("raise RuntimeError('two\\nlines')", "cannot be loaded: two lines"),
    ("import sys; sys.exit(3)", "cannot be loaded: 3"),
    ("def broken(:", "cannot be loaded: invalid syntax"),
    ("", "cannot be loaded: module 'stranger_agents' has no attribute 'Stranger'"),
    ("Stranger = 5", "what is installed as the agent 'stranger' is of type int; it cannot be called"),
    ("def Stranger(): return 'x'", "what is installed as the agent 'stranger' makes a str; it must make a katz_env.Agent"),
    ("Stranger = dict", "what is installed as the agent 'stranger' makes a dict; it must make a katz_env.Agent"),
    (IMPORTS + "class Stranger(Agent): pass", "cannot be made: TypeError: Can't instantiate abstract class"),
    (
        IMPORTS + "class Stranger(Agent):\n    def __init__(self): len(5)\n    act = None",
        r"the agent 'stranger' cannot be made: TypeError: object of type 'int' has no len\(\)$",
    ),
    (
        IMPORTS + "class Stranger(Agent):\n    def __init__(self): open('/no/such/file')\n    act = None",
        "the agent 'stranger' cannot be made: FileNotFoundError: ",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message"), WRONG_PACKAGES)
def test_a_package_that_is_wrong_is_named_in_one_line(installed, source, message):
    installed(source)
    with pytest.raises(ValueError, match=message) as raised:
        make_agent("stranger")
    assert "\n" not in str(raised.value)


def test_a_mistake_in_settings_is_told_from_one_inside(installed):
    installed(IMPORTS + "class Stranger(Agent):\n    def __init__(self, speed, *, depth=1): speed.upper(1)\n    act = None")
    for spec in ("stranger:speed=1,wrong=2", "stranger:1,2", "stranger"):
        with pytest.raises(ValueError, match=rf"agent '{spec}': .*; its settings are speed, depth$"):
            make_agent(spec)
    with pytest.raises(ValueError, match="the agent 'stranger:fast' cannot be made: TypeError: "):
        make_agent("stranger:fast")


# --- settings of our own


@pytest.mark.parametrize(
    ("spec", "message"),
    [("heuristic:weights=1", "agent 'heuristic:weights=1': got an unexpected keyword argument 'weights'; it has no settings"),
     ("greedy:1", "agent 'greedy:1': too many positional arguments; it has no settings"),
     ("random:seed=3", "unexpected keyword argument 'seed'; it has no settings"),
     ("search:depth=3", "unexpected keyword argument 'depth'; its settings are playouts, worlds, num_threads"),
     ("search:playouts=0", "playouts is 0; it must be an integer from 1 to"),
     ("search:playouts=False", "playouts is False; it must be an integer from 1 to"),
     ("search:playouts=" + "9" * 5000, "playouts is .*; it must be an integer from 1 to"),
     ("search:worlds=" + "(" * 5000, "worlds is .*; it must be an integer from 1 to"),
     ("ppo:sample=2", "sample is 2; it must be True or False"),
     ("policy", "a policy needs its file: policy:path/to/file.npz"),
     ("policy:file=3", "a policy needs its file: policy:path/to/file.npz"),
     ("policy:file=3,sample=maybe", "sample is 'maybe'; it must be True or False|a policy needs its file"),
     ("nobody", "there is no agent 'nobody'; installed are .*greedy")],
)  # fmt: skip
def test_wrong_settings_of_an_agent_are_named_in_one_line(spec, message):
    with pytest.raises(ValueError, match=message) as raised:
        make_agent(spec)
    assert "\n" not in str(raised.value)
