"""The command line with traces: mounts, paths of report files, traces that were not read whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.command_line import run

LINE = "            bash-1977  [000] ....   100.{:06d}: sched_waking: comm=cat{} pid=7 prio=120 target_cpu=000\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "whole.txt"
    path.write_text("# tracer: nop\n#\n" + "".join(LINE.format(i, i * i % 9973) for i in range(5000)))
    return path


@pytest.fixture
def broken(trace: Path) -> Path:
    path = trace.with_name("broken.txt.gz")
    packed = gzip.compress(trace.read_bytes(), mtime=0)
    path.write_bytes(packed[: len(packed) // 2])
    return path


COUNT = "SELECT COUNT(*) FROM t.raw_events.sched_waking"


def test_mount(trace: Path) -> None:
    ran = run("query", COUNT, f"t={trace}")
    assert (ran.code, ran.out, ran.err) == (0, "COUNT()\n-------\n5000\n", "")


def test_paths_in_a_report_start_from_its_folder(trace: Path, tmp_path: Path) -> None:
    report = trace.with_name("report.sql")
    report.write_text(f"MOUNT TRACE 'whole.txt' AS t;\n{COUNT};\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = run("query", "-f", report, cwd=elsewhere)
    assert (ran.code, ran.out, ran.err) == (0, "COUNT()\n-------\n5000\n", "")


def test_an_incompletely_read_trace(broken: Path, tmp_path: Path) -> None:
    ran = run("query", COUNT, f"t={broken}")
    assert ran.code == 3
    assert ran.out.startswith("COUNT()\n-------\n")
    assert ran.err.startswith("error: t: ")
    assert ran.err.endswith("hint: --allow-partial accepts traces that were not read completely\n")
    assert run("query", COUNT, f"t={broken}", "-o", tmp_path / "out.csv").code == 3
    assert not (tmp_path / "out.csv").exists()


def test_an_incompletely_read_trace_can_be_accepted(broken: Path, tmp_path: Path) -> None:
    ran = run("query", COUNT, f"t={broken}", "--allow-partial", "-o", tmp_path / "out.csv")
    assert ran.code == 0
    assert ran.err.startswith("warning: t: ")
    assert (tmp_path / "out.csv").read_text().startswith("COUNT()\n")


def test_the_prompt_reports_an_incompletely_read_trace(broken: Path) -> None:
    ran = run("repl", f"t={broken}", stdin="SELECT 1 AS x;")
    assert (ran.code, ran.out) == (3, "x\n-\n1\n")
    assert ran.err.startswith("warning: t: ")
    assert run("repl", f"t={broken}", "--allow-partial", stdin="SELECT 1 AS x;").code == 0


def test_tables(trace: Path) -> None:
    ran = run("tables", f"t={trace}", "--all")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["name", "kind", "about"]
    assert ["t.raw_events.sched_waking", "event"] in [line.split()[:2] for line in lines]


def test_schema_and_mount_at_the_prompt(trace: Path) -> None:
    ran = run("repl", stdin=f".mount t={trace}\n.schema t.raw_events.sched_waking\n.schema t.raw_events.sched_wakin\n")
    assert ran.code == 2
    assert ["_ts", "INT64", "ns"] in [line.split() for line in ran.out.splitlines()]
    assert "event table" in ran.err
    assert "hint: did you mean `t.raw_events.sched_waking`?" in ran.err
