"""Packets of all other kinds: names, polled values, logs, profiles, what nothing describes, losses."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from tests.readers.perfetto.perfetto_reading import ask, load, notes, rows, trace, written


def clocks(packet: Any) -> None:
    for clock, time in ((1, 5_000_000_000), (3, 100), (6, 1000)):
        packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=time)


def battery(packet: Any) -> None:
    packet.timestamp = 2000
    packet.battery.capacity_percent = 50


def test_process_trees_name_processes_and_threads() -> None:
    def tree(packet: Any) -> None:
        packet.process_tree.processes.add(pid=5, ppid=1, uid=1000, cmdline=["/bin/x", "-v"], process_start_from_boot=7)
        packet.process_tree.threads.add(tid=6, tgid=5, name="io")

    found = load(trace(tree))
    assert rows(found, "process_names") == [
        {"pid": 5, "name": "/bin/x", "ppid": 1, "uid": 1000, "cmdline": "/bin/x -v", "start_from_boot": 7, "told": 0}
    ]
    assert rows(found, "thread_names") == [{"pid": 5, "tid": 6, "name": "io", "told": 0}]


def test_processes_without_a_name_have_that_of_their_command_line() -> None:
    def described(pid: int, *words: str, name: str = "") -> Any:
        def build(packet: Any) -> None:
            process = packet.track_descriptor.process
            packet.track_descriptor.uuid = process.pid = pid
            process.cmdline.extend(words)
            process.process_name = name

        return build

    def old(packet: Any) -> None:
        packet.process_descriptor.pid = 4
        packet.process_descriptor.cmdline.append("/bin/old -x")
        packet.process_descriptor.start_timestamp_ns = 7

    found = load(trace(described(1, "/bin/a", "-v"), described(2, "/bin/b", name="given"), described(3), old))
    assert [(row["pid"], row["name"], row["cmdline"]) for row in rows(found, "process_names")] == [
        (1, "/bin/a", "/bin/a -v"),
        (2, "given", "/bin/b"),
        (4, "/bin/old", "/bin/old -x"),
    ]
    assert rows(found, "process_names")[2]["start_from_boot"] == 7


def test_polled_values_are_counters() -> None:
    def stats(packet: Any) -> None:
        packet.timestamp = 10
        packet.sys_stats.meminfo.add(key=pb.MEMINFO_MEM_FREE, value=4)
        packet.sys_stats.vmstat.add(key=pb.VMSTAT_NR_FREE_PAGES, value=8)
        packet.sys_stats.cpu_stat.add(cpu_id=1, user_ns=77)
        packet.sys_stats.cpufreq_khz.extend([100, 200])

    def processes(packet: Any) -> None:
        packet.timestamp = 10
        packet.process_stats.processes.add(pid=5, vm_rss_kb=3, oom_score_adj=-900)

    found = load(trace(stats, processes))
    values = {row["name"]: row["value"] for row in rows(found, "raw_events.counter")}
    assert values == {
        "MemFree": 4096.0,
        "nr_free_pages": 8.0,
        "cpufreq": 200.0,
        "mem.rss": 3072.0,
        "oom_score_adj": -900.0,
    }
    assert rows(found, "raw_events.cpu_stat")[0]["user_ns"] == 77
    assert rows(found, "raw_events.process_stats")[0]["vm_rss_kb"] == 3
    units = {row["name"]: row.get("unit") for row in rows(found, "tracks")}
    assert units["MemFree"] == "B"


def test_tracks_of_polled_values_tell_which_one_they_are_of() -> None:
    def stats(packet: Any) -> None:
        packet.timestamp = 10
        packet.sys_stats.cpufreq_khz.extend([100, 200])
        packet.sys_stats.gpufreq_mhz.append(5)
        packet.sys_stats.devfreq.add(key="memory", value=7)
        packet.sys_stats.num_irq.add(irq=17, count=8)
        packet.sys_stats.num_softirq.add(irq=1, count=9)

    found = load(trace(stats))
    names = {row["track"]: row["name"] for row in rows(found, "tracks")}
    values = [(row["name"], names[row["track"]], row["value"]) for row in rows(found, "raw_events.counter")]
    assert sorted(values) == [
        ("cpufreq", "cpufreq 0", 100.0),
        ("cpufreq", "cpufreq 1", 200.0),
        ("devfreq", "devfreq memory", 7.0),
        ("gpufreq", "gpufreq 0", 5.0),
        ("num_irq", "num_irq 17", 8.0),
        ("num_softirq", "num_softirq 1", 9.0),
    ]


def test_logs_are_at_times_of_the_day() -> None:
    def log(packet: Any) -> None:
        packet.timestamp = 2000
        packet.android_log.events.add(pid=1, tid=2, timestamp=5_000_000_500, tag="t", message="m", prio=4)

    found = load(trace(clocks, battery, log))
    (row,) = rows(found, "raw_events.android_log")
    assert row["_ts"] + int(found.properties["start_ns"]) == 1500
    assert (row["tag"], row["message"], row["prio"]) == ("t", "m", "PRIO_INFO")
    assert int(found.properties["start_unix_ns"]) == 5_000_000_500


def interned_stack(packet: Any) -> None:
    packet.sequence_flags = 1
    data = packet.interned_data
    data.function_names.add(iid=1, str=b"main")
    data.function_names.add(iid=2, str=b"a;b")
    data.mapping_paths.add(iid=1, str=b"lib.so")
    data.mappings.add(iid=1, path_string_ids=[1])
    data.frames.add(iid=1, function_name_id=1)
    data.frames.add(iid=2, function_name_id=2)
    data.frames.add(iid=3, mapping_id=1, rel_pc=16)
    data.callstacks.add(iid=9, frame_ids=[1, 2, 3])


def test_samples_have_their_stacks_as_text() -> None:
    def sample(packet: Any) -> None:
        packet.timestamp = 5
        packet.perf_sample.cpu = 1
        packet.perf_sample.pid = 2
        packet.perf_sample.tid = 3
        packet.perf_sample.callstack_iid = 9

    def streaming(packet: Any) -> None:
        packet.timestamp = 1000
        packet.streaming_profile_packet.callstack_iid.extend([9, 9])
        packet.streaming_profile_packet.timestamp_delta_us.extend([1, 2])

    def heap(packet: Any) -> None:
        dump = packet.profile_packet.process_dumps.add(pid=4, heap_name="malloc")
        dump.samples.add(callstack_id=9, self_allocated=100, alloc_count=1)
        packet.timestamp = 5

    found = load(trace(interned_stack, sample, streaming, heap))
    text = "main;a:b;/lib.so+0x10"
    assert [row["stack"] for row in rows(found, "raw_events.sample")] == [text] * 3
    assert [row["_ts"] for row in rows(found, "raw_events.sample")] == [0, 1995, 3995]
    (dump,) = rows(found, "raw_events.heap_sample")
    assert (dump["pid"], dump["heap_name"], dump["stack"], dump["self_allocated"]) == (4, "malloc", text, 100)


def test_gpu_counters_and_rails_have_the_names_of_their_descriptors() -> None:
    def gpu(packet: Any) -> None:
        packet.timestamp = 5
        packet.gpu_counter_event.counter_descriptor.specs.add(counter_id=3, name="load")
        packet.gpu_counter_event.counters.add(counter_id=3, double_value=0.5)

    def rail(packet: Any) -> None:
        packet.timestamp = 5
        packet.power_rails.rail_descriptor.add(index=1, rail_name="cpu")
        packet.power_rails.energy_data.add(index=1, timestamp_ms=0, energy=12)

    found = load(trace(gpu, rail))
    assert [(row["name"], row["value"]) for row in rows(found, "raw_events.counter")] == [
        ("load", 0.5),
        ("power.cpu", 12.0),
    ]


def test_gpu_counters_without_a_time_are_counted() -> None:
    found = load(written("packet { gpu_counter_event { counters { counter_id: 3 int_value: 1 } } }"))
    assert ("raw_events.counter" in found.tables, notes(found)) == (False, {"GPU counters without a time": 1})


def test_rails_of_two_sessions_are_apart() -> None:
    """Both count their rails from 0."""
    packets = """
