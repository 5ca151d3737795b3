"""Deals as people write them: decks of cards and a list of tiles, read, written and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from katz_env.games.meow.game import Meow


def parse(game: Meow, given: Mapping[str, Any]) -> NDArray[np.int8]:
    """Return the vector ``deal``, int8, of given ``decks`` and ``tiles``; what is not given is -1, to be drawn.

    Parameters
    ----------
    game
        The game that is dealt.
    given
        ``decks``: for every round the cards in play, top card first, as a string of names or a list of names; seat 0 gets the
        first of them, seat 1 the next, and so on. ``tiles``: the names of all tiles in the order in which they come.

    Raises
    ------
    ValueError
        If a card or a tile is unknown, missing or given too often.
    """
    rules, parts = game.rules, []
    decks = given.get("decks")
    if decks is None:
        parts.append(np.full(rules.rounds * len(rules.cards_in_play), -1, np.int8))
    else:
        if isinstance(decks, str) or not isinstance(decks, Sequence) or len(decks) != rules.rounds:
            listed = isinstance(decks, Sequence) and not isinstance(decks, str)
            found = f"a list of {len(decks)}" if listed else repr(decks)
            raise ValueError(f"decks are {found}; they must be a list of {rules.rounds}, one for each round")
        for place, deck in enumerate(decks, 1):
            parts.append(_parse_deck(game, deck, place))
    tiles = given.get("tiles")
    parts.append(np.full(len(rules.tiles), -1, np.int8) if tiles is None else _parse_tiles(game, tiles))
    return np.concatenate(parts)


def _parse_deck(game: Meow, deck: Any, number: int) -> NDArray[np.int8]:
    names = deck.split() if isinstance(deck, str) else deck
    if not isinstance(names, Sequence):
        raise ValueError(f"deck {number} is {deck!r}; it must be cards such as 'B8 P18 G1'")
    ids = {game.cards[card]: card for card in game.rules.cards_in_play}
    _check_all(f"deck {number}", "card", names, dict.fromkeys(ids, 1))
    return np.array([ids[name] for name in names], np.int8)


def _parse_tiles(game: Meow, names: Any) -> NDArray[np.int8]:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ValueError(f"tiles are {names!r}; they must be a list such as ['+5', '-10', 'fish', 'vase']")
    _check_all("tiles", "tile", names, dict(zip(game.tiles, game.rules.tile_counts, strict=True)))
    return np.array([game.tiles.index(name) for name in names], np.int8)


def _check_all(what: str, one: str, names: Iterable[Any], wanted: Mapping[str, int]) -> None:
    """Raise ValueError unless `names` are the wanted names, each as often as it is wanted."""
    found: Counter[str] = Counter()
    for name in names:
        if not isinstance(name, str) or name not in wanted:
            raise ValueError(f"{what}: there is no {one} {name!r} in this game; {one}s are {', '.join(_some(wanted))}")
        found[name] += 1
    for name, number in wanted.items():
        if found[name] != number:
            raise ValueError(f"{what}: there are {found[name]} of the {one} {name}; there must be {number}")


def _some(names: Iterable[str]) -> list[str]:
    """Return the first names and the last ones, for a message."""
    all_names = list(names)
    return all_names if len(all_names) <= 24 else [*all_names[:3], "...", *all_names[-3:]]


def describe(game: Meow, record: Any) -> dict[str, Any]:
    """Return the deal of a table as JSON values: the inverse of `parse`."""
    size, deal = len(game.rules.cards_in_play), record["deal"].tolist()
    decks = [deal[size * k : size * (k + 1)] for k in range(game.rules.rounds)]
    return {
        "decks": [" ".join(game.cards[card] for card in deck) for deck in decks],
        "tiles": [game.tiles[kind] for kind in deal[size * game.rules.rounds :]],
    }


def check(game: Meow, vectors: NDArray[np.int8]) -> None:
    """Check vectors that are to be written into the field ``deal``, int8 ``(k, size)``.

    Raises
    ------
    ValueError
        If a deck or the tiles are neither those of the game nor all negative; the message names the first such vector.
    """
    rules = game.rules
    size, cards = len(rules.cards_in_play), np.array(rules.cards_in_play)
    tiles = np.repeat(np.arange(len(game.tiles)), rules.tile_counts)
    places = [slice(size * k, size * (k + 1)) for k in range(rules.rounds)] + [slice(size * rules.rounds, None)]
    for k, place in enumerate(places):
        wanted = cards if k < rules.rounds else tiles
        part = vectors[:, place]
        wrong = (part >= 0).any(1) & (np.sort(part, 1) != wanted).any(1)
        if wrong.any():
            i = int(np.argmax(wrong))
            what = f"deck {k + 1}" if k < rules.rounds else "its tiles"
            right = f"the {size} ids of the cards in play" if k < rules.rounds else "the types of all tiles"
            raise ValueError(f"deal {i} is impossible: {what} must hold {right}, in some order, or only -1 to be drawn")


def tile_options(names: Any) -> dict[str, Any]:
    """Return the options of the rules that follow from the tiles of a game record.

    Raises
    ------
    ValueError
        If they are not a list of names of tiles.
    """
    if not isinstance(names, list):
        raise ValueError(f"'tiles' is {names!r}; it must be a list of names such as '+5', '-10', 'fish', 'vase'")
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"[+-][1-9]\d{0,2}|fish|vase", name):
            raise ValueError(f"'tiles' has {name!r}; tiles are such as '+5', '-10', 'fish', 'vase'")
    return {
        "bowls": [int(name) for name in names if name[0] == "+"],
        "fishbones": [-int(name) for name in names if name[0] == "-"],
        "fish": names.count("fish"),
        "vases": names.count("vase"),
    }
