"""Aggregates that each trace gathers by itself: values up to rounding, estimates within a percent, and few rows."""

from __future__ import annotations

import math
import re
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from dctv.session import Session
from tests.fleet.traces import write_fleet

ROUNDED = 1e-12
"""What floating point, which is added in another order, may be off by, as a share of the value."""
RANKS = 0.01
"""How far an estimated quantile may be off, as a share of the rows."""
VALUES = {
    "spread": "SELECT var_pop(dur) AS a, variance(_ts) AS b, var_samp(dur) AS c, stddev(_ts) AS d, "
    "stddev_pop(dur) AS e, stddev_samp(_ts) AS f, sem(dur) AS g FROM runs.raw_events.complete",
    "spread of each name": "SELECT name, COUNT(*) AS n, stddev(dur) AS d, AVG(dur) AS m FROM runs.raw_events.complete "
    "GROUP BY name ORDER BY name",
    "spread of some": "SELECT name, variance(_ts) FILTER (WHERE tid = 1) AS v FROM runs.raw_events.complete "
    "GROUP BY name HAVING stddev(dur) > 1us ORDER BY name",
    "spread of what is computed": "SELECT tid, var_pop(unitless(dur) / 3) AS f, stddev(_ts::INT128) AS h, "
    "var_samp((unitless(dur) / 7)::DECIMAL(20, 4)) AS d, stddev(unitless(_ts)::FLOAT32) AS s "
    "FROM runs.raw_events.complete GROUP BY tid ORDER BY tid",
    "spread of different values": "SELECT tid, stddev(DISTINCT dur) AS d, COUNT(DISTINCT name) AS n "
    "FROM runs.raw_events.complete GROUP BY tid ORDER BY tid",
    "what is made of spread": "SELECT name, stddev(dur) / AVG(dur) AS c, sqrt(var_pop(dur)) AS s "
    "FROM runs.raw_events.complete GROUP BY name HAVING approx_quantile(dur, 0.5) > 1us "
    "ORDER BY stddev(dur) DESC LIMIT 3",
    "spread in a view": "SELECT name, stddev(_duration) AS d FROM runs.slices GROUP BY name ORDER BY name",
    "shape": "SELECT tid, skewness(_ts * _ts / 1s) AS s, kurtosis(_ts) AS k, kurtosis_pop(dur) AS p "
    "FROM runs.raw_events.complete GROUP BY tid ORDER BY tid",
    "pairs": "SELECT tid, corr(_ts, line) AS r, covar_pop(_ts, line) AS c, covar_samp(line, _ts) AS s "
    "FROM runs.raw_events.complete GROUP BY tid ORDER BY tid",
    "regression": "SELECT regr_slope(_ts, line) AS s, regr_intercept(_ts + 1s, line) AS i, regr_r2(_ts, line) AS r, "
    "regr_count(_ts, line) AS n, regr_avgx(_ts, line) AS ax, regr_avgy(_ts, line) AS ay, regr_sxx(_ts, line) AS xx, "
    "regr_sxy(_ts, line) AS xy, regr_syy(_ts, line) AS yy FROM runs.raw_events.complete",
    "nothing": "SELECT stddev(dur) AS d, approx_quantile(dur, 0.5) AS q, regr_count(_ts, line) AS n, "
    "count_if(line > 2) AS c, approx_count_distinct(name) AS a, any_value(name) AS v FROM runs.raw_events.complete "
    "WHERE name = 'nobody'",
    "one value": "SELECT stddev(dur) AS d, var_pop(dur) AS p, corr(_ts, dur) AS r FROM runs.raw_events.complete "
    "WHERE _ts = 10us AND _trace = 'run000.json'",
    "different ones": "SELECT approx_count_distinct(_ts) AS n, approx_count_distinct(name) AS m "
    "FROM runs.raw_events.complete",
    "different ones and all": "SELECT name, COUNT(*) AS n, COUNT(DISTINCT _trace) AS t, "
    "approx_count_distinct(_ts) AS a, SUM(DISTINCT dur) FILTER (WHERE tid = 1) AS s, AVG(dur) AS m, "
    "bit_xor(tid) AS x FROM runs.raw_events.complete "
    "GROUP BY name ORDER BY name",
    "those that hold": "SELECT tid, count_if(dur > 5us) AS n, countif(name = 'a') AS a FROM runs.raw_events.complete "
    "GROUP BY 1 ORDER BY 1",
    "sums of floats": "SELECT name, SUM(unitless(dur) / 3) AS s, AVG(dur / 7) AS a, SUM(unitless(dur)::FLOAT32) AS f "
    "FROM runs.raw_events.complete GROUP BY name ORDER BY name",
    "shares by a window": "SELECT name, COUNT(*) / SUM(COUNT(*)) OVER () AS s, rank() OVER (ORDER BY SUM(dur) DESC) "
    "AS r, COUNT(*) OVER () AS g FROM runs.raw_events.complete GROUP BY name ORDER BY name",
    "shares by another query": "SELECT name, SUM(dur) / (SELECT SUM(dur) FROM runs.raw_events.complete) AS s "
    "FROM runs.raw_events.complete GROUP BY name ORDER BY name",
    "groups that another query chooses": "SELECT name, COUNT(*) AS n FROM runs.raw_events.complete GROUP BY name "
    "HAVING AVG(dur) >= (SELECT AVG(dur) FROM runs.raw_events.complete) ORDER BY name",
    "aggregates about another query": "SELECT name, COUNT(*) FILTER (WHERE dur > (SELECT AVG(dur) "
    "FROM runs.raw_events.complete)) AS n, SUM(CASE WHEN tid IN (SELECT MAX(tid) FROM runs.raw_events.complete) "
    "THEN 1 END) AS s FROM runs.raw_events.complete GROUP BY name ORDER BY name",
    "rows beside their groups": "SELECT e._trace, e._ts, g.n FROM runs.raw_events.complete AS e "
    "JOIN (SELECT tid, COUNT(*) AS n FROM runs.raw_events.complete GROUP BY tid) AS g ON e.tid = g.tid "
    "WHERE e.name = 'a' ORDER BY 1, 2",
    "functions of groups": "SELECT upper(name) AS u, format('{}: {}', name, COUNT(*)) AS f, log10(1 + SUM(tid)) AS l "
    "FROM runs.raw_events.complete GROUP BY name ORDER BY name",
    "rollup": "SELECT name, tid, GROUPING(tid) AS g, COUNT(*) AS n, AVG(dur) AS m, COUNT(DISTINCT _trace) AS t "
    "FROM runs.raw_events.complete GROUP BY ROLLUP(name, tid) HAVING COUNT(*) > 1 ORDER BY GROUPING(name), 1, 2",
    "sets": "SELECT upper(name) AS u, label, grouping_id(name, label) AS i, SUM(dur) AS s, SUM(tid) AS y "
    "FROM runs.raw_events.complete GROUP BY tid, GROUPING SETS ((name, label), (label), ()) ORDER BY ALL",
    "cube of nothing": "SELECT name, tid, COUNT(*) AS n, SUM(dur) AS s FROM runs.raw_events.complete "
    "WHERE name = 'nobody' GROUP BY CUBE(name, tid), ROLLUP((tid, label)) ORDER BY ALL",
    "totals of nothing": "SELECT name, COUNT(*) AS n, SUM(dur) AS s FROM runs.raw_events.complete "
    "WHERE name = 'nobody' GROUP BY ROLLUP(name)",
    "picked": "SELECT first(name) AS f, any_value(dur) AS v, arg_min(name, dur) AS s, "
    "max_by(_trace, dur) AS b, arg_min_null(_trace, dur) AS o FROM runs.raw_events.complete",
    "picked of several types": "SELECT any_value(args) AS j, arg_max(day, dur) AS d, first(build) AS b "
    "FROM runs.raw_events.complete",
    "picked of each": "SELECT name, first(dur) AS f, arg_max(_ts, dur) AS m, stddev(dur) AS d "
    "FROM runs.raw_events.complete GROUP BY name ORDER BY name",
}
WHOLE = {
    "sums of different floats": "SELECT SUM(DISTINCT unitless(dur) / 3) AS s FROM runs.raw_events.complete",
    "exact quantiles": "SELECT stddev(dur) AS d, median(dur) AS m FROM runs.raw_events.complete",
    "deviations beside different values": "SELECT stddev(dur) AS d, COUNT(DISTINCT _ts) AS n "
    "FROM runs.raw_events.complete",
    "another query about each group": "SELECT name, (SELECT COUNT(*) FROM runs.raw_events.complete AS b "
    "WHERE b.name = a.name AND b.tid = 1) AS n FROM runs.raw_events.complete AS a GROUP BY name ORDER BY name",
    "last rows": "SELECT last(_ts) AS t, last(day) AS d FROM runs.raw_events.complete",
    "first rows of several groups": "SELECT name, first(dur) AS f FROM runs.raw_events.complete GROUP BY ROLLUP(name) "
    "ORDER BY name",
    "sums of floats of several groups": "SELECT tid, SUM(unitless(dur) / 3) AS s FROM runs.raw_events.complete "
    "GROUP BY CUBE(tid) ORDER BY tid",
    "quantiles of several groups": "SELECT name, median(dur) AS m FROM runs.raw_events.complete GROUP BY ROLLUP(name) "
    "ORDER BY name",
    "rows sorted by time": "SELECT first(name) AS f FROM (SELECT EVENT name FROM dctv.as_events("
    "(SELECT _trace, _ts, name FROM runs.raw_events.complete)))",
}


