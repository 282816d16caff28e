"""Size, names and docstrings of modules, and what may not stand in them."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from tests.house.tree import ROOT, SOURCES, files, short

LONGEST = 600
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}
FRONT_ENDS = {"dctv/cli", "dctv/console", "dctv/repl"}
# The machine's own folders; a recording may name them, the project may not.
PLACES = re.compile(r"/(home|Users|root|work|opt|tmp)/\w")
PREPOSITIONS = {"as", "for", "from", "in", "of", "on", "over", "that", "to", "under", "with"}
RATCHET = Path(__file__).with_name("ratchet.toml")


def prints(path: Path) -> list[int]:
    calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    return [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]


def test_modules_are_short() -> None:
    # The stub of a compiled module cannot be divided.
    divisible = [p for p in files(*SOURCES) if p.suffix != ".pyi"]
    lengths = {short(p): len(p.read_text(encoding="utf-8").splitlines()) for p in divisible}
    assert len(lengths) > 100
    assert {name: n for name, n in lengths.items() if n > LONGEST} == {}


def test_modules_have_specific_names() -> None:
    found = [short(p) for p in files(*SOURCES) if NAMELESS & {p.stem, *p.relative_to(ROOT).parts}]
    assert found == []


def test_every_module_has_a_docstring() -> None:
    python = [p for p in files(".py") if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    rust = [p for p in files(".rs") if not p.read_text(encoding="utf-8").startswith("//!")]
    sql = [p for p in files(".sql", under="stdlib") if not p.read_text(encoding="utf-8").startswith("-- ")]
    silent = [short(p) for p in (*python, *rust, *sql) if not p.is_relative_to(ROOT / "tests")]
    assert silent == []


def first_line(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    found = text.removeprefix("//!") if path.suffix == ".rs" else ast.get_docstring(ast.parse(text)) or ""
    return next(iter(found.splitlines()), "").strip()


def test_first_lines_of_modules_have_no_shorthand() -> None:
    paths = [*files(".py"), *files(".rs", under="kernels")]
    assert len(paths) > 1000
    assert [short(path) for path in paths if " -> " in re.sub("`[^`]*`", "", first_line(path))] == []


def test_first_lines_of_modules_are_imperative_or_nominal() -> None:
    paths = [path for path in files(".py") if not path.is_relative_to(ROOT / "tests")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    documented = [ast.get_docstring(node) for node in nodes if isinstance(node, ast.FunctionDef)]
    verbs = {text.split()[0] for text in documented if text}
    assert {"Write", "Bind", "Find"} <= verbs

    def is_third_person(line: str) -> bool:
        first, second, *_ = line.split()
        # Nouns, as in "Counts of a run", are followed by a preposition or a relative pronoun.
        return first.removesuffix("s") in verbs - {first} and second not in PREPOSITIONS

    assert is_third_person("Writes a result as CSV.")
    assert [short(path) for path in paths if is_third_person(first_line(path))] == []


def test_only_front_ends_print() -> None:
    quiet = [p for p in files(".py", under="dctv") if not any(p.is_relative_to(ROOT / f) for f in FRONT_ENDS)]
    assert [f"{short(path)}:{line}" for path in quiet for line in prints(path)] == []


def test_no_file_names_a_place_of_one_machine() -> None:
    found = []
    # What a select over a recording gives names the recorder's folders.
    for path in (one for one in files() if not one.is_relative_to(ROOT / "tests" / "house" / "documents")):
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1):
            match = PLACES.search(line)
            if match:
                found.append(f"{short(path)}:{number}: {match.group()}")
    assert found == []


def test_only_engines_know_how_sql_is_written() -> None:
    """Plans are nodes of our own; the library that writes SQL is loaded where they become an engine's text."""
    imports = re.compile(r"^\s*(import|from) sqlglot\b", re.MULTILINE)
    knowing = [short(p) for p in files(".py", under="dctv") if imports.search(p.read_text(encoding="utf-8"))]
    assert knowing
    assert [name for name in knowing if not name.startswith("dctv/engines/")] == []


def test_property_tests_take_their_settings_from_one_place() -> None:
    tests = [p for folder in ("semantics", "kernels") for p in files(".py", under=f"tests/{folder}")]
    assert [short(p) for p in tests if re.search(r"\bsettings\(", p.read_text(encoding="utf-8"))] == []


def test_ratchets_have_not_risen() -> None:
    """A count below its figure is to be written down there, so that it cannot rise again."""
    figures = tomllib.loads(RATCHET.read_text(encoding="utf-8"))
    text = "\n".join(p.read_text(encoding="utf-8") for p in files(".py", ".pyi", ".rs"))
    assert {name: len(re.findall(figure["pattern"], text)) for name, figure in figures.items()} == {
        name: figure["count"] for name, figure in figures.items()
    }
