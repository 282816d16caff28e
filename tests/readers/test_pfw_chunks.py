"""DFTracer traces in chunks give what the whole load gives, however they are cut."""

from __future__ import annotations

import gzip
import json
import random
import re
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import LoadContext
from dctv.errors import TraceError
from dctv.readers.dftracer import READER
from dctv.readers.dftracer_rows import chunks as dftracer_chunks
from tests.bounds import bounded
from tests.readers.pfw_chunks import CONTEXT, assert_decode, assert_equal, assert_lines, passed

DATA = Path(__file__).parents[1] / "data"
HASHES = ["8d", "9e", "33084", "ff"]
TEXTS = ["/a", "/b", "host", "ls;-l"]

VALUES: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(
        ["1", "-1", "5.0", "0.1", "1e3", "1e400", "true", "false", "null", '"x"', '"17"', '"é"', '"\\ud800"']
    ),
    st.sampled_from([str(2**53 + 1), str(2**63), str(2**64), "[1,2]", '{"a":1}', '""', "1.50"]),
    st.integers(-5, 5).map(str),
)
KEYS = st.sampled_from(
    [
        "a",
        "A",
        "b",
        "size",
        "cat",
        "CAT",
        "name",
        "_ts",
        "dur",
        "args_cat",
        "type",
        "dctv:line",
        "",
        "a\0",
        "version",
        "id",
    ]
)
HASH_VALUES = st.sampled_from([*HASHES, "none"]).map(json.dumps) | st.just("33084") | st.just("null")
HASH_KEYS = st.sampled_from(["fhash", "hhash", "shash", "cwd", "cmd_hash"])
DIRECT = st.sampled_from(["fname", "hostname", "cmd"])
MEMBER = (
    st.tuples(KEYS, VALUES)
    | st.tuples(HASH_KEYS, HASH_VALUES)
    | st.tuples(HASH_KEYS, HASH_VALUES)
    | st.tuples(DIRECT, st.sampled_from(['"/direct"', "null", "7"]))
)


def braced(members: list[str]) -> str:
    """The members of an object as its text."""
    return f"{{{','.join(members)}}}"


ARGS = st.lists(MEMBER.map(lambda member: f"{json.dumps(member[0])}:{member[1]}"), max_size=4).map(braced)


@st.composite
def events(draw: st.DrawFn) -> str:
    """One line of an event."""
    name = draw(st.sampled_from(["read", "start", "open", "raß"]))
    time = draw(st.sampled_from(["-3", '"12"', "1.5", str(2**61), str(2**64)]) | st.integers(0, 40).map(str))
    phase = draw(st.sampled_from(["1", '"X"', "2"]))
    fields = [f'"name":{json.dumps(name)}', f'"ts":{time}', f'"ph":{phase}']
    for field, values in [
        ("dur", ["0", "3", '"4"', "-1", "1.5", "null"]),
        ("cat", ['"POSIX"', '"STDIO"', "null", "5", '"\\ud800"']),
        ("pid", ["1", '"2"', "null", '"p"']),
        ("tid", ["1"]),
        ("id", ["1", "1.5", '"x"']),
        ("type", ["3"]),
    ]:
        if draw(st.integers(0, 4)):
            fields.append(f'"{field}":{draw(st.sampled_from(values))}')
    return braced([*fields, f'"args":{draw(ARGS)}'])


@st.composite
def metadata(draw: st.DrawFn) -> str:
    """One line of a metadata record."""
    kind = draw(st.sampled_from(["FH", "HH", "SH", "FH", "PR", "CM"]))
    if draw(st.integers(0, 9)) == 0:
        kind, text, value = "CM", "time_metric", draw(st.sampled_from(["NS", "ms", "WEEKS"]))
    else:
        text, value = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(HASHES))
    more = draw(st.sampled_from(["", ',"x":1.5', ',"x":"t"', ',"id":5', ',"file":"f"']))
    record = f'"name":"{kind}","ph":"M","pid":1,"args":{{"name":{json.dumps(text)},"value":{json.dumps(value)}{more}}}'
    return braced([record])


