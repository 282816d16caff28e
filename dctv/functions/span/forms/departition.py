"""GROUP USING PARTITION as a query: the stretches between boundaries, and the spans that cover each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import renamed_keys, spans, values
from dctv.functions.span.forms.meeting import expanded
from dctv.functions.span.forms.steps import FIRST, LAST, FormTable, keys
from dctv.plan import build as w
from dctv.plan.expressions import NULL, TRUE, Binary, Call, Cast, Column, Expression, IsNull, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.record import record
from dctv.types.schema import Schema
from dctv.types.values import is_integer

_Steps = list[tuple[str, Query]]
_BOUNDS = (("ts", 1), ("end", -1))


@record
class _Aggregate:
    """One output column: a function of a value of the spans, or of the spans themselves."""

    place: int
    function: str
    value: str | None
    whole: bool
    """Whether its value is an integer."""

    @property
    def runs(self) -> bool:
        """Whether running sums give it: spans add to them where they begin, and subtract where they end."""
        return self.function == "count" or (self.function in ("sum", "avg") and self.whole)

    @property
    def sums(self) -> list[str]:
        """Names of its running sums: of rows and of values."""
        return [f"c{self.place}", *([] if self.function == "count" else [f"s{self.place}"])]

    def added(self, sign: int) -> list[Expression]:
        """Return the terms that one span adds to each of its sums."""
        if self.value is None:
            return [w.number(sign)]
        value = Column(self.value, "x")
        rows = w.case((IsNull(value), w.number(0)), default=w.number(sign))
        if self.function == "count":
            return [rows]
        return [rows, w.times(Cast(value, "HUGEINT"), w.number(sign))]

    def result(self) -> Expression:
        """Return its value in a stretch."""
        if not self.runs:
            return Column(f"r{self.place}", "x")
        rows, total = Column(f"c{self.place}", "s"), Column(f"s{self.place}", "s")
        if self.function == "count":
            return Cast(rows, "BIGINT")
        none = (w.equal(rows, w.number(0)), NULL)
        if self.function == "avg":
            mean = Binary("/", Cast(total, "DOUBLE"), Cast(rows, "DOUBLE"))
            return w.case(none, default=mean)
        too_large = w.any_of([w.greater(total, LAST), w.greater(FIRST, total)])
        stop = w.error("the sum at ", Column("ts", "s"), " exceeds Int64: ", total)
        return w.case(none, (too_large, stop), default=Cast(total, "BIGINT"))


@record
class _Cut:
    """The input of a departition: the spans, the number of partition columns, those that are kept, and aggregates."""

    spans: FormTable
    partitions: int
    kept: tuple[str, ...]
    running: tuple[_Aggregate, ...]
    required: Input | None

    @property
    def sums(self) -> list[str]:
        """Names of the running sums: spans, required partitions, aggregates."""
        there = [] if self.required is None else ["there"]
        return ["open", *there, *(s for one in self.running for s in one.sums)]


def _cut(inputs: Sequence[Input], options: Mapping[str, Any], running: Sequence[_Aggregate] = ()) -> _Cut:
    count = options["partitions"]
    kept = tuple(f"k{i}" for i in options["keep"])
    step = FormTable("spans", values(inputs[0], 2 + count, "a"))
    return _Cut(step, count, kept, tuple(running), inputs[1] if len(inputs) > 1 else None)


def partition_pieces(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return for each stretch the spans that cover it."""
    cut = _cut(inputs, options)
    own = [*keys(cut.partitions), *cut.spans.values]
    found = [Column("id", "s"), Column("ts", "s"), w.minus(Column("end", "s"), Column("ts", "s")), *w.columns(own, "x")]
    items = w.named(found, options["names"])
    query = w.select(*items, source=_covering(cut, own), alias="x")
    return w.with_steps(w.join(query, "stretches", "s", _at_number(cut)), _stretches(cut, inputs[0]))


