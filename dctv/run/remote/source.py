"""Turn a part of a plan that another engine runs into a source of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dctv.contracts.remote import Frame, Remote, RemoteJob
from dctv.contracts.states import aside
from dctv.errors import DctvError, EngineError, Interrupted, Unanswered
from dctv.index.sources import AllEvents, StoredFileSource
from dctv.plan import show
from dctv.plan.explain import ExplainedRegion, explain
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, physical_names
from dctv.plan.source import PlanRun, WholeSource
from dctv.record import field, record
from dctv.rewrite.graph import readers_first
from dctv.run.carrying import as_relation
from dctv.run.context import ExecutionContext
from dctv.run.reading import Reading
from dctv.run.regions import cut
from dctv.run.remote.operators import columns_of, sweep_of
from dctv.run.remote.orders import decided, hoisted, is_sorted, unsorted
from dctv.run.sharing import Sharing
from dctv.run.stream import arrow_schema
from dctv.signatures.types import parse
from dctv.types.schema import TS, Schema

if TYPE_CHECKING:
    import pyarrow as pa


@record
class RegionSharing(Sharing):
    """The shared parts as one region of a remote engine sees them: everything but its relations stays outside of it."""

    here: frozenset[int]
    """Plans that are carried out in this process, by identity."""

    def __contains__(self, plan: Plan) -> bool:
        return not isinstance(plan, Relation) or id(plan) in self.here


@record(eq=False)
class RemoteRows(WholeSource):
    """The rows of a plan that another engine carries out."""

    context: ExecutionContext
    remote: Remote
    plan: Plan
    here: frozenset[int]
    """Parts of it that this process carries out, and hands over, by identity."""
    reasons: list[str] = field(default_factory=list)
    """Why they are wanted here, where they are not the result."""

    def lines(self) -> Sequence[str]:
        """Return what the engine does."""

        def region(relation: Relation) -> ExplainedRegion:
            made = cut(relation, self.apart)
            return ExplainedRegion(
                [f"| {line}" for line in show.query(made.query)], [*made.sources.values()], made.pushed
            )

        return [f"on {self.remote.address}:", *(f"  {line}" for line in explain(self.plan, region, _never, _nothing))]

    @property
    def is_sorted(self) -> bool:
        """Whether its rows come in an order of its own."""
        return isinstance(self.plan, Relation) and is_sorted(hoisted(cut(self.plan, self.apart).query))

    @property
    def apart(self) -> RegionSharing:
        """What regions are cut out by."""
        return RegionSharing({}, _never, self.here)

    def open(self, run: PlanRun) -> pa.Table:
        """Return the rows, once all have come: an engine that fails in the middle has given none."""
        schema = types_here(self.plan.schema, self.context)
        try:
            rows = self._aside(schema, (_brought(one, schema) for one in self._fetched(run)), run)
        except (Unanswered, Interrupted) as error:
            # The engine that reads these rows hands on no more than the error's text.
            self.context.running.note(error)
            raise
        except EngineError as error:
            if self.context.settings.strict_engine:
                self.context.running.note(error)
                raise
            # It may fail to plan a valid query, or report a wrong value in words that make no sense to a user.
            self.context.log.add(f"{error.message}; it ran here")
            return self._aside(schema, self._here(schema), run)
        for reason in self.reasons:
            self.context.log.add(f"{reason}; it ran here, over {_rows(rows.num_rows)} fetched from the engine")
        return rows

    def _aside(self, schema: pa.Schema, tables: Iterator[pa.Table], run: PlanRun) -> pa.Table:
        """Put rows where they take no memory."""
        import pyarrow as pa

        batches = (batch for table in tables for batch in table.to_batches())
        try:
            return aside(pa.RecordBatchReader.from_batches(schema, batches), run.spill_folder)
        except DctvError:
            raise
        except self.context.engine.failures as error:
            raise self.context.running.failure(error) from None

    def _fetched(self, run: PlanRun) -> Iterator[pa.Table]:
        job = self.remote.job(lambda: self._is_over(run))
        try:
            yield from job.rows(_Frames(self, job, run).root())
        finally:
            job.close()

    def _here(self, schema: pa.Schema) -> Iterator[pa.Table]:
        with rows_here(self.plan, self.context) as rows:
            for batch in rows:
                yield _brought(batch, schema)

    def _is_over(self, run: PlanRun) -> bool:
        return self.context.progress.interrupted or run.cancel.is_set()


@contextmanager
def rows_here(plan: Plan, context: ExecutionContext) -> Iterator[pa.RecordBatchReader]:
    """Carry a part of a plan out in this process."""
    import pyarrow as pa

    reading = Reading(as_relation(plan), context)
    reading.begin()
    try:
        with pa.RecordBatchReader.from_stream(reading.stream) as rows:
            yield rows
    except context.engine.failures as error:
        failure = context.running.failure(error)
        context.running.note(failure)
        raise failure from None
    finally:
        reading.finish()


def _brought(rows: pa.Table | pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """Return rows with other types, which hold their values; there is no cast to the type that only has NULL."""
    import pyarrow as pa

    def column(found: Any, kind: pa.DataType) -> Any:
        return pa.nulls(len(found)) if pa.types.is_null(kind) else found.cast(kind)

    pairs = zip(rows.columns, schema.types, strict=True)
    return pa.table([column(found, kind) for found, kind in pairs], schema=schema)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _never(_: Plan) -> bool:
    return False


def _nothing(_: Plan) -> Sequence[str]:
    return ()


def types_here(schema: Schema, context: ExecutionContext) -> pa.Schema:
    """Return the Arrow types that the engine of this process gives to a table."""
    import pyarrow as pa

    return pa.schema(arrow_schema(context.engine, schema))


_LARGE = 32 << 20
"""With more rows, which may all be of one partition, groups are cut by time as well."""
_SLAB = 8 << 20
"""Rows for each slab of time, at least."""


@record(frozen=False)
class _Frames:
    """The parts of a plan as the engine has them."""

    rows: RemoteRows
    job: RemoteJob
    run: PlanRun
    made: dict[int, Frame] = field(default_factory=dict)
    extents: dict[int, tuple[int, int] | None] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    """How many rows stored parts have, and those that were handed over."""

    def root(self) -> Frame:
        """Return the whole, in its order."""
        plan = self.rows.plan
        if not isinstance(plan, Relation):
            return self.of(plan)
        names = zip(physical_names(plan.schema), plan.schema.columns, strict=True)
        sortable = [name for name, one in names if not parse(one.type).children]
        return self._region(plan, lambda query: decided(hoisted(query), sortable))

    def of(self, plan: Plan) -> Frame:
        """Return the rows of a part, in no order."""
        if id(plan) not in self.made:
            self.made[id(plan)] = self._of(plan)
        return self.made[id(plan)]

    def _of(self, plan: Plan) -> Frame:
        if id(plan) in self.rows.here:
            return self._given(plan)
        match plan:
            case Scan():
                return self._stored(plan)
            case Kernel():
                sweep, read = sweep_of(plan, lambda schema: types_here(schema, self.rows.context), self.rows.here)
                frames = [self.of(one) for one in read]
                rows = self._stored_rows(plan)
                is_cut = sweep.slabs or (sweep.divisible and rows > _LARGE)
                return self.job.sweep(sweep, frames, self._extent(plan) if is_cut else None, rows // _SLAB + 1)
            case Relation():
                return self._region(plan, lambda query: decided(unsorted(query)))
            case _:
                raise AssertionError(type(plan))

    def _region(self, plan: Relation, changed: Callable[[Query], Query]) -> Frame:
        region = cut(plan, self.rows.apart)
        tables = {name: (self.of(leaf), columns_of(leaf)) for name, leaf in region.sources.items()}
        return self.job.query(changed(region.query), tables)

    def _stored(self, scan: Scan) -> Frame:
        """Let the engine read a file where it lies, if it sees it; else hand the rows over."""
        source = scan.source
        found = (
            source if isinstance(source, StoredFileSource) else source.flat if isinstance(source, AllEvents) else None
        )
        if found is not None and self.rows.remote.sees(found.file.path.parent):
            columns, names = found.named
            own = dict(zip(names, columns, strict=True))
            self.counts[id(scan)] = found.file.rows
            return self.job.file(found.whole(), [(own[column[0]], column) for column in columns_of(scan)])
        return self._given(scan)

    def _given(self, plan: Plan) -> Frame:
        """Carry a part out here, and hand its rows over."""
        with rows_here(plan, self.rows.context) as rows:
            table = rows.read_all()
        self.counts[id(plan)] = table.num_rows
        return self.job.table(table, columns_of(plan))

    def _stored_rows(self, plan: Plan) -> int:
        """Return how many rows a plan is made of."""
        return sum(self.counts.get(id(one), 0) for one in readers_first(plan))

    def _extent(self, plan: Plan) -> tuple[int, int] | None:
        """Return the times between which the stored rows are that a plan is made of."""
        found = []
        for one in readers_first(plan):
            is_stored = isinstance(one, Scan) or id(one) in self.rows.here
            if is_stored and one.schema.names[:1] == (TS,):
                if id(one) not in self.extents:
                    self.extents[id(one)] = self.job.extent(self.of(one))
                found.append(self.extents[id(one)])
        known = [one for one in found if one is not None]
        return (min(low for low, _ in known), max(high for _, high in known)) if known else None
