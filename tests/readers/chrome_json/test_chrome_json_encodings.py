"""Random events are read as they were, in whichever way their JSON is written."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import LoadedTrace
from tests.bounds import bounded
from tests.readers.chrome_json.chrome_text import load, notes, rows

TABLES = {
    "X": "complete",
    "B": "begin",
    "E": "end",
    "i": "instant",
    "C": "counter",
    "b": "async_begin",
    "n": "async_instant",
}
TEXTS = ["a", "", "b c", "é☃", 'q"\\\n\t', "\U0001f600", "\\u0041", "]}"]

Row = tuple[Any, ...]


class Text:
    """Writes JSON in one of the ways in which the same values can be written."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def blank(self) -> str:
        return self.rng.choice(["", "", "", " ", "\n\t"])

    def micros(self, ns: int) -> str:
        """Write a time, which is exact to the ns in every form."""
        sign, digits = "-" * (ns < 0), f"{abs(ns):04d}"
        plain = f"{sign}{digits[:-3]}.{digits[-3:]}"
        return self.rng.choice([plain, f'"{plain}"', f"{plain}00", f"{ns}e-3", f"{ns}E-003", f"{plain}0e+0"])

    def whole(self, number: int) -> str:
        return self.rng.choice([str(number), f'"{number}"', f"{number}.0"])

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.members({key: self.value(one) for key, one in value.items()})
        if isinstance(value, list):
            return f"[{','.join(self.blank() + self.value(one) + self.blank() for one in value)}]"
        return json.dumps(value, ensure_ascii=self.rng.random() < 0.5)

    def members(self, members: dict[str, str]) -> str:
        found = [f"{self.blank()}{json.dumps(key)}{self.blank()}:{self.blank()}{one}" for key, one in members.items()]
        return "{" + ",".join(found) + self.blank() + "}"


def argument(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randint(0, 7 if depth < 3 else 5)
    if kind == 7:
        return [argument(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if kind == 6:
        return {key: argument(rng, depth + 1) for key in rng.sample(TEXTS, rng.randint(0, 2))}
    return [None, True, rng.choice(TEXTS), -(2**63), 0.1, 1e300][kind]


def event(rng: random.Random, text: Text, now: int) -> tuple[str, list[Row]]:
    """Write an event, and return the rows that are to be read."""
    phase = rng.choice(list(TABLES))
    pid, tid = rng.choice([1, 2, 2**31]), rng.choice([10, 11])
    name, category = rng.choice(TEXTS), rng.choice([None, *TEXTS])
    members = {"ph": json.dumps(phase), "name": text.value(name), "ts": text.micros(now)}
    members |= {"pid": text.whole(pid), "tid": text.whole(tid)}
    if category is not None:
        members["cat"] = text.value(category)
    length = rng.choice([0, 1, 999, 1000, 123_456_789]) if phase == "X" else None
    if length is not None:
        members["dur"] = text.micros(length)
    group = rng.randint(1, 2) if phase in "bn" else None
    if group is not None:
        members["id"] = rng.choice([str(group), f'"{group}"'])
    args: Any = None
    common = (now, TABLES[phase], name, category, pid, tid)
    if phase == "C":
        values = {key: rng.choice([0, -1.5, 2**40]) for key in rng.sample(["x", "é"], rng.randint(1, 2))}
        members["args"] = text.value(values)
        found: list[Row] = [(*common, key, float(value)) for key, value in values.items()]
    else:
        if rng.random() < 0.5:
            args = {key: argument(rng) for key in rng.sample(TEXTS, rng.randint(0, 3))}
            members["args"] = text.value(args)
        found = [(*common, length if group is None else str(group), json.dumps(args, sort_keys=True))]
    order = list(members)
    rng.shuffle(order)
    return text.members({key: members[key] for key in order}), found


def written(rng: random.Random) -> tuple[bytes, Counter[Row]]:
    """Write random events in any order, and return the rows that are to be read."""
    text = Text(rng)
    now = rng.choice([-5_000_000, 0, 7 * 10**12, 1_700_000_000 * 10**9])
    events, expected = [], Counter[Row]()
    for _ in range(rng.randint(1, 30)):
        now += rng.choice([0, 1, 1000, 12_345])
        one, found = event(rng, text, now)
        events.append(one)
        expected.update(found)
    rng.shuffle(events)
    body = f"{text.blank()},{text.blank()}".join(events)
    whole = f"[{body}]"
    form = rng.randint(0, 3)
    if form == 1:
        whole = f"[{body},\n"
    elif form > 1:
        whole = text.members({"displayTimeUnit": '"ns"', "traceEvents": whole, "more": text.value(argument(rng))})
    data = whole.encode()
    if rng.random() < 0.2:
        cut = rng.randint(0, len(data))
        data = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
    return data, expected


def read(trace: LoadedTrace) -> Counter[Row]:
    start = int(trace.properties["start_ns"])
    found = Counter[Row]()
    for phase, table in TABLES.items():
        for row in rows(trace, table):
            common = (row["_ts"] + start, table, row["name"], row["cat"], row["pid"], row["tid"])
            if phase == "C":
                found[*common, row["series"], row["value"]] += 1
            else:
                own = row["id"] if phase in "bn" else row.get("dur")
                found[*common, own, json.dumps(json.loads(row["args"] or "null"), sort_keys=True)] += 1
    return found


@given(seed=st.integers(0, 2**32))
@bounded(200)
def test_events_are_read_as_they_were(seed: int) -> None:
    data, expected = written(random.Random(seed))
    with TemporaryDirectory() as folder:
        trace = load(Path(folder), data)
    assert read(trace) == expected
    assert set(notes(trace)) <= {"list is not closed, as if it were still being written"}