packet { power_rails { rail_descriptor { index: 0 rail_name: "CPU" } session_uuid: 100 } }
packet { power_rails { rail_descriptor { index: 0 rail_name: "GPU" } session_uuid: 200 } }
packet { power_rails { rail_descriptor { index: 1 rail_name: "CPU" } session_uuid: 200 } }
packet { power_rails { energy_data { index: 0 timestamp_ms: 1 energy: 500 } session_uuid: 100 } }
packet { power_rails { energy_data { index: 0 timestamp_ms: 2 energy: 750 } session_uuid: 200 } }
packet { power_rails { energy_data { index: 1 timestamp_ms: 3 energy: 3 } session_uuid: 200 } }
"""
    counters = rows(load(written(packets)), "raw_events.counter")
    assert [(row["name"], row["value"]) for row in counters] == [
        ("power.CPU", 500),
        ("power.GPU", 750),
        ("power.CPU", 3),
    ]
    assert len({row["track"] for row in counters}) == 3


def test_counters_and_threads_of_two_machines_are_apart() -> None:
    packets = ""
    for machine in ("", "machine_id: 7"):
        packets += f"""
packet {{ {machine} power_rails {{ rail_descriptor {{ index: 0 rail_name: "of {machine}" }} }} }}
packet {{ {machine} timestamp: 5 sys_stats {{ num_forks: 3 }} }}
packet {{ {machine} timestamp: 5 track_descriptor {{ uuid: 1{len(machine)} thread {{ pid: 1 tid: 1 }} }} }}
"""
    packets += "packet { timestamp: 5 power_rails { energy_data { index: 0 energy: 12 } } }"
    found = load(written(packets))
    tracks = [(row["kind"], row.get("name"), row.get("machine")) for row in rows(found, "tracks")]
    assert tracks == [
        ("counter", "num_forks", None),
        ("thread", None, None),
        ("counter", "num_forks", 7),
        ("thread", None, 7),
        ("counter", "power.of ", None),
    ]


GPU_MEMORY = """
packet { }
packet { timestamp: 0 gpu_mem_total_event { gpu_id: 0 pid: 0 size: 123 } }
packet { timestamp: 0 gpu_mem_total_event { gpu_id: 1 pid: 0 size: 456 } }
packet { timestamp: 0 gpu_mem_total_event { gpu_id: 0 pid: 1 size: 100 } }
packet { ftrace_events { cpu: 1
  event { timestamp: 5 pid: 1 gpu_mem_total { gpu_id: 0 pid: 1 size: 233 } }
  event { timestamp: 12 pid: 1 sched_process_free { comm: "app" pid: 1 prio: 10 } }
  event { timestamp: 15 pid: 0 gpu_mem_total { gpu_id: 0 pid: 1 size: 7 } }
  event { timestamp: 20 pid: 0 gpu_mem_total { gpu_id: 1 pid: 0 size: 0 } } } }
