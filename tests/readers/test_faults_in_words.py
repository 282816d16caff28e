"""Any exception of a reader or library on a damaged file becomes one error that names the file."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from dctv.contracts.reader import Head, LoadContext, LoadedTrace, Reader
from dctv.contracts.reader_errors import guarded
from dctv.errors import DctvError, TraceError
from dctv.session import Session
from tests.damage import peak_of

CONTEXT = LoadContext({}, 1, lambda _done, _total: None)


def raising(error: BaseException) -> Reader:
    def sniff(_: Head) -> bool:
        raise error

    def load(_paths: object, _context: LoadContext) -> LoadedTrace:
        raise error

    return guarded(Reader("x", "x", (), sniff, load))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(22, "Invalid argument"), "cannot read `f`: invalid argument"),
        (OSError(5, "Input/output error", "g"), "cannot read `g`: input/output error"),
        (ValueError("odd"), "cannot read `f`: odd"),
        (ValueError("cannot read `g`: odd"), "cannot read `g`: odd"),
        (struct.error("unpack requires 4 bytes"), "cannot read `f`: unpack requires 4 bytes"),
        (zlib.error("Error -3"), "cannot read `f`: Error -3"),
        (EOFError(), "cannot read `f`: it is damaged (EOFError)"),
        (OverflowError("too large"), "cannot read `f`: too large"),
        (MemoryError(), "cannot read `f`: it takes more memory than there is"),
        (RecursionError(), "cannot read `f`: it is nested too deep"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), "cannot read `f`: 'utf-8' codec can't decode byte 0x78"),
    ],
)
def test_exceptions_of_readers_become_messages(error: BaseException, words: str) -> None:
    reader = raising(error)
    assert not reader.sniff(Head(Path("f"), b"", b""))
    with pytest.raises(TraceError) as caught:
        reader.load([Path("f")], CONTEXT)
    assert caught.value.message.startswith(words)


def test_dctv_errors_pass_unchanged() -> None:
    with pytest.raises(AssertionError):
        raising(AssertionError()).load([Path("f")], CONTEXT)


def arrow_file(path: Path, *, stream: bool) -> bytes:
    table = pa.table({"name": [f"{n:02}" for n in range(50)], "n": list(range(50))})
    open_ = pa.ipc.new_stream if stream else pa.ipc.new_file
    with open_(path, table.schema) as writer:
        writer.write_table(table)
    return path.read_bytes()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("offset", [0x7FFFFFFF, -5, 1 << 20])
def test_offsets_of_arrow_files_are_checked(tmp_path: Path, offset: int, *, stream: bool) -> None:
    path = tmp_path / "t.arrow"
    data = arrow_file(path, stream=stream)
    offsets = struct.pack("<51i", *range(0, 102, 2))
    at = data.index(offsets)
    path.write_bytes(data[: at + 80] + struct.pack("<i", offset) + data[at + 84 :])
    words, _ = peak_of(path)
    assert words.startswith(f"cannot read `{path}`: ")


def test_json_of_arrow_files_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    values = pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(['{"a":1}', "{", None, "[2]"]))
    table = pa.table({"ts": [1, 2, 3, 4], "j": values})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    session = Session()
    session.mount(str(path), "t", timestamp="ts")
    assert session.sql("SELECT j FROM t.raw_events.t ORDER BY _ts").fetchall() == [
        ('{"a":1}',),
        (None,),
        (None,),
        ("[2]",),
    ]
    assert len(session.sql("SELECT args FROM t.events").fetchall()) == 4
    assert session.sql("SELECT reason, count FROM t.diagnostics").fetchall() == [
        ("value of t is not JSON, read as NULL", 1)
    ]


def test_archives_that_lack_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    text = json.dumps([{"ph": "X", "name": f"n{n}", "pid": 1, "tid": 1, "ts": n, "dur": 1} for n in range(200)])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.json", text)
    data = path.read_bytes()
    for size in (1, 30, 100, len(data) // 2):
        for at in range(4, len(data) - size, 41):
            path.write_bytes(data[:at] + data[at + size :])
            session = Session()
            try:
                session.mount(str(path), "t")
            except DctvError:
                continue
            found = session.sql("SELECT COUNT(*) FROM t.events").fetchall()
            assert found == [(200,)] or session.incomplete()


def test_metadata_of_ctf_are_bounded_before_they_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    folder.mkdir()
    with (folder / "metadata").open("wb") as file:
        file.write(b"/* CTF 1.8 */\n" + b" " * 4096)
        file.truncate(476 << 20)
    (folder / "stream").write_bytes(b"\xc1\x1f\xfc\xc1" + bytes(60))
    words, peak = peak_of(folder)
    assert words == f"cannot read `{folder / 'metadata'}`: it has more than 32 MiB"
    assert peak < 300


def test_processes_of_dftracer_that_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    record: dict[str, object] = {
        "id": 1,
        "name": "read",
        "cat": "POSIX",
        "pid": 1,
        "tid": 1,
        "ts": 1000,
        "dur": 5,
        "ph": "X",
    }
    odd: list[dict[str, object]] = [
        {"pid": "pid0896"},
        {"tid": 1.5},
        {"pid": [1]},
        {"pid": 1 << 70},
        {"tid": None},
        {"pid": "7"},
    ]
    path.write_text("[\n" + "".join(json.dumps({**record, **one}) + "\n" for one in [{}, *odd]))
    session = Session()
    session.mount(str(path), "t")
    ids = session.sql("SELECT pid, tid FROM t.events").fetchall()
    assert ids == [(1, 1), (None, 1), (1, None), (None, 1), (None, 1), (1, None), (7, 1)]
    assert session.sql("SELECT reason, count FROM t.diagnostics").fetchall() == [
        ("process or thread is not a whole number (read as NULL)", 4)
    ]
