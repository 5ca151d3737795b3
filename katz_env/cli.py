"""The command ``katz``; what it can do is in `katz_env.commands`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from gymnasium.error import DependencyNotInstalled

from katz_env import __version__
from katz_env.command_line import run_command

DESCRIPTION = (
    "Play card games against agents; replay, draw and write game records; measure speed. --version prints the version."
)


def main() -> None:
    """Run the command that ``sys.argv`` holds, and exit with its code."""
    sys.exit(run_command(_run, "katz"))


def _run() -> int:
    if sys.argv[1:] == ["--version"]:
        print(f"katz_env {__version__}")
        return 0
    return _parsed().run()


def _parsed() -> Any:
    """The command with its settings, an object with a method ``run``."""
    try:
        import tyro

        from katz_env.commands.bench import Bench
        from katz_env.commands.draw import Draw
        from katz_env.commands.play import Play
        from katz_env.commands.play_out import PlayOut
        from katz_env.commands.replay import Replay
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("tyro", "rich", "tqdm"):
            raise
        install = 'pip install -c constraints.txt -e ".[train]"'
        raise DependencyNotInstalled(f"there is no {error.name}: the command needs the extra train: {install}") from None
    subcommand = tyro.conf.subcommand
    commands = (
        Annotated[Replay, subcommand("replay")]
        | Annotated[Play, subcommand("play")]
        | Annotated[Draw, subcommand("draw")]
        | Annotated[PlayOut, subcommand("play-out")]
        | Annotated[Bench, subcommand("bench")]
    )
    return tyro.cli(commands, prog="katz", description=DESCRIPTION)


if __name__ == "__main__":
    main()
