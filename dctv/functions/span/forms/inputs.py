"""Turn inputs of a form into steps of spans or events that fail the query where a sweep would fail."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.steps import LAST, keys
from dctv.plan import build as w
from dctv.plan.expressions import Column, Expression, IsNull
from dctv.plan.queries import Item, Select


def place_of(names: Sequence[str], labels: Sequence[str], owner: str | None = None) -> list[Expression | str]:
    """Name the partition of a row as the sweeps do in messages."""
    parts: list[Expression | str] = []
    for name, label in zip(names, labels, strict=True):
        parts += [f"{', ' if parts else ' in partition '}{label}=", Column(name, owner)]
    return parts


def values(source: Input, first: int, prefix: str) -> tuple[str, ...]:
    """Name the values of a step with the columns of an input from a position on."""
    return tuple(f"{prefix}{at}" for at in range(len(source.columns) - first))


def _renamed(source: Input, first: int, partitions: int, prefix: str) -> list[Item]:
    own = source.columns[first:]
    new = [*keys(partitions), *values(source, first + partitions, prefix)]
    return [Item(Column(name, source.table), to) for name, to in zip(own, new, strict=True)]


def events(source: Input, partitions: int, role: str | None, prefix: str) -> Select:
    """Return `ts`, keys, values and `row`, which counts from 1 in the input's order."""
    ts = Column(source.columns[0], source.table)
    labels = source.columns[1 : 1 + partitions]
    place = place_of(labels, labels, source.table) or [" in a row"]
    checked = w.case((IsNull(ts), w.error("the time of an event is NULL", *place, *_of(role))), default=ts)
    rest = _renamed(source, 1, partitions, prefix)
    row = w.over(w.call("row_number"))
    return w.select(Item(checked, "ts"), *rest, Item(row, "row"), source=source.table)


def intervals(source: Input, partitions: int, role: str | None, prefix: str) -> Select:
    """Return `ts`, `end`, keys and values of spans, which may overlap."""
    ts, duration = w.columns(source.columns[:2], source.table)
    labels = source.columns[2 : 2 + partitions]
    place = place_of(labels, labels, source.table)
    at: list[Expression | str] = [" at _ts ", ts, *place, *_of(role)]
    end = w.case(
        (IsNull(ts), w.error("the start of a span is NULL: duration ", duration, *place, *_of(role))),
        (
            w.any_of([IsNull(duration), w.at_least(w.number(0), duration)]),
            w.error("the duration of a span is positive, found ", duration, *at),
        ),
        (
            w.greater(ts, w.minus(LAST, duration)),
            w.error("the end of a span is beyond the end of time: duration ", duration, *at),
        ),
        default=w.plus(ts, duration),
    )
    rest = _renamed(source, 2, partitions, prefix)
    return w.select(Item(ts, "ts"), Item(end, "end"), *rest, source=source.table)


def spans(source: Input, partitions: int, role: str | None, prefix: str) -> Select:
    """Return `ts`, `end`, keys and values of spans, which do not overlap within a partition."""
    names = keys(partitions)
    before, start = (w.over(w.call("lag", Column(c)), w.columns(names), [Column("ts")]) for c in ("end", "ts"))
    kept = ["ts", "end", *names, *values(source, 2 + partitions, prefix)]
    near = [Item(before, "near"), Item(start, "start")]
    looked = w.select(*kept, *near, source=intervals(source, partitions, role, prefix))
    overlap: list[Expression | str] = ["spans overlap: [", Column("start"), ", ", Column("near"), ") and ["]
    overlap += [
        Column("ts"),
        ", ",
        Column("end"),
        ")",
        *place_of(names, source.columns[2 : 2 + partitions]),
        *_of(role),
    ]
    checked = w.case((w.greater(Column("near"), Column("ts")), w.error(*overlap)), default=Column("ts"))
    return w.select(Item(checked, "ts"), *kept[1:], source=looked)


def _of(role: str | None) -> list[Expression | str]:
    return [] if role is None else [f" ({role} input)"]


def renamed_keys(source: Input, partitions: int) -> list[Item]:
    """Rename the columns of an input of partitions to a step's names."""
    pairs = zip(source.columns, keys(partitions), strict=True)
    return [Item(Column(name, source.table), to) for name, to in pairs]
