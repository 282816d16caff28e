"""NaN and zeros in column stores and Parquet files: statistics leave them out, and answers do not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dctv.session import Session

VALUES = [1.5, float("nan"), 2.0, None, 0.0]
CONDITIONS = [
    "f > 3.0", "f >= 'nan'::DOUBLE", "f = 'nan'::DOUBLE", "f <> 1.5", "f <> 'nan'::DOUBLE", "f NOT IN (1.5)",
    "isnan(f)", "NOT (f <= 2.0)", "f > 'inf'::DOUBLE", "f BETWEEN 'nan'::DOUBLE AND 'nan'::DOUBLE", "f < 1.0",
]  # fmt: skip
QUESTIONS = [
    *(f"SELECT COUNT(*) AS n FROM {{}} WHERE {one}" for one in CONDITIONS),
    "SELECT MAX(f)::STRING AS m, MIN(f)::STRING AS l, MIN(-f)::STRING AS z FROM {}",
]


def expected() -> list[list[tuple[object, ...]]]:
    """Return the answers over a table in memory."""
    rows = ", ".join(f"({'NULL' if one is None else repr(str(one))}::DOUBLE)" for one in VALUES)
    with Session(index=False) as session:
        session.sql(f"CREATE TABLE here AS SELECT * FROM (VALUES {rows}) AS v(f)")
        return [session.sql(one.format("here")).fetchall() for one in QUESTIONS]


def file_of(folder: Path, kind: str, name: str = "x") -> Path:
    path = folder / f"{name}.{kind}"
    if kind == "csv":
        path.write_text("_ts,f\n" + "".join(f"{at},{'' if one is None else one}\n" for at, one in enumerate(VALUES)))
    else:
        times, width = pa.array(range(len(VALUES))), pa.float32() if name == "narrow" else pa.float64()
        pq.write_table(pa.table({"_ts": times, "f": pa.array(VALUES, width)}), path)
    return path


@pytest.mark.parametrize(("kind", "name"), [("csv", "x"), ("parquet", "x"), ("parquet", "narrow")])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_of_a_trace(kind: str, name: str, tmp_path: Path, *, is_indexed: bool) -> None:
    path = file_of(tmp_path, kind, name)
    with Session(index=is_indexed, index_dir=tmp_path / "indexes") as session:
        if is_indexed:
            session.index(str(path))
        session.mount(str(path), "t", timestamp="_ts")
        found = [session.sql(one.format(f"t.raw_events.{name}")).fetchall() for one in QUESTIONS]
    assert found == expected()


def test_of_many_traces(tmp_path: Path) -> None:
    folders = [tmp_path / f"run{number}" for number in range(3)]
    with Session(index_dir=tmp_path / "indexes") as session:
        for folder in folders:
            folder.mkdir()
            session.index(str(file_of(folder, "csv")))
        session.sql(f"MOUNT TRACES '{tmp_path}/run*/x.csv' AS runs WITH (timestamp => '_ts')")
        table = "runs.raw_events.x"
        found = session.sql(
            f"SELECT COUNT(*) AS n, COUNT(DISTINCT _trace) AS traces FROM {table} WHERE f > 3.0"
        ).fetchall()
        most = session.sql(f"SELECT MAX(f)::STRING AS most FROM {table}").fetchall()
        each = session.sql(f"SELECT _trace, MAX(f)::STRING AS most FROM {table} GROUP BY 1").fetchall()
    assert (found, most) == ([(3, 3)], [("nan",)])
    assert [most for _, most in each] == ["nan"] * 3


def test_of_a_file_by_its_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, "parquet")
    sources = [f"'{path}'", f"read_parquet('{path}')", f"parquet_scan('{path}', can_have_nan => true)"]
    with Session(index=False, allow_files=True) as session:
        for source in sources:
            assert [session.sql(one.format(source)).fetchall() for one in QUESTIONS[:-1]] == expected()[:-1]
