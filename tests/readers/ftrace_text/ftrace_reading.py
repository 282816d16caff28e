"""Load small ftrace texts for tests."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.ftrace_text import load


def read(*contents: bytes | str) -> LoadedTrace:
    """Load texts as the files of one trace."""
    with TemporaryDirectory() as folder:
        paths = []
        for number, content in enumerate(contents):
            path = Path(folder) / f"{number}.txt"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            paths.append(path)
        return load(paths, LoadContext({}, 2, lambda _done, _total: None))


def fields(event: str) -> dict[str, object]:
    """Return the fields of one event, written as `name: body`, and its table's name under ""."""
    trace = read(f"     a task-12    [003] d..2. 1.000001: {event}\n")
    (name,) = (n for n in trace.tables if n.startswith("raw_events."))
    row = trace.tables[name].data.to_pylist()[0]
    columns = trace.tables[name].event
    assert columns is not None
    return {"": name.removeprefix("raw_events.")} | {c: row[c] for c in columns.args}


def event_counts(trace: LoadedTrace) -> list[tuple[str, str, int]]:
    """Return the rows of the table that counts the events of each name."""
    rows = trace.tables["event_counts"].rows
    assert rows is not None
    return [(str(event), str(table), int(count or 0)) for event, table, count in rows()]
