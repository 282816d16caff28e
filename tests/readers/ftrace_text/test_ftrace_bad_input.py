"""Input that is damaged, cut, empty or hostile: nothing is dropped without being counted."""

from __future__ import annotations

import gzip
import os
import random
import re
import zlib
from pathlib import Path

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.errors import Interrupted, TraceError
from dctv.readers.ftrace_text import load
from tests.readers.ftrace_text.ftrace_reading import read

EVENT = " t-1 [000] 1.000000: e: a=1\n"
QUIET = LoadContext({}, 2, lambda _done, _total: None)


def reasons(trace: LoadedTrace) -> list[tuple[str, int, bool]]:
    return [(d.reason, d.count, d.incomplete) for d in trace.diagnostics]


def count(trace: LoadedTrace, event: str = "e") -> int:
    return len(trace.tables[f"raw_events.{event}"].data)


def test_an_empty_file() -> None:
    with pytest.raises(TraceError, match=r"^error: `.*0\.txt` is empty, expected ftrace text$"):
        read("")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"^error: cannot read `.*none\.txt`: no such file or directory$"):
        load([tmp_path / "none.txt"], QUIET)


def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"^error: cannot read `"):
        load([tmp_path], QUIET)


def test_other_text_is_refused() -> None:
    with pytest.raises(
        TraceError, match=r"^error: no ftrace event in `.*`, found 2 lines of something else, line 1 is `hello`$"
    ):
        read("hello\nworld\n")


def test_a_page_without_a_trace() -> None:
    with pytest.raises(TraceError, match=r"^error: no ftrace text in the page `.*`, found 1 other parts$"):
        read('<!DOCTYPE html><script class="trace-data">{"a": 1}</script>')


def test_a_header_without_events_is_an_empty_trace() -> None:
    trace = read("# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n")
    assert (list(trace.tables), trace.last_ts, reasons(trace)) == (["event_counts"], 0, [])


def test_lost_events_are_counted_by_the_kernels_own_figures() -> None:
    trace = read(
        "# entries-in-buffer/entries-written: 1/31   #P:2\n"
        "CPU:0 [LOST 3279 EVENTS]\nCPU:1 [5881 EVENTS DROPPED]\nCPU:1 [EVENTS DROPPED]\n" + EVENT
    )
    assert reasons(trace) == [
        ("events lost by the kernel", 9161, False),
        ("events overwritten in the kernel's buffer", 30, False),
    ]
    assert trace.diagnostics[0].example == "line 2: CPU:0 [LOST 3279 EVENTS]"


def test_headers_of_every_writer_are_no_errors() -> None:
    trace = read(
        "version = 6\ntrace-cmd version 3.1.6\nCPU 3 is empty\ncpus=8\n# tracer: nop\n\nTRACE:\n"
        "##### CPU 0 buffer started ####\n# nop latency trace v1.1.5 on 5.4.0-rc1\n" + EVENT
    )
    assert reasons(trace) == []
    assert trace.properties["kernel"] == "5.4.0-rc1"


def test_lines_that_are_no_events_are_counted() -> None:
    trace = read(EVENT + "some = 000\n t-1 [000] 1.0:\n t-1 [000] 1.0: no name\n t [000] 1.0: e: a=1\n => vfs_read\n")
    assert count(trace) == 1
    assert reasons(trace) == [
        ("line is not an event", 2, False),
        ("line of a stack trace", 1, False),
        ("line has a time but no event name", 2, False),
        ("most lines could not be read", 4, True),
    ]
    assert trace.diagnostics[0].example == "line 2: some = 000"


@pytest.mark.parametrize(
    "time", ["-1.5", "-3", "9223372036.854775808", "99999999999999999999.0", "99999999999999999999"]
)
def test_times_out_of_range_are_counted(time: str) -> None:
    trace = read(EVENT + f" t-1 [000] {time}: e: a=1\n")
    assert count(trace) == 1
    assert reasons(trace) == [("time is negative or too large", 1, False)]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("pack", [gzip.compress, lambda text: b"TRACE:\n" + zlib.compress(text)])
