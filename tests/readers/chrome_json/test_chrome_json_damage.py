"""Damaged and hostile files: no crash, no hang, little memory, and losses are reported."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.readers.chrome_json import READER
from tests.bounds import bounded
from tests.damage import flipped, peak_of, survives, truncated
from tests.readers.chrome_json.chrome_text import column, load, notes

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
    {"ph": "X", "name": "a\u00e9", "cat": "c", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2, "args": {"k": [1, {"x": "}"}]}},
    {"ph": "C", "name": "n", "pid": 1, "ts": "3", "args": {"v": 1, "w": 2.5}},
    {"ph": "b", "name": "n", "pid": 1, "tid": 1, "ts": 4, "id2": {"local": "0x1"}},
    {"ph": "s", "name": "n", "pid": 1, "tid": 1, "ts": 4, "id": 7},
]
SAMPLE = json.dumps(
    {
        "otherData": {"v": 1},
        "traceEvents": EVENTS,
        "stackFrames": {"1": {"name": "main"}},
        "systemTraceEvents": "# tracer: nop\n",
    },
    separators=(",", ":"),
).encode()


def events(trace: Any) -> int:
    return sum(len(table.data) for name, table in trace.tables.items() if name not in {"tracks"})


def test_a_text_that_ends_anywhere_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    before = 0
    for data in truncated(SAMPLE):
        found = survives(READER, path, data)
        assert not isinstance(found, str)
        incomplete = any(note.incomplete for note in found.diagnostics)
        assert incomplete or len(data) < 2, data
        names = column(found, "complete", "name")
        assert len(names) >= before
        before = len(names)


@pytest.mark.parametrize("packed", [gzip.compress(SAMPLE), gzip.compress(SAMPLE[:100]) + gzip.compress(SAMPLE[100:])])
def test_gzip_that_ends_anywhere_is_reported(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "trace.json.gz"
    for data in truncated(packed, 3):
        found = survives(READER, path, data)
        assert isinstance(found, str) or not data or any(note.incomplete for note in found.diagnostics), data


@bounded(60)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_never_stop_the_reader(places: list[tuple[int, int]]) -> None:
    with TemporaryDirectory() as folder:
        survives(READER, Path(folder) / "trace.json", flipped(SAMPLE, *places))


@bounded(40)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=3))
def test_flipped_bytes_of_archives_never_stop_the_reader(places: list[tuple[int, int]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", SAMPLE)
        survives(READER, path, flipped(path.read_bytes(), *places))


def test_a_file_of_an_archive_may_have_lost_its_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", SAMPLE)
    data = path.read_bytes()
    place = data.rindex(b"a.json")
    found = survives(READER, path, data[:place] + b"\0" + data[place + 1 :])
    assert not isinstance(found, str)
    assert column(found, "complete", "name") == ["a\u00e9"]


@bounded(60)
@given(
    st.lists(st.sampled_from([b"{", b"}", b"[", b"]", b'"', b",", b":", b"\n", b"\\", b'"ph":"X"', b'"ts":1', b"1"]))
)
def test_any_brackets_and_quotes_are_survived(pieces: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        survives(READER, Path(folder) / "trace.json", b"[" + b"".join(pieces))


@pytest.mark.parametrize(
    "piece",
    [
        b'{"a":[\n',
        b'{"\n',
        b"{",
        b"[",
        b'"',
        b'{"ph":"X","ts":1,"args":[',
        b'{"ph":"X","name":"\n',
        b"},{",
        b"\n{",
        b'\\"',
    ],
)
def test_unclosed_brackets_take_linear_time(tmp_path: Path, piece: bytes) -> None:
    data = b"[" + piece * (3_000_000 // len(piece))
    found = survives(READER, tmp_path / "trace.json", data)
    assert not isinstance(found, str)
    assert sum(note.count for note in found.diagnostics) > 1 or any(note.incomplete for note in found.diagnostics)


def test_a_deep_nest_is_read(tmp_path: Path) -> None:
    deep = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
    trace = load(tmp_path, b'[{"ph":"X","name":"x","ts":1,"dur":1,"args":' + deep + b"}]")
    assert json.loads(column(trace, "complete", "args")[0]) == deep.decode()


def test_members_of_archives_are_read_in_place(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"{method}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("readme.txt", "no trace")
            archive.writestr("folder/a.json", SAMPLE)
            archive.writestr("b.json", json.dumps(EVENTS))
        found = survives(READER, path, path.read_bytes())
        assert not isinstance(found, str)
        assert column(found, "complete", "name") == ["aé", "aé"]


def test_archives_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.json", SAMPLE)
    assert survives(READER, path, path.read_bytes()) == (
        f"cannot read `{path}`: `a.json` in the archive is compressed by method 12, not by deflate"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "no trace")
    found = survives(READER, path, path.read_bytes())
    assert found == f"cannot read `{path}`: none of the files in the archive is a trace"
    assert isinstance(survives(READER, path, path.read_bytes()[:-30]), str)


def test_an_archive_that_unpacks_absurdly_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.json", "w") as file:
        file.write(b'[{"ph":"X","name":"x","ts":1},')
        for _ in range(300):
            file.write(b" " * (1 << 20))
    words, peak = peak_of(path)
    assert words == f"cannot read `{path}`: it unpacks to more than 500 times its size"
    assert peak < 400


def test_a_long_text_without_events_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    with path.open("wb") as file:
        file.write(b'[{"ph":"X","name":"x","ts":1,"dur":1},"')
        for _ in range(400):
            file.write(b"y" * (1 << 20))
    words, peak = peak_of(path)
    assert words == "mounted"
    assert peak < 600


def test_an_event_that_is_too_long_is_reported(tmp_path: Path) -> None:
    long = b'{"ph":"X","name":"' + b"y" * (70 << 20) + b'","ts":1}'
    trace = load(
        tmp_path, b'[{"ph":"X","name":"a","ts":1,"dur":1},' + long + b',\n{"ph":"X","name":"b","ts":2,"dur":1}]'
    )
    assert column(trace, "complete", "name") == ["a", "b"]
    assert "event is longer than 64 MiB" in notes(trace)
