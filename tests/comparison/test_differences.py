"""Matching and differences: an outer join by brute force, and what becomes of NULL, 0, NaN and rows of one side."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, nan
from statistics import median

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.comparison.comparison import Comparison
from dctv.comparison.differences import Difference
from dctv.errors import UsageError
from tests.bounds import bounded
from tests.comparison.made import Rows, run, sides

KEYS = st.tuples(st.sampled_from(["a", "b", "", None]), st.sampled_from([None, 0, 1]))
NUMBERS = st.one_of(st.none(), st.integers(-1000, 1000), st.integers(-(2**62), 2**62))
RUNS = st.lists(st.dictionaries(KEYS, st.tuples(NUMBERS, NUMBERS), max_size=6), min_size=1, max_size=3)
COLUMNS = "name VARCHAR, cpu BIGINT, x BIGINT, y BIGINT ns"
Key = tuple[object, object]
Found = dict[Key, tuple[int | None, int | None]]


def rows_of(found: Found) -> list[tuple[object, ...]]:
    return [(*key, *values) for key, values in found.items()]


def only(columns: str, a: Rows, b: Rows) -> Difference:
    (found,) = Comparison(sides(columns, [a], [b])).rows
    return found


@given(RUNS, RUNS)
@bounded(400)
def test_all_rows_match_an_outer_join(a: list[Found], b: list[Found]) -> None:
    found = Comparison(sides(COLUMNS, [rows_of(one) for one in a], [rows_of(one) for one in b]), ["name", "cpu"])
    expected = {}
    for key in {key for one in (*a, *b) for key in one}:
        for number, metric in enumerate(("x", "y")):
            values = [[v for one in side if key in one and (v := one[key][number]) is not None] for side in (a, b)]
            expected[key, metric] = tuple(map(float, values[0])), tuple(map(float, values[1]))
    assert {((one.key["name"], one.key["cpu"]), one.metric.name): one.runs for one in found.rows} == expected
    assert len(found.rows) == len(expected)
    for one in found.rows:
        key = (one.key["name"], one.key["cpu"])
        exact = [
            [v for row in side if key in row and (v := row[key][one.metric.name == "y"]) is not None] for side in (a, b)
        ]
        first, second = (median(map(Fraction, values)) if values else None for values in exact)
        assert one.values == (None if first is None else float(first), None if second is None else float(second))
        if first is None or second is None:
            assert (one.difference, one.change) == (None, None)
        else:
            assert one.difference == float(second - first)
            change = (second - first) / abs(first) if first else 0 if not second else None
            assert one.change == (None if change is None else pytest.approx(float(change), rel=1e-14))
        assert ("only in A" in one.note) == (not any(key in row for row in b))
        assert ("only in B" in one.note) == (not any(key in row for row in a))


@given(RUNS, RUNS)
@bounded(200)
def test_the_largest_differences_of_each_column_come_first(a: list[Found], b: list[Found]) -> None:
    found = Comparison(sides(COLUMNS, [rows_of(one) for one in a], [rows_of(one) for one in b]), ["name", "cpu"]).rows
    assert [one.metric.name for one in found] == sorted(one.metric.name for one in found)
    for metric in ("x", "y"):
        weights = []
        for one in found:
            if one.metric.name == metric:
                known = [abs(value) for value in one.values if value is not None]
                weights.append(abs(one.difference) if one.difference is not None else max(known, default=-1.0))
        assert weights == sorted(weights, reverse=True)


@given(RUNS, RUNS)
@bounded(100)
def test_tables_have_the_keys_of_their_rows(a: list[Found], b: list[Found]) -> None:
    found = Comparison(sides(COLUMNS, [rows_of(one) for one in a], [rows_of(one) for one in b]), ["name", "cpu"])
    for table in (found.table(), found.table(for_people=True)):
        rows = table.arrow.to_pylist()
        assert [(row["name"], row["cpu"]) for row in rows] == [(one.key["name"], one.key["cpu"]) for one in found.rows]
    assert [row["A"] for row in found.arrow().to_pylist()] == [one.values[0] for one in found.rows]


@pytest.mark.parametrize(
    ("a", "b", "difference", "change", "note"),
    [
        (200, 250, 50.0, 0.25, ""),
        (200, 150, -50.0, -0.25, ""),
        (-200, -150, 50.0, 0.25, ""),
        (0, 5, 5.0, None, "0 in A"),
        (0, 0, 0.0, 0.0, ""),
        (5, 0, -5.0, -1.0, ""),
        (None, 5, None, None, "NULL in A"),
        (5, None, None, None, "NULL in B"),
        (None, None, None, None, "NULL in A, NULL in B"),
        # Larger than what a double tells apart.
        (2**60, 2**60 + 1, 1.0, 2.0**-60, ""),
    ],
)
def test_changes(a: int | None, b: int | None, difference: float | None, change: float | None, note: str) -> None:
    found = only("x BIGINT", [[a]], [[b]])
    assert (found.difference, found.change, found.note) == (difference, change, note)


def test_decimals_are_exact() -> None:
    found = only("x DECIMAL(18,3)", [[Decimal("0.300")]], [[Decimal("0.100")]])
    assert (found.values, found.difference) == ((0.3, 0.1), -0.2)


def test_non_finite_values_come_first_and_have_no_change() -> None:
    a: Rows = [["a", 1.0], ["b", 5.0], ["c", nan], ["d", inf]]
    b: Rows = [["a", 7.0], ["b", nan], ["c", 1.0], ["d", 0.0]]
    found = Comparison(sides("name VARCHAR, x DOUBLE", [a], [b]))
    assert [one.key["name"] for one in found.rows] == ["b", "c", "d", "a"]
    assert [one.change for one in found.rows] == [None, None, None, 6.0]
    difference = found.rows[0].difference
    assert difference is not None
    assert isnan(difference)
    assert found.rows[2].difference == -inf


def test_rows_that_only_some_runs_have_say_so() -> None:
    runs: list[Rows] = [[["a", 1], ["b", 1]], [["a", 3]], [["a", None]]]
    found = {one.key["name"]: one for one in Comparison(sides("name VARCHAR, x BIGINT", runs, [[["a", 4]]])).rows}
    assert (found["a"].values, found["a"].note) == ((2.0, 4.0), "in 2 of 3 runs of A")
    assert found["b"].note == "only in A, in 1 of 3 runs of A"


def test_zeros_of_two_signs_are_one_key() -> None:
    found = Comparison(sides("z DOUBLE, x BIGINT", [[[0.0, 1]]], [[[-0.0, 2]]]), ["z"])
    assert [one.difference for one in found.rows] == [1.0]


def test_a_column_without_a_type_on_one_side_is_that_of_the_other() -> None:
    a, b = sides("name VARCHAR, x BIGINT", [[["a", 1]]], [[]])
    empty = run("B0", 'name "NULL", x "NULL"', [[None, None]])
    found = Comparison((a, type(b)("B", (empty,))))
    assert found.arrow().column("name").to_pylist() == ["a", None]
    assert [one.note for one in found.rows] == ["only in A", "only in B, NULL in B"]


def test_keys_keep_their_types() -> None:
    words = pa.array(["x", "y"]).dictionary_encode()
    more = pa.array(["z", "x"]).dictionary_encode()
    a, b = sides("name VARCHAR, x BIGINT", [[]], [[]])
    first, second = (
        type(side)(side.label, (type(one)(one.trace, one.columns, pa.table({"name": names, "x": [1, 2]})),))
        for side, names in ((a, words), (b, more))
        for one in side.runs
    )
    found = Comparison((first, second)).arrow()
    assert pa.types.is_dictionary(found.schema.field("name").type)
    assert found.column("name").to_pylist() == ["y", "x", "z"]


@pytest.mark.parametrize(
    ("a", "b", "by", "message", "hint"),
    [
        ("n VARCHAR", "n VARCHAR", [], "found no number to compare beside the keys, but `n` STRING", "SUM(_duration)"),
        ("n BIGINT", "n BIGINT", ["n"], "found no number to compare beside the keys, but `n` INT64", "SUM"),
        ("n VARCHAR, x BIGINT", "n VARCHAR, y BIGINT", [], "the query has a column `x` for `A0`, none for `B0`", "*"),
        ("x BIGINT", "x BIGINT, y BIGINT", [], "the query has a column `y` for `B0`, none for `A0`", "*"),
        ("x BIGINT ns", "x BIGINT ms", [], "the unit of `x` is `ns` for `A0`, `ms` for `B0`", "IN"),
        ("x BIGINT ns", "x BIGINT", [], "the unit of `x` is `ns` for `A0`, a bare number for `B0`", "IN"),
        ("k VARCHAR, x BIGINT", "k BIGINT, x BIGINT", [], "`k` is STRING for `A0`, INT64 for `B0`", "cast"),
        ("x BIGINT, y BIGINT", "x BIGINT, y BIGINT", ["z"], "the query has no column `z` to match rows by", "x, y"),
        (
            "k VARCHAR, n VARCHAR, x BIGINT",
            "k VARCHAR, n VARCHAR, x BIGINT",
            ["k"],
            "`n` is STRING, expected a number beside the keys `k`",
            "--by",
        ),
        ("x BIGINT, x BIGINT", "x BIGINT, x BIGINT", [], "the query has several columns `x`", "AS"),
        ("metric VARCHAR, x BIGINT", "metric VARCHAR, x BIGINT", [], "the query has a key `metric`, which", "AS"),
        (
            "A VARCHAR, x BIGINT",
            "A VARCHAR, x BIGINT",
            [],
            "a side has the same name as the key `A` of the query",
            "rename",
        ),
    ],
)
def test_queries_that_cannot_be_compared(a: str, b: str, by: list[str], message: str, hint: str) -> None:
    (first, _), (_, second) = sides(a, [[]], [[]]), sides(b, [[]], [[]])
    with pytest.raises(UsageError) as error:
        Comparison((first, second), by)
    assert error.value.message.startswith(message)
    assert hint in (error.value.hint or "")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("A", "A"), "both sides are called `A`"),
        (("A", "change"), "a side has the same name as the column `change` of the comparison"),
    ],
)
def test_names_of_sides(labels: tuple[str, str], message: str) -> None:
    a, b = sides("x BIGINT", [[[1]]], [[[2]]])
    with pytest.raises(UsageError) as error:
        Comparison((type(a)(labels[0], a.runs), type(b)(labels[1], b.runs)))
    assert error.value.message == message


def test_numbers_of_several_types_are_compared() -> None:
    (first, _), (_, second) = sides("x BIGINT ns", [[[4]]], [[]]), sides("x DOUBLE ns", [[]], [[[5.0]]])
    assert [one.change for one in Comparison((first, second)).rows] == [0.25]


@pytest.mark.parametrize(
    ("a", "b", "keys"),
    [
        (("BIGINT", [1, 2]), ("DOUBLE", [2.0, 2.5]), [1.0, 2.0, 2.5]),
        (("DOUBLE", [1.0, -0.0]), ("DECIMAL(18,3)", [Decimal(0), Decimal("1.000")]), [1.0, 0.0]),
        (("BIGINT", [1, None]), ("UBIGINT", [2**64 - 1, 1]), [1, None, 2**64 - 1]),
    ],
)
def test_keys_are_numbers_of_several_types(
    a: tuple[str, list[object]], b: tuple[str, list[object]], keys: list[object]
) -> None:
    sided = []
    for number, (kind, values) in enumerate((a, b)):
        rows = [[value, place] for place, value in enumerate(values, 1)]
        sided.append(sides(f"k {kind}, x BIGINT", *([rows] if one == number else [[]] for one in (0, 1)))[number])
    found = Comparison((sided[0], sided[1]), ["k"])
    by_key = {one.key["k"]: one for one in found.rows}
    assert set(by_key) == set(keys)
    assert {key for key, one in by_key.items() if not one.note} == {*a[1]} & {*b[1]}
    assert set(found.arrow().column("k").to_pylist()) == set(keys)
    assert found.markdown()


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ("n VARCHAR, x BIGINT", [["a", 1], [None, 2], [None, 3]], "the query has several rows of `n` NULL for `B0`"),
        ("x BIGINT", [[1], [2]], "the query has several rows for `B0`, and no column that distinguishes them"),
    ],
)
def test_keys_that_several_rows_have(columns: str, rows: Rows, message: str) -> None:
    with pytest.raises(UsageError) as error:
        Comparison(sides(columns, [[]], [rows]))
    assert error.value.message == message
    assert error.value.hint == "name a further column as a key with --by, or sum up with GROUP BY"
