"""`check_index` finds no difference where there is none: traces that grow, and that are named from elsewhere."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.index.build import IndexSettings
from dctv.index.request import IndexRequest
from dctv.session import Session
from tests.bounds import bounded

MIXED = IndexRequest(IndexSettings(dimensions=("args.z",), chunk_bytes=500))
VALUES = st.sampled_from(["{}", '"x{}"', "{}.5", "-{}", "true"])


def line(number: int, value: str) -> str:
    shown = f'"name":"read","cat":"P","pid":1,"tid":1,"ts":{number},"dur":1,"ph":"X"'
    return f'{{"id":{number},{shown},"args":{{"z":{value}}}}}\n'


@bounded(40)
@given(st.lists(VALUES, min_size=1, max_size=4))
def test_a_trace_that_grows_by_values_of_other_types(kinds: list[str]) -> None:
    with TemporaryDirectory() as folder, Session(index_dir=Path(folder, "indexes")) as session:
        trace = Path(folder, "a.pfw")
        for step, kind in enumerate(kinds):
            with trace.open("a") as file:
                file.writelines(line(number, kind.format(number)) for number in range(30 * step, 30 * step + 30))
            session.index(str(trace), MIXED)
            assert session.check_index(str(trace)) == []


def test_a_trace_that_is_named_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pfw").write_text(line(1, "5") + "not JSON\n")
    with Session(index_dir=tmp_path / "indexes") as session:
        monkeypatch.chdir(tmp_path)
        session.index("a.pfw")
        monkeypatch.chdir("/")
        assert session.check_index(str(tmp_path / "a.pfw")) == []


def test_a_trace_whose_format_is_given(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("a,b\n1,2\n3\n4,5,6\n" + "7,8,9,10\n" * 3)
    with Session(index_dir=tmp_path / "indexes") as session:
        assert session.index(str(path), format="csv", timestamp="a").events == 1
        assert session.check_index(str(path), format="csv", timestamp="a") == []
