"""Filters over generated traces against a plain evaluator in three-valued logic over the parsed lines."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded

Record = dict[str, Any]
Truth = bool | None

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FACTORS = {"": 1000, "ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}


class Number:
    """A literal as it is written."""

    def __init__(self, text: str, unit: str = "") -> None:
        self.text, self.unit = text, unit
        self.value = Fraction(text)

    def __repr__(self) -> str:
        return self.text + self.unit


Literal = Number | str | bool | None


def compared(field: str, value: Any, op: str, literal: Literal) -> Truth:
    if value is None or literal is None:
        return None
    if isinstance(value, bool) or isinstance(literal, bool):
        both = isinstance(value, bool) and isinstance(literal, bool)
        return OPERATORS[op](value, literal) if both and op in {"==", "!="} else None
    if isinstance(value, str) or isinstance(literal, str):
        return OPERATORS[op](value, literal) if isinstance(value, str) and isinstance(literal, str) else None
    if field in {"ts", "dur"}:
        return OPERATORS[op](Fraction(value) * 1000, literal.value * FACTORS[literal.unit])
    if literal.unit:
        raise AssertionError(field)
    written_as_double = not literal.text.lstrip("-").isdigit()
    if field in DOUBLES or isinstance(value, float):
        return OPERATORS[op](Fraction(value), Fraction(float(literal.value)) if written_as_double else literal.value)
    return OPERATORS[op](Fraction(value), literal.value)


def looked_up(record: Record, path: str) -> Any:
    parts = path.split(".")
    value: Any = record
    if parts[0] not in record and parts[0] != "args":
        value = record["args"]
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def truth(tree: Any, record: Record) -> Truth:
    match tree:
        case ("not", part):
            inner = truth(part, record)
            return None if inner is None else not inner
        case ("and" | "or" as word, parts):
            found = [truth(part, record) for part in parts]
            decisive = word == "or"
            return decisive if decisive in found else None if None in found else not decisive
        case ("null", field):
            return looked_up(record, field) is None
        case ("in", field, literals):
            if looked_up(record, field) is None:
                return None
            found = [compared(field, looked_up(record, field), "==", one) for one in literals]
            return True if True in found else None if None in found else False
        case (op, field, literal):
            return compared(field, looked_up(record, field), op, literal)
    raise AssertionError(tree)


def written(literal: Literal) -> str:
    if isinstance(literal, Number):
        return repr(literal)
    return json.dumps(literal)


def text_of(tree: Any) -> str:
    match tree:
        case ("not", ("in", field, literals)):
            return f"{field} Not In [{', '.join(map(written, literals))}]"
        case ("not", part):
            return f"not ({text_of(part)})"
        case ("and" | "or" as word, parts):
            return f" {word.upper()} ".join(f"({text_of(part)})" for part in parts)
        case ("null", field):
            return f"{field} is null"
        case ("in", field, literals):
            return f"{field} in [{', '.join(map(written, literals))}]"
        case (op, field, literal):
            return f"{field} {op} {written(literal)}"
    raise AssertionError(tree)


EDGES = [0, 1, -1, 2, 5, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
WORDS = ["", "a", "b", "ab", "read", "POSIX", "é", "\u2028", "q\"\\'", "\n\t", "1", "true", "𝄞", "%_"]
NAMES = ["read", "write", "a.b", "READ"]
DOUBLES = {"m", "f", "args.f"}

scalars: dict[str, st.SearchStrategy[Any]] = {
    "i": st.sampled_from(EDGES),
    "u": st.sampled_from([0, 7, 2**63, 2**64 - 1]),
    "m": st.sampled_from([0, 3, 0.5, 2**53, -1e300]),
    "f": st.sampled_from([0.1, -0.5, 1e300, 5e-324, 9007199254740992.0]),
    "s": st.sampled_from(WORDS),
    "b": st.booleans(),
    "o": st.fixed_dictionaries(
        {}, optional={"x": st.sampled_from([1, 2**53 + 1, 0.5, "a", True, None]), "y": st.just({"z": 3})}
    ),
}
arguments = st.fixed_dictionaries({}, optional={k: st.none() | v for k, v in scalars.items()})


@st.composite
def traces(draw: st.DrawFn) -> list[Record]:
    size = draw(st.integers(1, 8))
    records = []
    for number in range(size):
        record = {
            "name": draw(st.sampled_from(NAMES)),
            "cat": draw(st.sampled_from(["POSIX", "STDIO", "a"])),
            "pid": draw(st.sampled_from([1, 2])),
            "tid": draw(st.sampled_from([1, 7])),
            "ts": draw(st.sampled_from([0, 1, 1000, 1_700_000_000_000_000])),
            **({"dur": draw(st.sampled_from([0, 1, 999, 1000, 10**12]))} if draw(st.booleans()) else {}),
            "id": number,
            "ph": "X",
            "args": draw(arguments),
        }
        records.append(record)
    return records


plain_numbers = st.builds(Number, st.sampled_from([*map(str, EDGES), "9223372036854775808", "-1e400", "1e400"])) | (
    st.builds(
        Number,
        st.sampled_from(["0.1", "0.5", "-0.5", "1.0", "3.5", "1e300", "9007199254740993", "18446744073709551615"]),
    )
)
literals = plain_numbers | st.sampled_from(WORDS) | st.booleans() | st.none()
times = st.builds(Number, st.sampled_from(["0", "1", "1000", "0.5", "999.9", "1e6"]), st.sampled_from(list(FACTORS)))
fields = st.sampled_from(
    ["name", "cat", "pid", "id", "i", "args.i", "u", "m", "f", "args.f", "s", "b", "o.x", "args.o.y.z", "args.s"]
)
operators = st.sampled_from(list(OPERATORS))
tests = (
    st.tuples(operators, fields, literals)
    | st.tuples(operators, st.sampled_from(["ts", "dur"]), times | st.sampled_from(["a", None]))
    | st.tuples(st.just("in"), fields, st.lists(literals, max_size=4))
    | st.tuples(st.just("null"), fields | st.sampled_from(["o", "dur", "ts"]))
)
trees = st.recursive(
    tests,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(threads=1) as session:
        yield session


def mounted(session: Session, path: Path, lines: Sequence[str]) -> None:
    if "t" in {info.name.split(".")[0] for info in session.tables()}:
        session.sql("DROP ALL t")
    path.write_text("".join(f"{line}\n" for line in lines))
    session.mount(str(path), "t")


def without_nulls(record: Record) -> Record:
    return {**record, "args": {key: value for key, value in record["args"].items() if value is not None}}


@bounded(120)
@given(records=traces(), filters=st.lists(trees, min_size=1, max_size=6))
def test_matches_are_those_of_a_plain_evaluator(
    records: list[Record], filters: list[Any], session: Session, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mounted(session, tmp_path_factory.getbasetemp() / "filters.pfw", [json.dumps(record) for record in records])
    ordered = sorted(records, key=lambda record: record["ts"])
    for tree in filters:
        text = text_of(tree)
        expected = [without_nulls(record) for record in ordered if truth(tree, record) is True]
        found = session.matches("t", text)
        lines = [json.loads(line) for (line,) in found.records().fetchall()]
        assert sorted(lines, key=key_of) == sorted(expected, key=key_of), text
        assert [line["ts"] for line in lines] == [record["ts"] for record in expected]
        assert found.count().fetchall() == [(len(expected),)], text
        rows = found.rows().fetchall()
        assert [(row[2], row[3], row[4], row[5]) for row in rows] == [
            (line["name"], line["cat"], line["pid"], line["tid"]) for line in lines
        ]
        assert [json.loads(row[6]) for row in rows] == [line["args"] for line in lines]


def key_of(record: Record) -> int:
    number = record["id"]
    assert isinstance(number, int)
    return number
