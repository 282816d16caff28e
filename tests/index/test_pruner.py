"""No chunk that holds an event that is asked for is thrown out, and those that are proven to hold none are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels
from dctv.index.bloom_cache import BloomCache
from dctv.index.canonical import canonical, values_of
from dctv.index.chunk_sets import positions_of, set_of
from dctv.index.identity import Identity
from dctv.index.pruner import Pruned, Pruner
from dctv.index.records import Bloom, DimensionStatistics, IndexedFile
from dctv.plan import predicate as p
from tests.bounds import bounded
from tests.index.evaluator import Row, truth


@dataclass(eq=False)
class Made:
    """What an index knows of some chunks of events, made in memory."""

    chunks: Sequence[Sequence[Row]]
    columns: Sequence[str] = ("x", "y")
    expected: int = 64
    per_file: int = 2
    hide: frozenset[tuple[str, int]] = frozenset()
    """Dictionaries that are too large: dimension and chunk."""
    path: Path = Path("made")
    generation: str = "1"
    asked: list[str] = field(default_factory=list)
    """Which rows were read."""

    def __post_init__(self) -> None:
        wishes = [(name, name) for name in self.columns]
        made = [
            _kernels.chunk_statistics(batches(chunk, self.columns), wishes, expected_entries=self.expected)
            for chunk in self.chunks
        ]
        self._rows = [{row["dimension"]: row for row in one["dimensions"]} for one in made]
        self.events = [one["statistics"]["total_events"] for one in made]
        self.ends = [one["statistics"]["max_end_ns"] for one in made]
        numbers = range(0, len(made), self.per_file)
        self.files = [
            IndexedFile(n, Path(f"{n}"), Identity(0, 0, 0), 0, 0, range(i, min(i + self.per_file, len(made))))
            for n, i in enumerate(numbers)
        ]

    def dimension(self, name: str) -> Sequence[DimensionStatistics] | None:
        self.asked.append(name)
        if name not in self._rows[0]:
            return None
        return [self._statistics(name, position) for position in range(len(self._rows))]

    def _statistics(self, name: str, position: int) -> DimensionStatistics:
        row = self._rows[position][name]
        counts = None if (name, position) in self.hide else row["value_counts"]
        return DimensionStatistics(
            row["distinct_count"], row["null_count"], row["min_value"], row["max_value"], row["value_type"], counts
        )

    def bloom(self, dimension: str, position: int) -> Bloom | None:
        row = self._rows[position].get(dimension)
        return None if row is None or row["bloom_data"] is None else Bloom(row["bloom_data"], row["num_entries"])

    def blooms(self, dimension: str) -> Mapping[int, Bloom]:
        found = {position: self.bloom(dimension, position) for position in range(len(self._rows))}
        return {position: bloom for position, bloom in found.items() if bloom is not None}

    def file_bloom(self, dimension: str, file: int) -> Bloom | None:
        blooms = _kernels.FileBlooms(self.expected)
        for position in self.files[file].chunks:
            blooms.add(dimension, self._rows[position][dimension]["value_hashes"])
        return next((Bloom(blob, number) for name, blob, number in blooms.finish() if name == dimension), None)


def batches(rows: Sequence[Row], columns: Sequence[str]) -> list[tuple[str, Any]]:
    """Return events as chunks hold them: a batch for each name and combination of types."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["name"], *(_type(row[c]) for c in columns)), []).append(row)
    found = []
    for (name, *types), group in groups.items():
        arrays = {"_ts": pa.array([r["ts"] for r in group], pa.int64())}
        arrays["dur"] = pa.array([r["dur"] for r in group], pa.int64())
        for column, kind in zip(columns, types, strict=True):
            if kind is not None:
                arrays[column] = pa.array([r[column] for r in group], kind)
        arrays["dctv:line"] = pa.array(range(len(group)), pa.uint32())
        found.append((name, pa.record_batch(arrays)))
    return found


def _type(value: object) -> object:
    match value:
        case bool():
            return pa.bool_()
        case int():
            return pa.uint64() if value >= 2**63 else pa.int64()
        case float():
            return pa.float64()
        case str():
            return pa.string()
        case _:
            return None


