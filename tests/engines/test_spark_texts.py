"""What is written for Spark: every node of the plan has a text that parses, or is refused with a way out."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from sqlglot import exp, parse_one

from dctv.engines.sql import duckdb
from dctv.engines.sql.spark import write
from dctv.engines.sql.vetted.aggregates import FORMS as AGGREGATE_FORMS
from dctv.engines.sql.vetted.aggregates import RANKS, VALUES
from dctv.engines.sql.vetted.forms import FORMS
from dctv.engines.sql.vetted.functions import AGGREGATES, NAMES, NEAR, SCALARS
from dctv.engines.sql.vetted.regex import portable
from dctv.errors import NotOnThisEngine
from dctv.plan import expressions as e
from dctv.plan import queries as q
from dctv.plan.build import ROW_NUMBER, by_names, call, case, int64, join, select, with_steps
from dctv.plan.node import Node, Query
from dctv.plan.walk import walk
from dctv.record import replace
from tests.engines.edges import ONE, TWO, TYPES, B, D, H, J, K, N, P, R, S, U, Y
from tests.engines.function_samples import AGGREGATE_SAMPLES, LIST_SAMPLES, SCALAR_SAMPLES, WINDOW_SAMPLES
from tests.engines.operator_samples import CASTS, OPERATORS
from tests.engines.query_samples import QUERIES, aggregating

TABLES = {"edges": list(TYPES.items())}
ID = by_names(("id",))
EDGES = q.TableName("edges")
RUNNING = e.Window(call("sum", K), (), ID)


def of(*values: e.Expression) -> q.Select:
    return select(*values, source="edges")


def text_of(value: e.Expression) -> str:
    """Return what is written for an expression."""
    return write(of(value), TABLES).removeprefix("SELECT ").removesuffix(" FROM `edges`")


def samples() -> Iterable[Query]:
    for expressions in (SCALAR_SAMPLES, WINDOW_SAMPLES, LIST_SAMPLES, OPERATORS, CASTS):
        yield from (of(one) for listed in expressions.values() for one in listed)
    yield from (query for listed in AGGREGATE_SAMPLES.values() for one in listed for query in aggregating(one))
    yield from QUERIES.values()


def test_all_samples_are_written_so_that_they_parse() -> None:
    written = [write(query, TABLES) for query in samples()]
    assert len(written) > 500
    for text in written:
        tree = parse_one(text, dialect="spark")
        assert not list(tree.find_all(exp.Command)), text


REFUSED: dict[str, tuple[Query, str]] = {
    "ASOF JOIN": (
        q.Select((q.Item(K),), EDGES, (q.Join(q.TableName("edges", "o"), on=e.Binary(">=", J, J), asof=True),)),
        "an ASOF JOIN is not on Spark: Spark has none",
    ),
    "WITH RECURSIVE": (with_steps(select("x", source="r"), [("r", select(ONE))], "r"), "a query that reads itself"),
    "function": (of(call("histogram", K)), "the function `histogram` is not on Spark"),
    "keyword": (of(call("concat", e.Keyword("a", S))), "a named argument"),
    "share": (
        q.Select((q.Item(K),), limit=e.Percent(ONE)),
        "LIMIT by percent is not on Spark: Spark accepts only a number",
    ),
    "row": (of(e.Binary("=", e.Row((K, J)), e.Row((J, K)))), "a row of values"),
    "state": (of(e.State(e.Call("sum", (K,)))), "is not on Spark: "),
    "struct": (of(e.Struct(("a",), (S,))), "a struct"),
    "collation": (of(e.Collate(S, "NOCASE")), "COLLATE is not on Spark: collations have other names there"),
    "lambda": (of(call("list_reduce", K, e.Lambda(("x",), K))), "a lambda"),
    "GLOB": (of(e.Like("GLOB", S, e.Text("a*"))), "GLOB is not on Spark"),
    "letters": (of(e.Like("LIKE", S, e.Text("😀%"))), "such letters count as two characters there"),
    "rows without order": (of(ROW_NUMBER), "`row_number` over a window without ORDER BY"),
    "first without order": (of(call("first", S)), "`first` without ORDER BY"),
    "GROUPS": (
        of(
            e.Window(call("sum", K), (), ID, e.Frame("GROUPS", e.FrameEnd("PRECEDING", ONE), e.FrameEnd("CURRENT ROW")))
        ),
        "a frame of GROUPS",
    ),
    "table function": (q.Select((q.Item(e.Star()),), q.TableCall(call("read_csv", e.Text("x")))), "`read_csv` in FROM"),
    "a row's list": (
        q.Select((q.Item(e.Star()),), q.TableCall(call("range", K))),
        "`range` of values that are not literals",
    ),
    "type": (of(e.Cast(S, "JSON")), "the type `JSON` is not on Spark"),
    "cast to text": (of(e.Cast(D, "VARCHAR")), "a cast from `DOUBLE` to `VARCHAR`"),
    "cast to wide": (of(e.Cast(D, "HUGEINT")), "a cast from `DOUBLE` to `HUGEINT`"),
    "cast of odd text": (of(e.Cast(e.Text("1e3"), "BIGINT")), "a cast of '1e3' to `BIGINT`"),
    "text and number": (of(e.Binary("||", S, D)), "a cast from `DOUBLE` to `VARCHAR`"),
    "dates": (of(e.Binary("+", Y, ONE)), "`+` of `DATE`"),
    "bits": (of(e.Binary("&", U, ONE)), "`&` of other integers than INT8 to INT64"),
    "shift": (of(e.Binary("<<", ONE, K)), "`<<` by a value that is not a literal"),
    "regular expression": (of(call("regexp_matches", S, e.Text(r"\bx"))), r"`\b` in the regular expression '\bx'"),
    "pattern in a column": (of(call("regexp_matches", S, R)), "a regular expression that is not a literal"),
    "place": (of(call("substring", S, K)), "`substring` with a position or length that is not a literal of at least 1"),
    "number": (of(e.Number("1" + "0" * 39)), "the number 1000"),
    "lateral": (
        q.Select((q.Item(ONE),), EDGES, (q.Join(q.Derived(select(e.Column("i", "edges")), "o"), "CROSS"),)),
        "the column `edges.i` of a source beside the query that reads it",
    ),
    "lists in order": (replace(of(K), order_by=(e.Ordered(call("list_value", K)),)), "sorting by lists"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """Each refusal says what and why, and has a hint."""
    query, message = REFUSED[name]
    with pytest.raises(NotOnThisEngine) as caught:
        write(query, TABLES)
    assert message in caught.value.message
    assert "is not on Spark: " in caught.value.message
    assert caught.value.hint


def test_every_class_of_nodes_is_written_or_refused() -> None:
    met = {type(node) for query in (*samples(), *(query for query, _ in REFUSED.values())) for node in walk(query)}
    nodes = {kind for module in (e, q) for kind in vars(module).values() if isinstance(kind, type)}
    concrete = {kind for kind in nodes if issubclass(kind, Node)} - {Node, e.Expression, Query, q.FromItem}
    # It is replaced by a value before a plan is run.
    assert concrete - met == {e.OfTrace}


def test_a_query_without_the_types_of_its_tables() -> None:
    """What depends on no type is written."""
    assert write(select("a", source="t")) == "SELECT `a` FROM `t`"
    assert write(select(e.Binary("<", e.Column("a"), ONE), source="t")) == "SELECT `a` < 1 FROM `t`"
    for value in (call("sum", e.Column("a")), e.Cast(e.Column("a"), "BIGINT"), e.Binary("//", e.Column("a"), TWO)):
        with pytest.raises(NotOnThisEngine, match="an unknown type"):
            write(select(value, source="t"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (e.Binary("/", K, J), "CAST(`i` AS DOUBLE) / NULLIF(CAST(`j` AS DOUBLE), 0)"),
        (e.Binary("//", K, TWO), "`i` DIV 2"),
        (e.Binary("%", K, J), "`i` % NULLIF(`j`, 0)"),
        (call("trunc", e.Binary("//", D, D)), None),
        (call("DCTV_ZERO_DIVISION", D), "CAST(NULL AS DOUBLE)"),
        (int64(5), "CAST('5' AS BIGINT)"),
        (e.Cast(D, "BIGINT"), "CAST(BROUND(`d`) AS BIGINT)"),
        (e.Cast(P, "BIGINT"), "CAST(CAST(ROUND(`p`, 0) AS DECIMAL(38, 0)) AS BIGINT)"),
        (e.Cast(D, "INTEGER", lenient=True), "TRY_CAST(BROUND(`d`) AS INT)"),
        (call("sum", K), "SUM(CAST(`i` AS DECIMAL(38, 0)))"),
        (call("sum", D), "SUM(`d`)"),
        (call("concat", S, K), "CONCAT_WS('', `s`, CAST(`i` AS STRING))"),
        (call("length", S), "CAST(CHAR_LENGTH(`s`) AS BIGINT)"),
        (call("regexp_extract", S, e.Text(r"\d.$")), r"REGEXP_EXTRACT(`s`, '[0-9][^\\n]\\z', 0)"),
        (e.Like("LIKE", S, e.Text("a\\%")), r"`s` LIKE 'a\\\\%'"),
        (e.Text("it's\n\\"), r"'it\'s\n\\'"),
        (e.Binary("<=>", K, H), "`i` IS NOT DISTINCT FROM `h`"),
        (e.Binary("<", P, D), "CAST(`p` AS DOUBLE) < `d`"),
        (case((B, N), default=D), "CASE WHEN `b` THEN CAST(`n` AS DOUBLE) ELSE `d` END"),
        (
            e.Window(e.Call("lag", (K,), nulls="IGNORE"), (), ID),
            "LAST_VALUE(`i`, TRUE) OVER (ORDER BY `id` NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
        ),
        (
            e.Window(e.Call("count", (e.Star(),), filter=B), (N,)),
            "COUNT(CASE WHEN `b` THEN 1 END) OVER (PARTITION BY `n`)",
        ),
        (e.Window(call("row_number"), (), ID), "CAST(ROW_NUMBER() OVER (ORDER BY `id` NULLS LAST) AS BIGINT)"),
    ],
)
def test_what_means_something_else_there(value: e.Expression, text: str | None) -> None:
    found = text_of(value)
    assert text is None or found == text


def test_common_tables_are_not_kept_and_joins_are_the_same() -> None:
    steps = with_steps(
        join(select("i", source="a", alias="a"), "a", "o", [e.Binary("=", K, K)], "SEMI"), [("a", of(K))]
    )
    assert write(steps, TABLES) == (
        "WITH `a` AS (SELECT `i` FROM `edges`) SELECT `a`.`i` FROM `a` AS `a` SEMI JOIN `a` AS `o` ON `i` = `i`"
    )


def test_qualify_is_a_condition_around() -> None:
    number = e.Window(call("row_number"), (N,), ID)
    query = q.Select((q.Item(K, "x"),), EDGES, qualify=e.Binary("=", number, ONE), order_by=(e.Ordered(S),))
    assert write(query, TABLES) == (
        "SELECT `dctv:hidden:0` AS `x` FROM (SELECT `i` AS `dctv:hidden:0`, "
        "CAST(ROW_NUMBER() OVER (PARTITION BY `n` ORDER BY `id` NULLS LAST) AS BIGINT) = 1 AS `dctv:hidden:test`, "
        "`s` AS `dctv:hidden:order0` FROM `edges`) AS `qualified` WHERE `dctv:hidden:test` "
        "ORDER BY `dctv:hidden:order0` NULLS LAST"
    )


def test_every_vetted_function_has_a_sample() -> None:
    assert SCALARS.keys() | FORMS.keys() == SCALAR_SAMPLES.keys()
    assert AGGREGATES.keys() | AGGREGATE_FORMS.keys() == AGGREGATE_SAMPLES.keys()
    assert {*RANKS, *VALUES} <= WINDOW_SAMPLES.keys()
    known = SCALAR_SAMPLES.keys() | AGGREGATE_SAMPLES.keys()
    assert set(NAMES.values()) | NEAR <= known


@pytest.mark.parametrize(
    ("pattern", "portably"),
    [
        (r"a.b$", r"a[^\n]b\z"),
        (r"[\d_]+\D", r"[0-9_]+[^0-9]"),
        (r"(?:x|\.)\{2\}{2,3}", r"(?:x|\.)\{2\}{2,3}"),
        (r"^[^\s,.]*?ñ", r"^[^\t\n\f\r ,.]*?ñ"),
    ],
)
def test_regular_expressions_are_spelled_out(pattern: str, portably: str) -> None:
    assert portable(pattern) == portably


ODD = ["(?i)x", r"\b", r"\p{L}", "x{", "x*+", "[[:alpha:]]", "[a&&b]", "[^]a]", "[", r"\Q", "x\\"]


@pytest.mark.parametrize("pattern", ODD)
def test_regular_expressions_that_are_read_otherwise(pattern: str) -> None:
    with pytest.raises(NotOnThisEngine, match="another meaning there"):
        portable(pattern)


def test_duckdb_is_written_as_before() -> None:
    window = e.Window(e.Call("lag", (K,), nulls="IGNORE"), (), ID)
    assert duckdb.write(of(window)) == 'SELECT LAG("i" IGNORE NULLS) OVER (ORDER BY "id") FROM "edges"'
