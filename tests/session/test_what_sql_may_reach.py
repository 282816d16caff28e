"""Every function and setting of the installed engine is offered, or refused where it stands; files are out of reach."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dctv import Session
from dctv.engines.allowed import KINDS, OF_FILES, SYNTAX, TABLES
from dctv.errors import BindError, TraceError, UsageError
from dctv.run.result import Result
from dctv.sandbox import sandboxed

INSTALLED = duckdb.connect().execute("SELECT lower(function_name), function_type FROM duckdb_functions()").fetchall()
SETTINGS = [name for (name,) in duckdb.connect().execute("SELECT name FROM duckdb_settings() ORDER BY 1").fetchall()]


def installed(*kinds: str) -> list[str]:
    return sorted({name for name, kind in INSTALLED if kind in kinds and name.isidentifier()})


@pytest.fixture(scope="module")
def closed() -> Iterator[Session]:
    with Session() as session:
        yield session


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "x[1].csv"
    path.write_text("a,b\n1,2\n")
    return path


def refusal(session: Session, text: str) -> BindError:
    with pytest.raises(BindError) as caught:
        session.sql(text).fetchall()
    assert caught.value.place is not None
    return caught.value


def test_every_name_on_the_list_is_installed() -> None:
    assert set(KINDS) - SYNTAX <= set(installed("scalar", "macro", "aggregate", "window"))
    assert set(installed("table", "table_macro")) >= TABLES | OF_FILES


@pytest.mark.parametrize("name", installed("table", "table_macro", "pragma"))
def test_a_table_function_is_offered_or_refused_at_its_name(closed: Session, name: str) -> None:
    if name in TABLES:
        return
    error = refusal(closed, f"SELECT * FROM `{name}`()")
    assert error.place is not None
    assert error.place.text == f"`{name}`"
    assert error.message.startswith(f"`{name}` ")
    assert ("--allow-files" in (error.hint or "")) == (name in OF_FILES)


def test_offered_table_functions_run(closed: Session) -> None:
    for name, arguments in {
        "generate_series": "3",
        "json_each": "'[1]'",
        "json_tree": "'[1]'",
        "range": "3",
        "repeat": "1, 3",
        "unnest": "[1, 2]",
    }.items():
        assert closed.sql(f"SELECT * FROM {name}({arguments})").fetchall()
    assert len(TABLES) == 6


def test_every_other_function_is_offered_or_refused_at_its_name(closed: Session) -> None:
    with_rules = set(closed.functions())
    for name in set(installed("scalar", "macro", "aggregate", "window")) - with_rules:
        error = refusal(closed, f"SELECT 1 + `{name}`()")
        assert error.place is not None
        assert error.place.text == f"`{name}`", name
        assert error.message == f"`{name}` is a function of the engine that dctv does not offer"


def test_a_setting_is_offered_or_refused_at_its_name(closed: Session) -> None:
    offered = {"threads": "1", "memory_limit": "1GB"}
    for name in SETTINGS:
        if name in offered:
            closed.sql(f"SET {name} = '{offered[name]}'")
            continue
        error = refusal(closed, f"SET `{name}` = '1'")
        assert error.place is not None
        assert error.place.text == f"`{name}`"
        assert error.message == f"unknown setting `{name.lower()}`"


def test_a_file_is_refused_with_the_way_to_read_it(closed: Session, table: Path) -> None:
    error = refusal(closed, f"SELECT * FROM '{table}'")
    assert error.message == f"a query may not read the file `{table}` by its name"
    assert "MOUNT TRACE" in (error.hint or "")
    closed.sql(f"MOUNT TRACE '{table}' AS mounted")
    assert closed.sql("SELECT * FROM mounted.`x[1]`").fetchall() == [(1, 2)]


def test_a_log_is_not_written(closed: Session, tmp_path: Path) -> None:
    victim = tmp_path / "victim.csv"
    victim.write_text("mine\n")
    refusal(closed, f"SELECT * FROM enable_logging('QueryLog', storage=>'file', storage_path=>'{victim}')")
    assert [path.name for path in tmp_path.iterdir()] == ["victim.csv"]
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("folders", [False, True])
def test_a_session_may_allow_files(table: Path, *, folders: bool, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n3,4\n")
    escaped = str(table).replace("[", "[[]")
    with Session(allow_files=[table.parent] if folders else True) as session:
        assert session.sql(f"SELECT b FROM '{escaped}' AS f WHERE f.a = 1").fetchall() == [(2,)]
        assert session.sql(f"SELECT a FROM read_csv('{escaped}')").fetchall() == [(1,)]
        if not folders:
            assert session.sql(f"SELECT a FROM '{other}'").fetchall() == [(3,)]
            return
        error = refusal(session, f"SELECT a FROM '{other}'")
        assert error.message == f"a query may not read the file `{other}` by its name"
        linked = table.parent / "linked.csv"
        linked.symlink_to(other)
        for named in (linked, table.parent / "*.csv", table.parent):
            assert "a query may not read the file" in refusal(session, f"SELECT a FROM '{named}'").message


def test_a_closed_session_writes_no_file(closed: Session, tmp_path: Path) -> None:
    error = refusal(closed, f"COPY (SELECT 1 AS a) TO '{tmp_path}/x.csv'")
    assert error.message == f"a query may not write the file `{tmp_path}/x.csv`"
    assert "--allow-files" in (error.hint or "")
    assert list(tmp_path.iterdir()) == []


def test_a_session_writes_only_where_it_may(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "there.csv").symlink_to(outside / "there.csv")
    one = outside / "one.csv"
    with Session(allow_files=[inside, one]) as session:
        for target in (outside / "x.csv", inside / "../outside/x.csv", inside / "link/x.csv", inside / "there.csv"):
            error = refusal(session, f"COPY (SELECT 1 AS a) TO '{target}'")
            assert error.message == f"a query may not write the file `{target}`: the session does not allow it"
        session.sql(f"COPY (SELECT 1 AS a) TO '{inside}/x.csv'; COPY (SELECT 2 AS a) TO '{one}'")
    assert sorted(path.name for path in outside.iterdir()) == ["one.csv"]
    assert ((inside / "x.csv").read_text(), one.read_text()) == ("a\n1\n", "a\n2\n")


def test_a_file_beside_a_report_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with Session(allow_files=True) as session:
        (result,) = session.execute("SELECT a FROM 'x.csv'", base=tmp_path)
        assert isinstance(result, Result)
        assert result.fetchall() == [(1,)]


def test_a_file_of_unknown_kind(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a line of text\n")
    with Session(allow_files=True) as session, pytest.raises(TraceError, match="has no known format") as caught:
        session.sql(f"SELECT * FROM '{tmp_path}/notes.txt'")
    assert caught.value.place is not None
    assert caught.value.place.text == f"'{tmp_path}/notes.txt'"


def test_allowed_files_are_a_list() -> None:
    with pytest.raises(UsageError, match="expected `allow_files` to be True or a list of paths"):
        Session(allow_files="data")


def test_only_the_session_sets_the_spill_folder(tmp_path: Path) -> None:
    with Session(temp_directory=tmp_path / "spill", memory_limit="80MB", threads=1) as session:
        assert "--temp-directory" in (refusal(session, "SET temp_directory = 'elsewhere'").hint or "")
        assert session.spill_folder.parent == tmp_path / "spill"
        rows = session.sql("SELECT count(*) FROM (SELECT range AS a, random() AS b FROM range(4000000) ORDER BY b)")
        assert rows.fetchall() == [(4_000_000,)]
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/etc/*')",
        "ATTACH '{folder}/dctv-victim.db'",
        "COPY (SELECT 1) TO '{folder}/dctv-victim.csv'",
        "SELECT * FROM enable_logging('QueryLog', storage := 'file', storage_path := '{folder}/dctv-victim')",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/hostname']",
        "SET log_query_path = '{folder}/dctv-victim.log'",
        "LOAD httpfs",
    ],
)
def test_the_engine_itself_is_shut_in(text: str, tmp_path: Path) -> None:
    connection = sandboxed({})
    with pytest.raises(duckdb.Error):
        connection.execute(text.replace("{folder}", str(tmp_path))).fetchall()
    assert list(tmp_path.iterdir()) == []


def test_files_that_were_given_can_be_read(table: Path) -> None:
    connection = sandboxed({}, files=[table])
    escaped = str(table).replace("[", "[[]")
    assert connection.execute(f"SELECT a FROM read_csv('{escaped}')").fetchall() == [(1,)]


def test_no_text_connects_to_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, Session() as session:
        server.settimeout(0.2)
        with pytest.raises(BindError, match="a query may not connect to the engine"):
            session.sql(f"SET engine = 'sc://127.0.0.1:{server.getsockname()[1]}'")
        with pytest.raises(TimeoutError):
            server.accept()
