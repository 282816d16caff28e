"""An operator's one input -> its columns by role, and what its relational forms say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.plan.sql import aliased, column
from dctv.plan.windows import (
    any_of,
    ascending,
    call,
    columns,
    is_null,
    less,
    named,
    nested,
    over,
    plus,
    select,
    stopping,
    text,
)

PART = "dctv:part"
"""A number for each partition."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns of one input: `duration` is None for events."""

    table: str
    ts: str
    duration: str | None
    keys: tuple[str, ...]
    payload: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        times = (self.ts,) if self.duration is None else (self.ts, self.duration)
        return (*times, *self.keys, *self.payload)

    def end(self) -> exp.Expr:
        """Return the end of a span."""
        return plus(column(self.ts), column(str(self.duration)))

    def window(
        self, function: exp.Expr, *ties: str, rows: str | None = None, by: Sequence[str] | None = None
    ) -> exp.Expr:
        """Make a window over a partition in order of time, then of other columns."""
        keys = self.keys if by is None else by
        return over(function, columns(keys), ascending(column(self.ts), *columns(ties)), rows)

    def place(self) -> list[exp.Expr]:
        """Return the pieces of text that name a row's partition."""
        pieces: list[exp.Expr] = []
        for number, key in enumerate(self.keys):
            shown = call("coalesce", exp.Cast(this=column(key), to=exp.Var(this="VARCHAR")), text("NULL"))
            pieces += [text(f"{', ' if number else ' in partition '}{key}="), shown]
        return pieces

    def disjoint(self, before: exp.Expr, value: exp.Expr) -> exp.Expr:
        """Return a value, or stop where the latest end before a span is later than its start."""
        message = [text("spans overlap: one ends at "), before.copy(), text(", the next is ["), column(self.ts)]
        message += [text(", "), self.end(), text(")"), *self.place()]
        return stopping(less(column(self.ts), before), message, value)

    def numbered(self) -> exp.Select:
        """Return all columns with the number of the partition."""
        ranked = over(call("dense_rank"), [], ascending(*columns(self.keys)))
        rank = ranked if self.keys else exp.Literal.number("1")
        return select([*columns(self.names), aliased(rank, PART)], self.table)


def rows_of(one: Input, options: Mapping[str, Any], *, events: bool = False) -> Rows:
    """Read an input's columns by role."""
    times = 1 if events else 2
    first = times + options["partitions"]
    names = one.columns
    return Rows(one.table, names[0], None if events else names[1], names[times:first], names[first:])


def kept(whole: Rows, options: Mapping[str, Any], made: int = 0) -> tuple[str, ...]:
    """Return the payload columns that an operator hands on: those its output has room for."""
    times = 1 if whole.duration is None else 2
    return whole.payload[: len(options["names"]) - times - len(whole.keys) - made]


def checked(whole: Rows, options: Mapping[str, Any]) -> exp.Select:
    """Return the rows as they are, or stop for what `checked` refuses; rows that claim an order end with a number."""
    latest = call("max", whole.end()) if whole.duration else call("max", column(whole.ts))
    helpers = [aliased(whole.window(latest, rows="before"), "dctv:before")]
    if options["sorted"]:
        earlier = over(call("max", column(whole.ts)), [], ascending(column(whole.payload[-1])), "before")
        helpers.append(aliased(earlier, "dctv:earlier"))
    looked = select([*columns(whole.names), *helpers], whole.table)
    value = column(whole.ts) if options["events"] else column(str(whole.duration))
    fine: exp.Expr = value.copy()
    if not options["events"]:
        if options["disjoint"]:
            fine = whole.disjoint(column("dctv:before"), fine)
        bad = any_of([is_null(value.copy()), exp.LTE(this=value.copy(), expression=exp.Literal.number("0"))])
        found = call("coalesce", exp.Cast(this=value.copy(), to=exp.Var(this="VARCHAR")), text("NULL"))
        message = [text("the duration of a span is positive, found "), found, text(" at _ts "), column(whole.ts)]
        fine = stopping(bad, [*message, *whole.place()], fine)
    if options["sorted"]:
        message = [text("the rows are not in order of time: "), column(whole.ts), *whole.place()]
        message += [text(" comes after "), column("dctv:earlier")]
        fine = stopping(less(column(whole.ts), column("dctv:earlier")), message, fine)
    given = whole.names[: len(options["names"])]
    missing = "the time of an event is NULL" if options["events"] else "the start of a span is NULL"
    fine = stopping(is_null(column(whole.ts)), [text(missing)], fine)
    # As a condition, since a column that nobody reads is not computed.
    return nested(looked, named(columns(given), options["names"]), exp.Not(this=is_null(fine)))
