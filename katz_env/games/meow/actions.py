"""The names of cards and tiles. An action is a card, and its id is ``ranks * colour + rank - 1``."""

from __future__ import annotations

from katz_env.games.meow.rules import COLOURS, Rules


def card_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of all cards by id: ``B1`` to ``B18``, ``P1`` to ``P18``, ``G1`` to ``G18``."""
    return tuple(f"{colour}{rank}" for colour in COLOURS for rank in range(1, rules.ranks + 1))


def tile_names(rules: Rules) -> tuple[str, ...]:
    """Return the names of the types of tiles: ``+1`` to ``+10``, ``-1`` to ``-10``, ``fish``, ``vase``."""
    return tuple(tile.name for tile in rules.tile_types)


def documentation(rules: Rules) -> list[tuple[str, str, str]]:
    """Return the rows of the action table for the documentation: ids, names and meaning."""
    names, ranks = card_names(rules), rules.ranks
    return [
        (f"{first} to {first + ranks - 1}", f"`{names[first]}` to `{names[first + ranks - 1]}`", f"play a {word} card")
        for first, word in ((0, "blue"), (ranks, "pink"), (2 * ranks, "green (trump)"))
    ]