LINES = st.one_of(
    events(),
    events(),
    events(),
    metadata(),
    st.sampled_from(["", "[", "]", "broken", "[1]", '{"ts":1}', '{"name":"x"}', '{"name":"x","ts":true}']),
)
RAW = LINES.map(str.encode) | events().map(
    lambda line: line.replace('"a"', '"\ufeff"').encode().replace(b"\xef", b"\xff")
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """The text of a file, and the file: plain, or gzip of some members."""
    text = b"\n".join(draw(st.lists(RAW, max_size=25))) + draw(st.sampled_from([b"\n", b""]))
    members = draw(st.integers(0, 3))
    if not members:
        return text, text
    cuts = sorted([0, len(text), *(draw(st.integers(0, len(text))) for _ in range(members - 1))])
    return text, b"".join(gzip.compress(text[a:b], mtime=0) for a, b in pairwise(cuts))


def refused(paths: list[Path], chunk_bytes: int) -> bool:
    """Whether the whole load refuses the files; the pass does so in the same words."""
    try:
        READER.load(paths, CONTEXT)
    except TraceError as error:
        reason = str(error)
    else:
        return False
    with pytest.raises(TraceError, match=f"^{re.escape(reason)}$"):
        passed(paths, chunk_bytes)
    return True


@bounded(150)
@given(st.lists(files(), min_size=1, max_size=3), st.integers(1, 2000), st.randoms(use_true_random=False))
def test_any_trace(found: list[tuple[bytes, bytes]], chunk_bytes: int, rng: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (_, stored) in enumerate(found):
            paths.append(Path(folder) / f"{number}.pfw")
            paths[-1].write_bytes(stored)
        if refused(paths, chunk_bytes):
            return
        whole = READER.load(paths, CONTEXT)
        chunks, metadata = assert_equal(paths, chunk_bytes, whole)
        assert_lines(paths, [text for text, _ in found], chunks)
        assert_decode(paths, [chunk for chunk in chunks if rng.random() < 0.5], metadata, whole)


def samples() -> list[Path]:
    return sorted(DATA.rglob("*.pfw")) + sorted(p for p in DATA.rglob("*.pfw.gz") if p.stat().st_size)


@pytest.mark.parametrize("chunk_bytes", [300, 5000, 16 << 20])
@pytest.mark.parametrize("path", samples(), ids=lambda path: path.name)
def test_sample(path: Path, chunk_bytes: int) -> None:
    whole = READER.load([path], CONTEXT)
    chunks, metadata = assert_equal([path], chunk_bytes, whole)
    assert_decode([path], chunks[::2], metadata, whole)


def test_folder() -> None:
    paths = sorted((DATA / "dftracer" / "loader").glob("*.pfw.gz"))
    whole = READER.load(paths, CONTEXT)
    chunks, metadata = assert_equal(paths, 2000, whole)
    assert_decode(paths, chunks[1::3], metadata, whole)


def line(name: str, ts: int, args: str = "{}") -> str:
    return f'{{"name":"{name}","cat":"POSIX","pid":1,"tid":1,"ts":{ts},"dur":2,"ph":1,"args":{args}}}'


def test_long_columns_of_many_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_text("\n".join(line("read", 5000 - i, f'{{"v":"{i}","w":"{i % 3}"}}') for i in range(5000)))
    chunks, metadata = assert_equal([path], 20_000)
    assert len(chunks) > 10
    assert_decode([path], chunks[3:7], metadata, READER.load([path], CONTEXT))


def test_the_time_unit_comes_last_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    unit = '{"name":"CM","ph":"M","args":{"name":"time_metric","value":"NS"}}'
    path.write_text("\n".join([*(line("read", i) for i in range(100)), unit]))
    first = dftracer_chunks.start([path], CONTEXT, None, 1000)
    assert {batch.column("dur")[0].as_py() for chunk in first for _, batch in chunk.events} == {2000, 2}
    assert first.again()
    assert_equal([path], 1000)


def test_floats_become_texts_as_written(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_text("\n".join([*(line("read", i, '{"v":1.50}') for i in range(50)), line("read", 50, '{"v":"x"}')]))
    first = dftracer_chunks.start([path], CONTEXT, None, 1000)
    list(first)
    assert first.again()
    assert_equal([path], 1000)


def test_file_contradicts_itself_later(tmp_path: Path) -> None:
    definition = '{"name":"FH","ph":"M","args":{"name":"%s","value":"8d"}}'
    path = tmp_path / "t.pfw"
    lines = [definition % "/a", *(line("read", i, '{"fhash":"8d"}') for i in range(50)), definition % "/b"]
    path.write_text("\n".join(lines))
    _, metadata = assert_equal([path], 500)
    assert metadata.entries["ambiguous"]


def test_endless_line(tmp_path: Path) -> None:
    from dctv._kernels import PfwPass

    path = tmp_path / "t.pfw"
    path.write_text(f"{line('a', 1)}\n{'x' * 2_000_000}\n{line('a', 2)}\n{'y' * 2_000_000}")
    found = PfwPass([str(path)], 2, None, 1000, None, line_limit=100_000)
    chunks = list(found)
    assert sum(batch.num_rows for chunk in chunks for _, batch in chunk.events) == 2
    (trouble,) = found.metadata()["troubles"]
    assert (trouble["reason"], trouble["count"], trouble["incomplete"]) == ("line is too long", 2, True)
    assert trouble["example"].startswith("line 2: xxx")
    assert sum(chunk.checkpoint.uc_size for chunk in chunks) == path.stat().st_size


def test_truncated_file(tmp_path: Path) -> None:
    data = gzip.compress("\n".join(line("read", i, f'{{"v":{i * 7919 % 1000}}}') for i in range(3000)).encode())
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(data[: len(data) // 2])
    _, metadata = assert_equal([path], 5000)
    assert [d.incomplete for d in dftracer_chunks.trailing_facts(metadata).diagnostics][-1]


def test_progress_can_interrupt(tmp_path: Path) -> None:
    class StopNowError(Exception):
        pass

    def stop(_done: int, _total: int) -> None:
        raise StopNowError

    path = tmp_path / "t.pfw"
    path.write_text("\n".join(line("read", i) for i in range(1000)))
    running = dftracer_chunks.start([path], LoadContext({}, 2, stop), None, 1000)
    with pytest.raises(StopNowError):
        list(running)


def test_facts_come_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_text("\n".join(line("read", i) for i in range(1000)))
    running = dftracer_chunks.start([path], CONTEXT, None, 1000)
    next(iter(running))
    with pytest.raises(RuntimeError, match="the pass has not come to its end"):
        running.metadata()


def test_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(gzip.compress("\n".join(line("read", i) for i in range(1000)).encode()))
    chunks, metadata = passed([path], 5000)
    path.write_bytes(gzip.compress(b"[\n"))
    with pytest.raises(TraceError, match=r"cannot read `.*t\.pfw\.gz`"):
        dftracer_chunks.decode([path], [chunks[-1].checkpoint], metadata, CONTEXT)


LINEAGE = {
    "_ts": ("ts", None),
    "dur": ("dur", None),
    "cat": ("cat", None),
    "pid": ("pid", None),
    "tid": ("tid", None),
    "ph": ("args.ph", None),
    "fhash": ("fhash", None),
    "fname": ("fhash", "fhash"),
    "args_cat": ("args.dctv:key:cat", None),
    "size": ("args.size", None),
    "SIZE_2": ("args.SIZE", None),
}


def test_origins(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    args: dict[str, Any] = {"fhash": "8d", "cat": 1, "size": 2, "SIZE": 3, "hhash": "e", "hostname": "direct"}
    path.write_text(line("read", 1, json.dumps(args)))
    _, metadata = passed([path], 1000)
    found = dftracer_chunks.lineage(metadata, "raw_events.read")
    assert {c: (o.dimension, o.resolves) for c, o in found.items() if c != "hhash"} == LINEAGE


def test_progress_can_interrupt_decoding(tmp_path: Path) -> None:
    class StopNowError(Exception):
        pass

    def stop(_done: int, _total: int) -> None:
        raise StopNowError

    path = tmp_path / "t.pfw"
    path.write_text("\n".join(line("read", i, f'{{"v":"{i}"}}') for i in range(1000)))
    chunks, metadata = passed([path], 5000)
    with pytest.raises(StopNowError):
        dftracer_chunks.decode([path], [c.checkpoint for c in chunks], metadata, LoadContext({}, 1, stop))
