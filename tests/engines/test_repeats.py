"""Steps of a query that an engine would evaluate many times are found, and replaced by tables that hold their rows."""

from __future__ import annotations

from dctv.engines.spark.repeats import MOST, reading, repeated_step, up_to
from dctv.engines.sql.spark import text_of
from dctv.plan.build import select
from dctv.plan.node import Query
from dctv.plan.queries import CommonTable, Compound, Derived, Select
from dctv.record import replace

Steps = list[tuple[str, Query]]


def with_steps(query: Select, steps: Steps) -> Select | Compound:
    return replace(query, steps=tuple(CommonTable(name, step) for name, step in steps))


def twice(table: str) -> Compound:
    return Compound("UNION", (select("v", source=table), select("v", source=table)), all=True)


def doubled(count: int) -> Select | Compound:
    """Return a query of some steps, each of which, like the query, reads the one before twice."""
    steps: Steps = [
        ("s1", select("v", source="t")),
        *((f"s{one}", twice(f"s{one - 1}")) for one in range(2, count + 1)),
    ]
    return with_steps(select("v", source=Derived(twice(f"s{count}"), "both")), steps)


def test_few_references_are_left_to_the_engine() -> None:
    assert MOST == 4
    assert [repeated_step(doubled(count)) for count in (1, 2, 3, 4, 20)] == [None, None, 2, 2, 2]


def test_a_step_that_is_read_once_is_not_kept() -> None:
    steps: Steps = [("s1", twice("t")), ("s2", twice("s1")), ("s3", twice("s2"))]
    assert repeated_step(with_steps(select("v", source="s3"), steps)) == 1
    assert repeated_step(with_steps(select("v", source="s3"), [*steps[:1], ("s3", twice("s1"))])) is None


def test_many_tables_are_no_repeats() -> None:
    parts = tuple(select("v", source=f"t{number}") for number in range(100))
    query = select("v", source=Derived(twice("s1"), "both"))
    assert repeated_step(with_steps(query, [("s1", Compound("UNION", parts, all=True))])) is None


def test_the_rest_reads_what_was_kept() -> None:
    query = doubled(3)
    position = repeated_step(query)
    assert position is not None
    assert text_of(up_to(query, position)) == (
        "WITH `s1` AS (SELECT `v` FROM `t`), "
        "`s2` AS (SELECT `v` FROM `s1` UNION ALL SELECT `v` FROM `s1`), "
        "`s3` AS (SELECT `v` FROM `s2` UNION ALL SELECT `v` FROM `s2`) SELECT * FROM `s3`"
    )
    assert text_of(reading(query, position, "kept")) == (
        "SELECT `v` FROM (SELECT `v` FROM `kept` AS `s3` UNION ALL SELECT `v` FROM `kept` AS `s3`) AS `both`"
    )


def test_each_step_is_kept_until_none_repeats() -> None:
    query, kept = doubled(40), 0
    while (position := repeated_step(query)) is not None:
        assert text_of(up_to(query, position)).count("`v` FROM") < 10
        query = reading(query, position, f"kept{kept}")
        kept += 1
    assert kept == 19
