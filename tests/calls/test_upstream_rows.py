"""What upstream's tests of filters and of `replay` expect, over recordings of the calls that their programs make.

Where upstream filters while it records, as `(record)` says, the recording has no more than what it kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.calls import programs
from tests.calls.recordings import Recording, lines, printed, replayed

NS1, NS2 = "ns::ns1::foo", "ns::ns2::foo"
ALLOCS = "alloc1(alloc2(alloc3(alloc4(alloc5(malloc)))))"
FREES = "free1(free2(free3(free4(free5(free)))))"
SLEPT = "main(foo(bar(usleep=2ms)))"
KEPT = "main(foo(mem_alloc(malloc), bar(usleep=2ms)))"
ABC, ALLOCFREE, SLEEP, NAMESPACE = programs.ABC, programs.ALLOCFREE, programs.SLEEP, programs.NAMESPACE

TREES = {
    "t001": (ABC, "", "__cxa_atexit, main(a(b(c(getpid))))"),
    "t004": (ABC, "-F a", "a(b(c(getpid)))"),
    "t005": (programs.ABC_ONLY, "-N c", "main(a(b))"),
    "t006": (ABC, "-F a -N c", "a(b)"),
    "t018": (ALLOCFREE, "-F ^alloc.*$", ALLOCS),
    "t020": (ALLOCFREE, "-D1 -F alloc[135]", "alloc1(alloc3(alloc5))"),
    "t023": (ALLOCFREE, "-F alloc3 -D2 -F free[15]", "alloc3(alloc4), free1(free2(free5(free)))"),
    "t026": (Recording(f"main(alloc1(alloc2(alloc3)), {FREES})"), "", f"main(alloc1(alloc2(alloc3)), {FREES})"),
    "t027": (ALLOCFREE, "-F main -F alloc3@depth=1", f"main(alloc1(alloc2(alloc3)), {FREES})"),
    "t036": (
        NAMESPACE,
        f"-N bar3$ -T {NS2}::bar@depth=1",
        f"main(operator new, {NS1}::foo, {NS1}::bar({NS1}::bar1({NS1}::bar2), free), operator delete, "
        f"operator new, {NS2}::foo, {NS2}::bar, operator delete)",
    ),
    "t053 (record)": (Recording(SLEPT), "", SLEPT),
    "t054": (SLEEP, "-t 1ms -F bar", "bar(usleep)"),
    "t055": (SLEEP, "-t 1ms -N bar", "main(foo)"),
    "t056": (SLEEP, "-t 1ms -T mem_alloc@trace-off -T mem_free@trace-on", "main(foo)"),
    "t057": (SLEEP, "-t 1ms -D3", "main(foo(bar))"),
    "t078 (record)": (Recording("main(a(b))"), "", "main(a(b))"),
    "t105": (SLEEP, "-t 1ms", "main(foo(bar(usleep)))"),
    "t110": (SLEEP, "-t 1ms -T malloc@trace", KEPT),
    "t113 (record)": (Recording(KEPT), "", KEPT),
    "t114": (SLEEP, "-t 1ms -T mem_alloc@time=0", KEPT),
    "t172": (
        NAMESPACE,
        "-T main@filter,depth=3 -T ^ns::ns2@notrace",
        f"main(operator new, {NS1}::foo, {NS1}::bar({NS1}::bar1, free), operator delete, operator new, "
        "operator delete)",
    ),
    "t197": (ALLOCFREE, "-F alloc*", ALLOCS),
    "t197 as glob": (ALLOCFREE, "-F alloc* --match glob", ALLOCS),
    "t209 (record)": (Recording("main(foo(mem_alloc))"), "", "main(foo(mem_alloc))"),
    "t210": (SLEEP, "-t 1ms -C bar", "main(foo(bar))"),
    "t211": (SLEEP, "-C mem_alloc", "main(foo(mem_alloc))"),
    "t215": (programs.SIGNAL, "--no-libcall", "main(foo, sighandler(bar), foo)"),
    "t252": (programs.ABC_ONLY, "-H c", "main(a(b(getpid)))"),
    "t253": (programs.ABC_ONLY, "-T c@hide", "main(a(b(getpid)))"),
}

TEXTS = {
    "t028": (
        ALLOCFREE,
        ("-T", "alloc4@filter,backtrace"),
        """
  backtrace [      1] | /* [ 0] main */
  backtrace [      1] | /* [ 1] alloc1 */
  backtrace [      1] | /* [ 2] alloc2 */
  backtrace [      1] | /* [ 3] alloc3 */
            [      1] | alloc4() {
            [      1] |   alloc5() {
   0.100 us [      1] |     malloc();
   0.300 us [      1] |   } /* alloc5 */
   0.500 us [      1] | } /* alloc4 */
