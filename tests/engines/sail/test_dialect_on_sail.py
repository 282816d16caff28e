"""Queries of `.test` files give on Sail what they give on DuckDB, where all regions of their plans can be written."""

from __future__ import annotations

from tests.engines.sail.blocks import run_files
from tests.engines.sail.served import Sail

LEAST = {"kernel": 530, "relational": 350}
"""How many queries run at least, by how span operators are carried out."""
DIFFERING = ("selects: SELECT k, id > 2 AS big, COUNT(*) AS c FROM t WHERE k = 'a' GROUP BY CUBE (k, big)",)
"""Beginnings of those that Sail answers otherwise: see `test_known_differences`."""
UNSUPPORTED = (
    "Physical plan does not support logical expression ScalarSubquery(",
    "Physical plan does not support logical expression InSubquery(",
    "projected EXISTS with unsupported correlation",
    "Error during planning: Correlated scalar subquery must be aggregated",
)
"""How its messages begin where it knows no plan for a subquery that reads columns around it, or for IN outside of a
condition."""
STOPPED = (
    "operators: SELECT NULL + 1 AS a, NULL AND false AS b",
    # It loses the names of columns that subqueries read.
    "names_of_duckdb: SELECT x, (WITH t(q) AS (SELECT SUM(y) FROM range(5)",
    "names_of_duckdb: SELECT a + 1 AS k, k IN (SELECT b + k FROM (VALUES (0))",
    # It computes an error that a condition below keeps away.
    "queue_depth: SELECT * FROM k.block.queue_depth",
)
"""Beginnings of others that it does not carry out, although they can be written."""


def test_test_files(spark: Sail) -> None:
    tallies = run_files(spark)
    told = "\n".join(line for tally in tallies for line in tally.lines())
    differing = [f"{block}\n{text}" for tally in tallies for block, text in tally.differing.items()]
    assert [text for text in differing if not text.startswith(DIFFERING)] == []
    stopped = [one for tally in tallies for one in tally.stopped.items()]
    unknown = [block for block, reason in stopped if not reason.startswith(UNSUPPORTED)]
    assert [block for block in unknown if not block.startswith(STOPPED)] == [], told
    assert [tally.way for tally in tallies if tally.ran < LEAST[tally.way]] == [], told
