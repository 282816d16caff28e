"""Outcomes of statements: a result that is read once, a message, or the verdict of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dctv.contracts.first_rows import FirstRows
from dctv.contracts.picture import Picture
from dctv.errors import AssertionFailed, BindError, DctvError, Place, UsageError
from dctv.plan.nodes import ArrowStream
from dctv.plan.source import RunCost
from dctv.record import record, replace
from dctv.run.context import ExecutionContext
from dctv.run.frames import check_installed, pandas_frame, polars_frame
from dctv.run.int128 import as_decimals, as_integers, with_decimals
from dctv.run.pulling import Pulling
from dctv.run.python_warnings import issue_warnings
from dctv.run.reading import Reading
from dctv.timeline.timeline import Timeline
from dctv.types.schema import Schema
from dctv.types.values import dialect_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame


_T = TypeVar("_T")


@record
class Done:
    """A statement without a result has run."""

    message: str


@record
class Asserted:
    """An ASSERT or an EXPECT has been checked."""

    text: str
    passed: bool
    message: str
    """The message in the statement, if it has one."""
    verdict: str
    """The reason why it does not hold, if it does not."""
    place: Place | None = None
    found: str = ""
    """The rows or values of a failure, on lines of their own."""
    called: str = "assertion"

    @property
    def name(self) -> str:
        """The name in reports, the same whether it holds or not."""
        return self.message or self.text

    def failure(self) -> AssertionFailed:
        """Return the error of a failed assertion."""
        return AssertionFailed(f"{self.called} failed: {self.message or self.verdict}", self.place, found=self.found)


class _Printer(Protocol):
    """The pretty printer of IPython."""

    def text(self, obj: str) -> None:
        """Print a text."""


@record
class _Batches:
    """Rows that are on their way."""

    schema: pa.Schema
    rest: Iterator[pa.RecordBatch]


class Result:
    """The rows of a query, streamed once from front to back; also gives them whole in several forms.

    Libraries that read Arrow streams (pyarrow, polars, pandas, DuckDB) take the result itself. Printing it, or showing
    it in a notebook, shows its first rows, which can still be read afterwards.
    """

    def __init__(
        self,
        schema: Schema,
        reading: Reading,
        context: ExecutionContext,
        start: Callable[[], int | Mapping[str, int]] | None = None,
        *,
        apart: bool = True,
    ) -> None:
        self.schema = schema
        self._began = start
        self.warns = False
        """Whether warnings go to Python's `warnings` too, once the rows have been read."""
        self._reading = reading
        self._pulling = Pulling(reading, context, apart)
        self._context = context
        self._read = False
        self._first: FirstRows | None = None
        self._held: _Batches | None = None
        """Rows that are being read, including those that were already shown."""
        self._failed: DctvError | None = None
        """Why there were no first rows."""

    def __repr__(self) -> str:
        columns = ", ".join(replace(c, name=f"{c.name} {dialect_type(c.type)}").head for c in self.schema.columns)
        return f"<Result: {self.schema.describe()}: {columns}; {'read' if self._read else 'not read yet'}>"

    def __str__(self) -> str:
        first = self._look()
        return repr(self) if first is None else self._context.registries.showing.text(first)

    def _repr_html_(self) -> str | None:
        """Show the first rows in a notebook, or the error."""
        try:
            first = self._look()
        except DctvError as error:
            return f"<pre>{escape(str(error))}</pre>"
        return None if first is None else self._context.registries.showing.html(first)

    def _repr_pretty_(self, printer: _Printer, _cycle: object) -> None:
        """Show the first rows where IPython has a terminal."""
        try:
            printer.text(str(self))
        except DctvError as error:
            printer.text(str(error))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows as an Arrow stream."""
        stream: object = self.reader().__arrow_c_stream__(requested_schema)
        return stream

    def __arrow_c_schema__(self) -> object:
        """Export names and types of the columns, with units in the fields' metadata, without reading rows."""
        schema: object = with_decimals(self._started().schema, self.schema).__arrow_c_schema__()
        return schema

    @property
    def units(self) -> dict[str, str]:
        """Units by the names of their columns, such as `{"_ts": "ns"}`; columns without a unit are not there."""
        return {column.name: str(column.unit) for column in self.schema.columns if str(column.unit)}

    def start_unix_ns(self) -> int:
        """Return time 0 of the column `_ts` in ns since 1970, if all rows are of one trace that records it.

        Raises:
            BindError: it is not known, or there is no such column.
        """
        start = self.time_zero()
        if not isinstance(start, int):
            raise BindError("`_ts` belongs to several traces, which began at different times", None)
        return start

    def time_zero(self) -> int | Mapping[str, int]:
        """Return time 0 of the column `_ts` in ns since 1970; of traces that are mounted as one, by trace.

        Traces are called as in the column `_trace`; those that do not record when they began are left out.

        Raises:
            BindError: it is not known, or a column is missing.
        """
        if self._began is None:
            raise BindError("cannot tell which trace `_ts` belongs to", None)
        return self._began()

    @property
    def warnings(self) -> list[tuple[str, int]]:
        """Messages with their counts; complete once the rows have been read."""
        return list(self._context.log.entries.items())

    @property
    def spent(self) -> RunCost | None:
        """The cost of the rows, once they have been read, if the session is metered."""
        return self._reading.spent

    def when_read(self, callback: Callable[[], None]) -> None:
        """Call this once the rows have been read, or no more are wanted."""
        self._reading.when_over(callback)

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        from dctv import _kernels  # compiled; only wanted when a query runs

        self._claim()
        if self._held is not None:
            batches, self._held = self._held.rest, None
            for batch in batches:
                yield from as_integers(_kernels.rows(batch), self.schema)
        else:
            pulled = self._pulling.items(lambda: _kernels.rows(self._start()))
            next(pulled)
            yield from as_integers(pulled, self.schema)
        self._issue_warnings()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as pyarrow record batches; a field with a unit has it in its metadata under `unit`."""
        yield from self._claimed().rest

    def reader(self) -> pa.RecordBatchReader:
        """Return a pyarrow RecordBatchReader; fields with a unit have it in their metadata under `unit`."""
        import pyarrow as pa

        taken = self._claimed()
        return pa.RecordBatchReader.from_batches(taken.schema, taken.rest)

    def arrow(self) -> pa.Table:
        """Return all rows as a pyarrow Table; fields with a unit have it in their metadata under `unit`."""
        reader = self.reader()
        table: pa.Table = self._pulling.guarded(reader.read_all)
        return table

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed
        if self._read:
            raise UsageError("this result has been read already", hint="run the query again")

    def _claim(self) -> None:
        self._check()
        self._read = True

    def _claimed(self) -> _Batches:
        """Return the batches for a reader, and give warnings once they have been read."""
        batches = self._started()
        self._claim()
        self._held = None  # A reader that stops early ends the run.
        schema = with_decimals(batches.schema, self.schema)
        return _Batches(schema, self._to_the_end(as_decimals(one, schema, self.schema) for one in batches.rest))

    def _started(self) -> _Batches:
        """Return the rows, which have begun to come."""
        if self._held is None:
            self._check()
            self._held = self._remembered(self._opened)
        return self._held

    def _remembered(self, work: Callable[[], _T]) -> _T:
        """Return the result of work; after a failure, every later access fails the same way."""
        try:
            return work()
        except DctvError as error:
            self._failed = error
            raise

    def _to_the_end(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        self._issue_warnings()

    def _issue_warnings(self) -> None:
        if self.warns:
            issue_warnings(self._context.log.unreported())

    def _look(self) -> FirstRows | None:
        """Return the first rows without consuming them; None if all rows were read before."""
        if self._failed is not None:
            raise self._failed
        if self._first is None and not self._read:
            self._first = self._remembered(self._peek)
        return self._first

    def _peek(self) -> FirstRows:
        import pyarrow as pa

        from dctv import _kernels

        batches, seen, count = self._started(), [], 0
        while count <= _AHEAD and (batch := next(batches.rest, None)) is not None:
            seen.append(batch)
            count += batch.num_rows
        self._held = _Batches(batches.schema, chain(seen, batches.rest))
        shown = pa.Table.from_batches(seen, batches.schema).slice(0, _SHOWN)
        values: list[list[object]] = [[] for _ in self.schema.columns]
        for chunk in as_integers(_kernels.rows(shown), self.schema):
            for column, more in zip(values, chunk, strict=True):
                column.extend(more)
        return FirstRows(self.schema, values, count, count <= _AHEAD, self.warnings)

    def _start(self) -> ArrowStream:
        self._reading.begin()
        stream: ArrowStream = self._reading.stream
        return stream

    def _opened(self) -> _Batches:
        import pyarrow as pa

        pulled = self._pulling.items(lambda: pa.RecordBatchReader.from_stream(self._start()))
        schema = self._arrow_schema(next(pulled).schema)
        return _Batches(schema, (pa.RecordBatch.from_arrays(b.columns, schema=schema) for b in pulled))

    def _arrow_schema(self, schema: pa.Schema) -> pa.Schema:
        import pyarrow as pa

        fields = []
        for column, field in zip(self.schema.columns, schema, strict=True):
            metadata = {"unit": str(column.unit)} if str(column.unit) else None
            fields.append(pa.field(column.name, field.type, metadata=metadata))
        return pa.schema(fields)

    def timeline(
        self, name: str | None = None, value: str | None = None, *, most_tracks: int | None = None
    ) -> Timeline:
        """Return the rows as a timeline: a track for each partition of spans or events, or of a counter.

        `name` is the column that spans and events are named after: by default `name`, else the first text. With
        `value`, the numbers of that column are shown over time; so is the only column of spans if it has numbers.

        Raises:
            UsageError: there is no such column, the rows are neither spans nor events, there is no room for them, or
                they have more than `most_tracks` tracks.
        """
        return self._timeline(name, value, None, most_tracks)

    def append_to(self, timeline: Timeline, name: str | None = None, value: str | None = None) -> Timeline:
        """Return a timeline of an earlier result with these rows appended; the earlier one stays as it is.

        Columns are those of `timeline`. Tracks, lanes and cells are those of a timeline of both results at once.

        Raises:
            UsageError: as for `timeline`; or a row begins before the last one of the earlier result.
        """
        return self._timeline(name, value, timeline)

    def _timeline(
        self, name: str | None, value: str | None, after: Timeline | None, most_tracks: int | None = None
    ) -> Timeline:
        from dctv.timeline.of_rows import timeline_of
        from dctv.timeline.space import Space

        space = Space(self._context.engine.spill_folder(), most_tracks=most_tracks)
        return timeline_of(self.schema, self.batches(), space, name, value, after)

    def plot(self, name: str | None = None, value: str | None = None, **options: object) -> Picture:
        """Draw the rows: return a picture, which a notebook shows and which can be saved.

        Columns are those of `timeline`. Options are `start` and `stop` in ns, `width` and `height` in pixels, `title`
        and `theme`, light or dark.

        Raises:
            UsageError: as for `timeline`; or the picture cannot be of that size.
        """
        return self._context.registries.drawn(self.timeline(name, value), options)

    def pandas(self, *, units_in_names: bool = False) -> PandasFrame:
        """Return all rows as a pandas DataFrame; `frame.attrs["units"]` is `units`.

        With `units_in_names` columns have the terminal's headers as names: `took [ms]`. Integers of 64 bits beside
        NULLs are `Int64` or `UInt64`, which are exact.

        Raises:
            UsageError: pandas is not installed.
        """
        check_installed("pandas")
        frame = pandas_frame(self._named(units_in_names=units_in_names))
        heads = {column.name: column.head for column in self.schema.columns}
        frame.attrs["units"] = {heads[n] if units_in_names else n: unit for n, unit in self.units.items()}
        return frame

    def polars(self, *, units_in_names: bool = False) -> PolarsFrame:
        """Return all rows as a polars DataFrame, which itself keeps no units: `units` has them.

        With `units_in_names` columns have the terminal's headers as names: `took [ms]`.

        Raises:
            UsageError: polars is not installed, or refuses the columns: two have one name, or one has intervals.
        """
        check_installed("polars")
        names = [column.head if units_in_names else column.name for column in self.schema.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(
                f"the result has two columns `{twice}`, polars takes one", hint="give each its own name with AS"
            )
        return polars_frame(self._named(units_in_names=units_in_names))

    def df(self, *, units_in_names: bool = False) -> PandasFrame:
        """Alias of `pandas`."""
        return self.pandas(units_in_names=units_in_names)

    def pl(self, *, units_in_names: bool = False) -> PolarsFrame:
        """Alias of `polars`."""
        return self.polars(units_in_names=units_in_names)

    def _named(self, *, units_in_names: bool) -> pa.Table:
        table = self.arrow()
        return table.rename_columns([column.head for column in self.schema.columns]) if units_in_names else table

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows as tuples of Python values."""
        return [row for chunk in self.chunks() for row in zip(*chunk, strict=True)]


_SHOWN = 20
"""Rows that are shown when a result is printed."""
_AHEAD = 10_000
"""Rows that are read for that at most, rounded up to a whole batch, so that small results are counted in full."""


Outcome = Result | Done | Asserted
