"""Groups that a kernel aggregates give what the engine gives for their pieces, as do their queries."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import dctv
from dctv.errors import EngineError
from tests.bounds import LEFT_TO_CI

TABLES = 2 if LEFT_TO_CI else 6
"""Random ones for each way to group."""
NUMBERS = ("COUNT", "SUM", "MIN", "MAX", "AVG", "time_avg", "time_sum")
VALUES = ("v", "f", "r", "s", "_ts", "_duration")
SHARED = ("COUNT(*)", *(f"{function}({value})" for function in NUMBERS for value in VALUES))
NUMBERED = (
    "COUNT(*)",
    "SUM(s)",
    "SUM(v)",
    "SUM(_duration)",
    "SUM(_duration) * 2",
    "time_avg(s)",
    "time_sum(v)",
    "COUNT(v)",
)
WITHIN = ("SUM(v) / COUNT(*) + MAX(s)", "SUM(_duration) * 2", "SUM(f) / 3")
PICKING = (
    "MIN(n)",
    "MAX(n)",
    "COUNT(n)",
    *(f"{function}({v})" for function in ("FIRST", "LAST") for v in (*VALUES, "n")),
)
OF_EVENTS = tuple(a for a in (*SHARED, *PICKING) if "_duration" not in a and "time_" not in a)


def table(draw: random.Random, keys: tuple[str, ...] = ("p", "q"), *, events: bool = False) -> str:
    """Return spans or events by text and number, some of them with NULLs and numbers near the edge."""
    rows = []
    big = draw.choice([str(2**62), "3"])
    for p in draw.sample(["'a'", "'b'", "NULL", "''"], draw.randint(1, 4)) if "p" in keys else ["0"]:
        for q in draw.sample([1, 2], draw.randint(1, 2)) if "q" in keys else [0]:
            ts = draw.randint(0, 3)
            for _ in range(draw.randint(1, 4)):
                duration = draw.randint(1, 4)
                v = draw.choice(["NULL", "-5", "7", "0", big])
                f = draw.choice(["NULL", "0.1", "-1e300", "1e300", "2.5", "'nan'::FLOAT64", "1e0/3"])
                values = [v, f, f"({draw.choice(['NULL', '0.1', '-3.3'])})::FLOAT32", draw.choice(["NULL", "3", "-7"])]
                text = draw.choice(["NULL", "'x'", "'yy'", "''"])
                casts = [
                    f"({value})::{kind}"
                    for value, kind in zip(values, ("INT64", "FLOAT64", "FLOAT32", "INT16"), strict=True)
                ]
                rows.append(f"({ts}, {duration}, {p}, {q}, {', '.join(casts)}, {text}::STRING)")
                ts += duration + draw.randint(0, 2)
    values_of = f"(VALUES {', '.join(rows)}) AS t(_ts, _duration, p, q, v, f, r, s, n)"
    columns = ", ".join(("_ts", *([] if events else ["_duration"]), *keys, "v, f, r, s, n"))
    return f"dctv.{'as_events' if events else 'as_spans'}((SELECT {columns} FROM {values_of}){_by(keys)})"


def _by(keys: tuple[str, ...]) -> str:
    return f", partition=>[{', '.join(repr(k) for k in keys)}]" if keys else ""


def grouper(draw: random.Random) -> str:
    rows, ts = [], draw.randint(0, 4)
    for number in range(draw.randint(1, 4)):
        duration = draw.randint(1, 5)
        rows.append(f"({ts}, {duration}, 'g{number}')")
        ts += duration + draw.randint(0, 2)
    return f"dctv.as_spans((SELECT * FROM (VALUES {', '.join(rows)}) AS t(_ts, _duration, label)))"


def outcome(session: dctv.Session, query: str) -> object:
    """Return the rows, or that a number does not fit."""
    try:
        return [repr(row) for row in session.sql(query).fetchall()]
    except EngineError as error:
        text = error.message.lower()
        return "overflow" if any(word in text for word in ("int64", "int128", "overflow")) else error.message


@pytest.fixture(scope="module")
def one() -> Iterator[dctv.Session]:
    """A session that runs kernels."""
    with dctv.Session(threads=1) as session:
        yield session


@pytest.fixture(scope="module")
def relational() -> Iterator[dctv.Session]:
    with dctv.Session(threads=1) as session:
        session.sql("SET span_engine = 'relational'")
        yield session


def agree(sessions: tuple[dctv.Session, dctv.Session], operator: str, aggregates: list[str], rest: str) -> None:
    """Compare the kernel, the engine over pieces, and the kernel's query."""
    one, relational = sessions
    plain, filtered = (
        f"SELECT SPAN {', '.join(f'{a} AS a{i}' for i, a in enumerate(calls))} {rest}"
        for calls in (aggregates, [a.replace(")", ") FILTER (WHERE TRUE)") for a in aggregates])
    )
    lines = [row[0].strip() for row in one.sql(f"EXPLAIN {plain}").fetchall()]
    assert any(line.startswith(f"{operator} (") for line in lines), plain
    found = outcome(one, plain)
    assert found == outcome(one, filtered), plain
    assert found == outcome(relational, plain), plain


