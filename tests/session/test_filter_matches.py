"""Filters over generated traces against a plain evaluator in three-valued logic over the parsed lines."""

from __future__ import annotations

import json
import operator
import sys
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
        fits = written_as_double and abs(literal.value) < Fraction(sys.float_info.max)
        return OPERATORS[op](Fraction(value), Fraction(float(literal.value)) if fits else literal.value)
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
def test_matches_match_a_plain_evaluator(
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


CONDITIONS = [
    ("x == 1", "x = 1"),
    ("x != 1", "x <> 1"),
    ("x < 2", "x < 2"),
    ("not x < 2", "NOT (x < 2)"),
    ("x in [1, 3]", "x IN (1, 3)"),
    ("x not in [1, 3]", "x NOT IN (1, 3)"),
    ("x in [1, null]", "x IN (1, NULL)"),
    ("x not in [1, null]", "x NOT IN (1, NULL)"),
    ("x == null", "x = NULL"),
    ("x is null", "x IS NULL"),
    ("x is not null", "x IS NOT NULL"),
    ("x == 1 and y == 1", "x = 1 AND y = 1"),
    ("x == 1 or y == 1", "x = 1 OR y = 1"),
    ("not (x == 1 and y == 1)", "NOT (x = 1 AND y = 1)"),
    ("not (x == 1 or y == 1)", "NOT (x = 1 OR y = 1)"),
    ("not (x == 1 and not (y == 1 or x is null))", "NOT (x = 1 AND NOT (y = 1 OR x IS NULL))"),
]


@pytest.mark.parametrize(("condition", "sql"), CONDITIONS)
def test_truth_is_that_of_sql(condition: str, sql: str, session: Session, tmp_path: Path) -> None:
    values: list[int | None] = [1, 2, None]
    records = [
        {**BLANK, "id": 3 * i + j, "args": {"x": x, "y": y}} for i, x in enumerate(values) for j, y in enumerate(values)
    ]
    mounted(session, tmp_path / "truth.pfw", [json.dumps(record) for record in records])
    expected = session.sql(f"SELECT id FROM t.raw_events.read WHERE {sql}").fetchall()
    found = [json.loads(line)["id"] for (line,) in session.matches("t", condition).records().fetchall()]
    assert [(number,) for number in found] == expected


BLANK: Record = {"name": "read", "cat": "POSIX", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "ph": "X"}


def test_large_filters(session: Session, tmp_path: Path) -> None:
    records = [{**BLANK, "name": f"n{i}", "id": i, "args": {"x": i, "s": f"v{i}"}} for i in range(3)]
    mounted(session, tmp_path / "large.pfw", [json.dumps(record) for record in records])

    def count(text: str) -> object:
        return session.matches("t", text).count().fetchall()[0][0]

    members = ", ".join(str(n) for n in range(1, 5_000))
    assert count(f"x in [{members}]") == 2
    assert count(f"x not in [{members}]") == 1
    assert count(" or ".join(f's == "v{n}"' for n in range(1, 500))) == 2
    assert count(" and ".join(f's != "v{n}"' for n in range(1, 500))) == 1
    nested = "x == 0"
    for level in range(90):
        nested = f"not ({nested} and x != {level + 5})"
    assert count(nested) == 1


def test_zero_characters_and_other_names(session: Session, tmp_path: Path) -> None:
    records = [
        {**BLANK, "id": 0, "args": {"s": "a\0b", "n.m": 1, "o": {"a/b": {"~": 5}}, "name": "x"}},
        {**BLANK, "id": 1, "args": {"s": "a", "n.m": 2, "o": {"a/b": {"~": 6}}, "pid": 5}},
    ]
    mounted(session, tmp_path / "odd.pfw", [json.dumps(record) for record in records])
    for text, ids in [
        ('s == "a\\u0000b"', [0]),
        ('s in ["a\\u0000b", "c"]', [0]),
        ("n.m == 1", [0]),
        ("`n.m` == 2", [1]),
        ("args.`n.m` == 2", [1]),
        ("o.`a/b`.`~` == 6", [1]),
        ('args.name == "x"', [0]),
        ("args.pid == 5", [1]),
        ("pid == 1", [0, 1]),
    ]:
        found = session.matches("t", text).records().fetchall()
        assert [json.loads(line)["id"] for (line,) in found] == ids, text


def test_tables_that_cannot_match_are_not_read(session: Session, tmp_path: Path) -> None:
    records = [
        {**BLANK, "name": "a", "args": {"x": 1}},
        {**BLANK, "name": "b", "args": {"y": 1}},
        {**BLANK, "name": "c", "args": {"x": "text"}},
    ]
    mounted(session, tmp_path / "few.pfw", [json.dumps(record) for record in records])

    def read(text: str) -> list[str]:
        return [stored.table.event.name for stored, _ in session.matches("t", text).matching.tables]

    assert read("x == 1") == ["a"]
    assert read("not (x == 1)") == ["a"]
    assert read("x == 1 or y == 1") == ["a", "b"]
    assert read("not (x == 1 and y == 1)") == ["a", "b"]
    assert read('name in ["a", "b"] and y > 0') == ["b"]
    assert read('not (name == "a")') == ["b", "c"]
    assert read("x is null") == ["a", "b", "c"]
    assert read('x == "text" and y is null') == ["c"]
    assert read("x > 18446744073709551616") == []
