"""Pruning loses no rows of generated traces: queries on whole traces, chunks and column stores."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.session.pruned_shapes import Asked, asked, check, filters, questions

DIMENSIONS = ("args.size", "args.key", "args.mixed", "args.odd", "args.flag")
NAMES = ("read", "write", "open64", "close", "a b", "quote'd")
EDGES = (2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0, -1, 7, 70)
EVENTS = 500
START = 17 * 10**14
"""As nanoseconds too large for doubles, and whole numbers of any unit."""


FILTERS = ('name == "only_3"', "size > 13000", 'fname == "/data/same"', 'key == "8"', 'key > "g"', 'key == "\u00e9"')


def event(draw: random.Random, number: int, part: int) -> dict[str, Any]:
    """Make an event; those of one part are alike."""
    name = "only_" + str(part) if draw.random() < 0.02 else NAMES[(part + draw.randrange(2)) % len(NAMES)]
    args: dict[str, Any] = {}
    if draw.random() < 0.9:
        args["fhash"] = draw.choice(["33", 33, "a1", "a2", f"b{part}"])
    if draw.random() < 0.8:
        args["size"] = draw.choice(EDGES) if draw.random() < 0.1 else part * 1000 + draw.randrange(5)
    if draw.random() < 0.5:
        args["mixed"] = draw.choice([part, str(part), f"{part}", True, 1.5] if part % 3 else [part, 7])
    if part % 4 == 1:
        args["odd"] = draw.choice([0.1, 0.5, 1e300, 3, part + 0.25])
    if part % 5 == 2:
        args["flag"] = draw.random() < 0.5
    # Too long for dictionaries.
    args["key"] = f"{draw.getrandbits(1024):0256x}"
    found = {"id": number, "name": name, "cat": "POSIX" if part % 3 else "STDIO", "pid": part // 3, "tid": part % 7}
    found |= {"ts": START + number * 10 - draw.randrange(25), "ph": "X", "args": args}
    return found | ({"dur": draw.choice([0, 1, part, 5000])} if draw.random() < 0.95 else {})


def write(folder: Path, seed: int) -> tuple[Path, int]:
    """Write a trace of two files; return how many of its events are no reads."""
    draw = random.Random(seed)
    folder.mkdir()
    others = 0
    for file in range(2):
        lines = ["["]
        if seed % 2:
            unit = {"name": "time_metric", "value": "NS"}
            lines.append(json.dumps({"name": "CM", "cat": "dftracer", "ph": "M", "pid": 0, "tid": 0, "args": unit}))
        # One text has two hashes, and one hash stands for another text in each file.
        texts = {"a1": "/data/same", "a2": "/data/same", "33": f"/data/other_{file}", "b3": "/data/b/3"}
        for value, text in texts.items():
            definition = {"name": "FH", "cat": "dftracer", "ph": "M", "pid": file, "tid": 0}
            lines.append(json.dumps({**definition, "args": {"name": text, "value": value}}))
        for number in range(EVENTS):
            one = event(draw, file * EVENTS + number, (file * EVENTS + number) // 50)
            others += one["name"] != "read"
            lines.append(json.dumps(one))
            if draw.random() < 0.02:
                lines.append(draw.choice(["broken", '{"name":"read"', "", "[1]"]))
        raw = "\n".join(lines).encode() + b"\n]\n"
        packed = bool(seed & 2)
        step = len(raw) // 6 + 1
        data = b"".join(gzip.compress(raw[at : at + step]) for at in range(0, len(raw), step)) if packed else raw
        (folder / f"app-{file}.pfw{'.gz' if packed else ''}").write_bytes(data)
    return folder, others


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.ci)])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Asked, int]]:
    folder = tmp_path_factory.mktemp("trace")
    path, others = write(folder / "trace", request.param)
    with asked(path, folder / "index", DIMENSIONS) as found:
        yield found, others


def test_each_tier_leaves_chunks_out(trace: tuple[Asked, int]) -> None:
    found, others = trace
    assert found.chunks > 5
    for text in FILTERS:
        check(found, text, sql=False)
    assert min(found.out[tier] for tier in ("dictionary", "range", "bloom")) > 0, found.out
    # What another tool takes the complement of chunks for.
    rows, count, _ = check(found, 'not (name == "read")', sql=False)
    assert isinstance(rows, list)
    assert (len(rows), count) == (others, [(others,)])
    for test in ("NOT (name = 'read')", "NOT (name IN ('read', 'nowhere'))", "NOT (name = 'read' AND _ts >= 0ns)"):
        rows = check(found, f"SELECT name, pid FROM t.events WHERE {test}", sql=True)[2]
        assert isinstance(rows, list)
        assert len(rows) == others


@bounded(20)
@given(data=st.data())
def test_pruning_loses_no_rows(trace: tuple[Asked, int], data: st.DataObject) -> None:
    sql = data.draw(st.sampled_from([True, True, True, False]))
    check(trace[0], data.draw(questions(trace[0]) if sql else filters(trace[0])), sql=sql)
