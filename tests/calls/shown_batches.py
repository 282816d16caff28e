"""Random calls that filters show, as the kernels that write them take them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dctv.calls.rules import CallFilters
from tests.calls.trees import Call, filtered

COLUMNS = {
    "_ts": pa.int64(),
    "tid": pa.int64(),
    "id": pa.int64(),
    "depth": pa.int32(),
    "marks": pa.int8(),
    "indent": pa.int32(),
    "outdent": pa.int32(),
    "stack": pa.string(),
    "dur": pa.int64(),
    "name": pa.string(),
    "args": pa.string(),
    "retval": pa.string(),
    "module": pa.string(),
    "addr": pa.int64(),
    "task": pa.string(),
    "level": pa.int64(),
    "call": pa.int64(),
    "kind": pa.int64(),
    "self": pa.int64(),
    "pid": pa.int64(),
}


def shown_rows(calls: list[Call], chosen: CallFilters) -> list[dict[str, Any]]:
    """Return the calls that filters show, with their properties."""
    by_id = {call.id: call for call in calls}
    found = []
    for ts, tid, number, parent, depth, marks, indent, outdent, stack in filtered(calls, chosen):
        call = by_id[number]
        found.append(
            {
                "_ts": ts,
                "tid": tid,
                "id": number,
                "depth": depth,
                "marks": marks,
                "indent": indent,
                "outdent": outdent,
                "stack": stack,
                "dur": None if call.end is None else call.end - call.ts,
                "name": call.name,
                "args": None,
                "retval": None,
                "module": None,
                "addr": None,
                "task": None,
                "level": depth,
                "call": parent,
                "kind": 0,
                "self": None,
                "pid": 1,
            }
        )
    return sorted(found, key=lambda row: (row["_ts"], row["id"]))


def batches(rows: list[dict[str, Any]], cut: int) -> list[pa.RecordBatch]:
    """Return rows in two batches."""
    schema = pa.schema(list(COLUMNS.items()))
    return [pa.RecordBatch.from_pylist(part, schema) for part in (rows[:cut], rows[cut:])]
