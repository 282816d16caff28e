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
    """Return for each block its rows in any order, its warnings, or its error."""
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
        for outcome in session.execute(sql):
            if isinstance(outcome, Result):
                shown += [sorted(outcome.fetchall(), key=repr), outcome.warnings]
    except DctvError as error:
        shown.append(error.message)
    return shown


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_same_rows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert outcomes(text, "relational") == outcomes(text, "kernel")