@pytest.fixture(
    scope="module", params=[pytest.param(1, marks=pytest.mark.ci), 3, pytest.param(20, marks=pytest.mark.ci)]
)
def session(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("gathered")
    write_fleet(folder, request.param)
    with pytest.MonkeyPatch.context() as patch, Session(index=False, threads=2) as made:
        patch.chdir(folder)
        made.mount_traces("*.json", "runs", manifest="runs.csv")
        yield made


def rows(session: Session, sql: str, *, rewrite: str = "on") -> list[tuple[Any, ...]]:
    session.sql(f"SET rewrite = '{rewrite}'")
    try:
        return session.sql(sql).fetchall()
    finally:
        session.sql("SET rewrite = 'on'")


def explained(session: Session, sql: str) -> list[str]:
    return [line.strip() for (line,) in session.sql(f"EXPLAIN {sql}").fetchall()]


def handed_over(session: Session, sql: str) -> int:
    """Return how many rows the traces hand over."""
    lines = [line for (line,) in session.sql(f"EXPLAIN ANALYZE {sql}").fetchall()]
    told = [found[1] for line in lines if (found := re.match(r" +ran: ([0-9,]+) rows", line))]
    _, handed = told
    return int(handed.replace(",", ""))


def alike(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ROUNDED) or (math.isnan(one) and math.isnan(other))
    return one == other and type(one) is type(other)


@pytest.mark.parametrize("query", VALUES)
def test_values_are_those_of_all_rows(session: Session, query: str) -> None:
    found, expected = rows(session, VALUES[query]), rows(session, VALUES[query], rewrite="off")
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert all(map(alike, one, other)), (one, other)
    assert any("part0" in line or "value0" in line for line in explained(session, VALUES[query]))


@pytest.mark.parametrize("query", WHOLE)
def test_what_is_made_of_the_rows_of_all(session: Session, query: str) -> None:
    assert not any("EXPORT_STATE" in line or "part0" in line for line in explained(session, WHOLE[query]))
    assert rows(session, WHOLE[query]) == rows(session, WHOLE[query], rewrite="off")


def test_variances_are_right(session: Session) -> None:
    """Also of values that differ by little of what they are."""
    far = "unitless(_ts) + 1000000000000"
    times = [ts for (ts,) in rows(session, "SELECT _ts FROM runs.raw_events.complete")]
    ((near, moved),) = rows(session, f"SELECT var_pop(_ts) AS v, var_pop({far}) AS f FROM runs.raw_events.complete")
    assert math.isclose(near, statistics.pvariance(times), rel_tol=ROUNDED)
    # A double of 1e12 has 2^-13 for its last digit.
    assert math.isclose(moved, statistics.pvariance(times), rel_tol=1e-9)


@pytest.mark.parametrize("share", ["0.0", "0.01", "0.5", "0.9", "1.0"])
def test_estimated_quantiles_have_nearly_their_rank(session: Session, share: str) -> None:
    table = "FROM runs.raw_events.complete GROUP BY tid ORDER BY tid"
    every = rows(session, f"SELECT list(_ts ORDER BY _ts) AS t {table}")
    estimated = rows(session, f"SELECT approx_quantile(_ts, {share}) AS q {table}")
    for (times,), (near,) in zip(every, estimated, strict=True):
        slack = max(RANKS * len(times), 1)
        assert bisect_left(times, near) - slack <= float(share) * len(times) <= bisect_right(times, near) + slack


def test_several_quantiles_are_in_order(session: Session) -> None:
    quantiles = "approx_quantile(_ts IN us, [0.1, 0.5, 0.9])"
    sql = f"SELECT name, {quantiles} AS q FROM runs.raw_events.complete GROUP BY name ORDER BY name"
    for (name, found), (other, expected) in zip(rows(session, sql), rows(session, sql, rewrite="off"), strict=True):
        assert name == other
        assert all(low < high for low, high in pairwise(found))
        assert all(math.isclose(one, right, abs_tol=600 * RANKS) for one, right in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT stddev(dur) AS d, approx_quantile(_ts, 0.5) AS q, first(name) AS f FROM runs.raw_events.complete", 1),
        ("SELECT name, variance(dur) AS d FROM runs.raw_events.complete GROUP BY name", 4),
        ("SELECT COUNT(DISTINCT dur) AS n, COUNT(*) AS m, SUM(DISTINCT dur) AS s FROM runs.raw_events.complete", 9),
        ("SELECT name, COUNT(DISTINCT tid) AS n, SUM(dur) AS s FROM runs.raw_events.complete GROUP BY name", 8),
        ("SELECT approx_count_distinct(_ts) AS n FROM runs.raw_events.complete", 1),
        ("SELECT name, tid, SUM(dur) AS s FROM runs.raw_events.complete GROUP BY CUBE(name, tid)", 8),
    ],
)
def test_each_trace_hands_over_few_rows(session: Session, sql: str, most: int) -> None:
    ((traces,),) = rows(session, "SELECT COUNT(*) AS n FROM runs.traces")
    assert handed_over(session, sql) <= most * traces