_EDGES = [0, 1, -1, 5, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]
_TEXTS = ["", "a", "ab", "abc", "b", "é", "日本", "\U0001f600", "5", "true", "a_", "a%", "\x00"]
_INTS = st.sampled_from(_EDGES) | st.integers(-6, 6)
_FLOATS = st.sampled_from([0.5, -0.5, 5.0, -0.0, 1e300, 2.0**53, inf, -inf, float("nan"), 0.1, 1e-7]) | st.floats()
_VALUES = {
    "int": _INTS,
    "float": _FLOATS,
    "number": _INTS | _FLOATS,
    "text": st.sampled_from(_TEXTS) | st.text(max_size=3),
    "as text": st.sampled_from(_TEXTS) | st.integers(-6, 6) | st.booleans(),
    "bool": st.booleans(),
}
_LITERALS: Mapping[str, st.SearchStrategy[Any]] = {
    "int": _INTS,
    "float": st.sampled_from([Fraction(1, 2), Fraction(0.1), Fraction(1, 10), Fraction(5), Fraction(10**30)]),
    "text": st.sampled_from(_TEXTS) | st.text(max_size=3),
    "bool": st.booleans(),
}
_OF = {"int": "int", "float": "float", "number": "int", "text": "text", "as text": "text", "bool": "bool"}
_OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def _chunks(draw: st.DrawFn, kinds: Mapping[str, str]) -> list[list[Row]]:
    """Draw chunks with similar values in each."""
    found: list[list[Row]] = []
    for _ in range(draw(st.integers(1, 5))):
        pools = {c: draw(st.lists(_VALUES[kind] | st.none(), min_size=1, max_size=4)) for c, kind in kinds.items()}
        names = draw(st.lists(st.sampled_from(["read", "write", "open"]), min_size=1, max_size=2))
        row = st.fixed_dictionaries(
            {
                "name": st.sampled_from(names),
                "ts": st.integers(0, 40),
                "dur": st.integers(0, 9) | st.none(),
                "luck": st.sampled_from([True, False, None]),
                **{column: st.sampled_from(pool) for column, pool in pools.items()},
            }
        )
        found.append(draw(st.lists(row, max_size=6)))
    return found


def _leaf(kinds: Mapping[str, str]) -> st.SearchStrategy[p.Predicate]:
    forms: list[st.SearchStrategy[p.Predicate]] = [
        st.builds(p.Compare, st.just(("name",)), _OPERATORS, st.sampled_from(["read", "write", "zzz"])),
        st.builds(p.Prefix, st.just("name"), st.sampled_from(["", "r", "read", "x"])),
        st.builds(p.Compare, st.sampled_from([("ts",), ("dur",), ("ts", "dur")]), _OPERATORS, st.integers(-1, 50)),
        st.builds(p.Compare, st.just(("ts",)), _OPERATORS, st.just(Fraction(41, 2))),
        st.just(p.IsNull("dur")),
        st.just(p.Undecidable()),
        st.sampled_from([p.ALWAYS, p.NEVER]),
    ]
    for column, kind in kinds.items():
        literal = _LITERALS[_OF[kind]] | (_LITERALS["float"] if kind == "number" else st.nothing())
        forms += [
            st.builds(p.Compare, st.just((column,)), _OPERATORS, literal),
            st.builds(p.In, st.just(column), st.lists(literal, max_size=4).map(tuple), st.booleans()),
            st.just(p.IsNull(column)),
        ]
        if _OF[kind] == "text":
            forms.append(st.builds(p.Prefix, st.just(column), st.sampled_from(_TEXTS)))
    return st.one_of(forms)


def _predicates(kinds: Mapping[str, str]) -> st.SearchStrategy[p.Predicate]:
    return st.recursive(
        _leaf(kinds),
        lambda inner: (
            st.builds(p.Not, inner)
            | st.builds(p.And, st.lists(inner, max_size=3).map(tuple))
            | st.builds(p.Or, st.lists(inner, max_size=3).map(tuple))
        ),
        max_leaves=6,
    )


def pruned(made: Made, predicate: p.Predicate) -> Pruned:
    return Pruner(made, BloomCache()).candidates(predicate)


@pytest.mark.parametrize("kind", sorted(_VALUES))
@bounded(40)
@given(data=st.data())
def test_no_event_is_lost(kind: str, data: st.DataObject) -> None:
    kinds = {"x": kind, "y": data.draw(st.sampled_from(sorted(_VALUES)))}
    chunks = data.draw(_chunks(kinds))
    hide = st.tuples(st.sampled_from(["x", "y", "name"]), st.integers(0, len(chunks)))
    made = Made(chunks, hide=frozenset(data.draw(st.lists(hide, max_size=8))))
    predicate = data.draw(_predicates(kinds))
    needed = {n for n, rows in enumerate(chunks) if any(truth(predicate, row) is True for row in rows)}
    for one in (predicate, p.simplified(predicate)):
        found = pruned(made, one)
        assert needed <= set(found.positions)
        thrown_out = found.by_dictionary + found.by_range + found.by_bloom
        assert thrown_out == len(chunks) - len(found.positions)


def _row(name: str = "read", ts: int = 0, dur: int | None = 1, x: Any = None, y: Any = None) -> Row:
    return {"name": name, "ts": ts, "dur": dur, "x": x, "y": y, "luck": None}


def _kept(made: Made, predicate: p.Predicate) -> list[int]:
    return list(pruned(made, predicate).positions)


NAME = p.Compare(("name",), "=", "read")


def test_not_keeps_chunks_in_which_another_name_occurs() -> None:
    """The first design took the complement of the chunks with `read`, and lost all others in them."""
    made = Made([[_row("read"), _row("write")], [_row("read"), _row("read")], [_row("write")]])
    assert _kept(made, NAME) == [0, 1]
    assert _kept(made, p.Not(NAME)) == [0, 2]
    assert _kept(made, p.Compare(("name",), "!=", "read")) == [0, 2]
    assert _kept(made, p.Not(p.In("name", ("read", "write")))) == []
    hidden = Made(made.chunks, hide=frozenset({("name", 0), ("name", 1), ("name", 2)}))
    assert _kept(hidden, p.Not(NAME)) == [0, 2]


