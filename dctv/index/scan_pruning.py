"""Rewrite predicates over a table's columns to dimensions of the index, and find the chunks and times to read.

A column that shows the text of a hash is rewritten to the hash, compared with all hashes that stand for a text; if
there are none, no chunk is left. The text of a hash that stands for several texts is treated as unknown; NULL, for a
hash without a text, is treated as another text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Protocol

from dctv.contracts.chunks import ColumnLineage
from dctv.index.pruner import Pruned, Pruner, PruningStatistics
from dctv.plan import predicate as p
from dctv.record import record, replace

_MOST_HASHES = 4096
"""Predicates with more hashes than this do not prune."""
_MOST_ASKED = 32
"""Up to this many hashes are checked for whether they stand for one text only."""
_TIME = "ts"


class Hashes(PruningStatistics, Protocol):
    """The lookups in an open index that this module needs."""

    def hashes_of(self, dimension: str, text: str, /) -> frozenset[str]:
        """Return the hashes that stand for a text in some file."""
        ...

    def hashes_with_prefix(self, dimension: str, prefix: str, /) -> frozenset[str]:
        """Return the hashes that stand for texts with this prefix."""
        ...

    def texts_of(self, dimension: str, found: str, /) -> frozenset[str]:
        """Return the texts for which a hash stands in some file."""
        ...


@record
class ScanPruning:
    """The chunks that a scan of one table must read."""

    pruned: Pruned
    times: tuple[int, int] | None
    """Least and greatest `_ts` of the events in these chunks, 0 at the start of the trace; None if not restricted."""


class ScanPruner:
    """Pruning for the tables of one index; thread-safe."""

    def __init__(self, index: Hashes, start_ns: int) -> None:
        self._index = index
        self._start = start_ns
        self._pruner = Pruner(index)

    def prune(self, table: str | None, lineage: Mapping[str, ColumnLineage], predicate: p.Predicate) -> ScanPruning:
        """Return the chunks that may hold a row for which a predicate over a table's columns is true.

        `table` is an event's name, None for the table of all events; `lineage` maps its columns to dimensions.
        """
        needed = self.over_dimensions(lineage, predicate)
        whole = needed if table is None else p.both([p.Compare(("name",), "=", table), needed])
        pruned = self._pruner.candidates(whole)
        return ScanPruning(pruned, self._times(pruned))

    def over_dimensions(self, lineage: Mapping[str, ColumnLineage], predicate: p.Predicate) -> p.Predicate:
        """Rewrite a predicate over a table's columns to dimensions; other columns may have any value."""
        match predicate:
            case p.Not(part):
                return p.Not(self.over_dimensions(lineage, part))
            case p.And(parts):
                return p.And(tuple(self.over_dimensions(lineage, part) for part in parts))
            case p.Or(parts):
                return p.Or(tuple(self.over_dimensions(lineage, part) for part in parts))
            case p.Undecidable():
                return predicate
            case _:
                return self._leaf(lineage, predicate)

    def _leaf(
        self, lineage: Mapping[str, ColumnLineage], predicate: p.Compare | p.In | p.Prefix | p.IsNull
    ) -> p.Predicate:
        found = [lineage[name] for name in _names(predicate) if name in lineage]
        if len(found) < len(_names(predicate)):
            return p.Undecidable()
        if any(one.resolves is not None for one in found):
            return self._by_hash(found[0], predicate)
        names = tuple(one.dimension for one in found)
        same = (
            replace(predicate, columns=names)
            if isinstance(predicate, p.Compare)
            else replace(predicate, column=names[0])
        )
        return self._moved(same) if _TIME in names else same

    def _moved(self, leaf: p.Compare | p.In | p.Prefix | p.IsNull) -> p.Predicate:
        """Convert a time of the trace to an absolute time."""
        match leaf:
            case p.Compare(_, _, int() | Fraction() as value):
                return replace(leaf, value=value + self._start)
            case p.In(_, values, _) if not any(isinstance(value, str | bool) for value in values):
                moved = tuple(value + self._start for value in values if isinstance(value, int | Fraction))
                return replace(leaf, values=moved)
            case p.IsNull():
                return leaf
            case _:
                return p.Undecidable()

    def _by_hash(self, lineage: ColumnLineage, leaf: p.Compare | p.In | p.Prefix | p.IsNull) -> p.Predicate:
        """Convert a condition on a text to one on the hashes that stand for it."""
        match leaf:
            case p.Compare((_,), "=" | "!=" as operator, str() as text):
                found = self._hashes(lineage, self._of_texts(lineage, (text,)))
                return found if operator == "=" else p.Not(found)
            case p.In(_, values, has_null) if all(isinstance(value, str) for value in values):
                texts = [value for value in values if isinstance(value, str)]
                return self._hashes(lineage, self._of_texts(lineage, texts), has_null=has_null)
            case p.Prefix(_, text):
                assert lineage.resolves is not None
                return self._hashes(lineage, self._index.hashes_with_prefix(lineage.resolves, text))
            case _:
                return p.Undecidable()

    def _of_texts(self, lineage: ColumnLineage, texts: Iterable[str]) -> frozenset[str]:
        assert lineage.resolves is not None
        return frozenset().union(*(self._index.hashes_of(lineage.resolves, text) for text in texts))

    def _hashes(self, lineage: ColumnLineage, hashes: frozenset[str], *, has_null: bool = False) -> p.Predicate:
        if len(hashes) > _MOST_HASHES:
            return p.Undecidable()
        assert lineage.resolves is not None
        values = hashes if len(hashes) <= _MOST_ASKED else ()
        sure = {one for one in values if len(self._index.texts_of(lineage.resolves, one)) == 1}
        found = p.In(lineage.dimension, tuple(sorted(sure)), has_null)
        unsure = hashes - sure
        if not unsure:
            return found
        return p.Or((found, p.And((p.In(lineage.dimension, tuple(sorted(unsure)), has_null), p.Undecidable()))))

    def _times(self, pruned: Pruned) -> tuple[int, int] | None:
        """Return the range of start times of the events in some chunks."""
        rows = None if pruned.keeps_all else self._index.dimension("ts")
        if rows is None:
            return None
        kept = [rows[position] for position in pruned.positions]
        low = [int(row.minimum) for row in kept if row.minimum is not None]
        high = [int(row.maximum) for row in kept if row.maximum is not None]
        if len(low) < len(kept) or len(high) < len(kept):
            return None
        return (min(low) - self._start, max(high) - self._start) if kept else (0, -1)


def _names(leaf: p.Compare | p.In | p.Prefix | p.IsNull) -> tuple[str, ...]:
    return leaf.columns if isinstance(leaf, p.Compare) else (leaf.column,)
