"""Times that cannot be, in every format that a text can be written in: counted, left out, and no other time moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dctv.session import Session

BEGIN = 1_700_000_000_000_000_000
"""Of the traces, in ns since 1970."""
ROWS = 6
ODD = 3
"""The number of the row whose time is another one."""
FAR = "time is more than ten years from the trace's others, left out"


def microseconds(ns: int) -> str:
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03}"


def seconds(ns: int) -> str:
    return f"{ns // 10**9}.{ns % 10**9:09}"


def chrome(times: list[int], dur: int) -> str:
    rows = [
        f'{{"ph":"X","name":"n","pid":1,"tid":2,"ts":{microseconds(ts)},"dur":{microseconds(dur)}}}' for ts in times
    ]
    return f"[{','.join(rows)}]"


def otlp(times: list[int], dur: int) -> str:
    spans = [
        {"traceId": "1", "spanId": str(n), "name": "n", "startTimeUnixNano": str(ts), "endTimeUnixNano": str(ts + dur)}
        for n, ts in enumerate(times)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


def table(times: list[int], dur: int) -> str:
    return "\n".join(["ts,dur,name", *(f"{ts},{dur},n" for ts in times)]) + "\n"


def lines(times: list[int], dur: int) -> str:
    return "".join(json.dumps({"ts": ts, "dur": dur, "name": "n"}) + "\n" for ts in times)


def samples(times: list[int], _: int) -> str:
    return "".join(f"prog  10 [000]   {seconds(ts)}:    1000 cpu-clock:\n\t    5555 main+0x1 (/x)\n\n" for ts in times)


def kernel(times: list[int], _: int) -> str:
    head = "# tracer: nop\n#\n"
    return head + "".join(
        f"            bash-10    [000] d..1  {seconds(ts)}: sched_waking: comm=x pid=1 prio=120 target_cpu=000\n"
        for ts in times
    )


WRITERS: dict[str, Callable[[list[int], int], str]] = {
    "chrome.json": chrome,
    "otlp.json": otlp,
    "table.csv": table,
    "lines.jsonl": lines,
    "perf.txt": samples,
    "kernel.txt": kernel,
}
PLAIN = {"timestamp": "ts", "duration": "dur", "name": "name"}


def mounted(folder: Path, name: str, times: list[int], dur: int = 5) -> Session:
    path = folder / name
    path.write_text(WRITERS[name](times, dur))
    session = Session()
    session.mount(str(path), "t", **(PLAIN if name in {"table.csv", "lines.jsonl"} else {}))
    return session


def reasons(session: Session) -> dict[str, int]:
    return dict(session.sql("SELECT reason, count FROM t.diagnostics").fetchall())


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("odd", [-(1 << 63), -(1 << 62) - 1, (1 << 63) - 1, (1 << 62) + (1 << 61), 1 << 70])
def test_one_impossible_time_moves_no_other(tmp_path: Path, name: str, odd: int) -> None:
    if odd < 0 and name in {"perf.txt", "kernel.txt"}:
        odd = -odd
    if odd > 1 << 64 and name == "lines.jsonl":
        odd = (1 << 64) - 1  # what is larger makes the column one of floats
    times = [BEGIN + 10_000 * n for n in range(ROWS)]
    times[ODD] = odd
    session = mounted(tmp_path, name, times)
    assert session.properties("t")["start_ns"] == str(BEGIN)
    shown = [row[0] for row in session.sql("SELECT _ts FROM t.events ORDER BY _ts").fetchall()]
    assert shown == [10_000 * n for n in range(ROWS) if n != ODD]
    assert sum(reasons(session).values()) >= 1


@pytest.mark.parametrize("name", ["chrome.json", "table.csv", "lines.jsonl"])
def test_an_impossible_duration_is_unknown(tmp_path: Path, name: str) -> None:
    times = [BEGIN + 10_000 * n for n in range(ROWS)]
    session = mounted(tmp_path, name, times, (1 << 63) - 1)
    assert session.sql("SELECT COUNT(*), COUNT(_duration), MAX(_ts) FROM t.events").fetchall() == [(ROWS, 0, 50_000)]
    assert session.sql("SELECT _ts FROM t.last_ts").fetchall() == [(50_000,)]
    assert sum(reasons(session).values()) == ROWS


def test_years_between_events_are_reported(tmp_path: Path) -> None:
    year = 365 * 86_400 * 10**9
    session = mounted(tmp_path, "chrome.json", [BEGIN, BEGIN + 9 * year, BEGIN + 11 * year, BEGIN])
    assert reasons(session) == {FAR: 1}
    assert session.sql("SELECT MAX(_ts) FROM t.events").fetchall() == [(9 * year,)]
    assert len(session.incomplete()) == 1


def test_times_before_the_first_event_of_bazel_are_kept(tmp_path: Path) -> None:
    session = mounted(tmp_path, "chrome.json", [0, -17_000_000, 5])
    assert session.properties("t")["start_ns"] == "-17000000"
    assert reasons(session) == {}


def test_far_times_in_later_chunks_are_left_out(tmp_path: Path) -> None:
    many = 70_000
    times = [BEGIN + n for n in range(many)]
    times[many - 10] = (1 << 62) + 5
    session = mounted(tmp_path, "chrome.json", times)
    assert reasons(session) == {FAR: 1}
    assert session.sql("SELECT COUNT(*), MAX(_ts) FROM t.events").fetchall() == [(many - 1, many - 1)]
