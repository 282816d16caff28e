"""A departition that the kernel aggregates gives what the engine gives for the same pieces."""

from __future__ import annotations

import random

import pytest

import dctv
from dctv.errors import EngineError

AGGREGATES = ("COUNT(*)", "COUNT(v)", "MIN(v)", "MAX(v)", "SUM(v)")


def table(draw: random.Random) -> str:
    """Return spans partitioned by p and q, some of them with NULLs and numbers near the edge."""
    rows = []
    for p in draw.sample(["'a'", "'b'", "NULL", "''"], draw.randint(1, 4)):
        for q in draw.sample([1, 2], draw.randint(1, 2)):
            ts = draw.randint(0, 3)
            for _ in range(draw.randint(1, 4)):
                duration = draw.randint(1, 4)
                rows.append(f"({ts}, {duration}, {p}, {q}, {draw.choice(['NULL', '-5', '7', '0', str(2**62)])}::INT64)")
                ts += duration + draw.randint(0, 2)
    values = f"(SELECT * FROM (VALUES {', '.join(rows)}) AS t(_ts, _duration, p, q, v))"
    return f"dctv.as_spans({values}, partition=>['p', 'q'])"


def outcome(session: dctv.Session, query: str) -> object:
    """Return the rows, or that a sum does not fit."""
    try:
        return session.sql(query).fetchall()
    except EngineError as error:
        return "overflow" if "64" in error.message or "overflow" in error.message else error.message


@pytest.mark.parametrize("group", ["", "(p)", "(q)"])
@pytest.mark.parametrize("mode", ["", "AND INTERSECT"])
def test_kernel_and_engine_agree(group: str, mode: str, span_engine: str) -> None:
    draw = random.Random(f"{group}{mode}")
    with dctv.Session() as session:
        session.sql(f"SET span_engine = '{span_engine}'")
        for _ in range(25):
            source = table(draw)
            plain, filtered = (
                f"SELECT SPAN {', '.join(f'{a}{more} AS a{i}' for i, a in enumerate(AGGREGATES))} "
                f"FROM {source} GROUP {mode} USING PARTITION {group}"
                for more in ("", " FILTER (WHERE TRUE)")
            )
            lines = [row[0].strip() for row in session.sql(f"EXPLAIN {plain}").fetchall()]
            assert any(line.startswith("departition (") for line in lines) == (span_engine == "kernel")
            assert outcome(session, plain) == outcome(session, filtered)


def test_a_mean_of_large_numbers_is_no_overflow() -> None:
    rows = ", ".join(f"(0, 1, {cpu}, {2**62})" for cpu in range(8))
    query = f"dctv.as_spans((SELECT * FROM (VALUES {rows}) AS t(_ts, _duration, cpu, v)), partition=>'cpu')"
    with dctv.Session() as session:
        assert session.sql(f"SELECT SPAN AVG(v) AS a FROM {query} GROUP USING PARTITION").fetchall() == [
            (0, 1, 2.0**62)
        ]