@pytest.mark.parametrize("group", ["", "(p)", "(q)"])
@pytest.mark.parametrize("mode", ["", "AND INTERSECT"])
def test_departitions(one: dctv.Session, relational: dctv.Session, group: str, mode: str) -> None:
    draw = random.Random(f"{group}{mode}")
    known = [a for a in (*SHARED, *WITHIN) if "f)" not in a and "r)" not in a]
    for _ in range(TABLES):
        rest = f"FROM {table(draw)} GROUP {mode} USING PARTITION {group}"
        agree((one, relational), "departition", draw.sample(known, 5), rest)


@pytest.mark.parametrize("function", ["SUM", "AVG", "MIN", "MAX", "time_avg", "time_sum"])
def test_departitions_of_floats(one: dctv.Session, function: str) -> None:
    draw = random.Random(function)
    for _ in range(TABLES):
        rest = f"FROM {table(draw)} GROUP USING PARTITION"
        agree((one, one), "departition", [f"{function}(f)", f"{function}(r)"], rest)


@pytest.mark.parametrize("keys", [(), ("p",), ("p", "q")])
@pytest.mark.parametrize("mode", ["", "AND INTERSECT"])
def test_span_groups(one: dctv.Session, relational: dctv.Session, keys: tuple[str, ...], mode: str) -> None:
    draw = random.Random(f"{keys}{mode}")
    for _ in range(TABLES):
        rest = f"FROM {table(draw, keys)} GROUP {mode} USING SPANS FROM {grouper(draw)} AS g"
        chosen = draw.sample([*SHARED, *WITHIN, *PICKING], 6)
        agree((one, relational), "span aggregation", [*chosen, "g.label"], rest)


@pytest.mark.parametrize("keys", [(), ("p",), ("p", "q")])
def test_groups_of_events(one: dctv.Session, relational: dctv.Session, keys: tuple[str, ...]) -> None:
    draw = random.Random(f"{keys}")
    for _ in range(TABLES):
        rest = f"FROM {table(draw, keys, events=True)} GROUP USING SPANS FROM {grouper(draw)}"
        agree((one, relational), "span aggregation", draw.sample(OF_EVENTS, 6), rest)


@pytest.mark.parametrize("group", ["AND INTERSECT USING PARTITION", "USING PARTITION (p)", "USING SPANS FROM"])
def test_filters(one: dctv.Session, relational: dctv.Session, group: str) -> None:
    draw = random.Random(group)
    tests = ("n = 'x'", "s > 0 OR n IS NULL", "v < 5", "s BETWEEN -7 AND 3 AND n != ''")
    known = [*NUMBERED, "MIN(s)", "MAX(v)", "AVG(s)", "COUNT(_ts)", "COUNT(n)"]
    for _ in range(TABLES):
        source = f"FROM {table(draw)} GROUP {group}"
        operator, rest = "departition", source
        if "SPANS" in group:
            operator, rest = "span aggregation", f"{source} {grouper(draw)}"
        chosen = [(aggregate, draw.choice(tests)) for aggregate in draw.sample(known, 5)]
        agree_filtered((one, relational), operator, chosen, rest)


def agree_filtered(
    sessions: tuple[dctv.Session, dctv.Session], operator: str, aggregates: list[tuple[str, str]], rest: str
) -> None:
    """Compare the kernel over values that a test lets pass, the engine over pieces, and the kernel's query."""
    one, relational = sessions
    fused, pieces = (
        f"SELECT SPAN {', '.join(f'{call} AS a{number}' for number, call in enumerate(calls))} {rest}"
        f" HAVING COUNT(*) FILTER (WHERE {more}s IS NOT NULL) < 3"
        for more in ("", "TRUE AND ")
        for calls in [[a.replace(")", f") FILTER (WHERE {more}({test}))") for a, test in aggregates]]
    )
    for sql, name in ((fused, operator), (pieces, "span departition" if operator == "departition" else "span group")):
        lines = [row[0].strip() for row in one.sql(f"EXPLAIN {sql}").fetchall()]
        assert any(line.startswith(f"{name} (") for line in lines), sql
    found = outcome(one, fused)
    assert found == outcome(one, pieces), fused
    assert found == outcome(relational, fused), fused


