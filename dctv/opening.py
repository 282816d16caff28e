"""Make the context of a session within given limits: an engine, and the registries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from dctv import readers, writers
from dctv.catalog.namespace import Catalog
from dctv.contracts.first_rows import Showing
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.reader_errors import readers_in
from dctv.contracts.registry import Registry, scan
from dctv.contracts.remote import Remote
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.table_function import TableFunction
from dctv.contracts.writer import Writer
from dctv.draw.drawn import drawn
from dctv.engines.allowed import AllowedFiles, named_files
from dctv.engines.duckdb import DuckDB
from dctv.errors import WarningLog
from dctv.functions import aggregate, scalar, span, table
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.progress import Progress
from dctv.rewrite.settings import RewriteSettings
from dctv.run.chosen_engine import ChosenEngine
from dctv.run.context import ExecutionContext, Registries
from dctv.run.files import file_table
from dctv.run.limits import Limits
from dctv.run.running import Running
from dctv.run.trace_workers import TraceWorkers
from dctv.writers.first_rows import as_html, as_text


def open_context(
    limits: Limits, progress: Progress, workers: TraceWorkers, allow_files: AllowedFiles, *, allow_engines: bool = False
) -> ExecutionContext:
    """Open an engine and find the registered parts; nothing is mounted yet."""
    log = WarningLog()
    engine = DuckDB(
        threads=limits.threads,
        memory_limit=limits.memory,
        on_zero_division=partial(_warn_of_zero, log),
        spill=limits.temp_directory,
        stored=limits.policy.folder(),
        named=named_files(allow_files),
    )
    chosen_engine = ChosenEngine(_connect, allow_engines)
    running = Running(engine, progress, chosen_engine)
    context = ExecutionContext(
        Catalog(), {}, engine, _registries(), RewriteSettings(), limits, log, progress, running, workers, chosen_engine
    )
    context.catalog.fill("dctv", _functions)
    return context


def _warn_of_zero(log: WarningLog, rows: int | None) -> None:
    if rows is None:
        log.repeat({"division by zero gave NULL in a sort or partition key": 1})
    else:
        log.add("division by zero gave NULL", rows)


def _connect(address: str) -> Remote:
    from dctv.engines.spark.connection import connect  # loads a client that most sessions do without

    return connect(address)


@cache
def _registries() -> Registries:
    """Return the registries of this process."""
    return Registries(
        readers_in(readers),
        Registry(scalar, aggregate, record=FunctionRule),
        Registry(span, record=SpanOperator),
        Registry(table, record=TableFunction),
        quantize,
        drawn,
        Showing(as_text, as_html),
        Registry(writers, record=Writer),
        file_table,
    )


@cache
def _functions() -> Mapping[str, TableFunction]:
    found = scan(table, TableFunction).values()
    return {name: function for function in found for name in (function.name, *function.aliases)}