"""


def test_memory_of_two_gpus_is_apart_and_ends_with_its_process() -> None:
    found = load(written(GPU_MEMORY))
    assert [row["track"] for row in rows(found, "raw_events.counter")] == [0, 1, 2]
    columns = "heap, pid, unitless(_ts), unitless(_duration), unitless(size)"
    heaps = f"SELECT {columns} FROM t.memory.heaps ORDER BY heap, pid, _ts"
    assert ask(written(GPU_MEMORY), heaps) == [
        ("gpu 0", 0, 0, 20, 123),
        ("gpu 0", 1, 0, 5, 100),
        ("gpu 0", 1, 5, 7, 233),
        ("gpu 1", 0, 0, 20, 456),
    ]


def test_heaps_of_ion_are_in_memory_heaps() -> None:
    packets = """
packet { ftrace_events { cpu: 0 event { timestamp: 10 pid: 1 ion_stat { buffer_id: 1 len: 100 total_allocated: 200 } }
  event { timestamp: 30 pid: 1 ion_stat { buffer_id: 1 len: -100 total_allocated: 100 } } } }
"""
    heaps = "SELECT heap, unitless(_ts), unitless(_duration), unitless(size) FROM t.memory.heaps"
    assert ask(written(packets), heaps) == [("ion", 0, 20, 200)]


CPUS = """
packet { cpu_info { cpus { processor: "big" FIRST }
  cpus { processor: "little" SECOND } cpus { processor: "little" SECOND } } }