""",
    ),
    "t030": (
        ALLOCFREE,
        ("-T", "alloc1@depth=2", "-T", "free2@depth=1,backtrace"),
        """
            [      1] | main() {
            [      1] |   alloc1() {
   0.900 us [      1] |     alloc2();
   1.100 us [      1] |   } /* alloc1 */
            [      1] |   free1() {
  backtrace [      1] | /* [ 0] main */
  backtrace [      1] | /* [ 1] free1 */
   0.900 us [      1] |     free2();
   1.100 us [      1] |   } /* free1 */
   2.500 us [      1] | } /* main */
""",
    ),
    "t037": (
        NAMESPACE,
        ("-T", f"{NS1}::bar2@trace_off", "-T", f"{NS2}::bar2@trace-on"),
        """
            [      1] | main() {
   0.100 us [      1] |   operator new();
   0.100 us [      1] |   ns::ns1::foo::foo();
            [      1] |   ns::ns1::foo::bar() {
            [      1] |     ns::ns1::foo::bar1() {
            [      1] |       ns::ns2::foo::bar2() {
            [      1] |         ns::ns2::foo::bar3() {
   0.100 us [      1] |           malloc();
   0.300 us [      1] |         } /* ns::ns2::foo::bar3 */
   0.500 us [      1] |       } /* ns::ns2::foo::bar2 */
   0.700 us [      1] |     } /* ns::ns2::foo::bar1 */
   0.100 us [      1] |     free();
   1.100 us [      1] |   } /* ns::ns2::foo::bar */
   0.100 us [      1] |   operator delete();
   3.700 us [      1] | } /* main */
""",
    ),
    "t039": (
        NAMESPACE,
        ("--trace=off", "-F", f"{NS1}::bar", "-T", ".*foo::bar3@trace_on", "-f", "none"),
        """
        ns::ns1::foo::bar3() {
          malloc();
        } /* ns::ns1::foo::bar3 */
      } /* ns::ns1::foo::bar2 */
    } /* ns::ns1::foo::bar1 */
    free();
  } /* ns::ns1::foo::bar */
""",
    ),
    "t039 as recorded": (
        programs.NAMESPACE_MIDDLE,
        (),
        """
            [      1] |       ns::ns1::foo::bar3() {
   0.100 us [      1] |         malloc();
   0.300 us [      1] |       } /* ns::ns1::foo::bar3 */
   0.400 us [      1] |     } /* ns::ns1::foo::bar2 */
   0.500 us [      1] |   } /* ns::ns1::foo::bar1 */
   0.100 us [      1] |   free();
   0.800 us [      1] | } /* ns::ns1::foo::bar */
