"""What Harlequin gets of traces: a catalog, rows, errors and words to complete; no screen is needed for that."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points

import pytest
from harlequin.catalog import CatalogItem, InteractiveCatalogItem
from harlequin.exception import HarlequinConnectionError, HarlequinQueryError

from dctv.harlequin import DctvAdapter, DctvConnection

CALLS = "tests/data/stdlib/calls.pfw"


@pytest.fixture
def connection() -> Iterator[DctvConnection]:
    connected = DctvAdapter([f"t={CALLS}"]).connect()
    yield connected
    connected.close()


def labels(items: list[CatalogItem]) -> dict[str, CatalogItem]:
    return {item.label: item for item in items}


def rows(connection: DctvConnection, query: str) -> list[dict[str, object]]:
    cursor = connection.execute(query)
    assert cursor is not None
    found: list[dict[str, object]] = cursor.fetchall().to_pylist()
    return found


def test_harlequin_finds_the_adapter() -> None:
    (found,) = entry_points(group="harlequin.adapter", name="dctv")
    assert found.load() is DctvAdapter


def test_the_catalog_has_tables_by_their_namespaces(connection: DctvConnection) -> None:
    connection.execute("CREATE VIEW `group` AS SELECT 5ms AS `order`, 'a' AS text")
    top = labels(connection.get_catalog().items)
    assert (top["group"].query_name, top["group"].type_label) == ("`group`", "v")
    assert [top["t"].type_label, top["dctv"].type_label] == ["ns", "ns"]
    assert labels(top["t"].children)["events"].query_name == "t.events"
    assert labels(labels(top["t"].children)["binder"].children)["transactions"].query_name == "t.binder.transactions"


def test_columns_come_when_a_table_is_opened(connection: DctvConnection) -> None:
    connection.execute("CREATE VIEW `group` AS SELECT 5ms AS `order`, 'a' AS text")
    table = labels(connection.get_catalog().items)["group"]
    assert isinstance(table, InteractiveCatalogItem)
    assert [(one.label, one.query_name, one.type_label, one.type_name) for one in table.fetch_children()] == [
        ("order [ms]", "`order`", "#", "INT32"),
        ("text", "text", "s", "STRING"),
    ]


def test_names_that_the_catalog_inserts_are_understood(connection: DctvConnection) -> None:
    connection.execute("CREATE VIEW `group` AS SELECT 5ms AS `order`")
    table = labels(connection.get_catalog().items)["group"]
    assert isinstance(table, InteractiveCatalogItem)
    (column,) = table.fetch_children()
    assert rows(connection, f"SELECT {column.query_name} FROM {table.query_name}") == [{"order": 5}]


def test_rows_have_units_in_their_heads(connection: DctvConnection) -> None:
    cursor = connection.execute("SELECT 5ms AS x, [1.5] AS l, true AS b, sparkline([1, 2]) AS s")
    assert cursor is not None
    assert cursor.columns() == [("x [ms]", "#"), ("l", "[]"), ("b", "t/f"), ("s", "s")]
    assert cursor.fetchall().to_pylist() == [{"x": 5, "l": [1.5], "b": True, "s": "▁█"}]


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (3, 3), (5000, 5000), (20000, 10000)])
def test_no_more_rows_than_asked_for(connection: DctvConnection, limit: int, count: int) -> None:
    cursor = connection.execute("SELECT i FROM range(10000) r (i) ORDER BY i")
    assert cursor is not None
    assert cursor.set_limit(limit).fetchall()["i"].to_pylist() == list(range(count))


def test_a_result_without_rows_has_columns(connection: DctvConnection) -> None:
    cursor = connection.execute("SELECT 1 AS x LIMIT 0")
    assert cursor is not None
    assert cursor.fetchall().column_names == ["x"]


def test_statements_without_rows_give_no_cursor(connection: DctvConnection) -> None:
    assert connection.execute("CREATE VIEW v AS SELECT 1 AS x") is None
    assert connection.execute("ASSERT (SELECT x FROM v) = 1") is None
    assert rows(connection, "SELECT x FROM v") == [{"x": 1}]


def test_results_are_read_side_by_side(connection: DctvConnection) -> None:
    first, second = connection.execute("SELECT 1 AS x"), connection.execute("SELECT 2 AS x")
    assert first is not None
    assert second is not None
    assert (second.fetchall()["x"].to_pylist(), first.fetchall()["x"].to_pylist()) == ([2], [1])


def test_errors_have_the_words_of_dctv(connection: DctvConnection) -> None:
    with pytest.raises(HarlequinQueryError) as failed:
        connection.execute("SELECT nope FROM t.calls")
    assert failed.value.msg.splitlines()[:3] == [
        "<query>:1:8: unknown column `nope`",
        "  SELECT nope FROM t.calls",
        "         ^^^^",
    ]
    with pytest.raises(HarlequinQueryError, match="assertion failed"):
        connection.execute("ASSERT 1 = 2")


def test_what_fails_while_rows_are_read(connection: DctvConnection) -> None:
    with pytest.raises(HarlequinQueryError, match="too bad"):
        rows(connection, "SELECT CASE WHEN i = 9000 THEN error('too bad') END AS x FROM range(10000) r (i)")


def test_words_to_complete(connection: DctvConnection) -> None:
    found = {(one.label, one.type_label) for one in connection.get_completions()}
    assert {("span", "kw"), ("qualify", "kw"), ("sparkline", "fn"), ("time_avg", "fn"), ("t.wall_clock", "fn")} <= found


def test_traces_without_a_name_get_one() -> None:
    connected = DctvAdapter([CALLS]).connect()
    assert connected.init_message == f"`{CALLS}` is mounted as `calls` (NAME=PATH gives it another name)"
    assert rows(connected, "SELECT count(*) > 0 AS some FROM calls.events") == [{"some": True}]
    connected.close()


def test_traces_that_cannot_be_mounted() -> None:
    with pytest.raises(HarlequinConnectionError, match=r"no such file or folder: `nope\.pfw`"):
        DctvAdapter(["nope.pfw"]).connect()
