"""A line is a record iff Python's json.loads accepts it as an object, with the same values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.dftracer import READER

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
PIECES = [
    '"',
    "\\",
    "\\u00",
    "\\ud83d",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "1",
    "-",
    ".",
    "e",
    "+",
    "true",
    "NaN",
]
PIECES += ["null", "Infinity", "a", "é", "\x00", "\x1f", "\x7f", " ", "\t", "\r", "\ufeff", '"k":', '{"a":', "1" * 19]


def figures(lines: Sequence[bytes]) -> dict[str, Any]:
    """The result of a pass over a file of these lines."""
    from dctv._kernels import PfwPass

    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.pfw"
        path.write_bytes(b"\n".join(lines) + b"\n")
        run = PfwPass([str(path)], 1)
        assert sum(batch.num_rows for chunk in run for _, batch in chunk.events) == run.metadata()["files"][0]["events"]
        file: dict[str, Any] = run.metadata()["files"][0]
        return file


def loaded(lines: Sequence[bytes]) -> LoadedTrace:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.pfw"
        path.write_bytes(b"\n".join(lines) + b"\n")
        return READER.load([path], LoadContext({}, 1, lambda _done, _total: None))


def is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=5), st.booleans(), st.sampled_from([None, 1]))
def test_values(values: list[object], ascii_only: object, indent: int | None) -> None:
    def dump(value: object) -> str:
        text = json.dumps(value, ensure_ascii=bool(ascii_only), indent=indent)
        return text.replace("\n", "\t")

    lines = [f'{{"name":"e","ts":{i}, "args" : {{ "v" : {dump(value)} }} }}' for i, value in enumerate(values)]
    found = loaded([line.encode(errors="surrogatepass") for line in lines])
    assert {one.reason for one in found.diagnostics} <= {"text is not UTF-8 (bad bytes replaced)"}
    data = found.tables["raw_events.e"].data
    assert len(data) == len(values)
    if len(values) == 1 and not found.diagnostics:
        check_one(data["v"].to_pylist()[0], values[0])


def check_one(found: object, value: object) -> None:
    if isinstance(value, (list, dict)):
        assert isinstance(found, str)
        assert json.dumps(json.loads(found)) == json.dumps(value)
    elif isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        assert found == str(value)
    else:
        assert (repr(found), type(found)) == (repr(value), type(value))


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_validity(value: str) -> None:
    line = f'{{"name":"e","ts":1,"args":{value}}}'
    accepted = is_json(line)
    found = figures([line.encode()])
    assert found["invalid_lines"] == int(not accepted)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_lines_are_validated_completely(line: str) -> None:
    found = figures([line.encode()])
    is_bracket = line.strip(" \t\r") in {"", "[", "]"}
    assert found["invalid_lines"] == int(not is_bracket and not is_json(line))


@settings(deadline=None)
@given(st.binary(max_size=60).filter(lambda data: not data.startswith(b"\x1f")))  # else it may be taken for gzip
def test_any_bytes(data: bytes) -> None:
    lines = data.split(b"\n")
    found = figures(lines)
    texts = [line.decode(errors="replace") for line in lines]
    bad = [t for t in texts if t.strip(" \t\r") not in {"", "[", "]"} and not is_json(t)]
    assert found["invalid_lines"] == len(bad)


def test_deep_nesting_is_no_problem() -> None:
    line = '{"name":"e","ts":1,"args":{"v":' + "[" * 100_000 + "]" * 100_000 + "}}"
    found = figures([line.encode()])
    assert found["events"] == 1


def test_more_digits_than_python_reads() -> None:
    line = '{"name":"e","ts":1,"args":{"v":%s}}'
    found = figures([(line % ("1" * 4300)).encode(), (line % ("1" * 4301)).encode()])
    assert (found["events"], found["invalid_lines"]) == (1, 1)
