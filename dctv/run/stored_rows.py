"""Store the rows of views beside the indexes of traces, as Arrow files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dctv.catalog.mount import Mount
from dctv.contracts.histories import HistoryStore, Work
from dctv.contracts.materialized import ComputedRows
from dctv.errors import FileDamaged, FileOfAnother, WarningLog
from dctv.record import record
from dctv.run.context import ExecutionContext
from dctv.run.library_version import version_of

IN_MEMORY = 16 << 20
"""The bytes of rows that are kept in memory; more stay in a file."""
_IDENTITY = b"dctv:identity"


def may_store(mount: Mount) -> bool:
    """Whether the rows of views of a mount have a place: traces that are read by an index have one beside that."""
    return bool(mount.sources) and mount.history_store is not None


@record
class RowStore:
    """Where the rows of views of a mount are stored, found when a plan is made: names may mean others when it runs."""

    mount: Mount
    store: HistoryStore
    version: bytes
    """Of the views that the plan has."""


def row_store(mount: Mount, context: ExecutionContext) -> RowStore | None:
    """Return where the rows of a mount's views are stored; None if there is no place, or the user has changed views."""
    version = version_of(mount, context) if may_store(mount) else None
    if version is None or mount.history_store is None:
        return None
    return RowStore(mount, mount.history_store, version)


def loaded_or_computed(
    name: str, place: RowStore, context: ExecutionContext, compute: Callable[[], ComputedRows]
) -> ComputedRows:
    """Return the stored rows of a view, by its full name, or compute and store them.

    That they cannot be stored is no reason to warn, since they are computed again the next time. Such a view reads no
    other that is stored: one process would wait for itself.
    """
    computed: list[ComputedRows] = []
    log = WarningLog()

    def write(path: Path, identity: bytes) -> None:
        with context.log.recording() as warnings:
            computed.append(compute())
        log.repeat(warnings)
        _write(path, identity, computed[0].table)

    with log.recording() as warnings:
        table = place.store.load_or_build(
            Work(
                name.removeprefix(".".join((*place.mount.parts, ""))),
                place.version,
                write,
                _read,
                lambda: context.progress.report(f"{name}: waiting for another process that computes it", 0, 0),
                log,
                kind="file of rows",
                holds="rows",
                builders="rows",
            )
        )
    if computed:
        return computed[0]
    if table is None:
        return compute()
    context.log.repeat(warnings)
    return ComputedRows(table)


def _write(path: Path, identity: bytes, table: Any) -> None:
    import pyarrow as pa

    schema = table.schema.with_metadata({_IDENTITY: identity})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_table(table.replace_schema_metadata(schema.metadata))


def _read(path: Path, identity: bytes) -> Any:
    """Return the table in a file that `_write` wrote.

    Raises:
        FileDamaged: it is not one of this identity.
        OSError: it cannot be read.
    """
    import pyarrow as pa

    try:
        small = path.stat().st_size <= IN_MEMORY
        with pa.ipc.open_file(path.read_bytes() if small else pa.memory_map(str(path))) as file:
            if (file.schema.metadata or {}).get(_IDENTITY) != identity:
                raise FileOfAnother(f"`{path}` has the rows of another trace or version")
            return file.read_all().replace_schema_metadata(None)
    except pa.ArrowInvalid as error:
        raise FileDamaged(f"the file of rows `{path}` is damaged: {error}") from None
