"""Generate the tables of observations and actions in pages: ``python tools/documentation.py docs/meow.md``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from katz_env import Field, Katzenjammer, KatzUndMaus, Meow
from katz_env.games.meow import actions as meow_actions


def field_table(fields: Iterable[Field]) -> str:
    """The fields of an observation, or those of features, as a Markdown table."""
    rows = ["| field | numbers | values | times | meaning |", "| --- | --- | --- | --- | --- |"]
    first = 0
    for field in fields:
        place = f"{first}" if field.size == 1 else f"{first} to {first + field.size - 1}"
        name, values = f"`{field.name}` {_shape(field)}".strip(), f"{field.low} to {field.high}"
        rows.append(f"| {name} | {place} | {values} | {_scale(field)} | {field.meaning} |")
        first += field.size
    return "\n".join(rows)


def _shape(field: Field) -> str:
    return "" if field.shape == (1,) else " x ".join(map(str, field.shape))


def _scale(field: Field) -> str:
    if field.categorical:
        return "one-hot"
    return "1" if field.scale == 1 else f"1/{round(1 / field.scale)}"


def action_table(actions: Iterable[tuple[str, str, str]]) -> str:
    """The action ids, their names and their meaning as a Markdown table."""
    rows = ["| ids | names | meaning |", "| --- | --- | --- |"]
    return "\n".join(rows + [f"| {ids} | {names} | {meaning} |" for ids, names, meaning in actions])


TABLES: dict[str, Callable[[], str]] = {
    "observation table of katzenjammer": lambda: field_table(Katzenjammer(3).observation_fields),
    "observation table of meow": lambda: field_table(Meow(4).observation_fields),
    "observation table of katz_und_maus": lambda: field_table(KatzUndMaus().observation_fields),
    "feature table of katz_und_maus": lambda: field_table(KatzUndMaus().feature_fields),
    "feature table of meow": lambda: field_table(Meow(4).feature_fields),
    "action table of katzenjammer": lambda: action_table(Katzenjammer(3).actions.documentation()),
    "action table of meow": lambda: action_table(meow_actions.documentation(Meow(4).rules)),
    "action table of katz_und_maus": lambda: action_table(KatzUndMaus().actions.documentation()),
}
"""The generated tables by their names in the marks."""


def fill(text: str) -> str:
    """Replace what stands between ``<!-- name: generated -->`` and ``<!-- end -->`` in a page by the table of this name.

    Raises
    ------
    ValueError
        If the page has no such mark.
    """
    marks = re.compile(rf"(<!-- ({'|'.join(TABLES)}): generated -->\n).*?(<!-- end -->)", re.DOTALL)
    text, number = marks.subn(lambda mark: f"{mark[1]}{TABLES[mark[2]]()}\n{mark[3]}", text)
    if number == 0:
        raise ValueError(f"the page has none of the tables {', '.join(TABLES)}")
    return text


def main() -> None:
    """Fill the pages that the command line names."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: python {sys.argv[0]} PAGE.md ...")
    for path in map(Path, sys.argv[1:]):
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
