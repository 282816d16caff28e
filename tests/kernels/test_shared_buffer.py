"""A shared buffer gives every reader all rows, in memory or from disk, computes them once, and says why it cannot."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels


class Source:
    """Batches of one to three rows; counts how often it is opened."""

    def __init__(self, sizes: list[int], fail_after: int | None = None) -> None:
        self.sizes, self.fail_after, self.opened = sizes, fail_after, 0
        self.schema = pa.schema([("n", pa.int64()), ("text", pa.string())])

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.opened += 1
        return pa.RecordBatchReader.from_batches(self.schema, self._batches()).__arrow_c_stream__()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        start = 0
        for number, size in enumerate(self.sizes):
            if number == self.fail_after:
                raise ValueError("the source broke")
            rows = range(start, start + size)
            yield pa.record_batch([list(rows), [str(r) if r % 3 else None for r in rows]], schema=self.schema)
            start += size

    def expected(self) -> list[tuple[int, str | None]]:
        return [(n, str(n) if n % 3 else None) for n in range(sum(self.sizes))]


class Buffers(Protocol):
    """Makes the buffer of a source."""

    def __call__(self, source: Source, readers: int, limit: int, folder: Path) -> kernels.SharedBuffer: ...


@pytest.fixture(params=[True, False], ids=["ahead", "inline"], scope="module")
def buffer(request: pytest.FixtureRequest) -> Buffers:
    def made(source: Source, readers: int, limit: int, folder: Path) -> kernels.SharedBuffer:
        return kernels.SharedBuffer(source, readers=readers, limit=limit, folder=str(folder), ahead=request.param)

    return made


def rows(stream: object) -> list[tuple[int, str | None]]:
    return [tuple(row.values()) for row in pa.RecordBatchReader.from_stream(stream).read_all().to_pylist()]


@given(
    sizes=st.lists(st.integers(0, 3), max_size=12),
    turns=st.lists(st.integers(0, 2), max_size=40),
    limit=st.sampled_from([0, 60, 10_000]),
)
def test_readers_at_different_places(
    sizes: list[int], turns: list[int], limit: int, tmp_path_factory: pytest.TempPathFactory, buffer: Buffers
) -> None:
    source = Source(sizes)
    made = buffer(source, 3, limit, tmp_path_factory.mktemp("spill"))
    readers = [pa.RecordBatchReader.from_stream(made.open()) for _ in range(3)]
    found: list[list[pa.RecordBatch]] = [[], [], []]
    for turn in turns:
        batch = next(readers[turn], None)
        found[turn] += [] if batch is None else [batch]
    for reader, batches in zip(readers, found, strict=True):
        batches += list(reader)
        table = pa.Table.from_batches(batches, source.schema)
        assert [tuple(row.values()) for row in table.to_pylist()] == source.expected()
    assert source.opened == 1
    assert made.peak <= limit
    assert made.rows == sum(sizes)


def test_rows_that_every_reader_has_read_are_freed(tmp_path: Path, buffer: Buffers) -> None:
    source = Source([3] * 100)
    made = buffer(source, 2, 1000, tmp_path)
    one, two = (pa.RecordBatchReader.from_stream(made.open()) for _ in range(2))
    for _ in range(100):
        assert next(one) == next(two)
    assert made.spilled == 0
    assert made.peak < 200


def test_a_dropped_reader_does_not_block_others(tmp_path: Path, buffer: Buffers) -> None:
    made = buffer(Source([3] * 100), 2, 1000, tmp_path)
    one, two = (pa.RecordBatchReader.from_stream(made.open()) for _ in range(2))
    del two
    assert len(list(one)) == 100
    assert made.spilled == 0


def test_one_reader_more_than_expected_gets_all_rows_too(tmp_path: Path, buffer: Buffers) -> None:
    source = Source([2, 2, 2])
    made = buffer(source, 1, 1000, tmp_path)
    assert rows(made.open()) == source.expected()
    assert rows(made.open()) == source.expected()
    assert source.opened == 2


def test_readers_in_threads(tmp_path: Path, buffer: Buffers) -> None:
    source = Source([3] * 500)
    made = buffer(source, 4, 500, tmp_path)
    streams = [made.open() for _ in range(4)]
    found: list[object] = []
    threads = [threading.Thread(target=lambda stream=s: found.append(rows(stream))) for s in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [source.expected()] * 4
    assert source.opened == 1


def test_nothing_stays_on_disk(tmp_path: Path, buffer: Buffers) -> None:
    made = buffer(Source([3] * 10), 2, 0, tmp_path / "spill")
    assert len(rows(made.open())) == 30
    assert made.spilled > 0
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_failing_source_fails_every_reader(tmp_path: Path, buffer: Buffers) -> None:
    made = buffer(Source([3, 3, 3], fail_after=2), 2, 1000, tmp_path)
    for stream in [made.open(), made.open()]:
        with pytest.raises(pa.ArrowInvalid, match="the source broke"):
            rows(stream)


def test_a_folder_that_cannot_be_written(tmp_path: Path, buffer: Buffers) -> None:
    (tmp_path / "file").write_text("")
    made = buffer(Source([3, 3]), 2, 0, tmp_path / "file" / "spill")
    stream = made.open()
    with pytest.raises(pa.ArrowInvalid, match=r"cannot spill to `.*/file/spill`: not a directory"):
        rows(stream)


def test_a_file_that_may_not_grow(tmp_path: Path, buffer: Buffers) -> None:
    made = buffer(Source([3] * 100), 2, 0, tmp_path)
    stream = made.open()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(pa.ArrowInvalid, match=r"cannot spill to `.*`: file too large"):
            rows(stream)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_reading_ahead_gives_the_same() -> None:
    source = Source([1, 0, 3, 2])
    assert rows(kernels.ahead(source)) == source.expected()
    with pytest.raises(pa.ArrowInvalid, match="the source broke"):
        rows(kernels.ahead(Source([1, 1], fail_after=1)))


def test_reading_ahead_ends_with_its_reader() -> None:
    cancel = kernels.Cancel()
    reader = pa.RecordBatchReader.from_stream(kernels.ahead(Source([1] * 1000), cancel=cancel))
    assert next(reader).num_rows == 1
    assert not cancel.wait(0)
    del reader
    assert cancel.wait(60_000)


def test_reading_ahead_is_cancelled_while_it_waits() -> None:
    cancel, blocked = kernels.Cancel(), threading.Event()

    class Blocked(Source):
        def _batches(self) -> Iterator[pa.RecordBatch]:
            blocked.wait()
            yield from super()._batches()

    reader = pa.RecordBatchReader.from_stream(kernels.ahead(Blocked([1]), cancel=cancel))
    cancel.set()
    with pytest.raises(pa.ArrowInvalid, match="interrupted"):
        next(reader)
    blocked.set()
    assert cancel.wait(60_000)