def test_having(one: dctv.Session, relational: dctv.Session) -> None:
    draw = random.Random(0)
    for _ in range(3):
        rest = f"FROM {table(draw)} GROUP USING SPANS FROM {grouper(draw)} HAVING COUNT(*) > 1 OR a0 IS NULL"
        agree((one, relational), "span aggregation", ["SUM(s)"], rest)


def test_other_aggregates_are_the_engines(one: dctv.Session) -> None:
    draw = random.Random(1)
    source, windows = table(draw), grouper(draw)
    for aggregate in (
        "SUM(DISTINCT s)",
        "SUM(s) FILTER (WHERE s + 1 > 0)",
        "SUM(s) FILTER (WHERE q > 0)",
        "FIRST(s) FILTER (WHERE s > 0)",
        "MAX(_ts) FILTER (WHERE s > 0)",
        "MEDIAN(s)",
        "SUM(s + 1)",
        "MAX(g.label)",
        "SUM(q)",
    ):
        sql = f"SELECT SPAN {aggregate} AS a, SUM(s) AS b FROM {source} GROUP USING SPANS FROM {windows} AS g"
        lines = [row[0].strip() for row in one.sql(f"EXPLAIN {sql}").fetchall()]
        assert any(line.startswith("span group (") for line in lines), aggregate
        assert one.sql(sql).fetchall()


def test_durations_of_a_departition_add_up_to_those_of_the_spans(one: dctv.Session) -> None:
    draw = random.Random(2)
    for _ in range(6):
        source = table(draw)
        sql = f"""SELECT (SELECT SUM(d) FROM (SELECT SPAN SUM(_duration) AS d FROM {source} GROUP USING PARTITION))
            = (SELECT SUM(_duration) FROM {source})"""
        assert one.sql(sql).fetchall() == [(True,)]


def test_one_great_span_is_plain_aggregation(one: dctv.Session) -> None:
    draw = random.Random(3)
    whole = "dctv.as_spans((SELECT 0 AS _ts, 1000 AS _duration))"
    for _ in range(6):
        source = table(draw)
        calls = "COUNT(*) AS a, SUM(s) AS b, MIN(n) AS c, MAX(r) AS d, AVG(v) AS e, SUM(_duration) AS g, COUNT(f) AS h"
        grouped = f"SELECT SPAN {calls} FROM {source} GROUP USING SPANS FROM {whole}"
        found = one.sql(f"SELECT p, q, a, b, c, d, e, g, h FROM ({grouped}) ORDER BY p, q").fetchall()
        wanted = one.sql(f"SELECT p, q, {calls} FROM {source} GROUP BY p, q ORDER BY p, q").fetchall()
        assert found == wanted


def test_a_mean_of_large_numbers_is_no_overflow(one: dctv.Session) -> None:
    rows = ", ".join(f"(0, 1, {cpu}, {2**62})" for cpu in range(8))
    query = f"dctv.as_spans((SELECT * FROM (VALUES {rows}) AS t(_ts, _duration, cpu, v)), partition=>'cpu')"
    assert one.sql(f"SELECT SPAN AVG(v) AS a FROM {query} GROUP USING PARTITION").fetchall() == [(0, 1, 2.0**62)]


@pytest.mark.parametrize("kind", ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64"])
def test_means_of_integers_round_as_the_engines(one: dctv.Session, kind: str) -> None:
    modulus = {"INT8": 127, "UINT8": 255, "INT16": 32_749, "UINT16": 65_521}.get(kind, 2**31 - 1)
    factor = 4_294_967_311 if kind == "INT64" else 1
    source = f"""dctv.as_spans((SELECT range AS _ts, 1 AS _duration,
        (((range * range * 48_271 + range * 7919) % {modulus}) * {factor})::{kind} AS v FROM range(0, 60_000)))"""
    for width in (3, 7, 1013):
        windows = f"dctv.generate_sequential_spans(0, 60_000ns, {width}ns)"
        found, wanted = (
            one.sql(f"SELECT SPAN AVG(v){more} AS a FROM {source} GROUP USING SPANS FROM {windows}").fetchall()
            for more in ("", " FILTER (WHERE TRUE)")
        )
        assert found == wanted
