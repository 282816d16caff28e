"""Random queries give over many traces what they give over a table with all of their rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import DctvError
from dctv.session import Session
from tests.bounds import bounded
from tests.fleet.traces import write_fleet


def read(text: str) -> Mapping[str, Sequence[str]]:
    """Read forms by their names; a dash alone is an empty form."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("    "):
            found[next(reversed(found))].append("" if line.strip() == "-" else line[4:])
        elif line and not line.startswith("#"):
            found[line] = []
    return found


TABLES = ("slices", "events")
"""A view, and the table that indexes have statistics of."""
NUMBERED = "(SELECT *, unitless(_ts) // 10000 AS id FROM {T})"
"""Events, which have no number of their own, with the number that slices have."""
FORMS = read(Path(__file__).with_name("random_queries.txt").read_text(encoding="utf-8"))


def expanded(draw: st.DrawFn, name: str, depth: int = 2) -> str:
    """Draw a form and fill its places, with nested forms to a depth."""
    nested = FORMS.get(f"nested {name}", ()) if depth else ()
    form = draw(st.sampled_from([*FORMS[name], *nested]))
    return re.sub(r"\{([a-z]+)\}", lambda found: expanded(draw, found[1], depth - 1 if form in nested else depth), form)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("fleet")
    # All are run through together: two without arguments, one that the manifest lacks, and four more.
    write_fleet(folder, 7)
    with Session(index=True, index_dir=folder / "indexes", warn=False) as session:
        session.mount_traces(folder / "*.json", "runs", manifest=folder / "runs.csv")
        for name in TABLES:
            session.sql(f"CREATE TABLE whole_{name} AS SELECT * FROM runs.{name}")
        yield session


def of(sql: str, table: str) -> str:
    """Return a query of a table."""
    numbered = not table.endswith("slices") and re.search(r"\bid\b", sql) is not None
    return sql.replace("{T}", NUMBERED if numbered else "{T}").replace("{T}", table)


def answer(session: Session, sql: str) -> object:
    """Return the rows of a query in any order, floats rounded, or the kind of its error.

    A correlation or a deviation that is 0 may miss it by the error of its sums.
    """
    try:
        rows = session.sql(sql).fetchall()
    except DctvError as error:
        return type(error)
    return Counter(tuple(rounded(x) if isinstance(x, float) else repr(x) for x in row) for row in rows)


def rounded(number: float) -> str:
    return f"{0 if abs(number) < 1e-12 else number:.9g}"


@pytest.mark.parametrize("kind", [name for name in FORMS if name.isupper()])
def test_random_queries(session: Session, kind: str) -> None:
    answered = 0

    @bounded(60)
    @given(st.data())
    def same(data: st.DataObject) -> None:
        nonlocal answered
        sql = data.draw(st.composite(expanded)(kind))
        name = data.draw(st.sampled_from(TABLES))
        found = answer(session, of(sql, f"runs.{name}"))
        assert found == answer(session, of(sql, f"whole_{name}"))
        answered += isinstance(found, Counter)

    same()
    assert answered
