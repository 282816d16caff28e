"""Wrappings of ftrace text: gzip, atrace's zlib, and the pages of the systrace viewer, old and new."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from dctv.contracts.reader import Head, LoadedTrace
from dctv.readers.ftrace_text import sniff
from tests.readers.ftrace_text.ftrace_reading import read

LINES = [
    "# tracer: nop",
    "#",
    '          adbd-14  [000] 50260.647576: my_event: path=C:/x name="q" a=1',
    "          adbd-14  [001] 50260.647577: my_event: path=C:/y name=<b> a=2",
]
TEXT = "\n".join(LINES) + "\n"
PLAIN = TEXT.encode()
OLD_STRING = "".join(line.replace("\\", "\\\\").replace('"', '\\"') + "\\n\\\n" for line in LINES)
PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Android System Trace</title>\n"
    "<script>var x = linuxPerfData;\nfoo-1 [000] 1.0: no: event=1\n</script>"
)
DATA = '<script class="trace-data" type="application/text">'
BASE64 = base64.b64encode(zlib.compress(PLAIN)).decode()
GZIP_BASE64 = base64.b64encode(gzip.compress(PLAIN)).decode()
ONE_LINE = OLD_STRING.replace("\\n\\\n", "\\n")

FORMS = {
    "plain": PLAIN,
    "no newline at the end": PLAIN.rstrip(b"\n"),
    "carriage returns": PLAIN.replace(b"\n", b"\r\n"),
    "gzip": gzip.compress(PLAIN),
    "gzip members": gzip.compress(PLAIN[:100]) + gzip.compress(PLAIN[100:]),
    "zlib": zlib.compress(PLAIN),
    "atrace": b"TRACE:\n" + zlib.compress(PLAIN),
    "atrace with a line before": b"capturing trace... done\r\nTRACE:\r\n" + zlib.compress(PLAIN, 1),
    "atrace in gzip": gzip.compress(b"TRACE:\n" + zlib.compress(PLAIN)),
    "inside of the old string": OLD_STRING.encode(),
    "old page": f'{PAGE}<script>\n  var linuxPerfData = "\\\n{OLD_STRING}";\n</script></html>'.encode(),
    "old page with bare lines": f'{PAGE}<script>\n  var linuxPerfData = "\\\n{TEXT}  </script></html>'.encode(),
    "old page on one line": f'{PAGE}<script>var linuxPerfData="{ONE_LINE}";</script>'.encode(),
    "new page": f'{PAGE}<script class="trace-data" type="application/text">\n{TEXT}  </script></html>'.encode(),
    "new page, packed": f'{PAGE}<script class="trace-data" type="application/text">\n{BASE64}\n</script>'.encode(),
    "viewer page, gzip": f'{PAGE}<script id="viewer-data" type="text/plain">\n{GZIP_BASE64}\n</script>'.encode(),
    "new page in gzip": gzip.compress(f'{PAGE}<script class="trace-data">\n{TEXT}</script></html>'.encode()),
    "two parts": f"{PAGE}{DATA}\n{LINES[2]}\n</script>{DATA}\n{LINES[3]}\n</script>".encode(),
}


def events(trace: LoadedTrace) -> list[tuple[object, ...]]:
    table = trace.tables["raw_events.my_event"].data
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("form", FORMS)
def test_every_wrapping_holds_the_same_events(form: str) -> None:
    trace = read(FORMS[form])
    assert events(trace) == [
        (0, 0, "adbd", 14, "C:/x", '"q"', 1),
        (1000, 1, "adbd", 14, "C:/y", "<b>", 2),
    ]
    cut = ["file ends in the middle of a line"] if form == "no newline at the end" else []
    assert [found.reason for found in trace.diagnostics] == cut


@pytest.mark.parametrize("form", FORMS)
def test_every_wrapping_is_recognized_by_its_content(form: str) -> None:
    raw = FORMS[form]
    text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    assert sniff(Head(Path("some.bin"), raw, text))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"hello\n",
        b'[\n{"id":0,"name":"read","ts":1,"dur":2}\n',
        b'{"traceEvents": []}',
        b"<!DOCTYPE html><html><body>hello</body></html>",
        b"swapper     0 [000] 1234.567890: sched:sched_switch: prev_comm=swapper\n",
        b"\x17\x08Dtracing",
        b"\x78\x9cnot zlib",
        b"ts,name\n1,a-1 [000]\n",
    ],
)
def test_other_formats_are_left_alone(text: bytes) -> None:
    assert not sniff(Head(Path("trace.txt"), text, text))


def test_a_part_that_is_no_ftrace_text_is_reported() -> None:
    page = (
        f'{PAGE}<script class="trace-data">\n{TEXT}</script><script class="trace-data">{{"traceEvents": []}}</script>'
    )
    trace = read(page)
    assert len(events(trace)) == 2
    (found,) = trace.diagnostics
    assert (found.reason, found.count, found.incomplete) == ("part of the page is not ftrace text", 1, False)


@pytest.mark.parametrize("cut", [0.5, 0.9])
def test_a_broken_part_keeps_earlier_events(cut: float) -> None:
    lines = "".join(f" t-{i} [000] 1.{i:06}: my_event: a={i * 7919 % 1000}\n" for i in range(5000))
    packed = zlib.compress(lines.encode())
    part = base64.b64encode(packed[: int(len(packed) * cut)]).decode()
    trace = read(f'{PAGE}<script class="trace-data">\n{TEXT}</script><script class="trace-data">\n{part}\n</script>')
    assert 2 < len(events(trace)) < 5000
    assert [(d.reason, d.incomplete) for d in trace.diagnostics] == [("file is damaged or ends early", True)]


@pytest.mark.parametrize("wrapped", [zlib.compress, gzip.compress], ids=["zlib", "gzip"])
def test_all_text_before_damage_is_read(wrapped: Callable[[bytes], bytes]) -> None:
    """The checksum at the end is what shows the damage, so nothing is missing."""
    packed = bytearray(b"TRACE:\n" + wrapped(PLAIN))
    packed[-5 if wrapped is gzip.compress else -1] ^= 1
    trace = read(bytes(packed))
    assert len(events(trace)) == 2
    assert [(d.reason, d.example, d.incomplete) for d in trace.diagnostics] == [
        ("file is damaged or ends early", "corrupt deflate stream", True)
    ]
