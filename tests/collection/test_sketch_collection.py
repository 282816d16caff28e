"""Sketches of the durations of real traces against their exact quantiles."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from dctv._kernels import Sketch

QUANTILES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)

SAMPLES = ("v1_cm1", "v1_dfanalyzer", "v1_dist", "v0_dlp", "v4.3_real")
"""Folders with traces whose durations differ by many powers of ten."""


def folder(name: str) -> Path:
    root = os.environ.get("DCTV_TRACES")
    if root is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(root) / "dftracer" / "samples" / name


@cache
def durations(path: Path) -> dict[str, list[int]]:
    """Read all durations of a folder by the name of the event, line by line."""
    found: dict[str, list[int]] = {}
    for file in sorted(path.rglob("*.pfw*")):
        raw = file.read_bytes()
        for line in (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).splitlines():
            try:
                record = json.loads(line)
                name, duration = record["name"], int(record["dur"])
            except (ValueError, KeyError, TypeError):
                continue
            found.setdefault(name, []).append(duration)
    return found


def exact(ordered: list[int], q: float) -> int:
    n = len(ordered)
    return ordered[max(1, n - math.floor(n - n * q)) - 1]


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("factor", [1, 1000, 2**40 + 1])
def test_all_quantiles_are_within_one_percent(sample: str, factor: int) -> None:
    by_name = durations(folder(sample))
    assert by_name
    merged = Sketch()
    for values in by_name.values():
        sketch = Sketch()
        scaled = sorted(value * factor % 2**64 for value in values)
        for value, count in Counter(scaled).items():
            sketch.add(value, count)
        check(Sketch.from_bytes(sketch.to_bytes()), scaled)
        merged.merge(sketch)
    check(merged, sorted(value * factor % 2**64 for values in by_name.values() for value in values))


def check(sketch: Sketch, ordered: list[int]) -> None:
    assert sketch.count == len(ordered)
    for q in QUANTILES:
        found, wanted = sketch.quantile(q), exact(ordered, q)
        assert found is not None
        assert 100 * abs(Fraction(found) - wanted) <= wanted, (q, found, wanted)


def test_the_quantiles_that_a_collapsing_sketch_gets_wrong() -> None:
    """A sketch of 128 bins that drops the lowest ones says 1408.5 for all three."""
    sketch = Sketch()
    for values in durations(folder("v1_cm1")).values():
        for value, count in Counter(values).items():
            sketch.add(value, count)
    assert sketch.count == 284_041
    assert [sketch.quantile(q) for q in (0.1, 0.5)] == [2, 27]
    p90 = sketch.quantile(0.9)
    assert p90 is not None
    assert 164.34 <= p90 <= 167.66
