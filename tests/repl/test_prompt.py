"""The prompt itself: when Enter runs, what Tab offers, which colours are shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from dctv.completion import Candidate, candidates, tables_in
from dctv.repl.completion import SqlCompleter
from dctv.repl.highlight import SqlLexer
from dctv.repl.prompt import make_prompt
from dctv.session import Session
from dctv.syntax.open_call import enclosing_call
from tests.command_line import ROOT

TRACE = """# tracer: nop
#
            bash-1977  [000] ....   100.000001: sched_waking: comm=cat pid=7 prio=120 target_cpu=000
            bash-1977  [000] ....   100.000002: my_mark: two words=1 size=5
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = tmp_path_factory.mktemp("traces") / "tiny.txt"
    path.write_text(TRACE)
    with Session() as session:
        session.mount(str(path), "t")
        for _ in session.execute("CREATE VIEW v AS SELECT 5ms AS dur, 1 AS `select`, 2 AS `odd name`"):
            pass
        yield session


def typed(session: Session, keys: str) -> str:
    with create_pipe_input() as keyboard:
        keyboard.send_text(keys)
        return make_prompt(session, (keyboard, DummyOutput()), InMemoryHistory()).prompt()


def offered(session: Session, text: str) -> list[str]:
    before, _, after = text.partition("|")
    document = Document(before + after, len(before))
    return [c.text for c in SqlCompleter(session).get_completions(document, CompleteEvent(completion_requested=True))]


def test_enter_runs_at_a_semicolon(session: Session) -> None:
    assert typed(session, "SELECT 1\r, ';\r'\r;\r") == "SELECT 1\n, ';\n'\n;"


def test_enter_runs_a_dot_command(session: Session) -> None:
    assert typed(session, ".help\r") == ".help"


def test_control_d_and_c(session: Session) -> None:
    with pytest.raises(EOFError):
        typed(session, "\x04")
    with pytest.raises(KeyboardInterrupt):
        typed(session, "SELECT\x03")


def test_tab_completes(session: Session) -> None:
    with create_pipe_input() as keyboard:
        prompt = make_prompt(session, (keyboard, DummyOutput()), InMemoryHistory())

        def go_on(buffer: Buffer) -> None:
            if buffer.text == "SELECT":
                keyboard.send_text(" 1;\r")

        prompt.default_buffer.on_text_changed += go_on
        keyboard.send_text("SELE\t")
        assert prompt.prompt() == "SELECT 1;"


def test_keywords_follow_the_grammar(session: Session) -> None:
    assert {"JOIN", "INNER", "OUTER", "BROADCAST"} <= set(offered(session, "SELECT * FROM a SPAN "))
    assert "WHERE" not in offered(session, "SELECT * FROM a SPAN ")
    assert offered(session, "sel") == ["select"]
    assert offered(session, "SELECT 1; MOUNT ") == ["TRACE", "TRACES"]


def test_names_part_by_part(session: Session) -> None:
    assert {"dctv.", "t.", "v"} <= set(offered(session, "SELECT * FROM "))
    assert {"raw_events.", "last_ts"} <= set(offered(session, "SELECT * FROM t."))
    assert {"sched_waking", "my_mark"} == set(offered(session, "SELECT * FROM t.raw_events."))


def test_columns_of_the_tables_read(session: Session) -> None:
    assert offered(session, "SELECT tar| FROM t.raw_events.sched_waking") == ["target_cpu"]
    assert offered(session, "SELECT x.tar| FROM v, t.raw_events.sched_waking AS x")[:1] == ["target_cpu"]
    assert offered(session, "SELECT x.tar| FROM v x") == []
    assert offered(session, "SELECT v.| FROM v") == ["dur", "`select`", "`odd name`"]


def test_functions_and_units(session: Session) -> None:
    assert {"count", "COUNT"} & set(offered(session, "SELECT coun"))
    assert "ms" in offered(session, "SELECT 5m")
    assert "ms" in offered(session, "SELECT dur IN m")


def test_completions_start_with_the_most_used(session: Session) -> None:
    assert offered(session, "SELECT dur IN ")[:4] == ["ms", "us", "ns", "s"]
    functions = offered(session, "SELECT co")
    assert functions[:2] == ["contains", "count"] or functions[:3] == ["coalesce", "contains", "count"]
    rare = [name.startswith("collate_") for name in functions if name.islower() and name != "collate"]
    assert rare == sorted(rare)


