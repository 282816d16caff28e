"""`dctv index` and `dctv cache` as a person runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dctv.run import timelines
from tests.command_line import ROOT, run, run_process

LOADER = ROOT / "tests/data/dftracer/loader"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copytree(LOADER, tmp_path / "loader"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a,b\n1,2\n", "0 events in 1 chunk, 8 B read, "),
        ("a.perf.txt", "java 12 1.000001: cycles:\n\t4005d0 f\n", "1 event in 1 chunk, 36 B read, "),
    ],
)
def test_what_was_read(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert run("index", path, XDG_CACHE_HOME=str(tmp_path)).out.startswith(f"{path}: {message}")


def test_an_index_is_built_found_extended_and_checked(trace: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    first = run("index", trace, XDG_CACHE_HOME=cache)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith(f"{trace}: 1,498 events in 4 chunks, 280.2 kB read, index ")
    assert ", built in " in first.out
    assert run("index", trace, XDG_CACHE_HOME=cache).out.endswith(", was there\n")
    more = run("index", trace, "--dimensions", "args.count, args.nothing", XDG_CACHE_HOME=cache)
    assert more.err == "warning: no event has a value of `args.nothing`\n"
    assert ", built in " in more.out
    checked = run("index", "--check", trace, XDG_CACHE_HOME=cache)
    assert (checked.code, checked.out, checked.err) == (0, f"{trace}: the index agrees with the trace\n", "")
    assert sorted(p.name for p in trace.iterdir()) == sorted(p.name for p in LOADER.iterdir())
    listed = run("cache", "list", XDG_CACHE_HOME=cache)
    assert listed.out.split("  ")[2:] == [f"{sorted(trace.iterdir())[0]} and 3 more", "good\n"]
    assert run("cache", "size", XDG_CACHE_HOME=cache).out.startswith("1 index, ")
    assert run("cache", "list", XDG_CACHE_HOME=str(tmp_path), DCTV_INDEX_DIR=f"{cache}/dctv/index").out == listed.out
    assert run("cache", "prune", XDG_CACHE_HOME=cache).out.startswith("removed 0 indexes")
    assert run("cache", "prune", "--all", XDG_CACHE_HOME=cache).out.startswith("removed 1 index, ")
    assert run("cache", "list", XDG_CACHE_HOME=cache).out == ""


def test_a_timeline_is_made_with_the_index(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = ("--index-dir", tmp_path / "idx")
    made = run("index", trace, "--timeline", *place)
    assert (made.code, made.err) == (0, "")
    index, timeline = made.out.splitlines()
    assert index.startswith(f"{trace}: 1,498 events in 4 chunks")
    assert timeline == f"{trace}: timeline of 24 tracks with 3,486 rows"
    monkeypatch.setattr(timelines, "_indexed", None)
    drawn = run("draw", trace, "--tracks", "Processes", "--width", "60", *place)
    assert (drawn.code, drawn.err) == (0, "")
    assert "510" in drawn.out


def test_a_process_makes_a_timeline(tmp_path: Path) -> None:
    """An index is built without numpy, which a timeline needs."""
    place = ("--index-dir", tmp_path / "idx", "--temp-directory", tmp_path / "rows")
    made = run_process("index", ROOT / "tests/data/stdlib/states.trace.txt", "--timeline", *place)
    assert (made.code, made.err) == (0, "")
    assert "timeline of " in made.out
    assert (tmp_path / "rows").is_dir()


def test_a_check_keeps_its_rows_in_the_folder_for_them(trace: Path, tmp_path: Path) -> None:
    place = ("--index-dir", tmp_path / "idx")
    assert run("index", trace, *place).code == 0
    checked = run("index", "--check", trace, *place, "--temp-directory", tmp_path / "rows")
    assert (checked.code, checked.out) == (0, f"{trace}: the index agrees with the trace\n")
    assert list((tmp_path / "rows").iterdir()) == []
    (tmp_path / "file").touch()
    refused = run("index", "--check", trace, *place, "--temp-directory", tmp_path / "file" / "x")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"error: cannot make the folder `{tmp_path / 'file' / 'x'}` for rows")


def test_a_changed_trace_is_indexed_anew(trace: Path, tmp_path: Path) -> None:
    place = ("--index-dir", tmp_path / "idx")
    assert run("index", trace, *place).code == 0
    grown = sorted(trace.iterdir())[0]
    grown.write_bytes(grown.read_bytes() + sorted(trace.iterdir())[1].read_bytes())
    checked = run("index", "--check", trace, *place)
    assert (checked.code, checked.out) == (2, "")
    assert f"`{grown}` changed after it was indexed" in checked.err
    again = run("index", trace, *place)
    assert again.code == 0
    assert f"warning: `{grown}` changed after it was indexed; it is rebuilt" in again.err
    assert run("index", "--check", trace, *place).code == 0


def test_file_system_errors_are_reported(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = run("index", trace, "--index-dir", tmp_path / "file")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(": not a directory\n")


def test_no_index_can_be_checked_where_there_is_none(trace: Path, tmp_path: Path) -> None:
    ran = run("index", "--check", trace, "--index-dir", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: found no index in ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["index", "x", "--false-positive-rate", "1e-10"],
            "found `--false-positive-rate 1e-10`, expected a number from 1e-09, below 1",
        ),
        (
            ["index", "x", "--expected-entries", "0"],
            "found `--expected-entries 0`, expected a number from 1 to 1,000,0",
        ),
        (["index", "x", "--dimensions", "a,,b"], "found `--dimensions a,,b`, expected names divided by commas"),
        (["cache", "prune", "--max-size", "many"], "found `--max-size many`, expected a size such as 10GB"),
        (
            ["cache", "prune", "--older-than", "old"],
            "found `--older-than old`, expected a time such as 90s, 12h or 30d",
        ),
        (["cache", "list", "--all"], "they belong to `prune`"),
    ],
)
def test_wrong_arguments_are_reported(words: list[str], told: str) -> None:
    ran = run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_an_unknown_dimension_is_reported(trace: Path, tmp_path: Path) -> None:
    ran = run("index", trace, "--dimensions", "cats", "--index-dir", tmp_path / "idx")
    assert ran.code == 2
    assert ran.err == "error: found no dimension `cats` in traces of format `dftracer`\nhint: try `cat`\n"
