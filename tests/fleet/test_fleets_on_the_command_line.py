"""Traces of a pattern on the command line: manifests, what is said of many of them, which tables are listed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dctv.run.fleet.grouped_messages import together
from tests.command_line import ROOT, Ran, run
from tests.fleet.traces import write_fleet

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
MARKS = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"
BUILDS = "SELECT build, COUNT(*) AS n FROM runs.events GROUP BY build ORDER BY build NULLS LAST"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_fleet(tmp_path, 3)
    return tmp_path


@pytest.mark.parametrize("manifest", ["runs.csv", "runs=runs.csv"])
def test_a_manifest(folder: Path, manifest: str) -> None:
    ran = run("query", "runs=@*.json", "--manifest", manifest, "--format", "csv", BUILDS, cwd=folder)
    assert ran == Ran(0, "build,n\n100,60\n102,60\n,60\n", "")
    tables = run("tables", "runs=@*.json", "--manifest", manifest, "--like", "runs.traces", cwd=folder)
    assert (tables.code, tables.err) == (0, "")
    explained = run("explain", "runs=@*.json", "--manifest", manifest, BUILDS, cwd=folder)
    assert (explained.code, explained.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["runs=run000.json", "--manifest", "runs.csv"], "found `--manifest runs.csv` and no traces mounted as one"),
        (
            ["runs=@*.json", "--manifest", "r=runs.csv"],
            "found a manifest of `r`, which is not mounted as NAME=@'PATTERN'",
        ),
        (
            ["a=@*0.json", "b=@*1.json", "--manifest", "runs.csv"],
            "found `--manifest runs.csv`, expected NAME=FILE, as there are a and b",
        ),
        (
            ["runs=@*.json", "--manifest", "runs.csv", "--manifest", "runs=x.csv"],
            "`runs` has two manifests, `runs.csv` and `x.csv`",
        ),
    ],
)
def test_manifests_that_do_not_fit(folder: Path, words: list[str], expected: str) -> None:
    ran = run("query", *words, "SELECT 1 AS x", cwd=folder)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {expected}")


def test_outdated_indexes_are_one_line(tmp_path: Path) -> None:
    for number in range(4):
        shutil.copy(CALLS, tmp_path / f"c{number}.pfw")
        assert run("index", f"c{number}.pfw", "--index-dir", "idx", cwd=tmp_path).code == 0
        with (tmp_path / f"c{number}.pfw").open("a") as file:
            file.write("\n")
    words = ("SELECT COUNT(*) AS n FROM t.events", "--format", "csv", "--index-dir", "idx")
    expected = f"c0.pfw and 3 more: `{tmp_path}/c0.pfw` changed after it was indexed\n"
    for _ in range(2):  # What is known of them comes from the folder of indexes the second time.
        assert run("query", "t=@*.pfw", *words, cwd=tmp_path) == Ran(0, "n\n36\n", f"warning: {expected}")
    each = run("query", "--each", "*.pfw", *words, cwd=tmp_path)
    assert (each.code, each.err) == (0, f"warning: {expected}")


def test_what_is_said_of_many_traces() -> None:
    said = [("a", "`x` is old", 1), ("b", "`y` is old", 2), ("c", "empty", 1), ("a", "empty", 1), ("a", "empty", 1)]
    assert list(together(said)) == [("a and 1 more: `x` is old", 3), ("c, a: empty", 3)]
    many = [(name, "empty", 1) for name in "abcde"]
    assert list(together(many)) == [("a, b, c and 2 more: empty", 5)]


def test_counts_of_many_traces_are_added_up() -> None:
    one, three = "1 end without a begin was ignored", "3 ends without a begin were ignored"
    assert list(together([("a", one, 1), ("b", three, 1), ("c", one, 2)])) == [
        ("a, b, c: 6 ends without a begin were ignored", 1)
    ]
    assert list(together([("a", three, 1), ("b", three, 1)])) == [(f"a, b: {three}", 2)]
    quoted = [("a", "2 rows of `x` were ignored", 1), ("b", "3 rows of `y` were ignored", 1)]
    assert list(together(quoted)) == [("a and 1 more: 2 rows of `x` were ignored", 2)]
    other = [("a", one, 1), ("b", "4 stops on an empty stack were ignored", 1)]
    assert list(together(other)) == [(f"a: {one}", 1), ("b: 4 stops on an empty stack were ignored", 1)]


def test_tables_without_rows_are_left_out(tmp_path: Path) -> None:
    shutil.copy(CALLS, tmp_path / "calls.pfw")
    shutil.copy(MARKS, tmp_path / MARKS.name)

    def listed(*words: str) -> tuple[set[str], str]:
        ran = run("tables", *words, "--format", "csv", "--no-index", cwd=tmp_path)
        names = {line.partition(",")[0] for line in ran.out.splitlines()}
        return {name for name in names if name.startswith("t.")}, ran.err

    whole, said = listed("t=@*", "--all")
    assert said == ""
    found, said = listed("t=@*")
    assert said == f"{len(whole) - len(found)} more have no rows, as there are none of their events; --all lists them\n"
    alone = listed("t=calls.pfw")[0] | listed(f"t={MARKS.name}")[0]
    # A fleet has views of its own, and no functions or state systems of single traces.
    assert found == (alone & whole) | {"t.traces"}
    assert "t.io.by_file" in found
    assert found < whole