def test_arguments_of_table_functions(session: Session) -> None:
    assert offered(session, "SELECT * FROM dctv.as_spans(")[:2] != offered(session, "SELECT * FROM ")[:2]
    assert "partition => " in offered(session, "SELECT * FROM dctv.as_spans(")
    assert "start => " in offered(session, "SELECT * FROM dctv.clip(v, st")
    given = offered(session, "SELECT * FROM dctv.clip((SELECT 1), start => 1ms, ")
    assert ("start => " in given, "stop => " in given) == (False, True)
    assert "start => " not in offered(session, "SELECT * FROM dctv.clip(v, start => ")
    assert not [one for one in offered(session, "SELECT round(") if one.endswith("=> ")]


def test_completions_of_functions_show_their_usage(session: Session) -> None:
    shown = {one.text: one.about for one in candidates(session, "SELECT s").found}
    assert shown["substr"] == "substr(string, start[, length]) -> STRING"
    assert candidates(session, "SELECT * FROM dctv.cli").found == [
        Candidate("clip", "dctv.clip(table, start=>NULL, stop=>NULL)")
    ]
    assert [session.usage(name) for name in ("lag", "SUM", "concat", "v", "nope")] == [
        "lag(x[, offset[, default]])", "sum(arg)", "concat(value, ...)", "", "",
    ]  # fmt: skip


def test_every_function_has_a_usage(session: Session) -> None:
    assert [name for name in session.functions() if not session.usage(name).startswith(f"{name}(")] == []


def test_macros_and_clocks_have_usages() -> None:
    with Session() as own:
        own.sql("CREATE MACRO near(a, b, apart => 5ms) AS abs(a - b) < apart")
        own.mount(str(ROOT / "tests/data/stdlib/calls.pfw"), "c")
        assert own.usage("near") == "near(a, b, apart => 5ms)"
        assert own.usage("c.wall_clock") == "c.wall_clock(time) -> TIMESTAMP"
        assert offered(own, "SELECT ne")[0] == "near"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SELECT substr(a, ", "substr"), ("SELECT round(abs(x), 1 + ", "round"), ("SELECT round(abs(x", "abs"),
        ("SELECT t.f((1 + 2) * (3", "t.f"), ("SELECT round(1)", ""), ("SELECT (1 + ", ""), ("SELECT f(1; SELECT ", ""),
        ("SELECT f('(', ", "f"), ("SELECT f(-- g(", "f"),
    ],
)  # fmt: skip
def test_the_call_in_which_the_cursor_is(text: str, name: str) -> None:
    assert enclosing_call(text) == name


def test_columns_that_are_named_already_come_first(session: Session) -> None:
    assert offered(session, "SELECT `odd name` FROM v ORDER BY ")[:3] == ["`odd name`", "dur", "`select`"]
    assert offered(session, "SELECT | FROM v ORDER BY v.`select`")[:2] == ["`select`", "dur"]


def test_no_completions_inside_strings_and_comments(session: Session) -> None:
    assert offered(session, "SELECT 'se") == []
    assert offered(session, "SELECT 1 -- se") == []


def test_files_and_commands(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.sql").write_text("")
    monkeypatch.chdir(tmp_path)
    assert offered(session, ".read rep") == ["ort.sql"]
    assert offered(session, "MOUNT TRACE 'rep") == ["ort.sql"]
    assert offered(session, ".sch") == ["schema"]
    assert "t.raw_events.my_mark" in offered(session, ".schema t.raw_events.m")
    assert offered(session, ".mode js") == ["json", "jsonl"]
    assert offered(session, ".set wi") == ["width"]
    assert offered(session, ".once rep") == ["ort.sql"]


def test_tables_in() -> None:
    text = "SELECT * FROM a.b x SPAN JOIN `c d`.e AS y WHERE 1 IN (SELECT 1 FROM f, `,` g, h) -- FROM i"
    assert tables_in(text) == [("x", "a.b"), ("y", "`c d`.e"), ("f", "f"), ("g", "`,`"), ("h", "h")]


def test_colours() -> None:
    pieces = SqlLexer().lex_document(Document("SELECT 5ms,\n'a\nb' -- x"))
    assert pieces(0) == [
        ("", ""), ("class:sql.keyword", "SELECT"), ("", " "), ("class:sql.number", "5"), ("", ""),
        ("class:sql.unit", "ms"), ("", ""), ("class:sql.operator", ","), ("", ""),
    ]  # fmt: skip
    assert ("class:sql.string", "'a") in pieces(1)
    assert ("class:sql.string", "b'") in pieces(2)
    assert ("class:sql.comment", "-- x") in pieces(2)
    assert SqlLexer().lex_document(Document(".help"))(0) == [("", ".help")]
