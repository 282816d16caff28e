"""Every DFTracer trace of the collection, against figures by a plain line-by-line reader."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dctv
from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.dftracer import READER
from tests.readers.pfw_chunks import plain_rows

FACTORS = {"NS": 1, "US": 1000, "MS": 10**6, "SEC": 10**9}
PHASES = {"1": "X", "2": "C", "3": "A"}


def collection() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "dftracer"


def samples() -> dict[str, Any]:
    folder = os.environ.get("DCTV_TRACES")
    path = Path(folder or "") / "dftracer" / "samples" / "truth.json"
    return dict(json.loads(path.read_text())) if folder and path.exists() else {"": {}}


def truths() -> list[str]:
    folder = os.environ.get("DCTV_TRACES")
    return sorted(p.name for p in (Path(folder) / "dftracer" / "truth").glob("*.counts.tsv")) if folder else [""]


SAMPLES = samples()


def load(*paths: Path) -> LoadedTrace:
    return READER.load(paths, LoadContext({}, 2, lambda _done, _total: None))


def events(trace: LoadedTrace) -> dict[str, Any]:
    return {n.removeprefix("raw_events."): t.data for n, t in trace.tables.items() if n.startswith("raw_events.")}


def file_rows(trace: LoadedTrace) -> list[dict[str, Any]]:
    return plain_rows(trace.tables["files"])


def durations(data: Any) -> list[int]:
    return [int(d) for d in data["dur"].to_pylist() if d is not None]


def figures(trace: LoadedTrace, factor: int) -> dict[str, list[int]]:
    found = {name: durations(data) for name, data in events(trace).items()}
    return {name: [len(events(trace)[name]), sum(ds) // factor] for name, ds in found.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    truth = SAMPLES[name]
    trace = load(collection() / "samples" / name)
    (row,) = file_rows(trace)
    keys = ("bytes", "events", "metadata", "invalid_lines", "other_lines", "time_unit", "min_ts", "max_ts")
    assert {key: row[key] for key in keys} == {key: truth[key] for key in keys}
    factor = FACTORS[truth["time_unit"]]
    assert figures(trace, factor) == truth["names"]
    all_durations = [d for data in events(trace).values() for d in durations(data)]
    assert len(all_durations) == truth["dur_count"]
    assert sum(all_durations) == truth["dur_sum"] * factor
    if all_durations:
        assert min(all_durations) == truth["dur_min"] * factor
        assert max(all_durations) == truth["dur_max"] * factor
        assert trace.properties["start_ns"] == str(truth["min_ts"] * factor)
    invalid = sum(d.count for d in trace.diagnostics if d.reason == "line is not JSON")
    assert invalid == truth["invalid_lines"]


def plain_durations(path: Path) -> list[int]:
    data = path.read_bytes()
    lines = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    found = []
    for line in lines.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("ph") not in {"M", 4} and "dur" in record:
            found.append(int(record["dur"]))
    return sorted(found)


def quantile(values: list[int], q: Fraction) -> Fraction:
    place = q * (len(values) - 1)
    low = place.numerator // place.denominator
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


@pytest.mark.parametrize("name", [name for name, truth in SAMPLES.items() if truth["dur_count"]])
def test_quantiles(name: str) -> None:
    """By SQL over the mounted trace: discrete ones are equal to the nanosecond, interpolated ones as doubles."""
    path = collection() / "samples" / name
    factor = FACTORS[SAMPLES[name]["time_unit"]]
    plain = plain_durations(path)
    percents = (1, 10, 50, 90, 99, 100)
    columns = ", ".join(f"quantile_disc(_duration, {p / 100}), quantile_cont(_duration, {p / 100})" for p in percents)
    with dctv.Session() as session:
        session.mount(str(path), "t")
        (found,) = session.sql(f"SELECT {columns} FROM t.events WHERE _duration IS NOT NULL").fetchall()
    for percent, discrete, interpolated in zip(percents, found[::2], found[1::2], strict=True):
        assert discrete == plain[max(0, -(-percent * len(plain) // 100) - 1)] * factor
        exact = float(quantile(plain, Fraction(percent, 100)) * factor)
        assert interpolated == pytest.approx(exact, rel=1e-12, abs=1e-6)


def test_folder_of_48_files() -> None:
    paths = sorted((collection() / "samples" / "v1_cm1").glob("*.pfw.gz"))
    assert len(paths) == 48
    trace = load(*paths)
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, truth in SAMPLES.items():
        if name.startswith("v1_cm1/"):
            for event, (count, length) in truth["names"].items():
                expected[event] = [expected[event][0] + count, expected[event][1] + length]
    assert figures(trace, 1000) == dict(expected)
    assert len(file_rows(trace)) == 48
    for data in events(trace).values():
        times = data["_ts"].to_pylist()
        assert times == sorted(times)
    assert min(data["_ts"][0].as_py() for data in events(trace).values()) == 0


def test_hashes_of_the_48_files() -> None:
    """Texts are those that the file gives; hashes of this writer have 16 bits, and some stand for two texts."""
    path = collection() / "samples" / "v1_cm1" / "cm1-DEFAULT-3537780-preload.pfw.gz"
    texts: dict[str, set[str]] = defaultdict(set)
    used: list[tuple[int, str]] = []
    for line in gzip.decompress(path.read_bytes()).split(b"\n"):
        if line.startswith(b"{"):
            record = json.loads(line)
            if record["name"] == "FH":
                texts[str(record["args"]["value"])].add(record["args"]["name"])
            elif record["name"] == "open":
                used.append((record["id"], str(record["args"]["fhash"])))
    data = load(path).tables["raw_events.open"].data
    found = dict(zip(data["id"].to_pylist(), data["fname"].to_pylist(), strict=True))
    assert found == {i: next(iter(texts[h])) if len(texts[h]) == 1 else None for i, h in used}
    assert None not in list(found.values())[:10]


def trace_path(line: str) -> Path:
    path = collection() / line.partition(" size=")[0].removeprefix("# ")
    assert path.exists(), path
    return path


@pytest.mark.parametrize("truth", truths())
def test_counts(truth: str) -> None:
    """By phase, category and name: how many, and the sum of durations."""
    expected: dict[Path, dict[tuple[str, str, str], tuple[int, int]]] = {}
    for line in (collection() / "truth" / truth).read_text().splitlines():
        if line.startswith("# "):
            table = expected.setdefault(trace_path(line), {})
            continue
        phase, category, name, count, length = line.split("\t")
        table[phase, category, name] = (int(count), int(length))
    for path, table in expected.items():
        assert counts_of(load(path)) == table


def counts_of(trace: LoadedTrace) -> dict[tuple[str, str, str], tuple[int, int]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    lengths: Counter[tuple[str, str, str]] = Counter()
    numeric = any("type" in data.column_names for data in events(trace).values())
    letters = {letter: number for number, letter in PHASES.items()} if numeric else {}
    for name, data in events(trace).items():
        columns = (data[c].to_pylist() for c in ("ph", "cat", "dur"))
        for phase, category, length in zip(*columns, strict=True):
            key = (letters.get(phase, phase), category, name)
            counts[key] += 1
            lengths[key] += (length or 0) // 1000
    metadata = trace.tables["metadata"].data
    for kind, category in zip(metadata["kind"].to_pylist(), metadata["cat"].to_pylist(), strict=True):
        counts["4" if numeric else "M", category, kind] += 1
    return {key: (count, lengths[key]) for key, count in counts.items()}
