"""Conditions over a table's columns -> chunks: times of the trace, texts of hashes, names of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.chunks import Origin
from dctv.index.scan_pruning import ScanPruner
from dctv.plan.predicate import And, Anything, Compare, In, IsNull, Not, Predicate, Prefix
from tests.bounds import bounded
from tests.index.evaluator import Row, truth
from tests.index.test_pruner import Made

START = 1000
ORIGINS = {
    "_ts": Origin("ts"),
    "_duration": Origin("dur"),
    "path": Origin("x", resolves="fhash"),
    "cat": Origin("y"),
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


def _kept(made: Resolving, predicate: Predicate, table: str | None = None) -> list[int]:
    return list(ScanPruner(made, START).prune(table, ORIGINS, predicate).pruned.positions)


def test_times_are_those_of_the_trace() -> None:
    made = Resolving([[_row(ts=START + n, dur=10)] for n in (0, 5, 50)])
    assert _kept(made, Compare(("_ts",), "<", 5)) == [0]
    assert _kept(made, In("_ts", (5, 6))) == [1]
    assert _kept(made, Compare(("_ts", "_duration"), ">=", Fraction(31, 2))) == [2]
    assert _kept(made, IsNull("_ts")) == []


def test_a_table_of_one_event_reads_chunks_with_it() -> None:
    made = Resolving([[_row("read"), _row("write")], [_row("read")], [_row("write", ts=START + 7)]])
    found = ScanPruner(made, START).prune("write", ORIGINS, Compare(("_ts",), ">", 3))
    assert (list(found.pruned.positions), found.times) == ([2], (7, 7))
    assert _kept(made, Anything(), "write") == [0, 2]
    assert _kept(made, Anything()) == [0, 1, 2]


def test_a_path_is_looked_for_by_its_hash() -> None:
    made = Resolving([[_row(x="h1")], [_row(x="h2")], [_row(x="h3")], [_row(x="h9")], [_row()]])
    assert _kept(made, Compare(("path",), "=", "/a")) == [0]
    assert _kept(made, Compare(("path",), "=", "/b")) == [1, 2]
    assert _kept(made, In("path", ("/a", "/c"))) == [0, 1]
    assert _kept(made, Prefix("path", "/")) == [0, 1, 2]
    assert _kept(made, Compare(("path",), "=", "/nowhere")) == []
    # A hash without a text shows NULL, and one of several texts may show the other.
    assert _kept(made, Compare(("path",), "!=", "/a")) == [1, 2, 3]
    assert _kept(made, Not(Compare(("path",), "=", "/b"))) == [0, 1, 3]
    assert _kept(made, Not(Compare(("path",), "=", "/nowhere"))) == [0, 1, 2, 3]
    assert _kept(made, IsNull("path")) == [0, 1, 2, 3, 4]
    assert _kept(made, Compare(("path",), ">", "/a")) == [0, 1, 2, 3, 4]


def test_columns_without_a_dimension_may_be_anything() -> None:
    made = Resolving([[_row(y="a")], [_row(y="b")]])
    assert _kept(made, Compare(("size",), "=", 5)) == [0, 1]
    assert _kept(made, And((Compare(("size",), "=", 5), Compare(("cat",), "=", "a")))) == [0]
    assert _kept(made, Not(And((Compare(("size",), "=", 5), Compare(("cat",), "=", "a"))))) == [0, 1]


_PATHS = ["/a", "/b", "/c", "/nowhere", "/"]
_LEAVES = st.one_of(
    st.builds(Compare, st.just(("path",)), st.sampled_from(["=", "!=", "<"]), st.sampled_from(_PATHS)),
    st.builds(In, st.just("path"), st.lists(st.sampled_from(_PATHS), max_size=3).map(tuple), st.booleans()),
    st.builds(Prefix, st.just("path"), st.sampled_from(_PATHS)),
    st.just(IsNull("path")),
    st.builds(Compare, st.just(("_ts",)), st.sampled_from(["<", ">=", "="]), st.integers(-1, 9)),
)
_PREDICATES = st.recursive(
    _LEAVES,
    lambda inner: st.builds(Not, inner) | st.builds(And, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=5,
)


@bounded(60)
@given(data=st.data())
def test_no_row_is_lost_whatever_text_its_hash_shows(data: st.DataObject) -> None:
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
