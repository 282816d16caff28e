//! Decode the files of a trace into rows, packet by packet, each with the state of its sequence.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::clocks::{BOOTTIME, MONOTONIC, REALTIME};
use super::packets::{Found, Packets};
use super::payloads::Payloads;
use super::schema::Schema;
use super::sequence::Defaults;
use super::start::Start;
use super::unpack::{Trouble, Unpacked};
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::input::{Damage, Input};
use crate::rows::{Decode, Failure, Learnt, Place, Sink};

const CLEARED: u64 = 1;
const NEEDS: u64 = 2;

/// The fields of a packet that are not its payload.
#[derive(Default)]
struct Envelope<'a> {
    time: Option<u64>,
    clock: Option<u64>,
    sequence: u32,
    machine: u32,
    flags: u64,
    cleared: bool,
    dropped: u64,
    first: bool,
    interned: Option<&'a [u8]>,
    defaults: Option<&'a [u8]>,
    payloads: Vec<(u32, Value<'a>)>,
    packed: Option<&'a [u8]>,
    damaged: bool,
}

impl<'a> Envelope<'a> {
    fn of(message: &'a [u8]) -> Envelope<'a> {
        let mut envelope = Envelope::default();
        let mut fields = Fields::of(message);
        for (number, value) in fields.by_ref() {
            match (number, value) {
                (8, Value::Varint(bits)) => envelope.time = Some(bits),
                (58, Value::Varint(bits)) => envelope.clock = Some(bits),
                (10, Value::Varint(bits)) => envelope.sequence = bits as u32,
                (13, Value::Varint(bits)) => envelope.flags = bits,
                (41, Value::Varint(bits)) => envelope.cleared = bits != 0,
                (42, Value::Varint(bits)) => envelope.dropped = bits,
                (87, Value::Varint(bits)) => envelope.first = bits != 0,
                (12, Value::Bytes(bytes)) => envelope.interned = Some(bytes),
                (59, Value::Bytes(bytes)) => envelope.defaults = Some(bytes),
                (50 | 133, Value::Bytes(bytes)) => envelope.packed = Some(bytes),
                (98, Value::Varint(bits)) => envelope.machine = bits as u32,
                // The writer of the packet.
                (3 | 79, Value::Varint(_)) => (),
                _ => envelope.payloads.push((number, value)),
            }
        }
        envelope.damaged = fields.damaged();
        envelope
    }
}

/// Decodes the files of one trace.
pub struct Decoder {
    paths: Vec<PathBuf>,
    done: Arc<AtomicU64>,
    file: usize,
    outer: Option<Packets<Input>>,
    inner: Option<Packets<Unpacked>>,
    world: World,
    payloads: Payloads,
    packets: u64,
    emitted: bool,
}

impl Decoder {
    pub fn new(paths: Vec<PathBuf>, descriptors: &[Vec<u8>], machine: Option<u32>, done: Arc<AtomicU64>) -> Decoder {
        let mut schema = Schema::default();
        descriptors.iter().for_each(|file| schema.add_file(file));
        let mut world = World::new(schema);
        world.wanted_machine = machine;
        Decoder {
            paths,
            done,
            file: 0,
            outer: None,
            inner: None,
            payloads: Payloads::new(&world),
            world,
            packets: 0,
            emitted: false,
        }
    }

    fn failure(&self, error: std::io::Error) -> Failure {
        let path = self.paths.get(self.file).map(|path| path.display().to_string());
        Failure::Io(path.unwrap_or_default(), error)
    }

    /// Read one packet; false at the end of the file.
    fn one(&mut self, sink: &mut Sink) -> Result<bool, Failure> {
        if let Some(inner) = &mut self.inner {
            let found = inner.next();
            let found = found.map_err(|error| self.failure(error))?;
            self.unpacked(sink, found);
            return Ok(true);
        }
        let Some(outer) = &mut self.outer else {
            return Ok(false);
        };
        let found = outer.next();
        let found = found.map_err(|error| self.failure(error))?;
        self.found(sink, found)
    }

