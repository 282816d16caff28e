"""Every view and part of the standard library is there for every format, even for a trace that has nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.bind.binder import Binder
from dctv.bind.library import library_function
from dctv.catalog.mount import PARTS, Mount, attach
from dctv.catalog.stdlib import library
from dctv.contracts.reader import LoadedTrace
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.run.plans import environment
from dctv.session import Session
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS
from tests.formats import EACH, FORMATS

CONSTANT = {"t.syscalls.numbers"}
"""Views that have rows whatever the trace is."""


@pytest.fixture(params=EACH)
def empty(request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session() as session:
        _mount(session, request.param)
        yield session


def _mount(session: Session, reader: str) -> None:
    mount = Mount(("t",), "nothing", reader, LoadedTrace({}, [], 0))
    attach(session._context.catalog, mount, library(), [quantize(0, 0)], library_function)


def test_every_empty_view_says_why(empty: Session) -> None:
    names = [t.name for t in empty.tables("t") if t.kind == "view"]
    assert "t.slices" in names
    env = environment(empty._context)
    for name in names:
        if name not in CONSTANT:
            Binder(env).table(ast.TableName(ast.Path.of(name)))
            notes = [w for w in empty.warnings() if w.startswith(f"`{name}` is empty: ")]
            assert len(notes) == 1, name


def test_views_of_an_empty_trace_have_no_rows() -> None:
    seen: set[str] = set(CONSTANT)
    columns = {module.parts: module.columns for module in library().modules}
    for reader in FORMATS:
        with Session() as session:
            _mount(session, reader)
            fresh = [t.name for t in session.tables("t") if t.kind == "view" and t.name not in seen]
            for name in fresh:
                answer = session.sql(f"SELECT * FROM {name}")
                assert not answer.fetchall(), name
                documented = columns[tuple(name.split(".")[1:])]
                assert set(answer.schema.names) - {TS, DURATION} == set(documented) - {TS, DURATION}, name
            seen |= set(fresh)


@pytest.mark.parametrize("format_", FORMATS)
def test_files_of_parts_give_columns_of_their_part(format_: str) -> None:
    found = library()
    with Session() as session:
        _mount(session, format_)
        env = environment(session._context)
        for name, schema in found.parts.items():
            units = {column.name: column.unit for column in schema.columns}
            for file in found.sources[name]:
                if not file.covers(format_):
                    continue
                columns = Binder(env, ("t",)).plan(file.select()).schema.columns
                for column in columns:
                    what = f"{file.source.name}: `{column.name}`"
                    assert column.name in units, f"{what} is no column of the part"
                    assert str(column.unit) == str(units[column.name]), what


def test_every_file_of_a_part_is_of_a_part_and_a_format() -> None:
    for name, files in library().sources.items():
        for file in files:
            assert file.parts[:2] == (PARTS, name)
            unknown = set(file.formats) - {*FORMATS, "*"}
            assert file.formats, file.source.name
            assert not unknown, file.source.name


def test_parts_are_in_no_listing(empty: Session) -> None:
    assert not [t.name for t in empty.tables() if "._parts" in t.name or "._tables" in t.name]


def test_a_note_names_what_a_view_is_computed_from() -> None:
    with Session() as session:
        session.mount("tests/data/stdlib/states.trace.txt", "t")
        session.sql("SELECT * FROM t.slices, t.slices AS other")
        lacks = "`t.slices` is empty: it is computed from print|B, print|E; the trace has none of them"
        assert session.warnings() == [lacks]
        session.sql("SELECT * FROM t.scheduler.timeslices_p_cpu")
        assert session.warnings() == []


def test_a_table_and_a_space_may_have_one_name() -> None:
    with Session() as session:
        session.sql("CREATE VIEW a AS SELECT 1 AS x; CREATE VIEW a.b AS SELECT 2 AS x")
        assert [t.name for t in session.tables() if t.name.startswith("a")] == ["a", "a.b"]
        session.sql("DROP VIEW a")
        assert session.sql("SELECT x FROM a.b").fetchall() == [(2,)]
        session.sql("CREATE VIEW a AS SELECT 3 AS x; DROP ALL a")
        assert session.sql("SELECT x FROM a").fetchall() == [(3,)]
