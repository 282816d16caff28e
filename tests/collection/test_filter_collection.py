"""Filters on real traces, where other tools give wrong counts, against a plain line-by-line count."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dctv

Record = dict[str, Any]


def sample(name: str) -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "dftracer" / "samples" / name


def records(path: Path) -> Iterator[Record]:
    files = sorted(p for p in path.rglob("*") if p.name.endswith((".pfw", ".pfw.gz"))) if path.is_dir() else [path]
    for file in files:
        data = file.read_bytes()
        for line in (gzip.decompress(data) if file.suffix == ".gz" and data else data).split(b"\n"):
            try:
                record = json.loads(line.decode(errors="replace"))
            except ValueError:
                continue
            if isinstance(record, dict) and "ts" in record and record.get("ph") not in {"M", 4}:
                yield {**record, "dur": int(record["dur"]) if "dur" in record else None}


TRACES = ["v1_dfanalyzer", "v1_dist", "v0_dlp", "v1_cm1"]
FILTERS: list[tuple[str, Callable[[Record], bool]]] = [
    ("dur > 10", lambda r: r["dur"] is not None and r["dur"] > 10),
    ("not (dur > 10us)", lambda r: r["dur"] is not None and r["dur"] <= 10),
    ('name == "read"', lambda r: r["name"] == "read"),
    ('name != "read"', lambda r: r["name"] != "read"),
    ('not (name == "read")', lambda r: r["name"] != "read"),
    ('not (name in ["read", "open64"])', lambda r: r["name"] not in {"read", "open64"}),
    ('cat == "POSIX" and not (dur == 0)', lambda r: r["cat"] == "POSIX" and r["dur"] not in {None, 0}),
    ("fhash is not null", lambda r: r.get("args", {}).get("fhash") is not None),
    ('fhash != "zzz"', lambda r: r.get("args", {}).get("fhash") is not None),
]


@pytest.mark.parametrize("name", TRACES)
def test_counts(name: str) -> None:
    path = sample(name)
    plain = list(records(path))
    with dctv.TraceReader(path, index=False) as reader:
        assert reader.count() == len(plain)
        for text, matches in FILTERS:
            assert reader.count(text) == sum(map(matches, plain)), text


@pytest.mark.parametrize(("name", "text", "count"), [
    ("v1_dfanalyzer", "dur > 10", 9_366),
    ("v1_dist", "dur > 10", 47_864),
    ("v0_dlp", "dur > 10", 2_438),
    ("v1_cm1", "fhash is not null", 283_945),
    ("v4.3_real/time_ns.pfw.gz", "dur > 5us", 30),
    ("v4.3_real/time_ns.pfw.gz", "dur > 5000", 30),
])  # fmt: skip
def test_known_counts(name: str, text: str, count: int) -> None:
    with dctv.TraceReader(sample(name), index=False) as reader:
        assert reader.count(text) == count
        assert sum(1 for _ in reader.read_lines(text)) == count
        assert reader.warnings == []
