"""The parse table: built once, loaded without lark, rebuilt when the grammar changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dctv.syntax import table
from dctv.syntax.build import FORMS
from dctv.syntax.parser import Parser, default_table


def test_a_written_table_is_loaded(tmp_path: Path) -> None:
    path = table.write_table(tmp_path)
    assert path.parent == tmp_path
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert table.load_table(tmp_path).terminals == default_table().terminals


@pytest.mark.parametrize("content", ["", "{}", "[]", "[1", '{"key": "other"}', "\0"])
def test_a_table_that_does_not_fit_is_built_again(tmp_path: Path, content: str) -> None:
    (tmp_path / table.FILE).write_text(content)
    loaded = table.load_table(tmp_path)
    assert loaded.terminals == default_table().terminals
    assert json.loads((tmp_path / table.FILE).read_text())["key"] == table.key(table.grammar_path().read_bytes())


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    loaded = table.load_table(tmp_path / "file")
    parser = Parser("SELECT 1", "script", lambda name, _parts, _start, _stop: name, loaded)
    assert parser.run() == "script"


def test_every_form_has_its_function_and_every_function_its_form() -> None:
    rules = [default_table().rule(n) for n in range(len(default_table().rules))]
    made = {rule.name for rule in rules if rule.name}
    always_passed_on = {rule.name for rule in rules if rule.single} - FORMS.keys()
    assert made - always_passed_on == FORMS.keys()


def test_a_fresh_process_does_not_import_lark() -> None:
    code = (
        "import sys; from dctv.errors import SourceText; from dctv.syntax.parse import parse;"
        "parse(SourceText('q', 'SELECT 1'));"
        "print(sorted({'lark', 'pyarrow', 'numpy', 'duckdb', 'difflib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
