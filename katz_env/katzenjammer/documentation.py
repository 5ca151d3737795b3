"""Writes the tables of observations and actions into README.md: ``python -m katz_env.katzenjammer.documentation README.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from katz_env.core.game import Part
from katz_env.katzenjammer.game import Katzenjammer


def observation_table(num_players: int = 3) -> str:
    """The parts of an observation as a Markdown table."""
    game = Katzenjammer(num_players)
    rows = ["| part | numbers | times | meaning |", "| --- | --- | --- | --- |"]
    first = 0
    for part in game.observation_parts:
        place = f"{first}" if part.size == 1 else f"{first} to {first + part.size - 1}"
        rows.append(f"| {f'`{part.name}` {_shape(part)}'.strip()} | {place} | {_scale(part)} | {part.meaning} |")
        first += part.size
    return "\n".join(rows)


def _shape(part: Part) -> str:
    return "" if part.shape == (1,) else " x ".join(map(str, part.shape))


def _scale(part: Part) -> str:
    return "1" if part.scale == 1 else f"1/{round(1 / part.scale)}"


def action_table(num_players: int = 3) -> str:
    """The action ids as a Markdown table."""
    rows = ["| ids | names | meaning |", "| --- | --- | --- |"]
    rows += [f"| {ids} | {names} | {meaning} |" for ids, names, meaning in Katzenjammer(num_players).actions.documentation()]
    return "\n".join(rows)


def fill(text: str) -> str:
    """The text with everything between ``<!-- name: generated -->`` and ``<!-- end -->`` written anew."""
    for name, table in (("observation table", observation_table()), ("action table", action_table())):
        start, end = f"<!-- {name}: generated -->\n", "<!-- end -->"
        if text.count(start) != 1:
            raise ValueError(f"there must be one place marked {start.strip()!r}, not {text.count(start)}")
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}{table}\n{end}{after}"
    return text


def main() -> None:
    """Fill the file named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m katz_env.katzenjammer.documentation README.md")
    path = Path(sys.argv[1])
    path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
