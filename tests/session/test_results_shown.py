"""Results in a program: printed, shown in a notebook, passed on as Arrow, and as frames with units."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dctv
from dctv.errors import EngineError, UsageError

TOOK = "SELECT 1500us AS took, 'a' AS who"
HOSTILE = """<script>alert("x")</script>&amp;'"""


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


class Cells(HTMLParser):
    """Reads what a browser would show."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: dict[str, list[str]] = {"th": [], "td": [], "p": [], "pre": []}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_data(self, data: str) -> None:
        self.texts[self.tags[-1]][-1] += data


def shown(result: dctv.Result) -> Cells:
    html = result._repr_html_()
    assert html is not None
    cells = Cells()
    cells.feed(html)
    return cells


class Terminal:
    """What IPython prints with."""

    def __init__(self) -> None:
        self.printed = ""

    def text(self, obj: str) -> None:
        self.printed += obj


def test_repr_of_a_result_reads_no_rows(session: dctv.Session) -> None:
    result = session.sql(TOOK)
    assert repr(result) == "<Result: regular table: took INT32 [us], who STRING; not read yet>"
    assert result.fetchall() == [(1500, "a")]
    assert repr(result).endswith("; read>")


def test_printed_it_is_the_table_of_the_terminal(session: dctv.Session) -> None:
    result = session.sql("SELECT * FROM (VALUES (1500us, 'a', 1 / 0), (2us, NULL, 2.5)) AS t(took, who, x)")
    assert str(result).splitlines() == [
        "took [us]  who      x",
        "---------  ----  ----",
        "     1500  a     NULL",
        "        2  NULL   2.5",
        "(2 rows)",
        "warning: division by zero gave NULL",
    ]
    assert result.fetchall() == [(1500, "a", None), (2, None, 2.5)]


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 rows"),
        (1, "1 row"),
        (20, "20 rows"),
        (21, "the first 20 of 21 rows"),
        (10_000, "the first 20 of 10,000 rows"),
    ],
)
def test_to_look_takes_no_rows(session: dctv.Session, count: int, told: str) -> None:
    result = session.sql(f"SELECT range AS n FROM range({count})")
    cells = shown(result)
    assert cells.texts["td"] == [str(n) for n in range(min(count, 20))]
    assert cells.texts["p"] == [f"regular table; {told}"]
    assert str(result).endswith(f"({told})")
    assert result.fetchall() == [(n,) for n in range(count)]
    # What was seen can be seen again.
    assert str(result).endswith(f"({told})")


def test_showing_a_long_result_reads_only_its_first_rows(session: dctv.Session) -> None:
    result = session.sql("SELECT range AS n FROM range(100000000000)")
    assert str(result).endswith(" or more rows)")
    first = next(result.batches())
    assert first.column(0)[0].as_py() == 0
    assert len(first) < 1_000_000


def test_closing_a_reader_ends_the_query(session: dctv.Session) -> None:
    for look in (False, True):
        result = session.sql("SELECT range AS n FROM range(100000000000)")
        over = threading.Event()
        result.when_read(over.set)
        if look:
            str(result)
        batches = result.batches()
        next(batches)
        assert not over.is_set()
        del batches
        gc.collect()
        assert over.is_set()


def test_a_result_cannot_be_shown_after_it_was_read(session: dctv.Session) -> None:
    result = session.sql("SELECT 1 AS a")
    result.arrow()
    assert result._repr_html_() is None
    assert str(result) == repr(result)


def test_rows_are_escaped_in_html(session: dctv.Session) -> None:
    result = session.sql(f"SELECT ? AS `{HOSTILE}`, ? AS own", [HOSTILE, "\x1b[31m\u202e"])
    cells = shown(result)
    assert set(cells.tags) == {"div", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert cells.attributes == {"style"}
    assert cells.texts["th"] == [HOSTILE, "own"]
    assert cells.texts["td"] == [HOSTILE, r"\x1b[31m\u202e"]
    assert "\x1b" not in str(result)


def test_a_notebook_shows_units_kinds_warnings_and_cuts_long_cells(session: dctv.Session) -> None:
    result = session.sql(
        "SELECT SPAN *, 1 / 0 AS x, repeat('y', 300) AS long FROM dctv.generate_sequential_spans(0, 4ns, 2ns)"
    )
    cells = shown(result)
    assert cells.texts["th"] == ["_ts [ns]", "_duration [ns]", "x", "long"]
    assert cells.texts["td"][-1] == "y" * 99 + "…"
    assert cells.texts["p"] == [
        "unpartitioned span table; 2 rows",
        "warning: division by zero gave NULL (2 times)",
    ]


def test_a_failed_result_shows_its_error(session: dctv.Session) -> None:
    result = session.sql("SELECT 9223372036854775807 + x AS `<b>` FROM (VALUES (1)) AS t(x)")
    cells, terminal = shown(result), Terminal()
    result._repr_pretty_(terminal, None)
    assert cells.texts["pre"] == [terminal.printed]
    assert terminal.printed.startswith("<query>:1:8: overflow in addition")
    with pytest.raises(EngineError, match="overflow in addition"):
        result.fetchall()
    with pytest.raises(EngineError, match="overflow in addition"):
        str(result)


def test_arrow_streams_reach_other_libraries_by_themselves(session: dctv.Session) -> None:
    expected = {"took": [1500], "who": ["a"]}
    table = pa.table(session.sql(TOOK))
    assert table.to_pydict() == expected
    assert table.schema.field("took").metadata == {b"unit": b"us"}
    assert pl.DataFrame(session.sql(TOOK)).to_dict(as_series=False) == expected
    assert session.sql(TOOK).arrow().equals(table)
    result = session.sql(TOOK)
    found = duckdb.sql("SELECT took * 2, who FROM result")
    assert found is not None
    assert found.fetchall() == [(3000, "a")]
    assert repr(result).endswith("; read>")
    session.add_table("own", session.sql(TOOK))
    assert session.sql("SELECT took IN ns AS t FROM own").fetchall() == [(1_500_000,)]


def test_the_schema_of_a_stream_takes_no_rows(session: dctv.Session) -> None:
    result = session.sql(TOOK)
    assert pa.schema(result).field("took").metadata == {b"unit": b"us"}
    assert result.fetchall() == [(1500, "a")]
    with pytest.raises(UsageError, match="read already"):
        pa.schema(result)


def test_frames_keep_units(session: dctv.Session) -> None:
    assert session.sql(TOOK).units == {"took": "us"}
    plain, named = session.sql(TOOK).df(), session.sql(TOOK).df(units_in_names=True)
    assert isinstance(plain, pd.DataFrame)
    assert (list(plain.columns), plain.attrs) == (["took", "who"], {"units": {"took": "us"}})
    assert (list(named.columns), named.attrs) == (["took [us]", "who"], {"units": {"took [us]": "us"}})
    assert session.sql(TOOK).pandas().equals(plain)
    assert session.sql(TOOK).pl().to_dicts() == [{"took": 1500, "who": "a"}]
    assert session.sql(TOOK).polars(units_in_names=True).columns == ["took [us]", "who"]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_unsupported_frame_options_are_refused_before_reading(
    session: dctv.Session, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    result = session.sql(TOOK)
    make = {"pandas": result.df, "polars": result.pl}[package]
    with monkeypatch.context() as without:
        without.setitem(sys.modules, package, None)
        with pytest.raises(UsageError, match=f"requires {package}, which is not installed") as caught:
            make()
    assert caught.value.hint == f"pip install 'dctv[{package}]'"
    assert result.fetchall() == [(1500, "a")]
