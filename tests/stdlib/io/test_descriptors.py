"""Paths of descriptors that are closed and opened again at once, as in traces of microseconds."""

from __future__ import annotations

from pathlib import Path

from dctv.session import Session

CALL = "app-100 (100) [000] ..... 1.{:06}: sys_{}\n"
OPEN = 'openat(dfd: ffffff9c, filename: "{}", flags: 0)'
CALLS = (
    (0, OPEN.format("/a")),
    (1, "openat -> 0x3"),
    (1, "read(fd: 3, buf: 1, count: 8)"),
    (2, "read -> 0x8"),
    (4, "close(fd: 3)"),
    (4, "close -> 0x0"),
    (4, OPEN.format("/b")),
    (4, "openat -> 0x3"),
    (4, "read(fd: 3, buf: 1, count: 8)"),
    (5, "read -> 0x8"),
    (7, "close(fd: 3)"),
    (8, "close -> 0x0"),
    (8, "read(fd: 3, buf: 1, count: 8)"),
    (9, "read -> 0xfffffffffffffff7"),
)


def test_calls_have_the_file_that_the_descriptor_was_then(tmp_path: Path) -> None:
    text = "# tracer: nop\n#\n" + "".join(CALL.format(*call) for call in CALLS)
    (tmp_path / "t.txt").write_text(text)
    with Session(index=False) as session:
        session.mount(tmp_path / "t.txt", "t")
        found = session.sql("SELECT name, TRIM(path, '\"'), fd, bytes IN B FROM t.io.calls ORDER BY line").fetchall()
    a, b = ("/a", 3), ("/b", 3)
    assert found == [
        *(("openat", *a, None), ("read", *a, 8), ("close", *a, None)),
        *(("openat", *b, None), ("read", *b, 8), ("close", *b, None)),
        ("read", None, 3, 0),
    ]
