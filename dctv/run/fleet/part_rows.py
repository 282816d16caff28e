"""Run parts of a plan, and hand their rows on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from dctv.errors import DctvError, EngineError, Interrupted, TraceError, reason_of
from dctv.plan.source import RunCost
from dctv.record import record, replace
from dctv.rewrite.flattened_queries import NotFlat
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import named, state_of
from dctv.run.fleet.metadata import mounted
from dctv.run.fleet.one_pass import in_one_pass
from dctv.run.fleet.part import FleetPart, PartReport, PartTrace, plan_of_trace
from dctv.run.plans import optimized_result
from dctv.temporary import MORE_ROOM

if TYPE_CHECKING:
    import pyarrow as pa


@record
class PartRows:
    """The result of a part."""

    data: bytes | Sequence[pa.RecordBatch] | None
    """An Arrow stream, or the rows of a part that ran in this process, if they were not written to a file."""
    size: int
    """In bytes."""
    report: PartReport


def batches(context: ExecutionContext, part: FleetPart, report: PartReport) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part, trace by trace, then complete its report.

    Raises:
        DctvError: a trace cannot be read, or the query fails.
    """
    if len(part.traces) == 1:
        yield from of_trace(context, part, part.traces[0], report)
        return
    begun, passed = False, PartReport()
    try:
        for rows in in_one_pass(context, part, passed):
            begun = True
            yield rows
    except Interrupted:
        raise
    except (NotFlat, DctvError) as error:
        if begun:
            # The error of the trace that failed has its name.
            for _ in _one_by_one(context, part, PartReport()):
                pass
            raise error from None
    else:
        report.add(passed.warnings, passed.spent)
        return
    # Each trace by itself repairs what it can.
    yield from _one_by_one(context, part, report)


def _one_by_one(context: ExecutionContext, part: FleetPart, report: PartReport) -> Iterator[pa.RecordBatch]:
    for trace in part.traces:
        with named(trace.member):
            yield from of_trace(context, part, trace, report)


def of_trace(
    context: ExecutionContext, part: FleetPart, trace: PartTrace, report: PartReport
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part in one trace, and add to its report.

    Raises:
        DctvError: the trace cannot be read, or the query fails.
    """
    if _state(trace) != trace.state:
        raise TraceError("it has changed since it was mounted", hint=f"DROP ALL {part.way.name}, and mount it again")
    settings = replace(context, settings=part.settings)
    with mounted(trace.member, part.way, settings, trace.format) as (alone, made):
        plan = plan_of_trace(part, trace, alone, made)
        # The thread or process that waits for these rows handles Ctrl-C.
        result = optimized_result(plan, plan.schema, alone, apart=False)
        yield from result.batches()
        spent = result.spent
        if spent is not None and spent.read is not None and not made.sources:
            spent = replace(spent, read=spent.read + sum(size for _, size, _ in trace.state))
        report.add([(trace.member.name, text, count) for text, count in result.warnings], spent)


def _state(trace: PartTrace) -> tuple[tuple[str, int, int], ...]:
    try:
        return state_of(trace.member.path)
    except OSError as error:
        raise TraceError(f"cannot read it: {reason_of(error)}") from None


def run_part(context: ExecutionContext, part: FleetPart, target: str | None) -> PartRows:
    """Run a part in a worker; write its rows to a file, or return them if there is none, or if they are few."""
    import pyarrow as pa

    report, began = PartReport(), process_time()
    rows = batches(context, part, report)
    begun, are_all = _begun(rows, _FEW)
    rows = chain(begun, rows)
    if target is None or are_all:
        held = pa.BufferOutputStream()
        _write(rows, held)
        data = held.getvalue().to_pybytes()
        return PartRows(data, len(data), _elsewhere(report, began))
    return PartRows(None, _written(rows, target), _elsewhere(report, began))


def run_here(context: ExecutionContext, part: FleetPart, target: str) -> PartRows:
    """Run a part in the process that wants its rows; write them to a file if they are many."""
    report = PartReport()
    # Its other threads would take processors from workers.
    rows = batches(replace(context, limits=replace(context.limits, threads=1)), part, report)
    begun, are_all = _begun(rows, _MANY)
    if are_all:
        return PartRows(begun, sum(batch.nbytes for batch in begun), report)
    return PartRows(None, _written(chain(begun, rows), target), report)


def _written(rows: Iterator[pa.RecordBatch], target: str) -> int:
    """Write the rows of a part to a file; return its size."""
    import pyarrow as pa

    try:
        with pa.OSFile(target, "wb") as file:
            _write(rows, file)
            size: int = file.tell()
    except OSError as error:
        folder, reason = Path(target).parent, str(error) if error.errno is None else os.strerror(error.errno)
        raise EngineError(f"cannot keep its rows in `{folder}`: {reason.lower()}", hint=MORE_ROOM) from None
    return size


def _begun(rows: Iterator[pa.RecordBatch], most: int) -> tuple[list[pa.RecordBatch], bool]:
    """Return the first rows, and whether these are all: at most so many bytes."""
    begun: list[pa.RecordBatch] = []
    size = 0
    for batch in rows:
        begun.append(batch)
        size += batch.nbytes
        if size > most:
            return begun, False
    return begun, True


def _elsewhere(report: PartReport, began: float) -> PartReport:
    """Add the CPU time of this process to the report."""
    spent = report.spent or RunCost(None, 0)
    report.spent = replace(spent, cpu=spent.cpu + process_time() - began)
    return report


def _write(rows: Iterator[pa.RecordBatch], file: pa.NativeFile) -> None:
    import pyarrow as pa

    first = next(rows, None)
    if first is not None:
        with pa.ipc.new_stream(file, first.schema) as writer:
            for batch in chain((first,), rows):
                writer.write_batch(batch)


_FEW = 8 << 10
"""Up to this many bytes of rows are sent: a file would cost more."""
_MANY = 16 << 20
"""Up to this many bytes of rows wait in memory for the reader in the same process."""


def read_part(rows: PartRows, target: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part; its file is gone afterwards."""
    import pyarrow as pa

    if isinstance(rows.data, bytes):
        if rows.data:
            yield from pa.ipc.open_stream(rows.data)
        return
    if rows.data is not None:
        yield from rows.data
        return
    assert target is not None
    try:
        with pa.memory_map(target) as file:
            if file.size():
                yield from pa.ipc.open_stream(file)
    finally:
        Path(target).unlink(missing_ok=True)
