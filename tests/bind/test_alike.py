"""Values that are refused for their types are those that the engine has no common type for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import duckdb
import pytest

from dctv.errors import BindError
from dctv.session import Session

VALUES = {
    "BOOL": "TRUE",
    "INT32": "1",
    "INT128": "1::HUGEINT",
    "FLOAT64": "1.5::DOUBLE",
    "DECIMAL": "1.5",
    "DATE": "DATE '2026-01-01'",
    "TIMESTAMP": "TIMESTAMP '2026-01-01 10:00:00'",
    "TIMESTAMPTZ": "TIMESTAMPTZ '2026-01-01 10:00:00'",
    "TIMESTAMP_NS": "TIMESTAMP_NS '2026-01-01 10:00:00'",
    "TIME": "TIME '10:00'",
    "TIMETZ": "'10:00:00+01'::TIMETZ",
    "INTERVAL": "INTERVAL '1 day'",
    "list": "[1]",
    "array": "[1]::INTEGER[1]",
    "struct": "{'a': 1}",
    "row": "row(1)",
    "map": "MAP {1: 2}",
    "BLOB": "'a'::BLOB",
    "UUID": "'00000000-0000-0000-0000-000000000001'::UUID",
    "BIT": "'01'::BIT",
    "JSON": "'1'::JSON",
    "text": "'a'::VARCHAR",
    "NULL": "NULL",
}
FORMS = ("{} = {}", "[{}, {}]", "coalesce({}, {})", "CASE WHEN random() > 2 THEN {} ELSE {} END", "{} IN ({})")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(index=False) as made:
        yield made


@pytest.mark.parametrize("form", FORMS)
def test_the_engine_refuses_them_too(form: str, session: Session) -> None:
    refused = 0
    for left, right in combinations(VALUES.values(), 2):
        sql = f"SELECT {form.format('x', 'y')} AS r FROM (SELECT {left} AS x, {right} AS y) AS t"
        try:
            session.sql(sql)
        except BindError as error:
            if " mixes " not in error.message or "a string" in error.message:
                continue
            refused += 1
            with pytest.raises(duckdb.Error):
                duckdb.execute(sql).fetchall()
    assert refused > 100
