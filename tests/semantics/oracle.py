"""Span operators by brute force: each unit of integer time is looked at by itself, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

END = 24
"""All times of a test are below this."""

Value = int | str | None
Key = tuple[Value, ...]
Span = tuple[int, int, int | None]
"""Start, stop, payload."""

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class Spans:
    """A span table: its partition columns, and the spans of each partition in order of time."""

    partitions: tuple[str, ...]
    spans: Mapping[Key, tuple[Span, ...]]

    def rows(self) -> list[tuple[object, ...]]:
        """Return the rows as SELECT SPAN shows them, sorted."""
        rows = [(start, stop - start, *key, v) for key, spans in self.spans.items() for start, stop, v in spans]
        return in_order(rows)


def in_order(rows: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Sort rows whose values may be NULL."""
    return sorted(rows, key=lambda row: [(x is None, f"{x:030d}" if isinstance(x, int) else str(x)) for x in row])


def remainder(a: int, b: int) -> int:
    """Return a % b with the sign of a, as the dialect has it."""
    return abs(a) % b * (-1 if a < 0 else 1)


def mix(a: int | None, b: int | None) -> int:
    """Return the payload of a joined span, as `MIX` computes it."""
    return remainder((-1 if a is None else a) * 7 + (-2 if b is None else b), 997)


MIX = "(COALESCE({a}, -1) * 7 + COALESCE({b}, -2)) % 997"


def cover(spans: Iterable[Span]) -> list[int | None]:
    """Return for each unit of time which of the spans covers it."""
    units: list[int | None] = [None] * END
    for index, (start, stop, _v) in enumerate(spans):
        for t in range(start, stop):
            assert units[t] is None, "the oracle was given overlapping spans"
            units[t] = index
    return units


def runs(units: Iterable[Unit]) -> list[tuple[int, int, Unit]]:
    """Return the stretches of equal units as start, stop and unit."""
    found, at = [], 0
    for unit, members in groupby(units):
        length = len(list(members))
        found.append((at, at + length, unit))
        at += length
    return found


def _payload(spans: tuple[Span, ...], index: int | None) -> int | None:
    return None if index is None else spans[index][2]


def _kept(kind: str, left: int | None, right: int | None) -> bool:
    present = {"LEFT": [left], "RIGHT": [right]}.get(kind, [left, right])
    found = [index is not None for index in present]
    return any(found) if kind == "OUTER" else all(found)


def _sweep(left: tuple[Span, ...], right: tuple[Span, ...], kind: str) -> tuple[Span, ...]:
    pairs = list(zip(cover(left), cover(right), strict=True))
    return tuple(
        (start, stop, mix(_payload(left, i), _payload(right, j)))
        for start, stop, (i, j) in runs(pairs)
        if _kept(kind, i, j)
    )


def span_join(left: Spans, right: Spans, kind: str) -> Spans:
    """Join tables of the same partitions; kind is INNER, OUTER, LEFT or RIGHT."""
    keys = {**left.spans, **right.spans}
    return Spans(left.partitions, {k: _sweep(left.spans.get(k, ()), right.spans.get(k, ()), kind) for k in keys})


def broadcast(wide: Spans, flat: Spans, kind: str, *, flat_first: bool) -> Spans:
    """Label the spans of a partitioned table with the payload of an unpartitioned one."""
    label = flat.spans.get((), ())
    swept = {}
    for key, spans in wide.spans.items():
        if flat_first:
            swept[key] = _sweep(label, spans, "RIGHT" if kind == "OUTER" else "INNER")
        else:
            swept[key] = _sweep(spans, label, "LEFT" if kind == "OUTER" else "INNER")
    return Spans(wide.partitions, swept)


def keep(table: Spans, least: int) -> Spans:
    """Keep spans whose payload is at least this value."""
    return Spans(
        table.partitions,
        {k: tuple(s for s in spans if s[2] is not None and s[2] >= least) for k, spans in table.spans.items()},
    )


AGGREGATES: Mapping[str, Callable[[list[Span], list[int]], int | None]] = {
    "COUNT(*)": lambda pieces, _payloads: len(pieces),
    "COUNT(v)": lambda _pieces, payloads: len(payloads),
    "SUM(_duration)": lambda pieces, _payloads: sum(stop - start for start, stop, _v in pieces) if pieces else None,
    "MIN(_ts)": lambda pieces, _payloads: min((start for start, _stop, _v in pieces), default=None),
    "SUM(v)": lambda _pieces, payloads: sum(payloads) if payloads else None,
    "MIN(v)": lambda _pieces, payloads: min(payloads, default=None),
    "MAX(v)": lambda _pieces, payloads: max(payloads, default=None),
}
"""What each aggregate gives for some pieces and their payloads that are not NULL."""


def aggregate(name: str, pieces: list[Span]) -> int | None:
    """Return an aggregate over the payloads, or the times, of pieces."""
    return AGGREGATES[name](pieces, [v for _start, _stop, v in pieces if v is not None])


def departition(table: Spans, removed: tuple[str, ...], name: str, *, intersect: bool) -> Spans:
    """Group the partitions together, those of the removed columns."""
    kept = [i for i, column in enumerate(table.partitions) if column not in removed]
    groups: dict[Key, list[tuple[Span, ...]]] = {}
    for key, spans in table.spans.items():
        if spans:
            groups.setdefault(tuple(key[i] for i in kept), []).append(spans)
    result = {}
    for key, members in groups.items():
        cells = list(zip(*(cover(spans) for spans in members), strict=True))
        out = []
        for start, stop, cell in runs(cells):
            present = [i is not None for i in cell]
            if all(present) if intersect else any(present):
                pieces = [(start, stop, m[i][2]) for m, i in zip(members, cell, strict=True) if i is not None]
                out.append((start, stop, aggregate(name, pieces)))
        result[key] = tuple(out)
    return Spans(tuple(table.partitions[i] for i in kept), result)


def group(table: Spans, grouper: Spans, name: str, *, intersect: bool) -> Spans:
    """Aggregate the pieces of each partition within each span of an unpartitioned table."""
    present = {k: cover(spans) for k, spans in table.spans.items() if spans}
    if intersect:
        for t in range(END):
            if any(units[t] is None for units in present.values()):
                for units in present.values():
                    units[t] = None
    if not table.partitions:
        present.setdefault((), [None] * END)
    result = {}
    for key, units in present.items():
        out = []
        for start, stop, _v in grouper.spans.get((), ()):
            pieces = [
                (start + a, start + b, table.spans[key][i][2]) for a, b, i in runs(units[start:stop]) if i is not None
            ]
            out.append((start, stop, aggregate(name, pieces)))
        result[key] = tuple(out)
    return Spans(table.partitions, result)


def distinct(table: Spans) -> Spans:
    """Merge touching spans of equal payload."""
    result = {}
    for key, spans in table.spans.items():
        units: list[tuple[int | None] | None] = [None] * END
        for start, stop, v in spans:
            units[start:stop] = [(v,)] * (stop - start)
        result[key] = tuple((start, stop, cell[0]) for start, stop, cell in runs(units) if cell is not None)
    return Spans(table.partitions, result)
