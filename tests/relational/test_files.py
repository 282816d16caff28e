"""Every `.test` file of state systems gives the same rows with sweeps and queries, with rules or without.

All files are asked in every way by `tests/sqltest.py`, but in one session, which fills a state system once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from dctv.errors import DctvError
from dctv.run.result import Result
from dctv.session import Session
from tests.sqltest import BLOCK, ROOT

FILES = sorted(p for p in (ROOT / "tests").rglob("*.test") if "state system" in p.read_text(encoding="utf-8").lower())


@cache
def outcomes(text: str, setting: str) -> list[list[object]]:
    """Return for each block its rows in any order, or its error.

    A query counts nothing that it passes over, so it does not warn; of the rows that a check lists it names the first.
    """
    found = []
    with Session() as session:
        session.sql(f"SET {setting}")
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


# Without rules states are filled by queries that `tests/rewrite` holds to be alike, so that is left to CI.
@pytest.mark.parametrize(
    "setting", ["span_engine = 'relational'", pytest.param("rewrite = 'off'", marks=pytest.mark.ci)]
)
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_same_rows(path: Path, setting: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert outcomes(text, setting) == outcomes(text, "rewrite = 'on'")
