//! Dispatch the payload of a packet to the code that decodes it.

use super::clocks::REALTIME;
use super::ftrace::Ftrace;
use super::gauges::{Gauges, battery};
use super::generic::{Generic, Shape, timeless};
use super::schema::Kind;

use super::tracks::int;
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use super::{ftrace_generic, info, polled, profiles, track_event};
use crate::rows::{Sink, Type};

/// The parts that decode payloads.
pub struct Payloads {
    message: usize,
    ftrace: Ftrace,
    generic: Generic,
    gauges: Gauges,
}

impl Payloads {
    pub fn new(world: &World) -> Payloads {
        Payloads {
            message: world.schema.find("TracePacket").unwrap_or(usize::MAX),
            ftrace: Ftrace::new(world),
            generic: Generic::default(),
            gauges: Gauges::default(),
        }
    }

    /// Put a field of a packet into rows.
    #[inline]
    pub fn payload(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, number: u32, value: Value<'_>) {
        let Value::Bytes(bytes) = value else {
            return self.other(world, sink, packet, number, value);
        };
        match number {
            1 => self.ftrace.bundle(world, sink, packet, bytes),
            11 => track_event::rows(world, sink, packet, bytes),
            2 => world.names.tree(bytes),
            6 | 36 => (),
            7 => self.system(world, sink, packet, bytes),
            9 => self.processes(world, sink, packet, bytes),
            60 => describe(world, packet, bytes),
            43 => process(world, packet, bytes),
            44 => thread(world, packet, bytes),
            37 => profiles::heap(world, sink, &mut self.generic, packet, bytes),
            54 => profiles::streaming(world, sink, packet, bytes),
            66 => profiles::perf(world, sink, packet, bytes),
            135 => profiles::stack_sample(world, sink, packet, bytes),
            39 => self.logs(world, sink, packet, bytes),
            40 => self.gauges.rails(world, sink, packet, bytes),
            38 => battery(world, sink, packet, bytes),
            52 => self.gauges.gpu(world, sink, packet, bytes),
            47 => self.list(world, sink, bytes, ("PackagesList.PackageInfo", "packages")),
            53 => self.render_stage(world, sink, packet, bytes),
            72 => info::extensions(world, bytes),
            _ => self.keep_message(world, sink, packet, number, bytes),
        }
    }

    /// Keep messages whole, and turn some of their fields into properties.
    fn keep_message(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, number: u32, bytes: &[u8]) {
        match number {
            33 => info::config(world, bytes),
            34 => info::ftrace(world, bytes),
            35 => info::stats(world, bytes),
            45 => info::system(world, bytes),
            89 => info::uuid(world, bytes),
            67 => self.cpus(world, sink, packet, bytes),
            71 => memory(world, sink, packet, bytes),
            _ => (),
        }
        self.other(world, sink, packet, number, Value::Bytes(bytes));
    }

    fn other(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, number: u32, value: Value<'_>) {
        let field = world.schema.message(self.message).and_then(|message| message.field(number)).cloned();
        match (field, value) {
            (Some(field), Value::Bytes(bytes)) if matches!(field.kind, Kind::Message(_)) => {
                if matches!(number, 33 | 45 | 35 | 34 | 67 | 89 | 124) {
                    let Kind::Message(message) = field.kind else {
                        return;
                    };
                    return timeless(world, sink, packet, &field.name, Some((message, bytes)));
                }
                self.generic.packet(world, sink, packet, &field, bytes);
            }
            (_, value) => {
                world.notes.add("packet that no descriptor describes is kept as bytes", 1, false, || {
                    format!("field {number} of TracePacket")
                });
                let line = world.next_line();
                let number_text = value.number().unwrap_or(0).to_le_bytes();
                let bytes = value.bytes().unwrap_or(&number_text);
                let Some(time) = packet.time.or(world.last_time) else {
                    return;
                };
                ftrace_generic::unknown_packet(sink, time, line, packet.sequence, (number, bytes));
            }
        }
    }

    /// Put each record of a list in a row of a table of its own.
    fn exploded(&mut self, world: &mut World, sink: &mut Sink, time: i64, of: (&str, &str), bytes: &[u8]) {
        let (kind, table) = of;
        let shape = Shape { event: true, ..Shape::default() };
        if let Some(message) = world.schema.find(kind) {
            self.generic.row(world, sink, (table, message, shape), time, bytes, |_, _| ());
        }
    }

    fn list(&mut self, world: &mut World, sink: &mut Sink, message: &[u8], of: (&str, &str)) {
        let (kind, table) = of;
        let Some(kind) = world.schema.find(kind) else {
            return;
        };
        let shape = Shape { more: &[("number", Type::Int)], ..Shape::default() };
        let mut place = 0;
        for (number, value) in Fields::of(message) {
            if let (1, Value::Bytes(one)) = (number, value) {
                self.generic.row(world, sink, (table, kind, shape), 0, one, |rows, first| rows.int(first, place));
                place += 1;
            }
        }
    }

