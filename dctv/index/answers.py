"""Answer questions about all events of a trace from the statistics of its chunks, where these suffice.

Counts come from dictionaries, counts of events by name and category, and counts of missing values; durations from sums,
sums of squares, extremes and sketches by name. Only exact answers are given, except quantiles, which are within 1 %.
Means, variances and deviations are computed from exact sums and rounded once, so their last digits may differ from the
engine's, and are more accurate.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from dctv.contracts.chunks import ColumnLineage
from dctv.errors import IndexUnusable
from dctv.index.summary import IndexStatistics, Sums, added, knows_names, read_counts, sums_by_name
from dctv.patterns import pattern
from dctv.plan.question import Aggregate, Cell, Question
from dctv.record import record

_INTEGER = pattern("-?[0-9]{1,18}")
"""Texts that always fit into 64 bits."""
_AS_TEXT = ("string", "uint", "int")

SQUARES = "sum of squares"
"""An aggregate that no query asks for, used to combine variances."""
SPREADS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")

Group = tuple[Cell, ...]


@record
class QueriedTable:
    """The table of events that a question is about, and the lineage of its columns."""

    event: str | None
    """The name of its events, None for the table of all events."""
    lineage: Mapping[str, ColumnLineage]
    types: Mapping[str, str]
    """The engine's types of its columns."""
    start_ns: int
    """The absolute time of `_ts` 0."""


class Unknown(Exception):
    """The statistics cannot answer the question."""


class Answers:
    """Answers from the statistics of one index."""

    def __init__(self, index: IndexStatistics) -> None:
        self._index = index

    @cached_property
    def _events(self) -> Mapping[tuple[str, str], int]:
        """Counts of events by category and name."""
        self._need_names()
        return self._index.event_counts()

    @cached_property
    def _durations(self) -> Mapping[str, Sums]:
        self._need_names()
        return sums_by_name(self._index.summaries)

    def _need_names(self) -> None:
        if not knows_names(self._index):
            raise Unknown

    def rows(self, table: QueriedTable, question: Question) -> list[Group] | None:
        """Answer a question: keys, then aggregates; None if the statistics do not suffice.

        Raises:
            IndexUnusable: the statistics are damaged.
        """
        try:
            groups = self._groups(table, question.keys)
            return [
                (*group, *(self._aggregate(table, question.keys, group, count, one) for one in question.aggregates))
                for group, count in groups.items()
            ]
        except Unknown:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, struct.error, zlib.error) as error:
            raise IndexUnusable(f"the statistics of the index are damaged: {error}") from None

    def _groups(self, table: QueriedTable, keys: Sequence[str]) -> Mapping[Group, int]:
        """Count the events of each group."""
        dimensions = tuple(_dimension(table, key) for key in keys)
        if not keys and table.event is None:
            return {(): sum(row.total_events for row in self._index.summaries)}
        if not keys:
            return {(): sum(number for (_, name), number in self._events.items() if name == table.event)}
        if set(dimensions) <= {"name", "cat"}:
            return self._by_name(table, keys, dimensions)
        if table.event is None and len(keys) == 1:
            return self._by_value(dimensions[0], table.types[keys[0]])
        raise Unknown

    def _by_name(self, table: QueriedTable, keys: Sequence[str], dimensions: Sequence[str]) -> Mapping[Group, int]:
        """Count by names and categories, from the manifest."""
        if any(table.types[key] != "VARCHAR" for key in keys) or ("cat" in dimensions and self._missing("cat")):
            # The manifest has the empty text for a missing category.
            raise Unknown
        found: Counter[Group] = Counter()
        for (category, name), number in self._events.items():
            if table.event in (None, name):
                found[tuple(name if one == "name" else category for one in dimensions)] += number
        return found

    def _by_value(self, dimension: str, kind: str) -> Mapping[Group, int]:
        """Count by the values of a dimension."""
        rows = self._index.dimension(dimension)
        if rows is None or any(row.counts is None and row.distinct != 0 for row in rows):
            raise Unknown
        found: Counter[Group] = Counter()
        for row in rows:
            if row.nulls:
                found[(None,)] += row.nulls
            for text, number in read_counts(row.counts) if row.counts is not None else ():
                found[(_value(text, row.value_type, kind),)] += number
        return found

    def _missing(self, dimension: str) -> int:
        """Count the events without a value."""
        rows = self._index.dimension(dimension)
        if rows is None:
            raise Unknown
        return sum(row.nulls for row in rows)

    def _aggregate(self, table: QueriedTable, keys: Sequence[str], group: Group, count: int, one: Aggregate) -> Cell:
        if one.column is None:
            return count
        dimension = _dimension(table, one.column)
        if dimension == "dur":
            return self._of_durations(self._sums(table, keys, group), one, table.types[one.column])
        if dimension == "ts" and one.function in ("min", "max") and table.event is None and not keys:
            return self._time(one.function, table.start_ns)
        if one.function != "count":
            raise Unknown
        if one.column in keys:
            return 0 if group[keys.index(one.column)] is None else count
        missing = 0 if dimension in ("name", "ts") else self._missing(dimension)
        if missing and (keys or table.event is not None):
            raise Unknown
        return count - missing

    def _sums(self, table: QueriedTable, keys: Sequence[str], group: Group) -> Sums:
        """Add up the durations of a group."""
        names = [_dimension(table, key) for key in keys]
        if not names and table.event is None:
            return added(self._durations.values())
        if names not in ([], ["name"]):
            raise Unknown
        return self._durations.get(str(group[0]) if names else str(table.event), Sums())

    def _time(self, function: str, start: int) -> int | None:
        rows = self._index.summaries
        times = [row.min_timestamp_ns if function == "min" else row.max_timestamp_ns for row in rows]
        known_times = [time for time in times if time is not None]
        return (min(known_times) if function == "min" else max(known_times)) - start if known_times else None

    def _of_durations(self, sums: Sums, one: Aggregate, kind: str) -> Cell:
        if kind != "BIGINT":
            raise Unknown
        if one.function == "count" or not sums.count:
            return sums.count if one.function == "count" else None
        cells: Mapping[str, Cell] = {
            "sum": sums.total,
            SQUARES: sums.squares,
            "min": sums.least,
            "max": sums.most,
            "avg": sums.total / sums.count,
        }
        if one.function == "approx_quantile" and one.quantile is not None:
            near = sums.sketch().quantile(float(one.quantile))
            return None if near is None else round(near)
        if one.function in cells:
            return cells[one.function]
        if one.function not in SPREADS:
            raise Unknown
        return spread(one.function, sums.count, sums.total, sums.squares)


def spread(function: str, count: int, total: int, squares: int) -> float | None:
    """Return a variance or deviation, of a sample or of all, given how many numbers there are and their sums."""
    name, _, of = function.partition("_")
    divisor = count - (of == "samp")
    if divisor <= 0:
        return None
    variance = float((squares - Fraction(total**2, count)) / divisor)
    return variance if name == "var" else math.sqrt(variance)


def _dimension(table: QueriedTable, column: str) -> str:
    lineage = table.lineage.get(column)
    if lineage is None or lineage.resolves is not None:
        raise Unknown
    return lineage.dimension


def _value(text: str, value_type: str, kind: str) -> Cell:
    """Convert a key to the column's type."""
    if kind == "BIGINT" and value_type in ("uint", "int") and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "VARCHAR" and value_type in _AS_TEXT:
        return text
    raise Unknown
