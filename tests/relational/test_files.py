"""Every `.test` file of the dialect and the standard library gives the same rows with sweeps and with queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.errors import DctvError
from dctv.run.result import Result
from dctv.session import Session
from tests.sqltest import BLOCK, ROOT

FILES = sorted([*(ROOT / "tests" / "sql").rglob("*.test"), *(ROOT / "tests" / "stdlib").rglob("*.test")])


def outcomes(text: str, span_engine: str) -> list[list[object]]:
    """Return for each block its rows in any order, or its error.

    A query counts nothing that it passes over, so it does not warn; of the rows that a check lists it names the first.
    """
    found = []
    with Session() as session:
        session.sql(f"SET span_engine = '{span_engine}'")
        for block in BLOCK.finditer(text):
            if block["name"] is not None:
                session.mount(str(ROOT / block["path"]), block["name"])
            elif not block["sql"].lstrip().upper().startswith("EXPLAIN"):
                found.append([block["sql"], *_run(session, block["sql"])])
    return found


def _run(session: Session, sql: str) -> list[object]:
    shown: list[object] = []
    try:
        outcomes = session.execute(sql)
        shown.extend(sorted(outcome.fetchall(), key=repr) for outcome in outcomes if isinstance(outcome, Result))
    except DctvError as error:
        shown.append(error.message.partition("; ")[0])
    return shown


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_same_rows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert outcomes(text, "relational") == outcomes(text, "kernel")