def test_a_cut_file_keeps_what_was_read(share: float, pack: object) -> None:
    lines = "".join(f" t-{i} [000] {i}.000000: e: a={random.Random(i).random()}\n" for i in range(20_000))
    assert callable(pack)
    packed = pack(lines.encode())
    trace = read(packed[: int(len(packed) * share)])
    assert 0 < count(trace) < 20_000
    assert trace.tables["raw_events.e"].data.column("_ts").to_pylist() == [i * 10**9 for i in range(count(trace))]
    assert reasons(trace) == [("file is damaged or ends early", 1, True)]


def test_a_file_with_only_a_damaged_beginning() -> None:
    with pytest.raises(TraceError, match=r"^error: cannot read `"):
        read(b"\x1f\x8b\x08\x00\x00")
    with pytest.raises(TraceError, match=r"^error: cannot read `"):
        read(b"TRACE:\n\x78\x9c\xff\xff\xff\xff")


def test_bytes_that_are_no_text_are_replaced_and_counted() -> None:
    trace = read(b" t\xff-1 [000] 1.0: e: name=\xc3\xa9 s=\xe9\n" + EVENT.encode())
    row = trace.tables["raw_events.e"].data.to_pylist()[0]
    assert (row["common_comm"], row["name"], row["s"]) == ("t�", "é", "�")
    assert reasons(trace) == [("text is not UTF-8", 2, False)]


@pytest.mark.parametrize("size", [1_100_000, 9_000_000])
def test_an_endless_line_is_passed_over(size: int) -> None:
    long = f" t-1 [000] 1.0: e: a={'x' * size}\n"
    for text in (EVENT + long + EVENT, long + EVENT * 2, EVENT * 2 + long.rstrip("\n")):
        trace = read(text)
        assert count(trace) == 2
        assert reasons(trace) == [("line is longer than 1 MiB", 1, True)]


def test_zeros_that_unpack_to_a_lot_need_no_room() -> None:
    bomb = gzip.compress(EVENT.encode()) + gzip.compress(bytes(1 << 28), 9)
    trace = read(bomb)
    assert count(trace) == 1
    assert reasons(trace) == [("line is longer than 1 MiB", 1, True)]


def test_many_event_names_are_bounded() -> None:
    trace = read("".join(f" t-1 [000] 1.0: e{i}: a=1\n" for i in range(5000)))
    assert len(trace.tables) == 4096 + 1
    assert reasons(trace) == [("event name beyond the 4096 that are read", 904, True)]


def test_many_fields_are_bounded_and_none_is_lost() -> None:
    body = " ".join(f"k{i}={i}" for i in range(300))
    row = read(f" t-1 [000] 1.0: e: {body}\n").tables["raw_events.e"].data.to_pylist()[0]
    assert row["k255"] == 255
    assert row["text"] == " ".join(f"k{i}={i}" for i in range(256, 300))


@pytest.mark.parametrize("piece", [") [0]", "a={ ", " [1] a-1 ", "a=1 ", "a:b ", "=", "[a=1 ", "((((", "B|1|"])
def test_long_odd_lines_take_no_long_time(piece: str) -> None:
    long = piece * (1_000_000 // len(piece))
    trace = read(EVENT + long + "\n" + " t-1 [000] 1.0: e: " + long + "\n")
    assert 1 <= count(trace) <= 2


def test_the_user_can_interrupt(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(EVENT * 10)

    def stop(_done: int, _total: int) -> None:
        raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        load([path], LoadContext({}, 2, stop))


def test_progress_ends_at_all_bytes_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(EVENT * 200_000)
    seen: list[tuple[int, int]] = []
    load([path, path], LoadContext({}, 2, lambda done, total: seen.append((done, total))))
    size = path.stat().st_size
    assert {total for _, total in seen} == {2 * size}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] > size


def test_damage_of_any_kind_never_crashes() -> None:
    text = (Path(__file__).parents[2] / "data" / "ftrace" / "live_lost.trace_pipe.txt").read_bytes()
    lines = len(re.findall(rb"\n", text))
    for seed in range(300):
        chance = random.Random(seed)
        damaged = bytearray(text)
        for _ in range(40):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'\x00\xff[]()-=|:> \t0x%{}\\"')
        trace = read(bytes(damaged))
        events = sum(len(t.data) for n, t in trace.tables.items() if n.startswith("raw_events."))
        assert 0 < events <= lines


def test_random_bytes_behind_a_header() -> None:
    for seed in range(50):
        read(b"# tracer: nop\n" + random.Random(seed).randbytes(2000) + os.linesep.encode())
