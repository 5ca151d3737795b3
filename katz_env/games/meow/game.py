"""Meow as a `Game`: settings, names, records and drawings around the compiled engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from katz_env.core.batch import TableFunctions
from katz_env.core.game import Game, Records
from katz_env.core.validation import check_keywords
from katz_env.drawing import Picture
from katz_env.games.meow import commentary, deals, engine, hidden, observation, picture, validation
from katz_env.games.meow.actions import card_names, tile_names
from katz_env.games.meow.features import features_of
from katz_env.games.meow.observation import SHOWN_TOGETHER, observation_fields, state_fields
from katz_env.games.meow.rules import BOWL, EVENTS, FISH, FISHBONE, PHASES, VASE, Rules, table_dtype


class Meow(Game):
    """Meow.

    Parameters
    ----------
    num_players, expert, **options
        The fields of `katz_env.games.meow.Rules`.

    Attributes
    ----------
    rules : Rules
        The options of the rules.
    cards : tuple of str
        The names of the cards by id, which are those of the actions.
    tiles : tuple of str
        The names of the types of tiles.

    Raises
    ------
    ValueError
        If an option is out of its range.
    TypeError
        If an option is unknown.
    """

    name: ClassVar[str] = "meow"
    functions: ClassVar[TableFunctions] = TableFunctions(
        fill_deal=engine.fill_deal,
        deal=engine.deal,
        play=engine.play,
        write_mask=engine.write_mask,
        write_observation=observation.write_observation,
        write_state=observation.write_state,
        write_scores=engine.write_scores,
        redact=hidden.redact,
        resample=hidden.resample,
        renew=hidden.renew,
    )
    phases: ClassVar[tuple[str, ...]] = PHASES
    event_kinds: ClassVar[tuple[str, ...]] = EVENTS
    points_name: ClassVar[str] = "Score"
    deal_keys: ClassVar[tuple[str, ...]] = ("decks", "tiles")
    word_fields: ClassVar[tuple[str, ...]] = ("trick_rank", "shown_score", "gain")
    rotated_fields: ClassVar[tuple[str, ...]] = ("trick_colour", "void", "won")
    copied_together: ClassVar[tuple[str, ...]] = SHOWN_TOGETHER
    screen_path: ClassVar[str] = "katz_env.games.meow.terminal:MeowScreen"
    impossible_world: ClassVar[str] = "its cards and tiles do not come out even, or some hand cannot lack what it lacks"

    def __init__(self, num_players: int = 4, expert: bool = False, **options: Any) -> None:
        check_keywords("Meow", options, self.setting_names())
        self.rules = Rules(num_players, expert, **options)
        self.cards, self.tiles = card_names(self.rules), tile_names(self.rules)
        self._features = features_of(self.rules)
        self.feature_fields = self._features.fields
        super().__init__(
            self.rules.num_players,
            len(self.cards),
            table_dtype(self.rules),
            observation_fields(self.rules),
            state_fields(self.rules),
        )

    def __repr__(self) -> str:
        """Return the call that makes this game, without default options."""
        printed = Meow.settings_of(Rules())
        shown = [f"num_players={self.num_players}"]
        shown += [
            f"{name}={value!r}" for name, value in self.settings.items() if name != "num_players" and value != printed[name]
        ]
        return f"Meow({', '.join(shown)})"

    @classmethod
    def setting_names(cls) -> Sequence[str]:
        """Return the names of the fields of `Rules`."""
        return [field.name for field in fields(Rules)]

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of `Rules` as keyword arguments."""
        return self.settings_of(self.rules)

    @staticmethod
    def settings_of(rules: Rules) -> dict[str, Any]:
        """Return the fields of `rules` as JSON values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(rules).items()}

    def features(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return who wins the trick as it lies, and what beats the observer's cards, int8 ``(k, F)``; see `features.py`."""
        return self._features(observations)

    # --- tables

    def prepare(self, records: Records) -> None:
        """Write the options of the rules into new tables."""
        for field, values in self.fixed_fields.items():
            records[field] = values

    @property
    def fixed_fields(self) -> dict[str, Any]:
        """The fields of a table that hold options of the rules."""
        rules, values = self.rules, [-value for value in self.rules.fishbones]
        return {
            "vase_scores": rules.vase_scores[: rules.vases + 1],
            "tile_kind": [tile.kind for tile in rules.tile_types],
            "tile_value": [tile.value for tile in rules.tile_types],
            "tile_count": rules.tile_counts,
            "first_bone": len(set(rules.bowls)),
            "first_fish": len(set(rules.bowls)) + len(set(rules.fishbones)),
            "bone_place": [values.index(tile.value) if tile.kind == FISHBONE else 0 for tile in rules.tile_types],
            "bone_value": values or [0],
            "expert": rules.expert,
            "in_play": [rank < rules.kept or rank == rules.ranks for rank in range(1, rules.ranks + 1)],
        }

    @property
    def max_events(self) -> int:
        """An upper bound on the events of one deal or step, forced moves included."""
        # A step plays at most the rest of a trick and the last trick of the round, and opens a round or ends the game.
        return 2 * (self.num_players + 1) + self.rules.tricks + self.num_players + 2

    @property
    def event_cards(self) -> int:
        """The number of cards and of types of tiles: events count both, the cards first."""
        return len(self.cards) + len(self.tiles)

    def parse_deal(self, given: Mapping[str, Any]) -> NDArray[np.int8]:
        """Return the vector ``deal`` of given ``decks`` and ``tiles``; see `katz_env.games.meow.deals.parse`."""
        return deals.parse(self, given)

    def describe_deal(self, record: Any) -> dict[str, Any]:
        """Return the ``decks``, each a string of cards, top card first, and the ``tiles`` in their order of coming."""
        return deals.describe(self, record)

    def check_deals(self, vectors: NDArray[np.int8]) -> None:
        """Check that every row holds decks and tiles of this game, or -1 where a deck or the tiles are to be drawn."""
        deals.check(self, vectors)

    def extra_results(self, records: Records) -> dict[str, NDArray[np.int64]]:
        """Return what the won tiles are, int64 ``(k, n)`` each.

        `bowls` and `fishbones` are what they count together, fishbones that a fish took away left out; `fish` and `vases` are
        numbers of tiles.
        """
        won = records["won"].astype(np.int64)
        kinds, values = (np.array(self.fixed_fields[field]) for field in ("tile_kind", "tile_value"))
        found = {
            "bowls": (won * values)[..., kinds == BOWL].sum(-1),
            "fishbones": np.zeros(won.shape[:2], np.int64),
            "fish": won[..., kinds == FISH].sum(-1),
            "vases": won[..., kinds == VASE].sum(-1),
        }
        left = found["fish"].copy()
        for kind in np.flatnonzero(kinds == FISHBONE)[::-1]:
            taken = np.minimum(left, won[..., kind])
            left -= taken
            found["fishbones"] += (won[..., kind] - taken) * values[kind]
        return found

    def points(self, records: Records) -> NDArray[np.int64]:
        """Return what the won tiles count now, int64 ``(k, n)``."""
        return np.asarray(self._checked_records(records)["score"], np.int64)

    def check_tables(self, records: Records) -> Records:
        """Check tables that are put back into play; see `Game.check_tables`."""
        return validation.checked(self, records)

    def check_ranges(self, records: Records) -> None:
        """Check seats, cards, tiles and counts; see `Game.check_ranges`."""
        validation.check_ranges(self, records)

    # --- words

    def action_name(self, record: Any, action: int) -> str:
        """Return the name of the card that `action` plays, such as ``B8``."""
        del record
        return self.cards[action]

    def text(self, record: Any, seat: int | None) -> str:
        """Return a table as text, from the point of view of `seat`, or with all hands open if it is None."""
        return picture.text(self, record, seat)

    def tell(self, events: NDArray[Any], names: Sequence[str], seat: int | None) -> list[str]:
        """Return what happened in words; see `Game.tell`."""
        return commentary.tell(self, events, names, seat)

    def picture(self, record: Any, names: Sequence[str] | None = None) -> Picture:
        """Return a table as a picture; see `Game.picture`."""
        return picture.picture(self, record, names)

    # --- game records

    def record_settings(self) -> dict[str, Any]:
        """Return `expert`, and what else differs from the printed game and does not follow from the tiles."""
        printed, mine = self.settings_of(Rules()), self.settings
        named = ("ranks", "tricks", "rounds", "vase_scores")
        return {"expert": mine["expert"]} | {name: mine[name] for name in named if mine[name] != printed[name]}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Meow:
        """Return the game of a record; see `Game.from_record`. Bowls, fishbones, fish and vases are those of its tiles."""
        named = ("expert", "ranks", "tricks", "rounds", "vase_scores")
        options = {name: record[name] for name in named if name in record}
        return cls(record["players"], **options, **deals.tile_options(record["tiles"]))
