"""Read DFTracer traces: `.pfw` and `.pfw.gz` of all writer generations, one file, a folder or a glob as one trace.

Every event name becomes a table `raw_events.<name>`. Its columns are `_ts` and `dur` (NULL where the record has none),
`cat`, `pid`, `tid`, `id`, `ph` (the letter of old writers: X complete, C counter, A aggregated; `id` and `type` only
where some record has them), then the members of `args`, each with the type of its values; lists and objects stay JSON
texts. An argument named like one of these columns, `name` or `args`, is called `args_name` and so on; of arguments that
differ in case only, later ones get a number. Each column of hashes has one of their texts beside it: `fname` (`fhash`),
`hostname` (`hhash`), `cwd_path` (`cwd`), `cmd` (`cmd_hash`) and so on for all names in `_hash`. Hashes are texts in all
generations. A hash with several texts has that of the same file, or NULL if the file itself has several.

`metadata` has the metadata records (their arguments are named by the same rules), `files` the files. Units are given
where their meaning is certain: times are ns; bytes are what the C library's calls count in bytes. `ret` has none, since
it may be an error code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from dctv.contracts.reader import ChunkReader, Head, LoadContext, LoadedTrace, Reader, Records
from dctv.record import unread

_SUFFIXES = (".pfw", ".pfw.gz")


def sniff(head: Head) -> bool:
    """Whether the first lines are DFTracer records: one per line, not part of an object, without commas.

    Commas between records, or arrays of them, indicate trace events of other writers, which have the same members.
    """
    if head.text.split() in ([b"["], [b"[", b"]"]):
        # A process that traced nothing wrote the brackets alone.
        return head.path.name.endswith(_SUFFIXES)
    lines = head.text.split(b"\n")
    if len(lines) == 1 and not _is_record(lines[0]):
        # A single line may be longer than the head.
        begins = lines[0].lstrip().startswith(b"{") and b'"traceEvents"' not in lines[0]
        return begins and all(key in lines[0] for key in (b'"name"', b'"cat"', b'"pid"', b'"ph"'))
    first = lines[:64]
    if any(_is_record(line.rstrip().removesuffix(b",")) for line in first if line.rstrip().endswith(b",")):
        return False
    records = [line for line in first if _is_record(line)]
    if len(records) == 1 and lines[0].strip() == b"[":
        return any(mark in records[0] for mark in (b'"id"', b'"type"', b'"hhash"', b'"dftracer"'))
    return bool(records)


def _is_record(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        record = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.keys() >= {"name", "cat", "pid", "tid", "ph"}


def load(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; `_ts` 0 is the earliest event of all."""
    from dctv.contracts.whole import load as load_whole

    return load_whole(_chunks(), paths, context)


def _chunks() -> ChunkReader:
    from dctv.readers.dftracer_rows.chunks import CHUNKS

    return CHUNKS


def records(properties: Mapping[str, str]) -> Records:
    """Return how events are written: in microseconds, the default, or in nanoseconds as in one of the files."""
    if "NS" not in properties["time_unit"].split(", "):
        return Records("us")
    unit = {
        "name": "CM",
        "cat": "dftracer",
        "pid": 0,
        "tid": 0,
        "ph": "M",
        "args": {"name": "time_metric", "value": "NS"},
    }
    return Records("ns", (json.dumps(unit, separators=(",", ":")),))


READER = Reader(
    name="dftracer",
    title="DFTracer JSON lines (.pfw, .pfw.gz)",
    suffixes=_SUFFIXES,
    sniff=sniff,
    load=load,
    records=records,
    chunks=unread(ChunkReader, _chunks),
)
