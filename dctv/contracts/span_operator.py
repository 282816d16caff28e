"""The interface of a span operator: its sweep, the query with the same rows, and the lineage of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from dctv.plan.node import Query
from dctv.plan.nodes import ArrowStream
from dctv.record import record
from dctv.types.schema import Schema


@record
class Input:
    """One input as a relational form sees it: a table of the query.

    `row_number() OVER ()` numbers the rows in the order in which the sweep meets them; no other step may rely on order.
    """

    table: str
    columns: tuple[str, ...]
    """The engine's names of its columns: times, partitions, payload."""
    schema: Schema


class Counter(Protocol):
    """A count of a sweep; known once it has met the end of its input, 0 before."""

    @property
    def value(self) -> int:
        """The count."""
        ...


@record
class Counted:
    """The stream of a sweep that counts skipped rows, and the texts of the warning: for one, for many."""

    stream: ArrowStream
    counter: Counter
    warning: tuple[str, str]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.stream.__arrow_c_stream__(requested_schema)

    @property
    def message(self) -> str | None:
        """The warning; None where nothing was passed over."""
        count = self.counter.value
        return self.warning[count > 1].format(count) if count else None


@record
class Remarked:
    """The stream of a sweep that may issue remarks at the end of its input."""

    stream: ArrowStream
    remark: Callable[[], str | None]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.stream.__arrow_c_stream__(requested_schema)

    @property
    def message(self) -> str | None:
        """The warning, if there is one."""
        return self.remark()


Options = Mapping[str, Any]
Column = tuple[int, int]
"""An input's number and the number of one of its columns."""


@record
class Lineage:
    """Which columns an operator can do without."""

    reads: tuple[tuple[Column, ...] | None, ...]
    """For each output column, the input columns that only it and its likes are made of; None for a column that is
    always made. Input columns that no output column names, such as times and partitions, are always read."""
    options: Callable[[Sequence[int], Sequence[Sequence[int]]], Options] | None = None
    """Called with the numbers of the output columns and, per input, of the input columns that stay: the options that
    mean the same for the rest. None where the options name no columns by number; the rule takes care of `names`."""


@record
class TimeLocality:
    """Inputs where an output row depends only on rows near it in time."""

    inputs: tuple[int, ...]
    covered: bool
    """Whether each output row lies within a row of every input named, and depends on no other row of it; else it
    depends on the rows that touch it, which may end where it starts or start where it ends."""
    start: int = 0
    """The number of the output's column of starts."""
    duration: int | None = 1
    """The number of the output's column of durations; None for events."""


@record
class FilterPushdown:
    """By which conditions over its output an operator's inputs may be filtered beforehand."""

    same: tuple[Mapping[int, Mapping[int, int]], ...] = ()
    """Each entry: inputs, and for each of them its columns by the numbers of the output columns that are equal to
    them. A condition over columns that all inputs of an entry have, is as good on each of these inputs as on the
    output; the first entry that fits is taken."""
    times: tuple[TimeLocality, ...] = ()


def joined_payload(inputs: Sequence[Schema], width: int) -> Lineage:
    """Return the usual lineage of an operator over several inputs: specials, then payloads in turn."""
    payload = [((i, c),) for i, s in enumerate(inputs) for c in range(s.special_count, len(s.columns))]
    return Lineage((*[None] * (width - len(payload)), *payload))


def handed_on(made: Schema, first: int, source: Schema, skipped: int = 0) -> Lineage:
    """Return the lineage of columns that, from one on, are the first input's payload, some of it skipped."""
    start = source.special_count + skipped
    return Lineage((*[None] * first, *(((0, start + n),) for n in range(len(made.columns) - first))))


def by_partitions(made: Schema, inputs: Sequence[Schema], count: int) -> tuple[Mapping[int, Mapping[int, int]], ...]:
    """Return a `FilterPushdown.same` by which a condition on the first partitions of the output goes to all inputs."""
    first = len(made.kind.time_columns)
    keys = [len(one.kind.time_columns) for one in inputs]
    return ({n: {first + k: own + k for k in range(count)} for n, own in enumerate(keys)},) if count else ()


@record
class SpanOperator:
    """An operator over streams that are sorted by `_ts`; columns are positional: times, partitions, payload."""

    name: str
    doc: str
    run: Callable[[list[ArrowStream], Mapping[str, Any], Any], ArrowStream]
    """Called with the inputs, the operator's options and a cancel token; its result may be Counted or Remarked."""
    relational: Callable[[Sequence[Input], Mapping[str, Any], Schema], Query] | None
    """Called with the inputs, the same options and the output's schema: the query has the columns `options["names"]`
    and gives the same rows; it fails where the sweep fails, such as for overlapping spans. Its `order_by`, if
    any, is the sweep's order, events of equal time included; without one the rows come in no promised order. None where
    the sweep is the only form."""
    lineage: Callable[[Sequence[Schema], Options, Schema], Lineage] | None = None
    """Called with the inputs' schemas, the options and the output's schema; without it all columns stay."""
    filters: Callable[[Sequence[Schema], Options, Schema], FilterPushdown] | None = None
    """Called likewise; without it, no condition is applied before the operator."""
    apart: bool = False
    """Whether it works on each of the first `options["partitions"]` partitions of all its inputs alone unless it
    broadcasts, so that one that has the same value everywhere can be left out; other options count none."""
    by_time: bool = False
    """Whether it needs its inputs in order of time alone: if rows of equal time come sorted, too, that is for a stable
    order only, or the operator sorts them itself."""