    /// A message `CpuInfo`: the CPUs of a machine, by number.
    fn cpus(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let Some(kind) = world.schema.find("CpuInfo.Cpu") else {
            return;
        };
        let shape = Shape {
            more: &[("number", Type::Int), ("cluster", Type::Int), ("machine", Type::Int)],
            ..Shape::default()
        };
        let cpus: Vec<&[u8]> =
            Fields::of(message).filter(|(number, _)| *number == 1).filter_map(|(_, value)| value.bytes()).collect();
        let clusters = super::info::clusters(&cpus);
        for (place, (cpu, cluster)) in cpus.iter().zip(clusters).enumerate() {
            self.generic.row(world, sink, ("cpus", kind, shape), 0, cpu, |rows, first| {
                rows.int(first, place as i64);
                super::tables::put_int(rows, first + 1, cluster);
                super::tables::put_int(rows, first + 2, packet.machine);
            });
        }
    }

    fn system(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let Some(time) = packet.time else {
            world.notes.add("polled values without a time", 1, false, String::new);
            return;
        };
        polled::system(world, sink, time, message);
        for (number, value) in Fields::of(message) {
            let of = match number {
                3 => ("SysStats.CpuTimes", "cpu_stat"),
                12 => ("SysStats.BuddyInfo", "buddy_info"),
                13 => ("SysStats.DiskStat", "disk_stat"),
                16 => ("SysStats.CpuIdleState", "cpuidle_state"),
                18 => ("SysStats.SlabInfo", "slab_info"),
                _ => continue,
            };
            if let Value::Bytes(bytes) = value {
                self.exploded(world, sink, time, of, bytes);
            }
        }
    }

    fn processes(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let Some(time) = packet.time else {
            world.notes.add("polled values without a time", 1, false, String::new);
            return;
        };
        for (number, value) in Fields::of(message) {
            if let (1, Value::Bytes(process)) = (number, value) {
                self.exploded(world, sink, time, ("ProcessStats.Process", "process_stats"), process);
                polled::process(world, sink, time, process);
            }
        }
    }

    fn logs(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        for (number, value) in Fields::of(message) {
            if let (1, Value::Bytes(event)) = (number, value) {
                let time = match super::wire::number(event, 5) {
                    Some(time) => match world.time(REALTIME, packet.sequence, time) {
                        Some(time) => time,
                        None => continue,
                    },
                    None => match packet.time.or(world.last_time) {
                        Some(time) => time,
                        None => {
                            let reason = "line of the log without a time";
                            world.notes.add(reason, 1, false, String::new);
                            continue;
                        }
                    },
                };
                self.exploded(world, sink, time, ("AndroidLogPacket.LogEvent", "android_log"), event);
            }
        }
    }

    fn render_stage(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let (Some(kind), Some(time)) = (world.schema.find("GpuRenderStageEvent"), packet.time) else {
            return self.other(world, sink, packet, 53, Value::Bytes(message));
        };
        let shape =
            Shape { event: true, duration: "duration", more: &[("stage", Type::Text), ("hw_queue", Type::Text)] };
        let interned = &world.sequences.get(packet.sequence).interned;
        let name = |number| {
            let id = super::wire::number(message, number)?;
            interned.text(super::sequence::GPU_STAGES, id).map(<[u8]>::to_owned)
        };
        let (stage, queue) = (name(14), name(13));
        let of = ("gpu_render_stage_event", kind, shape);
        self.generic.row(world, sink, of, time, message, |rows, first| {
            super::tables::put_text(rows, first, stage.as_deref());
            super::tables::put_text(rows, first + 1, queue.as_deref());
        });
    }
}

/// A message `TrackDescriptor`.
fn describe(world: &mut World, packet: &Packet, message: &[u8]) {
    let names = world.tracks.describe(message);
    if let Some((pid, tid)) = names.ids {
        let sequence = world.sequences.get(packet.sequence);
        // Events without a track belong to the thread that their sequence described last.
        if sequence.valid {
            (sequence.pid, sequence.tid) = (Some(pid), Some(tid));
        }
    }
    if let Some(process) = super::wire::bytes(message, 3) {
        world.names.process(process);
    }
    if let Some((pid, tid, name)) = names.thread {
        world.names.thread(Some(pid), tid, Some(&name));
    }
}

/// A message `ProcessDescriptor` of old writers.
fn process(world: &mut World, packet: &Packet, message: &[u8]) {
    let pid = int(message, 1);
    world.sequences.get(packet.sequence).pid = Some(pid);
    world.names.process(message);
}

/// A message `ThreadDescriptor` of old writers: the thread of a sequence, and the start of its times.
fn thread(world: &mut World, packet: &Packet, message: &[u8]) {
    let (pid, tid) = (int(message, 1), int(message, 2));
    let sequence = world.sequences.get(packet.sequence);
    (sequence.pid, sequence.tid) = (Some(pid), Some(tid));
    let number = |number| super::wire::number(message, number).unwrap_or(0).cast_signed();
    sequence.reference = Some([number(6).saturating_mul(1000), number(7).saturating_mul(1000), number(8)]);
    if let Some(name) = super::wire::bytes(message, 5) {
        world.names.thread(Some(pid), tid, Some(name));
    }
}

/// A message `GpuMemTotalEvent`.
fn memory(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let (Some(time), Some(size)) = (packet.time, super::wire::number(message, 3)) else {
        return;
    };
    let pid = Some(int(message, 2)).filter(|pid| *pid != 0);
    let gpu = super::wire::number(message, 1).unwrap_or(0);
    let counter = polled::Polled { name: b"GPU Memory", unit: "B", pid, scope: &format!("gpu {gpu} memory") };
    polled::value(world, sink, time, &counter, size as f64);
}
