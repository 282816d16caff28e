"""Small CTF traces, written by hand, and what a reader makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.ctf import READER

TSDL = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 8; align = 8; encoding = UTF8; } := ch;
trace { major = 1; minor = 8; byte_order = %s; };
"""


def tsdl(fields: str, *, order: str = "le", before: str = "", event: str = "e") -> str:
    """Return metadata of a trace with one event and no headers."""
    return f'{TSDL % order}{before}\nevent {{ name = "{event}"; fields := struct {{ {fields} }}; }};\n'


def fragments(*given: Mapping[str, Any]) -> str:
    """Return metadata of CTF 2."""
    return "".join(f"\x1e{json.dumps(one)}\n" for one in ({"type": "preamble", "version": 2}, *given))


def payload(*members: tuple[str, Any]) -> str:
    """Return metadata of a trace of CTF 2 with one event and no headers."""
    return fragments(
        {"type": "trace-class"},
        {"type": "data-stream-class"},
        {"type": "event-record-class", "name": "e", "payload-field-class": struct(*members)},
    )


def struct(*members: tuple[str, Any], **more: Any) -> dict[str, Any]:
    found = [{"name": name, "field-class": one} for name, one in members]
    return {"type": "structure", "member-classes": found, **more}


def uint(length: int, order: str = "little-endian", **more: Any) -> dict[str, Any]:
    return {"type": "fixed-length-unsigned-integer", "length": length, "byte-order": order, **more}


def sint(length: int, order: str = "little-endian", **more: Any) -> dict[str, Any]:
    return {**uint(length, order, **more), "type": "fixed-length-signed-integer"}


def write(folder: Path, metadata: str | bytes, *streams: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    raw = metadata.encode() if isinstance(metadata, str) else metadata
    (folder / "metadata").write_bytes(raw)
    for number, stream in enumerate(streams):
        (folder / f"stream_{number}").write_bytes(stream)
    return folder


def load(folder: Path) -> LoadedTrace:
    assert READER.folder is not None
    paths = READER.folder(folder)
    assert paths is not None
    return READER.load(paths, LoadContext({}, 1, lambda _done, _total: None))


def rows(trace: LoadedTrace, event: str = "e", *, without: Sequence[str] = ("_ts", "line")) -> list[dict[str, Any]]:
    """Return the rows of an event's table."""
    table = trace.tables[f"raw_events.{event}"]
    nested = {one.name for one in table.schema.columns if one.type == "JSON"}
    return [
        {k: json.loads(v) if k in nested and v is not None else v for k, v in row.items() if k not in without}
        for row in table.data.to_pylist()
    ]


def notes(trace: LoadedTrace) -> dict[str, int]:
    return {one.reason: one.count for one in trace.diagnostics}
