"""Adapter for Harlequin, a SQL IDE in the terminal: traces to its catalog, statements to its tables of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harlequin.adapter import HarlequinAdapter, HarlequinConnection, HarlequinCursor
from harlequin.autocomplete.completion import HarlequinCompletion
from harlequin.catalog import Catalog, CatalogItem, InteractiveCatalogItem
from harlequin.exception import HarlequinConnectionError, HarlequinQueryError

from dctv.catalog.listing import TableInfo
from dctv.cli.mounts import parse_mounts
from dctv.console.mounting import mount_named
from dctv.errors import DctvError
from dctv.run.result import Asserted, Result
from dctv.session import Session
from dctv.syntax.keywords import BEFORE, RESERVED
from dctv.syntax.write.writer import quote
from dctv.types.values import dialect_type

if TYPE_CHECKING:
    import pyarrow as pa

_KINDS = {"event": "ev", "span": "sp", "regular": "t", "view": "v", "function": "fn", "table macro": "m"}
_KEYWORDS_FIRST, _FUNCTIONS_LAST = 100, 1000
"""Priorities of keywords and functions in Harlequin's menu."""


class DctvCursor(HarlequinCursor):
    """The rows of one query, read on demand."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._limit: int | None = None

    def columns(self) -> list[tuple[str, str]]:
        """Return names of columns, each with its unit, and their types, cut short."""
        return [(one.head, _short(dialect_type(one.type))) for one in self._result.schema.columns]

    def set_limit(self, limit: int) -> DctvCursor:
        """Limit the number of rows to read."""
        self._limit = limit
        return self

    def fetchall(self) -> pa.Table:
        """Return the rows, up to the limit."""
        try:
            if self._limit is None:
                return self._result.arrow()
            return _first_rows(self._result, self._limit)
        except DctvError as error:
            raise _query_error(error) from None


class DctvConnection(HarlequinConnection):
    """A session in which statements are run; Harlequin calls it from threads of its own."""

    def __init__(self, session: Session, init_message: str = "") -> None:
        self.init_message = init_message
        self.session = session

    def execute(self, query: str) -> DctvCursor | None:
        """Run statements, and return the rows of the last one if it has some."""
        last: DctvCursor | None = None
        try:
            for outcome in self.session.execute(query):
                if isinstance(outcome, Asserted) and not outcome.passed:
                    raise outcome.failure()
                last = DctvCursor(outcome) if isinstance(outcome, Result) else None
        except DctvError as error:
            raise _query_error(error) from None
        return last

    def cancel(self) -> None:
        """Interrupt the running query."""
        self.session.interrupt()

    def get_catalog(self) -> Catalog:
        """Return tables and views by their namespaces, traces first among these."""
        top: list[CatalogItem] = []
        spaces: dict[tuple[str, ...], CatalogItem] = {}
        for table in self.session.tables():
            if table.kind in _KINDS:
                _space(table.parts[:-1], spaces, top).append(_Table.of(table, self.session))
        return Catalog(top)

    def get_completions(self) -> list[HarlequinCompletion]:
        """Return the language's keywords and functions."""
        words = [
            HarlequinCompletion(word.lower(), "kw", word, _KEYWORDS_FIRST) for word in sorted({*RESERVED, *BEFORE})
        ]
        functions = [HarlequinCompletion(name, "fn", name, _FUNCTIONS_LAST) for name in self.session.functions()]
        return words + functions

    def close(self) -> None:
        """Close the session."""
        self.session.close()


class DctvAdapter(HarlequinAdapter):
    """The adapter of `harlequin -a dctv`: words of its command line are traces, `PATH` or `NAME=PATH`."""

    ADAPTER_DETAILS = "Traces as tables, in the dialect of dctv: spans, events and units."
    IMPLEMENTS_CANCEL = True

    def __init__(self, conn_str: Sequence[str], **_options: Any) -> None:
        self._words = [word for word in conn_str if word]

    def connect(self) -> DctvConnection:
        """Open a session, and mount the traces.

        Raises:
            HarlequinConnectionError: one of them cannot be mounted.
        """
        session = Session(warn=False)
        remarks: list[str] = []
        try:
            mounts = parse_mounts(self._words)
            remarks += mounts.remarks
            for name, path in mounts.traces:
                mount_named(session, path, name)
                remarks += session.warnings()
        except DctvError as error:
            session.close()
            raise HarlequinConnectionError(str(error), title="dctv cannot mount this") from None
        return DctvConnection(session, "\n".join([*remarks, *session.incomplete()]))


class _Table(InteractiveCatalogItem[DctvConnection]):
    """A table of the catalog, whose columns are looked up when it is opened."""

    _session: Session
    _name: str

    @classmethod
    def of(cls, table: TableInfo, session: Session) -> _Table:
        written = _written(table.parts)
        item = cls(written, written, table.parts[-1], _KINDS[table.kind], type_name=table.kind)
        item._session, item._name = session, table.written
        return item

    def fetch_children(self) -> Sequence[CatalogItem]:
        """Return the columns; functions have none before they are called."""
        schema = self._session.columns(self._name)
        columns = schema.columns if schema is not None else ()
        return [
            CatalogItem(
                f"{self.qualified_identifier}.{quote(one.name)}",
                quote(one.name),
                one.head,
                _short(dialect_type(one.type)),
                type_name=dialect_type(one.type),
            )
            for one in columns
        ]


def _space(
    name: tuple[str, ...], spaces: dict[tuple[str, ...], CatalogItem], top: list[CatalogItem]
) -> list[CatalogItem]:
    """Return the catalog item of a namespace; create it, and those above it, if missing."""
    if not name:
        return top
    if name not in spaces:
        written = _written(name)
        spaces[name] = CatalogItem(written, written, name[-1], "ns")
        _space(name[:-1], spaces, top).append(spaces[name])
    children: list[CatalogItem] = spaces[name].children
    return children


def _written(name: tuple[str, ...]) -> str:
    return ".".join(map(quote, name))


def _short(kind: str) -> str:
    """Return a type in three letters at most, such as `#` for integers, as Harlequin's other adapters do."""
    if kind.endswith("]"):
        return "[]"
    plain = kind.partition("(")[0]
    if "INT" in plain and plain != "INTERVAL":
        return "#"
    return _TYPES.get(plain, plain[:3].lower())


_TYPES = {
    "STRING": "s",
    "FLOAT32": "#.#",
    "FLOAT64": "#.#",
    "DECIMAL": "#.#",
    "BOOL": "t/f",
    "BYTES": "0b",
    "STRUCT": "{}",
    "MAP": "{}",
    "JSON": "{}",
}


def _first_rows(result: Result, limit: int) -> pa.Table:
    import pyarrow as pa

    def taken() -> Iterator[pa.RecordBatch]:
        wanted = limit
        for batch in reader:
            yield batch.slice(0, wanted)
            wanted -= batch.num_rows
            if wanted <= 0:
                return

    reader = result.reader()
    return pa.Table.from_batches(taken(), reader.schema)


def _query_error(error: DctvError) -> HarlequinQueryError:
    return HarlequinQueryError(str(error), title="dctv cannot run this")