def test_missing_values_are_neither_equal_nor_different() -> None:
    made = Made([[_row(x=None)], [_row(x=1), _row(x=None)], [_row(x=2)]])
    equal = p.Compare(("x",), "=", 1)
    assert _kept(made, equal) == [1]
    assert _kept(made, p.Not(equal)) == [2]
    assert _kept(made, p.Or((equal, p.Not(equal)))) == [1, 2]
    assert _kept(made, p.IsNull("x")) == [0, 1]
    assert _kept(made, p.Not(p.IsNull("x"))) == [1, 2]
    assert _kept(made, p.Not(p.In("x", (1,), has_null=True))) == []


def test_each_tier_excludes_further_chunks() -> None:
    chunks = [[_row(x=text) for text in texts] for texts in (["a", "b"], ["c", "d"], ["p", "r"], ["x", "z"])]
    made = Made(chunks, hide=frozenset({("x", 1), ("x", 2), ("x", 3)}))
    found = pruned(made, p.Compare(("x",), "=", "q"))
    assert (found.by_dictionary, found.by_range, found.by_bloom) == (1, 2, 1)
    assert str(found) == "index: 0 of 4 chunks in 0 of 2 files; thrown out: 1 by dictionary, 2 by range, 1 by bloom"
    assert str(pruned(made, p.Compare(("x",), "=", "a"))).startswith("index: 1 of 4 chunks in 1 of 2 files; ")
    assert pruned(made, p.Undecidable()).keeps_all


def test_whole_numbers_are_compared_exactly() -> None:
    made = Made([[_row(x=2**53)], [_row(x=2**53 + 1)]], hide=frozenset({("x", 0), ("x", 1)}))
    assert _kept(made, p.Compare(("x",), ">", 2**53)) == [1]
    assert _kept(made, p.Compare(("x",), "=", 2**53 + 1)) == [1]
    assert _kept(made, p.Compare(("x",), ">", Fraction(2**54 + 1, 2))) == [1]


def test_filters_are_probed_with_literals_in_canonical_form() -> None:
    hide = frozenset({("x", 0), ("x", 1)})
    doubles = Made([[_row(x=0.5), _row(x=1.5)], [_row(x=0.25), _row(x=3.0)]], hide=hide)
    assert _kept(doubles, p.Compare(("x",), "=", Fraction(1, 2))) == [0]
    assert _kept(doubles, p.In("x", (Fraction(1, 4), 3))) == [1]
    flags = Made([[_row(x=True), _row(x=False)], [_row(x=False), _row(x=None)]], hide=hide)
    assert _kept(flags, p.Compare(("x",), "=", value=True)) == [0]


def test_numbers_and_texts_do_not_decide_about_each_other() -> None:
    made = Made([[_row(x="5")], [_row(x=5)], [_row(x=5), _row(x="5")], [_row(x=0.5)]])
    assert _kept(made, p.Compare(("x",), ">", 7)) == [0, 2]
    assert _kept(made, p.Compare(("x",), "=", "6")) == [2, 3]


def test_an_event_ends_no_later_than_all_of_its_chunk() -> None:
    made = Made([[_row(ts=0, dur=5)], [_row(ts=4, dur=90)], [_row(ts=200, dur=None)]])
    assert _kept(made, p.Compare(("ts", "dur"), ">", 5)) == [1]
    assert _kept(made, p.Compare(("ts", "dur"), "<=", 5)) == [0]


def test_only_dimensions_that_are_named_are_read() -> None:
    made = Made([[_row(x=1)], [_row(x=2)]])
    _kept(made, p.And((NAME, p.Compare(("nowhere",), "=", 1))))
    assert sorted(made.asked) == ["name", "nowhere"]
    assert _kept(made, p.Compare(("nowhere",), "=", 1)) == [0, 1]


def test_an_empty_chunk_is_never_kept() -> None:
    made = Made([[], [_row()]])
    assert _kept(made, p.Undecidable()) == [1]
    assert _kept(made, p.Not(NAME)) == []


def test_damaged_evidence_keeps_the_chunk() -> None:
    made = Made([[_row(x="a")], [_row(x="b")]])
    for row in made._rows:
        row["x"] |= {"value_counts": b"\x00\x01", "bloom_data": b"short", "min_value": None}
    assert _kept(made, p.Compare(("x",), "=", "a")) == [0, 1]


@given(st.sets(st.integers(0, 200)))
def test_sets_of_chunks(some: set[int]) -> None:
    assert positions_of(set_of(some, 201)) == sorted(some)


@given(_INTS | _FLOATS.filter(lambda value: abs(value) < inf) | st.sampled_from(_TEXTS) | st.booleans())
def test_literals_are_written_as_the_dictionary_writes_values(value: Any) -> None:
    (row,) = _kernels.chunk_statistics(batches([_row(x=value)], ["x"]), [("x", "x")], summary=False)["dimensions"]
    literal = Fraction(value) if isinstance(value, float) else value
    assert values_of(row["value_counts"]) == [canonical(literal)]
