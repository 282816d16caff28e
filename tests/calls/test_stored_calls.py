"""Calls read from their stored table, in one pass, against the filters' stream and sums made by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels
from dctv.calls.rules import CallFilters
from dctv.cli.call_trees.replay import FIELDS, Style
from dctv.cli.call_trees.stored import StoredCalls
from tests.bounds import bounded
from tests.calls.test_filter_kernel import some_filters
from tests.calls.trees import COLUMNS, SHOWN, SIZES, Call, traces
from tests.kernels.tables import rows

STATES = {None: 3, "open": 1, "left": 1, "lost": 1, "entered": 2, "inherited": 0}
STORED = pa.schema(
    [
        *((name, pa.int64()) for name in ("_ts", "dur", "tid", "depth", "addr", "id", "parent", "self")),
        *((name, pa.string()) for name in ("name", "module", "args", "retval", "state")),
    ]
)
FUNCTIONS = [(name, "m", size, f"{name}.c") for name, size in SIZES.items()]
REPLAYED = {"depth": pa.int32(), "_shown": pa.int8(), "_indent": pa.int32(), "_outdent": pa.int32()}
TEXTS = {"_stack", "name", "args", "retval", "module", "task"}
PRINTED = ["_ts", "tid", "id", "depth", "_shown", "_indent", "_outdent", "_stack", "dur", "name", "args", "retval"]
PRINTED += ["module", "addr", "task", "level", "call", "kind"]
MEASURES = st.sampled_from(["measured", "of what is shown"])
"""Where the own times of calls come from."""
EVENT = {"depth": 0, "_shown": 0, "_indent": 0, "_outdent": 0, "level": 0, "kind": 1}


@st.composite
def recordings(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw calls as they are stored; several begin at one time, and those that end have what they took themselves."""
    calls = draw(traces(60))
    last = max((call.ts if call.end is None else call.end for call in calls), default=0)
    made = []
    for call in calls:
        state = draw(st.sampled_from([None, None, None, *STATES])) if call.end is not None else "open"
        start, end = call.ts // 2, (last if call.end is None else call.end) // 2
        inner = sum((last if one.end is None else one.end) // 2 - one.ts // 2 for one in call.inner)
        made.append(
            {
                "_ts": start,
                "dur": end - start,
                "tid": call.tid,
                "depth": _depth(call),
                "addr": 100 + call.id,
                "id": call.id,
                "parent": call.parent and call.parent.id,
                "self": end - start - inner,
                "name": call.name,
                "module": "m",
                "args": f"({call.args})",
                "retval": "7" if call.id % 5 == 0 else None,
                "state": state,
            }
        )
    return made


def _depth(call: Call) -> int:
    return 0 if call.parent is None else 1 + _depth(call.parent)


def written(calls: Sequence[dict[str, Any]], folder: str, group_rows: int = 100_000) -> Path:
    """Store calls; of those that begin at once the last one first, as a recorder of several threads may leave them."""
    found = sorted(calls, key=lambda row: (row["_ts"], -row["id"]))
    path = Path(folder) / "calls.parquet"
    table = pa.Table.from_pylist(found, STORED)
    reader = pa.RecordBatchReader.from_batches(STORED, table.to_batches())
    _kernels.write_table(str(path), reader, ascending=True, group_rows=group_rows)
    return path


def source(path: Path, chosen: CallFilters) -> StoredCalls:
    wanted = chosen.by_size or chosen.by_file
    return StoredCalls(
        path,
        chosen,
        [],
        FUNCTIONS if wanted else [],
        chosen.by_module or chosen.counts,
        by_arguments=True,
        missed=_kernels.Missed(),
    )


def shown(calls: Sequence[dict[str, Any]], chosen: CallFilters) -> list[dict[str, Any]]:
    """Return what the filters' stream shows of calls: the stored columns, and their places."""
    table = [
        {**row, "size": SIZES[row["name"]], "file": f"{row['name']}.c", "marks": STATES[row["state"]]} for row in calls
    ]
    batch = pa.Table.from_pylist(table, pa.schema(list(COLUMNS.items())))
    found = [
        dict(zip(SHOWN, row, strict=True)) for row in rows(_kernels.filter_calls(batch, rules=chosen, names=SHOWN))
    ]
    stored = {row["id"]: row for row in calls}
    for row in found:
        row["level"] = stored[row["id"]]["depth"]
    return [{**stored[row["id"]], **row} for row in sorted(found, key=lambda row: (row["_ts"], row["id"]))]


def told(times: Iterable[int]) -> tuple[int, ...]:
    every = list(times)
    return (len(every), sum(every), min(every), max(every), sum(time * time for time in every))


def added(found: list[dict[str, Any]], *, measured: bool) -> tuple[dict[Any, Any], dict[int, Any]]:
    """Add up shown calls by function and by thread, looking at each one's callers."""
    by_id = {row["id"]: row for row in found}
    for row in found:
        row["group"] = None if row["state"] == "inherited" else row["name"]
        row["inner"] = 0
    for row in found:
        if row["parent_id"] is not None:
            by_id[row["parent_id"]]["inner"] += row["dur"]
    groups: dict[Any, list[dict[str, Any]]] = {}
    threads: dict[int, list[dict[str, Any]]] = {}
    for row in found:
        row["own"] = row["self"] if measured else row["dur"] - row["inner"]
        above, row["recursive"] = row["parent_id"], False
        while above is not None:
            row["recursive"] |= by_id[above]["group"] == row["group"]
            above = by_id[above]["parent_id"]
        groups.setdefault(row["group"], []).append(row)
        threads.setdefault(row["tid"], []).append(row)
    return (
        {
            name: (
                len(own),
                sum(row["dur"] for row in own if not row["recursive"]),
                told(row["dur"] for row in own),
                told(row["own"] for row in own),
            )
            for name, own in groups.items()
        },
        {
            tid: (len(own), sum(row["dur"] for row in own if row["depth"] == 0), sum(row["own"] for row in own))
            for tid, own in threads.items()
        },
    )


def sums_of(sums: Any) -> tuple[dict[Any, Any], dict[int, Any]]:
    def times(of: Any) -> tuple[int, ...]:
        return of.count, of.sum, of.least, of.most, of.squares

    functions = {one.name: (one.calls, one.total, times(one.lengths), times(one.own)) for one in sums.functions()}
    return functions, {one.tid: (one.calls, one.total, one.own) for one in sums.threads()}


@bounded(150)
@given(recordings(), some_filters(), MEASURES, st.sampled_from([1, 3, 100_000]))
def test_sums_match_the_shown_calls(
    calls: list[dict[str, Any]], chosen: CallFilters, measures: str, group_rows: int
) -> None:
    measured = measures == "measured"
    sums = _kernels.CallSums(measured=measured)
    with tempfile.TemporaryDirectory() as folder:
        path = written(calls, folder, group_rows)
        sums.read(str(path), source(path, chosen))
    assert sums_of(sums) == added(shown(calls, chosen), measured=measured)


@bounded(80)
@given(recordings(), some_filters(), MEASURES)
def test_batches_of_shown_calls_add_up_to_the_same(
    calls: list[dict[str, Any]], chosen: CallFilters, measures: str
) -> None:
    found = shown(calls, chosen)
    for row in found:
        row["name"] = None if row["state"] == "inherited" else row["name"]
    types = {name: pa.int64() for name in ("_ts", "dur", "id", "parent_id", "depth", "tid", "name", "self")}
    types |= {"depth": pa.int32(), "name": pa.string()}
    measured = measures == "measured"
    sums = _kernels.CallSums(measured=measured)
    for batch in pa.Table.from_pylist(found, pa.schema(list(types.items()))).to_batches(max_chunksize=7):
        sums.push(batch)
    assert sums_of(sums) == added(shown(calls, chosen), measured=measured)


def test_largest_sizes_are_reported() -> None:
    call = {"_ts": 0, "dur": 5, "tid": 1, "depth": 0, "id": 1, "name": "a", "module": "m", "self": 5}
    sums = _kernels.CallSums(measured=True)
    with tempfile.TemporaryDirectory() as folder:
        path = written([call, {**call, "id": 2, "module": "n"}], folder)
        told_of = replace(source(path, CallFilters()), functions=[("a", "m", 10, None), ("a", "n", 30, None)])
        sums.read(str(path), told_of)
    assert [(one.name, one.calls, one.size) for one in sums.functions()] == [("a", 2, 30)]


def test_times_that_go_on_from_block_to_block() -> None:
    calls = []
    for number in range(150_000):
        # All calls of a second begin at once: each thread's second one is in the first.
        tid, second = number % 3, number // 3 % 2
        parent = number + 1 - 3 if second else None
        name = "inner" if second else f"outer{number % 7}"
        row = {"_ts": number // 30_000, "dur": 0, "tid": tid, "depth": second, "id": number + 1, "parent": parent}
        calls.append({**row, "self": 0, "name": name, "module": "m"})
    sums = _kernels.CallSums(measured=True)
    with tempfile.TemporaryDirectory() as folder:
        path = written(calls, folder)
        sums.read(str(path), source(path, CallFilters(depth=1)))
    assert {one.name: one.calls for one in sums.functions()} == {
        f"outer{n}": sum(1 for one in calls if one["name"] == f"outer{n}") for n in range(7)
    }


@bounded(150)
@given(recordings(), some_filters(), st.data())
def test_lines_match_the_shown_calls(calls: list[dict[str, Any]], chosen: CallFilters, data: st.DataObject) -> None:
    if not chosen.in_order:
        return
    names = tuple(data.draw(st.lists(st.sampled_from(FIELDS), unique=True)))
    args, flat = data.draw(st.booleans()), data.draw(st.booleans())
    style = Style(
        names,
        args=args,
        comments=True,
        flat=flat,
        task_newline=False,
        colored=False,
        offset=0,
        merge=True,
        rules=(),
        match="regex",
        start=5,
        first=3,
    )
    events = [
        {**EVENT, "_ts": row["_ts"] + shift, "tid": row["tid"], "id": 1000 + row["id"], "name": "e", "call": within}
        for row in calls
        for shift, within in data.draw(
            st.lists(st.tuples(st.integers(0, 2), st.sampled_from([None, row["id"]])), max_size=1)
        )
    ]
    found = [
        {**row, "_shown": row["marks"], "_indent": row["indent"], "_outdent": row["outdent"], "_stack": row["stack"]}
        | {"kind": 2 if row["state"] == "entered" else 0, "task": f"task{row['tid']}"}
        for row in shown(calls, chosen)
    ]
    types = {one: REPLAYED.get(one, pa.string() if one in TEXTS else pa.int64()) for one in PRINTED}
    schema = pa.schema(list(types.items()))

    def batches(printed: list[dict[str, Any]], size: int) -> list[pa.RecordBatch]:
        printed = sorted(printed, key=lambda row: (row["_ts"], row["id"]))
        made: list[pa.RecordBatch] = pa.Table.from_pylist(printed, schema).to_batches(max_chunksize=size)
        return made

    expected = _kernels.Replay(style)
    lines = b"".join(expected.push(batch) for batch in batches(found + events, 9)) + expected.finish()
    with tempfile.TemporaryDirectory() as folder:
        path = written(calls, folder)
        tasks = [(tid, f"task{tid}") for tid in (1, 2, 3)]
        printer = _kernels.StoredReplay(style, str(path), source(path, chosen), tasks=tasks)
        pieces = []
        for batch in batches(events, 3):
            printer.add(batch)
            while piece := printer.lines(last=False):
                pieces.append(piece)
        while piece := printer.lines(last=True):
            pieces.append(piece)
    assert b"".join(pieces).decode() == lines.decode()


def test_errors_state_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="Parquet"):
        _kernels.CallSums(measured=True).read(str(path), source(path, CallFilters()))
    good = written([], str(tmp_path))
    with pytest.raises(ValueError, match="when it is left"):
        _kernels.CallSums(measured=True).read(str(good), source(good, CallFilters(enabled=False)))
    path.unlink()
    table = pa.table({"_ts": [3, 1]})
    _kernels.write_table(
        str(path), pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), ascending=False
    )
    with pytest.raises(ValueError, match="no column `dur`"):
        _kernels.CallSums(measured=True).read(str(path), source(path, CallFilters()))
