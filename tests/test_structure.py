"""Which module may import which, and where things are compiled, as pyproject.toml says."""

import ast
import importlib
import pkgutil
import tomllib
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import katz_agents
import katz_env
from katz_env.core import jit
from katz_env.core.batch import loops_of
from katz_env.core.registry import game_class, game_names

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
ALLOWED = set(SETTINGS["tool"]["katz_env"]["game_may_import"])
SOURCES = [ROOT / "katz_env", ROOT / "agents" / "katz_agents", ROOT / "train"]


def imported_modules(path, package):
    """The modules that a file imports, at its top or anywhere else, by their full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [base])])
            found |= {f"{base}.{alias.name}" if _is_module(f"{base}.{alias.name}") else base for alias in node.names}
    return found


def _is_module(name):
    top, _, rest = name.partition(".")
    if top not in ("katz_env", "katz_agents"):
        return False
    base = ROOT / "agents" / top if top == "katz_agents" else ROOT / top
    path = base.joinpath(*rest.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def files_of_games():
    for folder in sorted(path for path in (ROOT / "katz_env" / "games").iterdir() if path.is_dir()):
        for path in sorted(folder.rglob("*.py")):
            yield folder.name, path
    toy = ROOT / "tests" / "toy_game" / "kuhn_poker.py"
    yield "kuhn_poker", toy


def forbidden_to_games(path, name):
    """What a file of a game imports and may not: anything of ours but the allowed modules and the game's own package."""
    own = f"katz_env.games.{name}"
    imports = imported_modules(path, own)
    ours = {module for module in imports if module.split(".")[0] in ("katz_env", "katz_agents")}
    return {module for module in ours - ALLOWED if module != own and not module.startswith(own + ".")}


@pytest.mark.parametrize(("name", "path"), list(files_of_games()), ids=lambda value: getattr(value, "stem", value))
def test_a_game_imports_only_what_games_may(name, path):
    assert not forbidden_to_games(path, name)


@pytest.mark.parametrize(
    "line",
    [
        "import katz_env",
        "from katz_env import Tables",
        "from katz_env.core import tables",
        "from katz_env.core.tables import Tables",
        "def f():\n    import katz_env.core.arena",
        "from ...core.tables import Tables",
        "from katz_env.games.meow import rules",
        "from katz_agents import search",
    ],
)
def test_a_forbidden_import_would_be_found(tmp_path, line):
    (tmp_path / "rules.py").write_text(line)
    assert forbidden_to_games(tmp_path / "rules.py", "katzenjammer")


def test_every_module_that_games_may_import_exists():
    assert all(_is_module(name) for name in ALLOWED)


def test_core_names_no_game():
    for path in (ROOT / "katz_env" / "core").glob("*.py"):
        names = {module for module in imported_modules(path, "katz_env.core") if "games" in module or "_v0" in module}
        assert not names, path


def modules_of(package):
    """All modules of a package, imported."""
    names = [found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return [importlib.import_module(name) for name in names if not name.endswith(".window")]


def compiled_modules():
    """The modules that hold compiled functions of their own."""
    for module in (*modules_of(katz_env), *modules_of(katz_agents), importlib.import_module("kuhn_poker")):
        functions = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
        if any(function.py_func.__module__ == module.__name__ for function in functions):
            yield module


def entry_points():
    """Functions that Python calls, whose code is kept on disk: of modules, and the loops of every game."""
    for module in compiled_modules():
        yield from (value for value in vars(module).values() if isinstance(value, Dispatcher) and value._cache.cache_path)
    for name in game_names():
        game = game_class(name)
        yield from loops_of(name, game.functions, len(game.phases) - 1)


def test_every_module_with_compiled_functions_is_in_the_stamp_of_some_code_on_disk():
    stamped = {path for function in entry_points() for path in jit.sources_of(function)}
    modules = list(compiled_modules())
    assert len(modules) > 10
    assert {module.__name__ for module in modules if Path(module.__file__) not in stamped} == set()


def test_the_stamp_of_a_game_holds_its_package_and_that_of_another_does_not():
    for name in game_names():
        game = game_class(name)
        own = Path(importlib.import_module(game.functions.play.py_func.__module__).__file__)
        for loop in loops_of(name, game.functions, len(game.phases) - 1)[2:]:
            sources = jit.sources_of(loop)
            assert own in sources
            assert Path(jit.__file__) in sources
            others = [path for path in sources if path.parent not in (own.parent, Path(jit.__file__).parent)]
            assert not others


def compiling(path):
    """What a file uses to compile, or of Numba's private parts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {module for module in imported_modules(path, "") if module.partition(".")[0] in ("numba", "llvmlite")}
    return (names & {"njit", "jit", "vectorize", "guvectorize", "cfunc", "_cache", "CompileResultCacheImpl"}) | modules


def test_only_the_module_for_it_compiles_and_uses_private_parts_of_numba():
    """Word operations are written in LLVM's language, by Numba's public way of adding functions."""
    users = {}
    for folder in SOURCES:
        for path in folder.rglob("*.py"):
            if found := compiling(path):
                users[path.relative_to(ROOT).as_posix()] = found
    assert {"njit", "numba.core.caching"} <= users.pop("katz_env/core/jit.py")
    assert users.pop("katz_env/core/packed.py") == {"llvmlite", "numba.core", "numba.extending"}
    assert users == {}
