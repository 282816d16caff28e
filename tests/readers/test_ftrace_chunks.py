"""Chunks of ftrace text: all together they are the whole trace, and each can be decoded again by itself."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.chunks import FILE, LINE, DecodedChunk, TraceMetadata
from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.errors import TraceError
from dctv.readers.ftrace_events.chunks import CHUNKS, start
from dctv.readers.ftrace_text import load
from tests.bounds import bounded
from tests.readers.ftrace_text.ftrace_reading import event_counts

CONTEXT = LoadContext({}, 2, lambda _done, _total: None)
assert CHUNKS.decode is not None
DECODE = CHUNKS.decode
DATA = Path(__file__).parents[1] / "data" / "ftrace"
TYPES = {"int": pa.int64(), "uint": pa.uint64(), "float": pa.float64(), "bool": pa.bool_()}

BODIES = [
    "sched_switch: prev_comm=a prev_pid={n} prev_prio=120 prev_state=S ==> next_comm=b next_pid=3 next_prio=120",
    "sched_waking: comm=b pid={n} prio=120 target_cpu=00{d}",
    "odd: value={f} cpu={n} A={n} a=x{d} text={d} more words {n}",
    "odd: value={n} dctv:x={d}",
    "odd: value=word flags={n}",
    "big: value={b}",
    "exact: value={f}",
    "exact: value={i}",
    "tracing_mark_write: B|{n}|name {d}",
    "tracing_mark_write: E",
    "print: E|{n}",
    "tracing_mark_write: trace_event_clock_sync: parent_ts={n}.5",
    "0: plain words {n}",
    "sys_enter: NR {d} ({n}, 1, 2)",
    "sys_openat(dfd: ffffff9c, filename: {n})",
    "bytes: name=\xff{d}",
]
OTHERS = ["# tracer: nop", "", "junk {n}", " => stack", "CPU:{d} [LOST {n} EVENTS]", "{long}"]


def a_line(rng: random.Random, time: int) -> str:
    """Make one line of a trace."""
    what = rng.choice(BODIES) if rng.random() < 0.9 else rng.choice(OTHERS)
    numbers = {
        "n": rng.choice([0, rng.randrange(100), 2**53 + rng.randrange(9)]),
        "d": rng.randrange(10),
        "f": rng.choice(["1.50", "0.1", "12.0"]),
        "i": rng.choice([1, -3]),
        "b": rng.choice([2**64 - 1, 5, 5, -5 if rng.random() < 0.05 else 6]),
        "long": "y" * (3_000_000 if rng.random() < 0.01 else 10),
    }
    text = what.format(**numbers)
    if what in OTHERS:
        return text
    stamp = "0.000000" if "clock_sync" in what and rng.random() < 0.5 else f"{time // 1000}.{time % 1000:03}000"
    tgid = rng.choice(["(-----) ", "(   12) "]) if rng.random() < 0.5 else ""
    return f"   task-{rng.randrange(20)} {tgid}[00{rng.randrange(4)}] d..2. {stamp}: {text}"


def a_text(rng: random.Random, lines: int) -> bytes:
    time, text = 5_000, ["# tracer: nop"]
    for _ in range(lines):
        time += rng.choice([0, 0, 1, 700, -2])
        text.append(a_line(rng, time))
    ended = "\n" if rng.random() < 0.5 else ""
    return ("\n".join(text) + ended).encode("latin-1")


def a_file(rng: random.Random, text: bytes) -> bytes:
    """Store a text in one of the forms that files have."""
    form = rng.choice(["plain", "plain", "gzip", "members", "cut", "adb", "adb gzip"])
    if form == "gzip":
        return gzip.compress(text)
    if form == "members":
        at = rng.randrange(len(text))
        return gzip.compress(text[:at]) + gzip.compress(text[at:])
    if form == "cut":
        packed = gzip.compress(text)
        return packed[: max(200, rng.randrange(len(packed)))]
    if form.startswith("adb"):
        packed = b"TRACE:\n" + zlib.compress(text)
        return gzip.compress(packed) if "gzip" in form else packed
    return text


def passed(paths: Sequence[Path], chunk_bytes: int) -> tuple[list[DecodedChunk], TraceMetadata]:
    """Return all chunks of the final pass, and its metadata."""
    run = start(paths, CONTEXT, None, chunk_bytes)
    chunks = list(run)
    entries = json.loads(json.dumps(run.metadata()))
    if run.again():
        run = start(paths, CONTEXT, entries, chunk_bytes)
        chunks = list(run)
        assert not run.again()
        entries = json.loads(json.dumps(run.metadata()))
    return chunks, TraceMetadata(entries, [])


def plain(array: Any) -> Any:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def merged(batches: Sequence[tuple[int, Any]], columns: Sequence[Any]) -> Any:
    """Put rows of many chunks under one schema, with the file of each, in order of time."""
    fields = [(name, TYPES.get(kind, pa.string())) for name, kind, *_ in columns]
    fields = [(n, t) for n, t in fields if any(n in batch.schema.names for _, batch in batches)]
    parts = []
    for file, batch in batches:
        arrays = [
            plain(batch.column(name)).cast(kind) if name in batch.schema.names else pa.nulls(batch.num_rows, kind)
            for name, kind in fields
        ]
        arrays.append(pa.array([file] * batch.num_rows, pa.uint32()))
        parts.append(pa.table(arrays, names=[*(name for name, _ in fields), FILE]))
    whole = pa.concat_tables(parts)
    times = whole.column("_ts").to_pylist()
    return whole.take(sorted(range(len(times)), key=times.__getitem__)).combine_chunks().to_batches()[0]


def gathered(chunks: Sequence[DecodedChunk], metadata: TraceMetadata) -> dict[str, Any]:
    """Return the finished tables of some chunks."""
    tables: dict[str, list[tuple[int, Any]]] = {}
    for chunk in chunks:
        for name, batch in chunk.events:
            assert batch.schema.names[-1] == LINE
            tables.setdefault(name, []).append((chunk.checkpoint.file, batch.drop_columns([LINE])))
    columns = {event["name"]: event["columns"] for event in metadata.entries["events"]}
    return {
        f"raw_events.{name}": CHUNKS.finished(metadata, f"raw_events.{name}", merged(batches, columns[name]))
        for name, batches in tables.items()
    }


def shown(data: Any) -> list[tuple[str, str, list[Any]]]:
    """Columns of a table with their types and values, dictionaries or not."""
    kinds = ["string" if pa.types.is_dictionary(field.type) else str(field.type) for field in data.schema]
    return [
        (name, kind, list(map(repr, column.to_pylist())))
        for name, kind, column in zip(data.schema.names, kinds, data.columns, strict=True)
    ]


def check_whole(
    paths: Sequence[Path], chunk_bytes: int, whole: LoadedTrace
) -> tuple[list[DecodedChunk], TraceMetadata]:
    """Check that a pass gives what the whole load gives."""
    chunks, metadata = passed(paths, chunk_bytes)
    tables, rest, found = dict(CHUNKS.tables(metadata)), CHUNKS.rest(metadata), gathered(chunks, metadata)
    assert [*tables, *rest.tables] == list(whole.tables)
    for name, table in tables.items():
        expected = whole.tables[name]
        assert (table.schema, table.event, table.data) == (expected.schema, expected.event, None)
        assert shown(found[name]) == shown(expected.data)
        assert set(CHUNKS.lineage(metadata, name)) <= {column.name for column in table.schema.columns}
    assert event_counts(rest) == event_counts(whole)
    assert (rest.diagnostics, rest.last_ts, rest.properties) == (whole.diagnostics, whole.last_ts, whole.properties)
    return chunks, metadata


def check_lines(chunks: Sequence[DecodedChunk]) -> None:
    """Check that each line of a chunk is an event or among the other lines."""
    for chunk in chunks:
        numbers = [n for _, batch in chunk.events for n in batch.column(LINE).to_pylist()]
        numbers += memoryview(chunk.other_lines[""]).cast("I")
        assert sorted(numbers) == list(range(chunk.checkpoint.lines))


def check_decoded(
    paths: Sequence[Path], chosen: Sequence[DecodedChunk], metadata: TraceMetadata, whole: LoadedTrace
) -> None:
    """Check that chunks decoded again give their rows of the whole load."""
    tables = DECODE(paths, [chunk.checkpoint for chunk in chosen], metadata, CONTEXT)
    assert [*tables, "event_counts"] == list(whole.tables)
    found = gathered(chosen, metadata)
    for name, table in tables.items():
        expected = whole.tables[name]
        assert (table.schema, table.event) == (expected.schema, expected.event)
        assert expected.data is not None
        assert shown(table.data) == shown(found.get(name, expected.data.slice(0, 0)))


def refusal(paths: Sequence[Path]) -> str | None:
    try:
        load(paths, CONTEXT)
    except TraceError as error:
        return str(error)
    return None


@bounded(60)
@given(
    st.integers(0, 2**32), st.lists(st.sampled_from([0, 1, 30, 600]), min_size=1, max_size=3), st.integers(1, 20_000)
)
def test_any_trace(seed: int, sizes: list[int], chunk_bytes: int) -> None:
    rng = random.Random(seed)
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.txt" for number in range(len(sizes))]
        for path, size in zip(paths, sizes, strict=True):
            path.write_bytes(a_file(rng, a_text(rng, size)))
        if why := refusal(paths):
            with pytest.raises(TraceError) as refused:
                passed(paths, chunk_bytes)
            assert str(refused.value) == why
            return
        whole = load(paths, CONTEXT)
        chunks, metadata = check_whole(paths, chunk_bytes, whole)
        check_lines(chunks)
        check_decoded(paths, [chunk for chunk in chunks if rng.random() < 0.5], metadata, whole)


@pytest.mark.parametrize("chunk_bytes", [3_000, 50_000, 16 << 20])
@pytest.mark.parametrize("path", sorted(DATA.iterdir()), ids=lambda path: path.name)
def test_sample(path: Path, chunk_bytes: int) -> None:
    whole = load([path], CONTEXT)
    chunks, metadata = check_whole([path], chunk_bytes, whole)
    check_lines(chunks)
    check_decoded([path], chunks[::2], metadata, whole)


def page(text: str) -> bytes:
    return f'<!DOCTYPE html><html><script class="trace-data" type="application/text">\n{text}</script></html>'.encode()


def test_a_page_is_one_chunk(tmp_path: Path) -> None:
    path = tmp_path / "t.html"
    path.write_bytes(page("# tracer: nop\n" + "   a-1 [000] d..2. 1.000001: odd: x=1\n" * 500))
    chunks, metadata = check_whole([path], 1000, load([path], CONTEXT))
    assert [(chunk.checkpoint.uc_offset, chunk.checkpoint.lines >= 501) for chunk in chunks] == [(0, True)]
    check_decoded([path], chunks, metadata, load([path], CONTEXT))


def test_late_metadata_needs_another_pass(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    line = "   a-1 [000] d..2. 1.00000{}: odd: x={}\n"
    path.write_text("".join(line.format(i, "1.50") for i in range(9)) + line.format(9, "word"))
    run = start([path], CONTEXT, None, 100)
    assert len(list(run)) > 3
    assert run.again()
    check_whole([path], 100, load([path], CONTEXT))


def test_progress_ends_a_pass() -> None:
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(start([DATA / "live_marks_tgid.trace.txt"], LoadContext({}, 2, stop)))
