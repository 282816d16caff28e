"""The programs that upstream's tests record, as the calls that they make."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tests.calls.recordings import Payload, Recording
from tests.readers.uftrace.uftrace_directory import padded, text

ABC = Recording("__cxa_atexit, main(a(b(c(getpid))))")
ABC_ONLY = Recording("main(a(b(c(getpid))))")
ALLOCFREE = Recording(
    "main(alloc1(alloc2(alloc3(alloc4(alloc5(malloc))))), free1(free2(free3(free4(free5(free))))))",
)
SLEEP = Recording("main(foo(mem_alloc(malloc), bar(usleep=2ms), mem_free(free)))")
SORT = Recording("main(foo(loop, loop, loop), foo(loop, loop, loop), bar(usleep=10ms))")


def _twice() -> Iterator[str]:
    for one in ("ns::ns1::foo", "ns::ns2::foo"):
        bars = f"{one}::bar({one}::bar1({one}::bar2({one}::bar3(malloc))), free)"
        yield f"operator new, {one}::foo, {bars}, operator delete"


NAMESPACE = Recording(f"main({', '.join(_twice())})")

_BAR = "ns::ns1::foo::bar"
NAMESPACE_MIDDLE = Recording(f"{_BAR}3(malloc), ^{_BAR}2, ^{_BAR}1, free, ^{_BAR}")
"""The trace was turned on in `bar3`, below the filter `bar`."""


def _fib(n: int) -> str:
    return "fib" if n <= 2 else f"fib({_fib(n - 1)}, {_fib(n - 2)})"


FIBONACCI = Recording(f"main({_fib(5)})")
FORK = Recording(
    {1: "main(fork=2ms, wait=1ms, a(b(c(getpid))))", 2: "^fork, a(b(c(getpid))), ^main"},
    starts={2: 1_001_000},
    tasks=("FORK timestamp=0.001000000 pid=2 ppid=1",),
)
_STEP, _RECURSION = "step(work, work)", "rec(leaf, rec(leaf, rec))"
ABC5 = Recording(f"__monstartup, __cxa_atexit, main({', '.join(['a(b(c(getpid)))'] * 5)})")
NEST = Recording(
    f"__cxa_atexit, main({', '.join(['even(leaf, leaf), odd(mid(leaf))'] * 3)}, rec(leaf, {_RECURSION}), "
    f"slow(usleep=2ms), {_RECURSION})"
)
THREADS = Recording(
    {
        1: "main(begin)",
        2: f"body({', '.join([_STEP] * 3)})",
        3: f"body({', '.join([_STEP] * 4)})",
        4: f"body({', '.join([_STEP] * 5)})",
    },
    starts={2: 1050, 3: 1075, 4: 1950},
    tasks=tuple(f"TASK timestamp=0.000000500 tid={tid} pid=1" for tid in (2, 3, 4)),
)
SIGNAL = Recording("main(foo, signal, raise(sighandler(bar)), foo)")


def _integers(values: list[tuple[str, int, int, int]], arguments: str, result: str | None) -> dict[str, list[Payload]]:
    made: dict[str, list[Payload]] = {}
    for name, first, second, value in values:
        ended = None if result is None else struct.pack(result, value)
        made[name] = [(struct.pack(arguments, first & 0xFFFFFFFF, second & 0xFFFFFFFF), ended)]
    return made


_INT = [("int_add", -1, 2, 1), ("int_sub", 1, 2, -1), ("int_mul", 3, 4, 12), ("int_div", 4, -2, -2)]
_INT_CALLS = "main(int_add, int_sub, int_mul, int_div)"
EXP_INT = Recording(
    _INT_CALLS, payloads=_integers(_INT, "<QQ", None), argspec=("argspec:^int_@arg1,arg2",), features=("argument",)
)
EXP_INT_RESULTS = Recording(
    _INT_CALLS,
    payloads=_integers(_INT, "<QQ", "<i"),
    argspec=("argspec:^int_@arg1,arg2", "retspec:^int_@retval/i32"),
    features=("argument", "retval"),
)
EXP_INT_FORMATS = Recording(
    _INT_CALLS,
    payloads={
        "int_add": [(struct.pack("<iQ", -1, 2), None)],
        "int_div": [(padded(struct.pack("<h", 4)) + padded(b"\xfe"), None)],
    },
    argspec=("argspec:int_add@arg1/i32,arg2/u;int_div@arg1/i16,arg2/x8",),
    features=("argument",),
)
EXP_FLOAT = Recording(
    "main(float_add, float_sub, float_mul, float_div)",
    payloads={
        "float_add": [(struct.pack("<ff", -0.1, 0.2), struct.pack("<f", 0.1))],
        "float_sub": [(struct.pack("<fd", 0.1, 0.2), struct.pack("<f", -0.1))],
        "float_mul": [(struct.pack("<df", 300, 400), struct.pack("<d", 120000))],
        "float_div": [(struct.pack("<dd", 4e10, -0.02), struct.pack("<d", -2e12))],
    },
    argspec=(
        "argspec:float_add@fparg1/32,fparg2/32;float_sub@fparg1/32,fparg2;"
        "float_mul@fparg1/64,fparg2/32;float_div@fparg1,fparg2",
        "retspec:float_add@retval/f32;float_sub@retval/f32;float_mul@retval/f64;float_div@retval/f",
    ),
    features=("argument", "retval"),
)


def _texts(*pairs: tuple[bytes, bytes]) -> list[Payload]:
    return [(text(first) + text(second), None) for first, second in pairs]


EXP_STR = Recording(
    "main(str_cpy, str_cpy, str_cat, str_cpy, str_cat)",
    payloads={
        "str_cpy": _texts((b"", b"hello"), (b"", b" world"), (b"hello world", b"goodbye")),
        "str_cat": _texts((b"hello", b" world"), (b"goodbye", b" world")),
    },
    argspec=("argspec:^str_@arg1/s,arg2/s",),
    features=("argument",),
)
STRUCT = Recording(
    "main(foo)",
    payloads={
        "foo": [(padded(struct.pack("<bqh", 11, 22, 33)[:11]) + struct.pack("<3Q", 44, 55, 66), None)],
        "main": [(None, struct.pack("<q", 0))],
    },
    argspec=("auto-args:1",),
    features=("argument", "retval", "auto-args", "debug-info"),
    debug={
        "foo": ("L: 3 prog.c", "A: @arg1/t11:Option%stack+1,arg2/t0:StringRef%stack+3,arg3%RDI,arg4%RSI,arg5%RDX"),
        "main": ("L: 9 prog.c", "R: @retval"),
    },
)