def departition(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return aggregates of the spans that cover each stretch: sums and counts run, others scan every span."""
    step = _cut(inputs, options).spans
    types = [c.type for c in inputs[0].schema.columns[2 + options["partitions"] :]]
    aggregates = [
        _Aggregate(place, name, None if at is None else step.values[at], at is None or is_integer(types[at]))
        for place, (name, at) in enumerate(options["aggregates"])
    ]
    cut = _cut(inputs, options, [one for one in aggregates if one.runs])
    steps = _stretches(cut, inputs[0])
    found = [Column("ts", "s"), w.minus(Column("end", "s"), Column("ts", "s")), *w.columns(cut.kept, "s")]
    found += [one.result() for one in aggregates]
    items = w.named(found, options["names"])
    query = w.select(*items, source="stretches", alias="s")
    others = [(one, one.value) for one in aggregates if not one.runs]
    if others:
        names = ["n", *cut.kept]
        needed = dict.fromkeys([*cut.kept, *(value for _one, value in others if value is not None)])
        calls = [Item(w.call(one.function, Column(str(v))), f"r{one.place}") for one, v in others]
        looked = w.select(*names, *calls, source=_covering(cut, list(needed)))
        steps.append(("looked", w.grouped(looked, names)))
        query = w.join(query, "looked", "x", _at_number(cut), "LEFT")
    return w.with_steps(query, steps)


def _at_number(cut: _Cut) -> list[Expression]:
    return [w.equal(Column("n", "s"), Column("n", "x")), *w.agree(cut.kept, "s", "x")]


def _stretches(cut: _Cut, source: Input) -> _Steps:
    """Return steps up to `stretches`: `ts`, `end`, `n` within the kept columns, `id` overall; only those that count."""
    steps: _Steps = [(cut.spans.name, spans(source, cut.partitions, "partitioned", "a"))]
    if cut.required is not None:
        renamed = renamed_keys(cut.required, cut.partitions)
        steps.append(("required", w.distinct(w.select(*renamed, Item(TRUE, "there"), source=cut.required.table))))
        needs = w.select(*cut.kept, Item(w.call("count", Star()), "needed"), source="required")
        steps.append(("needs", w.grouped(needs, cut.kept)))
    bounds = w.union_all(*(_bounds(cut, bound, sign) for bound, sign in _BOUNDS))
    sums = [Item(w.call("sum", Column(s)), s) for s in cut.sums]
    at = w.grouped(w.select("t", *cut.kept, *sums, source=bounds), ["t", *cut.kept])
    steps.append(("bounds", _running(cut, at)))
    wanted: list[Expression] = [w.greater(Column("open", "b"), w.number(0))]
    own = ["ts", "end", "n", *cut.kept, *(s for one in cut.running for s in one.sums)]
    row = w.minus(w.over(w.call("row_number")), w.number(1))
    counted = w.select(Item(row, "id"), *w.columns(own, "b"), source="bounds", alias="b")
    if cut.required is not None:
        counted = w.join(counted, "needs", "r", w.agree(cut.kept, "b", "r") or [TRUE], "LEFT")
        needed = w.call("coalesce", Column("needed", "r"), w.number(0))
        wanted.append(w.equal(Column("there", "b"), needed))
    steps.append(("stretches", w.where(counted, *wanted)))
    return steps


def _running(cut: _Cut, at: Query) -> Select:
    """Number the boundaries and compute the running sums at each; a stretch extends to the next boundary."""

    def window(what: Call, name: str) -> Item:
        return Item(w.over(what, w.columns(cut.kept), [Column("t")]), name)

    until, row = window(w.call("lead", Column("t")), "end"), window(w.call("row_number"), "n")
    totals = [window(w.call("sum", Column(s)), s) for s in cut.sums]
    return w.select(Item(Column("t"), "ts"), until, row, *cut.kept, *totals, source=at)


def _bounds(cut: _Cut, bound: str, sign: int) -> Select:
    """Return what each span adds to the sums where it begins, or subtracts where it ends."""
    added = [w.number(sign)]
    if cut.required is not None:
        added.append(w.case((IsNull(Column("there", "r")), w.number(0)), default=w.number(sign)))
    added += [value for one in cut.running for value in one.added(sign)]
    items = [Item(value, name) for value, name in zip(added, cut.sums, strict=True)]
    own = w.columns(cut.kept, "x")
    query = w.select(Item(Column(bound, "x"), "t"), *own, *items, source=cut.spans.name, alias="x")
    if cut.required is not None:
        query = w.join(query, "required", "r", w.agree(keys(cut.partitions), "x", "r"), "LEFT")
    return query


def _covering(cut: _Cut, own: list[str]) -> Select:
    """Repeat each span for the numbers of the stretches that it covers."""
    first, last = Column("n", "f"), w.minus(Column("n", "g"), w.number(1))
    bounds = [Item(first, "first"), Item(last, "last")]
    ranged = w.select(*w.columns(own, "x"), *bounds, source=cut.spans.name, alias="x")
    for alias, bound in (("f", "ts"), ("g", "end")):
        on = [w.equal(Column(bound, "x"), Column("ts", alias)), *w.agree(cut.kept, "x", alias)]
        ranged = w.join(ranged, "bounds", alias, on)
    return expanded(ranged, own, "first", "last")
