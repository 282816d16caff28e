"""The states of a state system as a table that looks up only what a query needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from dctv.contracts.lazy import Lazy
from dctv.contracts.streams import reopened
from dctv.plan import predicate as p
from dctv.plan.nodes import Scan, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.source import OrderedSource, RowsInMemory
from dctv.record import record, replace
from dctv.state import PartialStateSystem, StateSystem, escape, split
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    from dctv.plan.question import Question
    from dctv.plan.source import PlanRun

VALUES = (ColumnType("number", "BIGINT"), ColumnType("real", "DOUBLE"), ColumnType("text", "VARCHAR"))
"""The state of an attribute: one of them, or none where it has no state."""
_NS = parse_unit("ns")
_QUARK, _PATH = "quark", "path"
INTERVALS = Schema(
    Kind.SPAN,
    (
        ColumnType(TS, "BIGINT", _NS),
        ColumnType(DURATION, "BIGINT", _NS),
        ColumnType(_QUARK, "INTEGER"),
        ColumnType(_PATH, "VARCHAR"),
        *VALUES,
    ),
    (_QUARK,),
)
_SHIFTS = {"=": (0, 0), ">=": (0, None), ">": (1, None), "<=": (None, 0), "<": (None, -1)}
"""The bounds on the least and the greatest value that follow from a comparison."""
_Summary = p.Compare | p.In | p.Prefix
"""Conditions that may restrict attributes or times."""


History = Lazy[StateSystem]
"""A state system that is made on first use."""


@record
class StateStep:
    """A question to a state system that may not exist yet."""

    words: str
    """For EXPLAIN."""
    apply: Callable[[States], States]
    """Called when it is there."""


@record(eq=False)
class States(OrderedSource):
    """Intervals of some attributes that touch a range of times, or that one of some times is in."""

    history: History
    quarks: tuple[int, ...] | None = None
    """None for all."""
    first: int | None = None
    last: int | None = None
    times: tuple[int, ...] | None = None
    asked: bool = False
    """Whether the range was asked for; else a condition implies it, and all intervals that it needs touch the range."""
    steps: tuple[StateStep, ...] = ()
    """Steps to apply, in this order, once the state system exists."""

    @property
    def system(self) -> StateSystem:
        """The state system; it is made if it is not there."""
        return self.history.value()

    def when_there(self, words: str, apply: Callable[[States], States]) -> States:
        """Narrow it with data of the state system: now if that exists, else before rows are read."""
        if self.history.made:
            return apply(self.prepared())
        return replace(self, steps=(*self.steps, StateStep(words, apply)))

    def prepared(self) -> States:
        """Make the state system if it does not exist, and apply the pending steps.

        Raises:
            DctvError: it cannot be made, or lacks a name that the query uses.
        """
        found = replace(self, steps=()) if self.steps else self
        _ = self.system
        for step in self.steps:
            found = step.apply(found)
        return found

    def prepare(self, run: PlanRun) -> None:
        """Make the state system if it does not exist, and check that it has what the query names.

        Rows that are found by running other queries are found now, since none can begin while this one runs.
        """
        there = self.prepared()
        if isinstance(there.system, PartialStateSystem):
            run.kept[self] = aside(there.looked_up(), run.spill_folder)

    def narrowed(self, predicate: p.Predicate) -> States:
        """Return a source of fewer attributes or times, where the condition speaks of them."""
        words = ", ".join(_words(part) for part in _parts(predicate) if isinstance(part, _Summary))
        return self.when_there(words, lambda there: _narrowed(there, predicate)) if words else self

    def of(self, quarks: Iterable[int]) -> States:
        """Return a source of no other attributes."""
        before = None if self.quarks is None else set(self.quarks)
        return replace(self, quarks=tuple(one for one in dict.fromkeys(quarks) if before is None or one in before))

    def reading(self, _: Collection[str]) -> States:
        """Return itself: a state has few columns."""
        return self

    def answers(self, _: Question) -> None:
        """Return None: nothing is counted in advance."""

    def query(self) -> None:
        """Return None: the engine is handed the rows."""

    def open(self, run: PlanRun) -> Any:
        """Return the intervals; they are looked up as they are read, again for each place that reads them."""
        return run.kept[self] if self in run.kept else reopened(self.prepared().looked_up, lambda stream: stream)

    def looked_up(self) -> Any:
        """Return the intervals of a state system that is there, as an Arrow stream."""
        first = self.first
        if first is not None and self.last is not None:
            # A state that begins before the one and ends after the other lasts at both.
            first = min(first, self.last)
        quarks = range(self.system.attribute_count) if self.quarks is None else self.quarks
        names = physical_names(INTERVALS)
        return self.system.spans(quarks, names, times=self.times, first=first, last=self.last)

    def lines(self) -> Sequence[str]:
        """Return the attributes and times to look up."""
        if not self.history.made:
            return ("states: looked up when they are read", *(f"states: {step.words}" for step in self.steps))
        there = self.prepared()
        count = there.system.attribute_count
        selected = count if there.quarks is None else len(there.quarks)
        summary = f"states: {selected:,} of {count:,} attributes"
        if there.times is not None:
            return (f"{summary} at {len(there.times):,} times",)
        ends = ("" if one is None else f"{one} ns" for one in (there.first, there.last))
        return (summary if there.first is None and there.last is None else f"{summary}, {'..'.join(ends)}",)

    def bytes_read(self) -> None:
        """Return None: reads of a mapped file are not counted."""


@record(eq=False)
class DeferredRows(RowsInMemory):
    """Rows of a state system or timeline, which are found just before they are read."""

    rows: Callable[[], Any]
    summary: Callable[[], Sequence[str]] = lambda: ()

    def prepare(self, run: PlanRun) -> None:
        """Make the state system if it is not there, and find the rows."""
        run.kept[self] = self.rows()

    def open(self, run: PlanRun) -> Any:
        """Return the rows."""
        return run.kept[self]

    def lines(self) -> Sequence[str]:
        """Return the attributes to look up."""
        return self.summary()


def aside(stream: Any, spill_folder: Path) -> Any:
    """Put the rows of a stream into a file without a name, and return them as a table that is mapped."""
    import pyarrow as pa

    spill_folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=spill_folder) as folder:
        path = f"{folder}/rows"
        # The errors of one of pyarrow's own would come through a stream as texts.
        own = isinstance(stream, pa.RecordBatchReader)
        opened = stream if own else pa.RecordBatchReader.from_stream(stream)
        with opened as reader, pa.ipc.new_file(path, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        with pa.memory_map(path) as mapped, pa.ipc.open_file(mapped) as file:
            return file.read_all()


def _parts(predicate: p.Predicate) -> tuple[p.Predicate, ...]:
    return predicate.parts if isinstance(predicate, p.And) else (predicate,)


def _words(part: p.Compare | p.In | p.Prefix) -> str:
    match part:
        case p.Compare(columns, operator, value):
            return f"{' + '.join(columns)} {operator} {value}"
        case p.In(column, values):
            return f"{column} in {', '.join(map(str, values))}"
        case p.Prefix(column, text):
            return f"{column} begins with {text}"


def _narrowed(states: States, predicate: p.Predicate) -> States:
    for part in _parts(predicate):
        states = _with(states, part)
    return states


def _with(states: States, part: p.Predicate) -> States:
    match part:
        case p.Compare((column,), "=", value) if column in (_QUARK, _PATH):
            return _of(states, column, (value,))
        case p.In(column, values) if column in (_QUARK, _PATH):
            return _of(states, column, values)
        case p.Prefix(column, text) if column == _PATH:
            system = states.system
            every = range(system.attribute_count)
            return states.of(quark for quark in every if escape(system.path(quark)).startswith(text))
        case p.Compare((column,), operator, int(value)) if column == TS and operator in _SHIFTS:
            return _between(states, *_shifted(operator, value))
        case p.Compare(columns, operator, int(value)) if set(columns) == {TS, DURATION} and operator in _SHIFTS:
            # The end of a span is the time after its last one.
            low, _ = _shifted(operator, value - 1)
            return _between(states, low, None)
        case _:
            return states


def _of(states: States, column: str, values: Iterable[Any]) -> States:
    if column == _PATH:
        found = [states.system.find(*split(value)) for value in values if isinstance(value, str)]
    else:
        found = [int(value) for value in values if isinstance(value, int)]
    numbers = range(states.system.attribute_count)
    return states.of(sorted(quark for quark in found if quark in numbers))


def _between(states: States, first: int | None, last: int | None) -> States:
    if states.asked or states.times is not None:
        # An interval that begins before a range may touch it, so conditions on begins and ends do not shrink the range.
        return states
    low = max((one for one in (states.first, first) if one is not None), default=None)
    high = min((one for one in (states.last, last) if one is not None), default=None)
    return replace(states, first=low, last=high)


def _shifted(operator: str, value: int) -> tuple[int | None, int | None]:
    low, high = _SHIFTS[operator]
    return None if low is None else value + low, None if high is None else value + high


def intervals(name: str, source: States) -> Scan:
    """Return a scan of intervals, which come by attribute rather than by time."""
    return Scan(INTERVALS, order=RowOrder.STABLE, name=name, source=source)