    fn found(&mut self, sink: &mut Sink, found: Found) -> Result<bool, Failure> {
        let Some(outer) = &self.outer else {
            return Ok(false);
        };
        let position = outer.position();
        let notes = &mut self.world.notes;
        match found {
            Found::Packet(length) => {
                self.packets += 1;
                let bytes = outer.packet(length);
                let packed = packet(&mut self.world, &mut self.payloads, sink, bytes, self.packets);
                self.inner = packed.map(|packed| Packets::new(Unpacked::new(packed)));
            }
            Found::Long(bytes) => {
                notes.add("packet is too long to be read", 1, true, || format!("{bytes} bytes before byte {position}"))
            }
            Found::Skipped(bytes) => {
                notes.add("bytes that are no packet were passed over", bytes, true, || {
                    format!("before byte {position}")
                });
            }
            Found::Cut => notes.add("trace ends within a packet", 1, true, || format!("byte {position}")),
            Found::End => {
                let reason = match outer.source().damage {
                    Some(Damage::Truncated) => "compressed file is cut off",
                    Some(Damage::Corrupt) => "compressed file is damaged",
                    Some(Damage::Trailing) => "something that is not gzip follows the compressed file",
                    None => return Ok(false),
                };
                notes.add(reason, 1, true, || format!("byte {position}"));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The contents of a compressed packet.
    fn unpacked(&mut self, sink: &mut Sink, found: Found) {
        let Some(inner) = &self.inner else {
            return;
        };
        let notes = &mut self.world.notes;
        match found {
            Found::Packet(length) => {
                self.packets += 1;
                let bytes = inner.packet(length);
                if packet(&mut self.world, &mut self.payloads, sink, bytes, self.packets).is_some() {
                    let reason = "compressed packet within a compressed packet";
                    self.world.notes.add(reason, 1, true, String::new);
                }
                return;
            }
            Found::Long(_) => {
                return notes.add("packet is too long to be read", 1, true, String::new);
            }
            Found::Skipped(bytes) => {
                return notes.add("bytes that are no packet were passed over", bytes, true, String::new);
            }
            Found::Cut | Found::End => (),
        }
        match inner.source().trouble {
            Some(Trouble::Damaged) => notes.add("compressed packet is damaged", 1, true, String::new),
            Some(Trouble::TooLarge) => notes.add("compressed packet unpacks to too much", 1, true, String::new),
            None if matches!(found, Found::Cut) => {
                notes.add("compressed packet ends within a packet", 1, true, String::new);
            }
            None => (),
        }
        self.inner = None;
    }

    /// Put the data collected over the whole trace into its tables.
    fn finish(&mut self, sink: &mut Sink) {
        let world = &mut self.world;
        world.tracks.emit(sink);
        world.names.emit(sink);
        let left_out = [
            (world.sequences.left_out, "interned data beyond what is kept"),
            (world.tracks.left_out, "tracks beyond what is kept share one"),
            (world.names.left_out, "names beyond what is kept"),
            (world.clocks.left_out, "clock snapshots beyond what is kept"),
            (world.clocks.impossible, "impossible time in a clock snapshot is passed over"),
        ];
        for (count, reason) in left_out {
            if count > 0 {
                world.notes.add(reason, count, true, String::new);
            }
        }
        world.property("clock", world.clocks.name());
        let start = sink.range().map_or(0, |(first, _)| first);
        if let Some(unix) = world.clocks.of_clock(REALTIME, start) {
            world.property("start_unix_ns", unix.to_string());
        }
        if let Some(end) = world.kernel_end {
            world.property("kernel_end_ns", end.to_string());
        }
        world.property("packets", self.packets.to_string());
    }
}

/// Put a packet into rows, or return that it contains others, compressed.
fn packet<'a>(
    world: &mut World,
    payloads: &mut Payloads,
    sink: &mut Sink,
    message: &'a [u8],
    number: u64,
) -> Option<&'a [u8]> {
    let envelope = Envelope::of(message);
    if envelope.damaged {
        world.notes.add("packet is damaged", 1, true, || format!("packet {number}"));
    }
    if is_of_another_machine(world, &envelope) || !begin(world, &envelope) {
        return envelope.packed;
    }
    let mut packet = Packet {
        time: None,
        sequence: envelope.sequence,
        machine: (envelope.machine != 0).then_some(i64::from(envelope.machine)),
        number,
    };
    world.clocks.of_machine(envelope.machine);
    for (number, value) in &envelope.payloads {
        match (number, value) {
            (6, Value::Bytes(snapshot)) => world.clocks.snapshot(snapshot, envelope.sequence),
            (107, Value::Bytes(sync)) if envelope.machine != 0 => remote_clocks(world, sync, envelope.sequence),
            _ => (),
        }
    }
    world.tracks.machine = packet.machine;
    let Ok(time) = time(world, &envelope) else {
        return envelope.packed;
    };
    packet.time = time;
    world.last_time = packet.time.or(world.last_time);
    for (number, value) in &envelope.payloads {
        payloads.payload(world, sink, &packet, *number, *value);
    }
    envelope.packed
}

/// Add the clocks of another machine in a message `RemoteClockSync`: it has no other snapshots of them.
fn remote_clocks(world: &mut World, message: &[u8], sequence: u32) {
    for (number, value) in Fields::of(message) {
        if let (1, Some(pair)) = (number, value.bytes())
            && let Some(snapshot) = super::wire::bytes(pair, 2)
        {
            world.clocks.snapshot(snapshot, sequence);
        }
    }
}

/// Whether a packet comes from a machine that is not to be read; this is counted. A packet of others has no machine.
fn is_of_another_machine(world: &mut World, envelope: &Envelope<'_>) -> bool {
    let machine = envelope.machine;
    if world.wanted_machine.is_none_or(|wanted| wanted == machine) || envelope.packed.is_some() {
        return false;
    }
    world.notes.add("packets of other machines", 1, false, || format!("machine {machine}"));
    true
}

/// Update the state of a packet's sequence; returns false if the packet refers to lost data.
fn begin(world: &mut World, envelope: &Envelope<'_>) -> bool {
    let id = envelope.sequence;
    if envelope.cleared || envelope.flags & CLEARED != 0 {
        world.sequences.clear(id);
    } else if envelope.dropped != 0 {
        world.sequences.get(id).valid = false;
    }
    let sequence = world.sequences.get(id);
    if envelope.dropped != 0 && sequence.seen {
        world.notes.add("packets lost by a writer", 1, false, || format!("before a packet of sequence {id}"));
    }
    sequence.seen = true;
    if envelope.flags & NEEDS != 0 && !sequence.valid {
        let reason = "packet that refers to lost data";
        world.notes.add(reason, 1, false, || format!("sequence {id}"));
        return false;
    }
    if let Some(defaults) = envelope.defaults {
        sequence.defaults = Some(Arc::new(Defaults::of(defaults)));
    }
    if let Some(interned) = envelope.interned {
        world.sequences.intern(id, interned);
    }
    true
}

/// An impossible time; it is counted.
struct Impossible;

/// The time of a packet in nanoseconds of the trace's clock, if it has one.
#[inline]
fn time(world: &mut World, envelope: &Envelope<'_>) -> Result<Option<i64>, Impossible> {
    let Some(time) = envelope.time else {
        return Ok(None);
    };
    let clock = match envelope.clock {
        Some(clock) => clock,
        None => {
            let defaults = world.sequences.get(envelope.sequence).defaults.as_ref();
            defaults.and_then(|defaults| defaults.clock).unwrap_or(0)
        }
    };
    let found = match (clock, unsaid(envelope)) {
        (0, None) => world.own_time(time),
        // If no snapshots lead from it, it is the trace's own clock.
        (0, Some(clock)) if world.clocks.convert(clock, 0, 0).is_none() => world.own_time(time),
        (0, Some(clock)) => world.time(clock, envelope.sequence, time),
        (clock, _) => world.time(clock, envelope.sequence, time),
    };
    found.map(Some).ok_or(Impossible)
}

/// The clock of packets without a clock id but with a fixed clock: Chrome's own ones, and the recorder's about itself.
fn unsaid(envelope: &Envelope<'_>) -> Option<u64> {
    envelope.payloads.iter().find_map(|(number, _)| match number {
        5 | 51 => Some(MONOTONIC),
        69 => Some(BOOTTIME),
        _ => None,
    })
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let mut begin = self.outer.as_ref().map_or(0, Packets::position);
        loop {
            if self.outer.is_none() {
                let Some(path) = self.paths.get(self.file) else {
                    if self.emitted {
                        return Ok(None);
                    }
                    self.emitted = true;
                    self.finish(sink);
                    let file = self.paths.len().saturating_sub(1) as u32;
                    return Ok((sink.len() > 0).then_some(Place { file, begin, end: begin }));
                };
                let input = Input::open(path, Arc::clone(&self.done)).map_err(|error| self.failure(error))?;
                self.world.notes.file = self.file as u32;
                self.world.start = Start::of(path, self.world.wanted_machine).map_err(|error| self.failure(error))?;
                self.world.tracks.coming = std::mem::take(&mut self.world.start.descriptors);
                self.outer = Some(Packets::new(input));
                begin = 0;
            }
            let more = self.one(sink)?;
            let end = self.outer.as_ref().map_or(begin, Packets::position);
            let file = self.file as u32;
            if !more {
                self.outer = None;
                self.file += 1;
                self.world.sequences = super::sequence::Sequences::default();
            }
            if (!more && sink.len() > 0) || sink.full() {
                return Ok(Some(Place { file, begin, end }));
            }
        }
    }

    fn learnt(&mut self) -> Learnt {
        Learnt { notes: self.world.notes.take(), properties: std::mem::take(&mut self.world.properties) }
    }
}
