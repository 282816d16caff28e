"""Events as the kernel and trace-cmd print them, each with its fields."""

from __future__ import annotations

PRINTED: list[tuple[str, dict[str, object]]] = [
    ("mine: a=1 b=-2 c=1.5 d=0x1f", {"a": 1, "b": -2, "c": 1.5, "d": "0x1f"}),
    ("mine: a=007 target_cpu=007 b=0 c=-0 d=+5", {"a": "007", "target_cpu": 7, "b": 0, "c": "-0", "d": "+5"}),
    ("mine: a=9223372036854775807 b=9223372036854775808", {"a": 2**63 - 1, "b": 2**63}),
    ("mine: a=18446744073709551616 b=-9223372036854775808", {"a": "18446744073709551616", "b": -(2**63)}),
    ("mine: a=1e5 b=1. c=.5 d=1.2.3 e=nan", {"a": "1e5", "b": "1.", "c": ".5", "d": "1.2.3", "e": "nan"}),
    ("mine: my_field=foo=bar=baz", {"my_field": "foo=bar=baz"}),
    ("mine: a= b=1 comm=", {"b": 1, "comm": "", "a": None}),
    ("mine: a=1 a=2", {"a": 1, "text": "a=2"}),
    (
        "mine: cpu=5 _ts=6 text=hi common_pid=7",
        {"field_cpu": 5, "field__ts": 6, "field_text": "hi", "field_common_pid": 7},
    ),
    ("mine: A=1 a=2", {"A": 1, "field_a": 2}),
    ("mine: load={24 19} cpus=00000000,00000006", {"load": "{24 19}", "cpus": "00000000,00000006"}),
    ("mine: set={a=1 b=2} c=3", {"set": "{a=1 b=2}", "c": 3}),
    (
        "mine: dev = (7,0), ino = 8, no checkpoint, ret = 0",
        {"dev": "(7,0)", "ino": 8, "ret": 0, "text": "no checkpoint"},
    ),
    ("mine: pages:1 reason:local flush on switch (0)", {"pages": 1, "reason": "local flush on switch (0)"}),
    ("mine:", {}),
    ("softirq_raise: vec=1 [action=TIMER]", {"vec": 1, "action": "TIMER"}),
    (
        "timer_start: timer=1234 expires=43 [timeout=10] cpu=2",
        {"timer": "1234", "expires": 43, "timeout": 10, "field_cpu": 2},
    ),
    (
        "sched_stat_runtime: comm=a b pid=1 runtime=12 [ns] vruntime=7 [ns]",
        {"comm": "a b", "pid": 1, "runtime": 12, "vruntime": 7},
    ),
    ("irq_handler_entry: irq=30 name=ahci[0000:01:00.0]", {"irq": 30, "name": "ahci[0000:01:00.0]"}),
    ("irq_handler_exit: irq=30 ret=handled", {"irq": 30, "ret": "handled"}),
    ("irq_handler_exit: irq=30 return=handled", {"irq": 30, "ret": "handled"}),
    ("sys_enter: NR 257 (ffffff9c, 39deafd0, 100)", {"id": 257, "args": "ffffff9c, 39deafd0, 100"}),
    ("sys_exit: NR -1 = -22", {"id": -1, "ret": -22}),
    (
        "clock_set_rate: perfcl_clk state=300000000 cpu_id=7",
        {"name": "perfcl_clk", "state": 300000000, "cpu_id": 7},
    ),
    ("block_rq_issue: 8,0 W 4096 () 12 + 8 [kworker/0:1]", {"text": "8,0 W 4096 () 12 + 8 [kworker/0:1]"}),
    ("ext4_da_write_end: dev 8,13 ino 5 pos 0", {"text": "dev 8,13 ino 5 pos 0"}),
    ("workqueue_execute_start: work struct 0xff: function f", {"text": "work struct 0xff: function f"}),
    (
        "rss_stat: mm_id=5 curr=1 type=MM_ANONPAGES size=4096B",
        {"mm_id": 5, "curr": 1, "type": "MM_ANONPAGES", "size": 4096},
    ),
    ("bprint: 0xc042f8a0f: gpu: load=91", {"ip": "0xc042f8a0f", "text": "gpu: load=91"}),
    ("task_newtask: pid=1 comm=sh clone_flags=1200000", {"pid": 1, "comm": "sh", "clone_flags": "1200000"}),
    ("function: path_put <-- path_walk", {"ip": "path_put", "parent_ip": "path_walk"}),
    ("funcgraph_entry: 0.123 us   |    foo();", {"func": "foo", "depth": 1, "duration": 123}),
    ("funcgraph_entry: func=0xff depth=2", {"func": "0xff", "depth": 2}),
    ("x: [FAILED TO PARSE] freq=0x82208 n=4", {"freq": "0x82208", "n": 4, "text": "[FAILED TO PARSE]"}),
    ("kernel_stack: <stack trace>", {"text": "<stack trace>"}),
    ("mm_filemap_fault: dev=254:0 ino=12345 ofs=0", {"dev": "254:0", "ino": "12345", "ofs": 0}),
    ("mm_filemap_fault: dev=254:0 ino=3c56d ofs=45056", {"dev": "254:0", "ino": "3c56d", "ofs": 45056}),
    ("regmap_reg_write: 3-0034 reg=20 val=7f", {"reg": "20", "val": "7f", "text": "3-0034"}),
]
