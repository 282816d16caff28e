"""Run SQL from the page, and return rows as an Arrow stream, or as JSON for reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dctv.errors import AssertionFailed, DctvError, Place, SourceText, UsageError
from dctv.record import field, record
from dctv.run.result import Asserted, Done, Result
from dctv.syntax import ast, commands
from dctv.syntax.parse import parse
from dctv.syntax.print import to_sql
from dctv.syntax.statements import cut, in_place, is_empty
from dctv.web.arrow import streamed
from dctv.web.host import Host
from dctv.web.json_results import described, first_rows
from dctv.web.request_errors import error_json, units

MOST_ROWS = 1_000_000
"""The page shows no more rows."""
SOURCE = "query"
"""The name of the text in errors."""
_OF_REPORT = 1_000
"""The maximum number of rows per result of a report."""


@record
class QueryRequest:
    """A text to run, and the number of rows wanted from its last result."""

    text: str
    limit: int
    allowed: Callable[[str], bool] = lambda _: False
    """Whether it may mount a path."""


def answer(host: Host, query: QueryRequest) -> bytes:
    """Run the statements of a text; return the rows of the last one as an Arrow IPC stream.

    Its schema has the metadata `dctv`: JSON of `kind`, `partitions`, `columns`, `warnings` and whether the rows are
    `complete`.
    """
    import pyarrow as pa

    check_files(query.text, query.allowed)
    result, messages = _last(host, query.text)
    if result is None:
        schema = pa.schema([pa.field("status", pa.string())], _metadata(None, [], complete=True))
        rows = pa.record_batch([pa.array([messages[-1] if messages else "nothing to run"])], schema=schema)
        return b"".join(streamed(schema, [rows]))
    reader = result.reader()
    batches, complete = _first(reader, query.limit)
    schema = reader.schema.with_metadata(_metadata(result, result.warnings, complete=complete))
    return b"".join(streamed(schema, (batch.replace_schema_metadata(schema.metadata) for batch in batches)))


def _last(host: Host, text: str) -> tuple[Result | None, list[str]]:
    """Run a text; return the result of the last statement, if it has one, and the outcomes of the others."""
    result, messages = None, []
    for outcome in host.execute(text, source_name=SOURCE):
        result = outcome if isinstance(outcome, Result) else None
        if isinstance(outcome, Asserted) and not outcome.passed:
            raise outcome.failure()
        if isinstance(outcome, Done | Asserted):
            messages.append(outcome.message or "the assertion holds")
    return result, messages


def _first(reader: Any, limit: int) -> tuple[list[Any], bool]:
    """Return the batches of the first rows, and whether these are all."""
    kept, rows = [], 0
    for batch in reader:
        if rows + batch.num_rows > limit:
            kept.append(batch.slice(0, limit - rows))
            reader.close()
            return kept, False
        kept.append(batch)
        rows += batch.num_rows
    return kept, True


def _metadata(result: Result | None, warnings: Sequence[tuple[str, int]], *, complete: bool) -> dict[str, str]:
    fields = {
        "kind": result.schema.kind.value if result else "regular",
        "partitions": result.schema.partitions if result else [],
        "columns": described(result.schema.columns) if result else [{"name": "status", "type": "STRING", "unit": None}],
        "warnings": warnings,
        "complete": complete,
    }
    return {"dctv": json.dumps(fields)}


def check_files(text: str, allowed: Callable[[str], bool]) -> None:
    """Reject texts that mount files that were not given to the server, and those that write files.

    Raises:
        UsageError: a path was neither given at the start nor dropped on the page.
        ParseError: the text does not follow the grammar.
    """
    for statement in parse(SourceText(SOURCE, text)):
        if isinstance(statement, commands.Copy):
            raise UsageError("the page writes no files", statement.place, hint="`dctv query` and the prompt do")
        if isinstance(statement, ast.MountTrace | ast.MountTraces) and not allowed(statement.file.text):
            raise UsageError(
                f"the page mounts only what `dctv ui` was given, found `{statement.file.text}`",
                statement.file.place,
                hint="drop the file on the page, or name it when you start `dctv ui`",
            )


@record
class Report:
    """A text to show with the outcomes of all statements."""

    name: str
    text: str
    allowed: Callable[[str], bool]
    """Whether it may mount a path."""
    base: Path | None = None
    """The base folder of paths."""
    made: list[str] = field(default_factory=list)
    """Statements that drop the views, tables and macros of the report's previous run, for it to create them again."""


def report(host: Host, request: Report) -> Iterator[dict[str, Any]]:
    """Run the statements of a report one by one; yield their outcomes, and stop at the first error."""
    text = request.text
    try:
        check_files(text, request.allowed)
    except DctvError as error:
        yield _failed(error, text, 0, len(text))
        return
    _drop(host, request.made)
    where = cut(text)
    for start, stop in [*where.statements, (where.rest, len(text))]:
        if is_empty(text[start:stop].removesuffix(";")):
            continue
        begin = start + len(text[start:stop]) - len(text[start:stop].lstrip())
        try:
            for outcome in host.execute(in_place(text, start, stop), source_name=request.name, base=request.base):
                yield {**_statement(text, begin, stop), **_outcome(host, outcome)}
            request.made.extend(_drops(text[start:stop]))
        except DctvError as error:
            yield _failed(_moved(error, text, start), text, begin, stop)
            return


def _drop(host: Host, made: list[str]) -> None:
    while made:
        with suppress(DctvError):
            list(host.execute(made.pop()))


def _drops(text: str) -> list[str]:
    """Return the statements that drop what a text creates."""
    found = []
    for one in parse(SourceText(SOURCE, text)):
        match one:
            case ast.CreateView():
                found.append(to_sql(ast.DropView(one.path)))
            case commands.CreateTable():
                found.append(to_sql(commands.DropTable(one.path)))
            case commands.CreateMacro():
                found.append(to_sql(commands.DropMacro(one.path)))
            case commands.CreateType():
                found.append(to_sql(commands.DropType(one.path)))
    return found


def _statement(text: str, start: int, stop: int) -> dict[str, Any]:
    return {"statement": text[start:stop], "start": units(text, start), "stop": units(text, stop)}


def _outcome(host: Host, outcome: Result | Done | Asserted) -> dict[str, Any]:
    match outcome:
        case Result():
            table, schema = first_rows(outcome, _OF_REPORT).table(), outcome.schema
            return {"kind": "result", "table": table, "tablekind": schema.kind.value, "warnings": outcome.warnings}
        case Done():
            return {"kind": "done", "message": outcome.message, "warnings": [[one, 1] for one in host.warnings()]}
        case Asserted():
            failure = None if outcome.passed else error_json(outcome.failure())["rendered"]
            message = outcome.name
            return {"kind": "assert", "passed": outcome.passed, "message": message, "failure": failure}


def _failed(error: DctvError, text: str, start: int, stop: int) -> dict[str, Any]:
    failed: dict[str, Any] = {"kind": "error", "message": error.message, "error": error_json(error)}
    if isinstance(error, AssertionFailed):
        failed |= {"kind": "assert", "passed": False}
    return {**_statement(text, start, stop), **failed}


def _moved(error: DctvError, text: str, start: int) -> DctvError:
    """Move the position of an error from an extracted statement to the whole text."""
    if error.place is None:
        return error
    inside = error.place
    before = len(in_place(text, start, start))
    whole = SourceText(inside.source.name, text)
    if inside.source.text[before:] != text[start : start + len(inside.source.text) - before]:
        return error
    error.place = Place(whole, inside.start - before + start, inside.stop - before + start)
    return error
