"""Every DFTracer trace of the collection in small chunks, against the whole load."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dctv.readers.dftracer import READER
from tests.readers.pfw_chunks import CONTEXT, assert_decode, assert_equal

LARGE = 8 << 20
"""Stored bytes from which on a trace is cut into fewer chunks, since a merge in Python is slow."""


def collection() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "dftracer"


def traces() -> list[str]:
    folder = os.environ.get("DCTV_TRACES")
    if not folder:
        return [""]
    root = Path(folder) / "dftracer"
    found = [path for ending in ("*.pfw", "*.pfw.gz") for path in root.rglob(ending) if path.stat().st_size]
    return sorted(str(path.relative_to(root)) for path in found)


@pytest.mark.parametrize("name", traces())
def test_chunks(name: str) -> None:
    path = collection() / name
    chunk_bytes = 1 << 20 if path.stat().st_size > LARGE else 1 << 15
    whole = READER.load([path], CONTEXT)
    chunks, known = assert_equal([path], chunk_bytes, whole)
    assert_decode([path], chunks[:: max(2, len(chunks) // 10)], known, whole)