""",
    ),
    "t040": (
        NAMESPACE,
        ("--trace=off", "-T", "operator new@trace_on", "-T", "malloc@trace_off"),
        """
   0.100 us [      1] |   operator new();
   0.100 us [      1] |   ns::ns1::foo::foo();
            [      1] |   ns::ns1::foo::bar() {
            [      1] |     ns::ns1::foo::bar1() {
            [      1] |       ns::ns1::foo::bar2() {
            [      1] |         ns::ns1::foo::bar3() {
   0.100 us [      1] |   operator new();
   0.100 us [      1] |   ns::ns2::foo::foo();
            [      1] |   ns::ns2::foo::bar() {
            [      1] |     ns::ns2::foo::bar1() {
            [      1] |       ns::ns2::foo::bar2() {
            [      1] |         ns::ns2::foo::bar3() {
""",
    ),
    "t041": (
        NAMESPACE,
        ("--trace=off", "-N", "ns2.*", "-T", "operator new@trace-on", "-T", "malloc@traceoff"),
        """
   0.100 us [      1] |   operator new();
   0.100 us [      1] |   ns::ns1::foo::foo();
            [      1] |   ns::ns1::foo::bar() {
            [      1] |     ns::ns1::foo::bar1() {
            [      1] |       ns::ns1::foo::bar2() {
            [      1] |         ns::ns1::foo::bar3() {
   0.100 us [      1] |   operator new();
   0.100 us [      1] |   operator delete();
   3.700 us [      1] | } /* main */
""",
    ),
    "t058": (
        programs.EXP_INT,
        ("-f", "none"),
        """
main() {
  int_add(-1, 2);
  int_sub(1, 2);
  int_mul(3, 4);
  int_div(4, -2);
} /* main */
""",
    ),
    "t059": (
        programs.EXP_STR,
        ("-f", "none"),
        """
main() {
  str_cpy("", "hello");
  str_cpy("", " world");
  str_cat("hello", " world");
  str_cpy("hello world", "goodbye");
  str_cat("goodbye", " world");
} /* main */
""",
    ),
    "t060": (
        programs.EXP_INT_FORMATS,
        ("-f", "none"),
        """
main() {
  int_add(-1, 2);
  int_sub();
  int_mul();
  int_div(4, 0xfe);
} /* main */
""",
    ),
    "t063": (
        programs.EXP_INT_RESULTS,
        ("-f", "none"),
        """
main() {
  int_add(-1, 2) = 1;
  int_sub(1, 2) = -1;
  int_mul(3, 4) = 12;
  int_div(4, -2) = -2;
} /* main */
""",
    ),
    "t083": (
        programs.EXP_FLOAT,
        ("-f", "none"),
        """
main() {
  float_add(-0.100000, 0.200000) = 0.100000;
  float_sub(0.100000, 0.200000) = -0.100000;
  float_mul(300.000000, 400.000000) = 120000.000000;
  float_div(40000000000.000000, -0.020000) = -2000000000000.000000;
} /* main */
""",
    ),
    "t115": (
        programs.ABC_ONLY,
        ("-f", "time,duration,tid"),
        """
            [      1]        0.000001100 | main() {
            [      1]        0.000001200 |   a() {
            [      1]        0.000001300 |     b() {
            [      1]        0.000001400 |       c() {
   0.100 us [      1]        0.000001500 |         getpid();
   0.300 us [      1]        0.000001700 |       } /* c */
   0.500 us [      1]        0.000001800 |     } /* b */
   0.700 us [      1]        0.000001900 |   } /* a */
   0.900 us [      1]        0.000002000 | } /* main */
""",
    ),
    "t117": (
        programs.ABC_ONLY,
        ("-f", "time", "-r", "0.000001400~"),
        """
        0.000001400 |       c() {
        0.000001500 |         getpid();
        0.000001700 |       } /* c */
        0.000001800 |     } /* b */
        0.000001900 |   } /* a */
        0.000002000 | } /* main */
""",
    ),
    "t122": (
        programs.ABC_ONLY,
        ("-f", "elapsed", "-r", "300ns~"),
        """
   0.300 us |       c() {
   0.400 us |         getpid();
   0.600 us |       } /* c */
   0.700 us |     } /* b */
   0.800 us |   } /* a */
   0.900 us | } /* main */
""",
    ),
    "t155 (record)": (
        Recording("main(a(b(c(getpid("),
        (),
        """
            [      1] | main() {
            [      1] |   a() {
            [      1] |     b() {
            [      1] |       c() {
            [      1] |         getpid() {

uftrace stopped tracing with remaining functions
================================================
task: 1
[4] getpid
[3] c
[2] b
[1] a
[0] main

""",
    ),
    "t222": (
        replace(programs.ABC_ONLY, external="0.000001101 user message\n"),
        (),
        """
            [      1] | main() {
            [      1] | /* external-data: user message */
            [      1] |   a() {
            [      1] |     b() {
            [      1] |       c() {
   0.100 us [      1] |         getpid();
   0.300 us [      1] |       } /* c */
   0.500 us [      1] |     } /* b */
   0.700 us [      1] |   } /* a */
   0.900 us [      1] | } /* main */
""",
    ),
    "t257": (
        programs.STRUCT,
        ("-f", "none"),
        """
main() {
  foo(Option{...}, StringRef{}, 44, 55, 66);
} = 0; /* main */
""",
    ),
}

REPORTS = {
    "t024": (programs.SORT, "", {"main": 1, "bar": 1, "usleep": 1, "foo": 2, "loop": 6}),
    "t093": (programs.FORK, "-F main -N c", {"main": 2, "wait": 1, "fork": 2, "a": 1, "b": 1}),
    "t094": (programs.FORK, "-D 3", {"main": 2, "wait": 1, "fork": 2, "a": 2, "b": 2, "c": 1}),
    "t125": (ABC, "-F main -r ~0.000001800", {"main": 1, "a": 1, "b": 1, "c": 1, "getpid": 1}),
}


def _body(text: str) -> str:
    """Return the text below the heading."""
    return "\n" + "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def reported(text: str) -> dict[str, list[str]]:
    """Return the rows of a report by the function's name: total and self with their units, calls."""
    rows = [line.split() for line in text.splitlines()[2:]]
    return {" ".join(row[5:]): row[:5] for row in rows}


@pytest.mark.parametrize("row", TREES)
def test_a_tree_is_shown(row: str, tmp_path: Path) -> None:
    recording, options, expected = TREES[row]
    assert replayed(recording.write(tmp_path / "prog"), *options.split()) == lines(expected)


@pytest.mark.parametrize("row", TEXTS)
def test_lines_are_shown(row: str, tmp_path: Path) -> None:
    recording, options, expected = TEXTS[row]
    assert _body(printed(recording.write(tmp_path / "prog"), "replay", *options)).strip("\n") == expected.strip("\n")


@pytest.mark.parametrize("row", REPORTS)
def test_calls_are_counted(row: str, tmp_path: Path) -> None:
    recording, options, expected = REPORTS[row]
    found = reported(printed(recording.write(tmp_path / "prog"), "report", *options.split()))
    assert {name: int(values[4]) for name, values in found.items()} == expected


def test_recursive_calls_are_counted_once(tmp_path: Path) -> None:
    """This is t090."""
    found = reported(printed(programs.FIBONACCI.write(tmp_path / "prog"), "report"))
    assert found["fib"][4] == "9"
    assert found["fib"][:2] == found["fib"][2:4]
