"""Inputs of a form -> steps of spans or events, whose times stop the query where a sweep would fail."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms import words as w
from dctv.plan.sql import column


def place_of(names: Sequence[str], labels: Sequence[str], owner: str | None = None) -> list[exp.Expr | str]:
    """Name the partition of a row, in the words of the sweeps."""
    parts: list[exp.Expr | str] = []
    for name, label in zip(names, labels, strict=True):
        parts += [f"{', ' if parts else ' in partition '}{label}=", column(name, owner)]
    return parts


def values(source: Input, first: int, prefix: str) -> tuple[str, ...]:
    """Name the values of a step that has the columns of an input from a position on."""
    return tuple(f"{prefix}{at}" for at in range(len(source.columns) - first))


def _renamed(source: Input, first: int, partitions: int, prefix: str) -> list[exp.Expr]:
    own = source.columns[first:]
    new = [*w.keys(partitions), *values(source, first + partitions, prefix)]
    return [w.named(column(name, source.table), to) for name, to in zip(own, new, strict=True)]


def events(source: Input, partitions: int, role: str, prefix: str) -> exp.Select:
    """Return `ts`, keys, values and `row`, which counts from 1 in the input's order."""
    ts = column(source.columns[0], source.table)
    labels = source.columns[1 : 1 + partitions]
    place = place_of(labels, labels, source.table)
    checked = w.case((w.is_null(ts), w.error("`_ts` is NULL in a row", *place, f" ({role} input)")), default=ts.copy())
    rest = _renamed(source, 1, partitions, prefix)
    return w.select(w.named(checked, "ts"), *rest, w.named(w.over(w.call("row_number")), "row"), source=source.table)


def spans(source: Input, partitions: int, role: str, prefix: str) -> exp.Select:
    """Return `ts`, `end`, keys and values."""
    ts, duration = w.columns(source.columns[:2], source.table)
    labels = source.columns[2 : 2 + partitions]
    place = place_of(labels, labels, source.table)
    end_of_message = f" ({role} input)"
    at: list[exp.Expr | str] = ["span at ", ts, *place, " has duration ", duration]
    end = w.case(
        (w.is_null(ts), w.error("`_ts` is NULL in a row with `_duration` ", duration, *place, end_of_message)),
        (w.is_null(duration), w.error("`_duration` is NULL in a row with `_ts` ", ts, *place, end_of_message)),
        (exp.LTE(this=duration, expression=w.number(0)), w.error(*at, ", expected > 0", end_of_message)),
        (w.greater(ts, w.minus(w.LAST, duration)), w.error(*at, ": its end overflows", end_of_message)),
        default=w.plus(ts, duration),
    )
    rest = _renamed(source, 2, partitions, prefix)
    base = w.select(w.named(ts.copy(), "ts"), w.named(end, "end"), *rest, source=source.table)
    names = w.keys(partitions)
    before = w.over(w.call("lag", column("end")), w.columns(names), [column("ts")])
    start = w.over(w.call("lag", column("ts")), w.columns(names), [column("ts")])
    kept = ["ts", "end", *names, *values(source, 2 + partitions, prefix)]
    looked = w.select(*kept, w.named(before, "near"), w.named(start, "start"), source=base)
    overlap: list[exp.Expr | str] = ["spans overlap", *place_of(names, labels), ": [", column("start"), ", "]
    overlap += [column("near"), ") and [", column("ts"), ", ", column("end"), ")", end_of_message]
    checked = w.case((w.greater(column("near"), column("ts")), w.error(*overlap)), default=column("ts"))
    return w.select(w.named(checked, "ts"), *kept[1:], source=looked)


def renamed_keys(source: Input, partitions: int) -> list[exp.Expr]:
    """Name the columns of an input of partitions as a step names them."""
    pairs = zip(source.columns, w.keys(partitions), strict=True)
    return [w.named(column(name, source.table), to) for name, to in pairs]