packet { machine_id: 7 cpu_info { cpus { processor: "other" capacity: 5 } } }
"""


@pytest.mark.parametrize(
    ("first", "second", "capacities", "clusters"),
    [
        ("capacity: 1024", "capacity: 256", [1024, 256, 256], [1, 0, 0]),
        ("frequencies: 100 frequencies: 900", "frequencies: 500", [None, None, None], [1, 0, 0]),
        ("capacity: 9 frequencies: 1", "frequencies: 5", [9, None, None], [0, 1, 1]),
        ("", "frequencies: 5", [None, None, None], [None, None, None]),
    ],
)
def test_cpus_are_those_that_the_recorder_read(
    first: str, second: str, capacities: list[int | None], clusters: list[int | None]
) -> None:
    data = written(CPUS.replace("FIRST", first).replace("SECOND", second))
    names = ["big", "little", "little"]
    assert ask(data, "SELECT cpu, name, capacity, cluster, machine FROM t.cpus") == [
        *((cpu, names[cpu], capacities[cpu], clusters[cpu], None) for cpu in range(3)),
        (0, "other", 5, 0, 7),
    ]


def test_temperatures_are_called_like_their_zones() -> None:
    zone = 'packet { timestamp: %d sys_stats { thermal_zone { name: "%s" temp: %d type: "%s" } } }'
    packets = zone % (1, "zone0", 29, "pkg") + zone % (2, "zone1", 31, "pkg") + zone % (3, "zone2", 33, "")
    counters = rows(load(written(packets)), "raw_events.counter")
    assert [(row["name"], row["value"]) for row in counters] == [("pkg", 29), ("pkg", 31), ("zone2", 33)]
    assert len({row["track"] for row in counters}) == 3


@pytest.mark.parametrize("empty", [1, 3])
def test_a_trace_may_begin_with_packets_without_fields(empty: int) -> None:
    data = written("packet { } " * empty + "packet { timestamp: 5 sys_stats { num_forks: 3 } }")
    assert data.startswith(b"\n\0" * empty)
    assert ask(data, "SELECT value FROM t.raw_events.counter") == [(3.0,)]


def test_other_packets_have_typed_columns_and_json() -> None:
    def memory(packet: Any) -> None:
        packet.timestamp = 5
        packet.memory_tracker_snapshot.global_dump_id = 77
        packet.memory_tracker_snapshot.process_memory_dumps.add(pid=3)

    def config(packet: Any) -> None:
        packet.trace_config.unique_session_name = "s"

    found = load(trace(memory, config))
    (row,) = rows(found, "raw_events.memory_tracker_snapshot")
    assert row["global_dump_id"] == 77
    assert json.loads(row["args"]) == {"process_memory_dumps": [{"pid": 3}]}
    (timeless,) = rows(found, "packets")
    assert json.loads(timeless["args"]) == {"unique_session_name": "s"}
    assert found.properties["session"] == "s"


def test_frames_of_surfaces_are_read_though_the_package_leaves_them_out() -> None:
    frame = bytes([8, 5, 42, 4]) + b"name"
    packet = bytes([0x40, 5, 0xE2, 4, len(frame) + 2, 26, len(frame)]) + frame
    (row,) = rows(load(bytes([10, len(packet)]) + packet), "raw_events.frame_timeline_event")
    assert json.loads(row["args"]) == {"expected_surface_frame_start": {"cookie": 5, "layer_name": "name"}}


def test_packets_without_a_descriptor_are_kept() -> None:
    def odd(packet: Any) -> None:
        packet.timestamp = 5
        packet.MergeFromString(bytes([0xC2, 0x3E, 2, 1, 2]))

    found = load(trace(odd))
    assert rows(found, "raw_events.unknown_packet") == [
        {"_ts": 0, "line": 1, "sequence": 1, "field": 1000, "size": 2, "bytes": "0102"}
    ]
    assert notes(found) == {"packet that no descriptor describes is kept as bytes": 1}


def test_a_trace_may_bring_descriptors() -> None:
    file = FileDescriptorProto(name="x", package="my")
    message = file.message_type.add(name="M")
    message.field.add(name="size", number=1, type=4, label=1)
    file.extension.add(
        name="my_packet", number=1000, type=11, type_name=".my.M", extendee=".perfetto.protos.TracePacket", label=1
    )

    def extension(packet: Any) -> None:
        packet.extension_descriptor.extension_set.file.add().MergeFromString(file.SerializeToString())

    def mine(packet: Any) -> None:
        packet.timestamp = 5
        packet.MergeFromString(bytes([0xC2, 0x3E, 2, 8, 9]))

    found = load(trace(extension, mine))
    assert rows(found, "raw_events.my_packet")[0]["size"] == 9
    assert notes(found) == {}


@pytest.mark.parametrize("packed", ["deflate", "zstd", "gzip"])
def test_compressed_traces(packed: str) -> None:
    inner = trace(clocks, battery, battery)

    def holding(packet: Any) -> None:
        if packed == "zstd":
            packet.zstd_compressed_packets = pa.Codec("zstd").compress(inner, asbytes=True)
        else:
            packet.compressed_packets = zlib.compress(inner)

    found = load(gzip.compress(inner) if packed == "gzip" else trace(holding))
    assert len(rows(found, "raw_events.counter")) == 2
    assert notes(found) == {}


def test_losses_of_the_recorder_are_reported() -> None:
    def stats(packet: Any) -> None:
        packet.trace_stats.buffer_stats.add(chunks_overwritten=3)

    def ftrace(phase: int, overrun: int) -> Any:
        def build(packet: Any) -> None:
            packet.ftrace_stats.phase = phase
            packet.ftrace_stats.cpu_stats.add(cpu=0, overrun=overrun)

        return build

    found = load(trace(stats, stats, ftrace(1, 10), ftrace(2, 14)))
    assert notes(found) == {
        "chunks overwritten in the recorder's buffer": 3,
        "events overwritten in the kernel's buffer": 4,
    }


def test_system_information_is_in_properties() -> None:
    def system(packet: Any) -> None:
        packet.system_info.utsname.release = "6.1.0"
        packet.system_info.tracing_service_version = "v50"
        packet.system_info.num_cpus = 8

    def uuid(packet: Any) -> None:
        packet.trace_uuid.msb = 1
        packet.trace_uuid.lsb = -1

    properties = load(trace(system, uuid)).properties
    assert properties["kernel"] == "6.1.0"
    assert properties["tool"] == "v50"
    assert properties["cpus"] == "8"
    assert properties["uuid"] == "00000000-0000-0001-ffff-ffffffffffff"
