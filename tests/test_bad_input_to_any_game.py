"""What is wrong is answered with a ValueError that says so, in any game, and never with a crash in compiled code."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from any_game import GAMES, KUHN, arrays, assert_alike, every_game, positions, to_act
from kuhn_poker import OBSERVATION, TABLE, KuhnPoker

from katz_env import Field, Tables, View, make_agent
from katz_env.core.packed import check_room

HERE = Path(__file__).parent
METHODS = {
    "observe": lambda game, records, seats: game.observe(records, seats),
    "state": lambda game, records, seats: game.state(records, seats),
    "redact": lambda game, records, seats: game.redact(records, seats),
    "redeal": lambda game, records, seats: game.redeal(records, seats, np.random.default_rng(1)),
}
WITH_FEATURES = [game for game in GAMES if game.feature_fields]
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
WITHOUT_SEATS = {
    "outcome": lambda game, records: game.outcome(records),
    "points": lambda game, records: game.points(records),
    "results": lambda game, records: game.results(records),
    "check": lambda game, records: game.check(records),
    "restore": lambda game, records: Tables(game, 4, seed=1).restore(records),
}


# --- a game that somebody else wrote


def made_of(table=TABLE, **attributes):
    """A game like Kuhn poker, but for its table and class attributes."""

    class Mine(KuhnPoker):
        name = "mine"

        def __init__(self):
            super(KuhnPoker, self).__init__(2, 2, table, OBSERVATION, OBSERVATION)

    for name, value in attributes.items():
        setattr(Mine, name, value)
    return Mine()


def without(field):
    return [entry for entry in TABLE if entry[0] != field]


def test_a_table_may_be_given_as_a_list_of_fields():
    assert made_of().dtype.type is np.record


@pytest.mark.parametrize("field", ["rng", "deal", "first_seat", "turn", "phase"])
def test_a_table_that_lacks_a_required_field_is_refused(field):
    with pytest.raises(ValueError, match=f"the table of mine has no field '{field}'; every table needs one of type "):
        made_of(without(field))


@pytest.mark.parametrize(
    ("field", "entry"),
    [
        ("rng", ("rng", np.int64)),
        ("rng", ("rng", np.uint64, (1,))),
        ("deal", ("deal", np.int16, (3,))),
        ("deal", ("deal", np.int8)),
        ("deal", ("deal", np.int8, (3, 1))),
        ("first_seat", ("first_seat", np.uint8)),
        ("turn", ("turn", np.int64)),
        ("turn", ("turn", np.int8, (2,))),
        ("phase", ("phase", np.bool_)),
        ("phase", ("phase", "U5")),
    ],
)
def test_a_required_field_of_another_type_is_refused(field, entry):
    with pytest.raises(ValueError, match=rf"^the field '{field}' of mine's table is .*; it must be (u?int\d+|.*vector)"):
        made_of([*without(field), entry])


@pytest.mark.parametrize("table", [np.int8, "f8", [("a", np.int8)]])
def test_a_table_that_is_no_record_is_refused(table):
    with pytest.raises(ValueError, match="has no field 'rng'"):
        made_of(table)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"word_fields": ("hand",)}, "the table has no field 'hand', but word operations are to read it"),
        ({"word_fields": ("rng",)}, "the field 'rng' is of type uint64; word operations read int8 only"),
        (
            {"word_fields": ("pot",)},
            "the field 'pot' has 13 bytes of the record in front of it and 3 behind it; .* 0 and 7",
        ),
        ({"rotated_fields": ("pot",), "word_fields": ("phase",)}, "the field 'phase' has .* and 0 behind it"),
        ({"field_ranges": {"hand": (0, 1)}}, "the table of mine has no field 'hand', which stands in its field_ranges"),
    ],
)
def test_fields_without_room_for_word_operations_are_refused(attributes, message):
    with pytest.raises(ValueError, match=message):
        made_of(**attributes)


def test_room_for_word_operations_is_counted_to_the_byte():
    def record(front, behind):
        return np.dtype([("front", np.int8, (front,)), ("field", np.int8, (2, 3)), ("behind", np.int8, (behind,))])

    check_room(record(0, 7), words=["field"])
    check_room(record(6, 6), rotated=["field"])
    for front, behind, what in ((0, 6, "words"), (5, 6, "rotated"), (6, 5, "rotated")):
        with pytest.raises(ValueError, match="the field 'field' has"):
            check_room(record(front, behind), **{what: ["field"]})
    check_room(record(1, 1), together=["front", "field", "behind"])
    with pytest.raises(ValueError, match="the field 'behind' does not follow 'front' in the record; they are copied together"):
        check_room(record(1, 1), together=["front", "behind"])


@pytest.mark.parametrize("attribute", ["name", "functions", "phases", "event_kinds"])
def test_a_game_without_what_every_game_has_is_refused(attribute):
    from katz_env import Game

    given = {name: getattr(KuhnPoker, name) for name in ("name", "functions", "phases", "event_kinds") if name != attribute}
    abstract = {name: getattr(KuhnPoker, name) for name in ("parse_deal", "describe_deal", "action_name")}
    mine = type("Mine", (Game,), given | abstract | {"max_events": 4})
    with pytest.raises(ValueError, match=f"Mine has no '{attribute}', which every game must have"):
        mine(2, 2, TABLE, OBSERVATION, OBSERVATION)


# --- seats, tables and deals


@every_game
@every_method
@pytest.mark.parametrize(
    ("seats", "message"),
    [
        ([0, 0, -1, 0], "seat -1 does not exist; seats are 0 to "),
        ([0, 0, 99, 0], "seat 99 does not exist; seats are 0 to "),
        ([0, 0, 2**40, 0], "does not exist"),
        ([0, 0, 0], "seats must be 4 seats from 0 to "),
        ([], "seats must be 4 seats from 0 to "),
        ([[0], [0], [0], [0]], "seats must be 4 seats from 0 to "),
        (0, "seats must be 4 seats from 0 to "),
        (None, "seats must be 4 seats from 0 to "),
        ("0000", "seats must be 4 seats from 0 to "),
        ([0.0, 0.0, 0.0, 0.0], "seats are of type float64; they must be integers"),
        ([True, False, True, False], "seats are of type bool; they must be integers"),
        (["a", "b", "c", "d"], "they must be integers"),
    ],
    ids=repr,
)
def test_wrong_seats_are_refused(game, method, seats, message):
    with pytest.raises(ValueError, match=message):
        method(game, positions(game, steps=1, num_tables=4)[:4], seats)


def strangers(game):
    """What is no array of tables of a game."""
    other = next(other for other in GAMES if other != game)
    records = positions(game, steps=1, num_tables=4)[:4]
    return {
        "of another game": other.new_tables(4),
        "one table": records[0],
        "two dimensions": records.reshape(2, 2),
        "a list": records.tolist(),
        "a field": records["deal"],
        "None": None,
        "bytes": records.view(np.int8).reshape(4, -1),
        "without a field": records[["rng", "deal"]],
        "other byte order": records.astype(records.dtype.newbyteorder()),
    }


@every_game
@pytest.mark.parametrize("call", [*METHODS, *WITHOUT_SEATS])
def test_what_are_no_tables_of_the_game_is_refused(game, call):
    for what, records in strangers(game).items():
        if call == "restore" and what == "one table":
            continue  # which restore takes for one record
        arguments = (game, records, [0, 0, 0, 0]) if call in METHODS else (game, records)
        with pytest.raises(ValueError, match="record"):
            pytest.fail(f"{what}: {(METHODS | WITHOUT_SEATS)[call](*arguments)}")


@every_game
@every_method
def test_tables_that_do_not_lie_side_by_side_are_read_right(game, method):
    records = positions(game, steps=1, num_tables=8)[:8]
    records = game.redact(records, to_act(records))  # as `redeal` needs them
    apart, seats = records[::2], to_act(records)[::2]
    assert not apart.flags.c_contiguous
    np.testing.assert_array_equal(method(game, apart, seats), method(game, apart.copy(), seats.astype(np.uint8)))


@every_game
@every_method
def test_no_tables_are_answered_with_nothing(game, method):
    assert len(method(game, game.new_tables(0), [])) == 0


@every_game
def test_deals_that_the_game_cannot_deal_are_refused(game):
    tables = Tables(game, 3, seed=2)
    before, deals = arrays(tables), tables.records["deal"].copy()
    for place, value in ((0, 127), (0, -1), (-1, -128), (1, 50)):
        wrong = deals.copy()
        wrong[1, place] = value
        with pytest.raises(ValueError, match="deal 1 is "):
            tables.deal_vectors(wrong)
    for wrong in (deals[:2], deals[:, :-1], deals.astype(np.int16), deals.astype(float), "deal"):
        with pytest.raises(ValueError, match="deals"):
            tables.deal_vectors(wrong)
    with pytest.raises(ValueError, match="seat 9 does not exist"):
        tables.deal_vectors(deals, np.array([0, 9, 0], np.int8))
    assert_alike(tables, before)


@every_game
def test_a_view_put_together_by_hand_is_checked(game):
    tables = Tables(game, 4, seed=3)
    view = tables.view(np.arange(4), np.random.default_rng(3))
    whole = {name: getattr(view, name) for name in ("game", "tables", "seats", "observations", "action_masks", "rng")}
    assert make_agent("random").act(View(**whole)).shape == (4,)
    for name, wrong in (
        ("seats", view.seats + 50),
        ("seats", view.seats.astype(np.int8)),
        ("seats", view.seats[:2]),
        ("action_masks", view.action_masks[:, :-1]),
        ("action_masks", view.action_masks.astype(np.int8)),
        ("observations", view.observations[:2]),
        ("tables", next(other for other in GAMES if other != game).new_tables(4)),
    ):
        with pytest.raises(ValueError, match=r"seat|action_masks|observations|records"):
            View(**whole | {name: wrong})


def test_bounds_of_a_field_that_do_not_fit_into_a_number_are_refused():
    for low, high in ((0, 128), (-129, 0), (3, 2)):
        with pytest.raises(ValueError, match="the field 'f' goes from"):
            Field("f", (1,), 1, low, high, "too much")


# --- tables changed by hand, in a process of their own, so that a crash is seen as a failure


def spoil(name, players, number, **environment):
    path = os.pathsep.join(map(str, (HERE, HERE / "toy_game")))
    command = [sys.executable, "-W", "ignore", str(HERE / "spoiled_tables.py"), name, str(players), str(number)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path} | environment
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-3000:]}"
    answered, refused = map(int, done.stdout.split())
    assert answered > 100
    assert refused > 100


@pytest.mark.parametrize(("name", "players"), [("kuhn_poker", 2), ("katzenjammer", 2), ("meow", 3), ("katz_und_maus", 2)])
def test_tables_changed_by_hand_crash_nothing(name, players):
    spoil(name, players, 10)


@pytest.mark.parametrize(("name", "players"), [("kuhn_poker", 2), ("katzenjammer", 3), ("meow", 2), ("katz_und_maus", 2)])
def test_tables_changed_by_hand_lead_out_of_no_array(name, players):
    """Without the compiler an index out of an array is an error; compiled it may go unnoticed."""
    spoil(name, players, 1, NUMBA_DISABLE_JIT="1")


@pytest.mark.full
@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_many_tables_changed_by_hand_crash_nothing(game):
    spoil(game.name, game.num_players, 200)
    spoil(game.name, game.num_players, 10, NUMBA_DISABLE_JIT="1")


def test_the_rules_of_kuhn_poker_know_which_chips_can_lie_in_the_pot():
    good = positions(KUHN, finished=True)
    for pot, phase, turn in (((2, 2), 0, 0), ((2, 1), 1, 0), ((0, 1), 0, 0), ((1, 1), 1, 0)):
        record = good[:1].copy()
        record["pot"], record["phase"], record["turn"], record["first_seat"] = pot, phase, turn, 0
        with pytest.raises(ValueError, match="record 0 is not a possible table: phase is "):
            KUHN.check(record)


@pytest.mark.parametrize("game", WITH_FEATURES, ids=lambda game: game.name)
def test_features_are_computed_from_observations_only(game):
    observations = Tables(game, 3, seed=1).observations
    size = game.observation_size
    for wrong in (observations.astype(np.float32), observations[0], observations[:, : size - 1], observations[None], [[1.5]]):
        with pytest.raises(ValueError, match=f"; they must be int8 .k, at least {size}., as Tables has them"):
            game.features(wrong)
    impossible = observations.copy()
    impossible[1, 4] = 127
    with pytest.raises(ValueError, match="127 at place 4 of observation 1 is not possible in this game"):
        game.features(impossible)
    longer = np.concatenate((observations, np.full((3, 2), 127, np.int8)), axis=1)
    assert np.array_equal(game.features(longer), game.features(observations))
