"""Conditions over a table's columns choose chunks: times of the trace, texts of hashes, names of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.chunks import ColumnLineage
from dctv.index.scan_pruning import ScanPruner
from dctv.plan import predicate as p
from tests.bounds import bounded
from tests.index.evaluator import Row, truth
from tests.index.test_pruner import Made

START = 1000
LINEAGE = {
    "_ts": ColumnLineage("ts"),
    "_duration": ColumnLineage("dur"),
    "path": ColumnLineage("x", resolves="fhash"),
    "cat": ColumnLineage("y"),
}


class Resolving(Made):
    """An index that knows texts of hashes."""

    texts: Mapping[str, Sequence[str]] = {"h1": ["/a"], "h2": ["/b", "/c"], "h3": ["/b"]}

    def hashes_of(self, dimension: str, text: str) -> frozenset[str]:
        assert dimension == "fhash"
        return frozenset(one for one, texts in self.texts.items() if text in texts)

    def hashes_with_prefix(self, dimension: str, prefix: str) -> frozenset[str]:
        assert dimension == "fhash"
        return frozenset(h for h, texts in self.texts.items() if any(text.startswith(prefix) for text in texts))

    def texts_of(self, dimension: str, found: str) -> frozenset[str]:
        assert dimension == "fhash"
        return frozenset(self.texts.get(found, ()))


def _row(name: str = "read", ts: int = START, dur: int = 1, x: str | None = None, y: str | None = None) -> Row:
    return {"name": name, "ts": ts, "dur": dur, "x": x, "y": y, "luck": None}


def _kept(made: Resolving, predicate: p.Predicate, table: str | None = None) -> list[int]:
    return list(ScanPruner(made, START).prune(table, LINEAGE, predicate).pruned.positions)


def test_times_are_those_of_the_trace() -> None:
    made = Resolving([[_row(ts=START + n, dur=10)] for n in (0, 5, 50)])
    assert _kept(made, p.Compare(("_ts",), "<", 5)) == [0]
    assert _kept(made, p.In("_ts", (5, 6))) == [1]
    assert _kept(made, p.Compare(("_ts", "_duration"), ">=", Fraction(31, 2))) == [2]
    assert _kept(made, p.IsNull("_ts")) == []


def test_a_table_of_one_event_reads_chunks_with_it() -> None:
    made = Resolving([[_row("read"), _row("write")], [_row("read")], [_row("write", ts=START + 7)]])
    found = ScanPruner(made, START).prune("write", LINEAGE, p.Compare(("_ts",), ">", 3))
    assert (list(found.pruned.positions), found.times) == ([2], (7, 7))
    assert _kept(made, p.Undecidable(), "write") == [0, 2]
    assert _kept(made, p.Undecidable()) == [0, 1, 2]


def test_a_path_is_looked_for_by_its_hash() -> None:
    made = Resolving([[_row(x="h1")], [_row(x="h2")], [_row(x="h3")], [_row(x="h9")], [_row()]])
    assert _kept(made, p.Compare(("path",), "=", "/a")) == [0]
    assert _kept(made, p.Compare(("path",), "=", "/b")) == [1, 2]
    assert _kept(made, p.In("path", ("/a", "/c"))) == [0, 1]
    assert _kept(made, p.Prefix("path", "/")) == [0, 1, 2]
    assert _kept(made, p.Compare(("path",), "=", "/nowhere")) == []
    # A hash without a text shows NULL, and one of several texts may show the other.
    assert _kept(made, p.Compare(("path",), "!=", "/a")) == [1, 2, 3]
    assert _kept(made, p.Not(p.Compare(("path",), "=", "/b"))) == [0, 1, 3]
    assert _kept(made, p.Not(p.Compare(("path",), "=", "/nowhere"))) == [0, 1, 2, 3]
    assert _kept(made, p.IsNull("path")) == [0, 1, 2, 3, 4]
    assert _kept(made, p.Compare(("path",), ">", "/a")) == [0, 1, 2, 3, 4]


def test_columns_without_a_dimension_exclude_nothing() -> None:
    made = Resolving([[_row(y="a")], [_row(y="b")]])
    assert _kept(made, p.Compare(("size",), "=", 5)) == [0, 1]
    assert _kept(made, p.And((p.Compare(("size",), "=", 5), p.Compare(("cat",), "=", "a")))) == [0]
    assert _kept(made, p.Not(p.And((p.Compare(("size",), "=", 5), p.Compare(("cat",), "=", "a"))))) == [0, 1]


_PATHS = ["/a", "/b", "/c", "/nowhere", "/"]
_LEAVES = st.one_of(
    st.builds(p.Compare, st.just(("path",)), st.sampled_from(["=", "!=", "<"]), st.sampled_from(_PATHS)),
    st.builds(p.In, st.just("path"), st.lists(st.sampled_from(_PATHS), max_size=3).map(tuple), st.booleans()),
    st.builds(p.Prefix, st.just("path"), st.sampled_from(_PATHS)),
    st.just(p.IsNull("path")),
    st.builds(p.Compare, st.just(("_ts",)), st.sampled_from(["<", ">=", "="]), st.integers(-1, 9)),
)
_PREDICATES = st.recursive(
    _LEAVES,
    lambda inner: st.builds(p.Not, inner) | st.builds(p.And, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=5,
)


@bounded(60)
@given(data=st.data())
def test_hash_collisions_lose_no_rows(data: st.DataObject) -> None:
    row = st.builds(_row, ts=st.integers(START, START + 9), x=st.sampled_from(["h1", "h2", "h3", "h9", None]))
    chunks = data.draw(st.lists(st.lists(row, max_size=3), min_size=1, max_size=4))
    predicate = data.draw(_PREDICATES)
    kept = set(_kept(Resolving(chunks), predicate))
    for number, rows in enumerate(chunks):
        for one in rows:
            shown: list[Any] = [None] if len(Resolving.texts.get(one["x"], ())) != 1 else []
            for path in [*shown, *Resolving.texts.get(one["x"], ())]:
                seen = {"_ts": one["ts"] - START, "_duration": one["dur"], "path": path}
                assert truth(predicate, seen) is not True or number in kept
