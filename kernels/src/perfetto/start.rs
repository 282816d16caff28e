//! Find the time from which the events of all CPUs are complete, and the descriptors of tracks, at the beginning of a
//! trace file, before decoding.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rustc_hash::{FxHashMap, FxHashSet};

use super::clocks::{BOOTTIME, MOST_TIME};
use super::packets::{Found, Packets};
use super::unpack::Unpacked;
use super::wire::{Fields, Value, bytes, number};
use super::world::World;
use crate::input::Input;

/// Bytes to examine: recorders read all CPUs in turn, so the first bundles of all are close together.
const MOST_LOOKED_AT: u64 = 64 << 20;
/// Maximum total size of compressed packets among these.
const MOST_UNPACKED: u64 = 256 << 20;
/// Maximum total size of descriptors of tracks.
const MOST_DESCRIBED: usize = 32 << 20;

/// The start of complete data of the kernel, and what the file says about tracks.
#[derive(Default)]
pub struct Start {
    /// The start of tracing, in the clock of its packet.
    started: Option<(u64, u64)>,
    /// The kernel's buffer may contain earlier events, which the configuration requests.
    preserved: bool,
    /// By clock of bundles: the latest end of the data read before the first bundle of a CPU.
    read: FxHashMap<u64, u64>,
    /// The machine to examine; None for all.
    machine: Option<u32>,
    /// Machines and CPUs with a bundle.
    seen: FxHashSet<(u32, u64)>,
    unpacked: u64,
    /// The first descriptor of each track, by its uuid: other writers' events may precede it.
    pub descriptors: FxHashMap<u64, Box<[u8]>>,
    described: usize,
}

impl Start {
    /// Examine the beginning of a file. Damage there is reported by the decoder.
    pub fn of(path: &Path, machine: Option<u32>) -> io::Result<Start> {
        let mut start = Start { machine, ..Start::default() };
        let mut packets = Packets::new(Input::open(path, Arc::new(AtomicU64::new(0)))?);
        while packets.position() < MOST_LOOKED_AT {
            match packets.next()? {
                Found::Packet(length) => start.packet(packets.packet(length), true)?,
                Found::Cut | Found::End => break,
                Found::Long(_) | Found::Skipped(_) => (),
            }
        }
        Ok(start)
    }

    fn packet(&mut self, message: &[u8], outer: bool) -> io::Result<()> {
        let (mut time, mut clock, mut machine) = (None, BOOTTIME, 0);
        let (mut bundle, mut service, mut descriptor) = (None, None, None);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (8, Value::Varint(bits)) => time = Some(bits),
                (58, Value::Varint(bits)) => clock = bits,
                (98, Value::Varint(bits)) => machine = bits as u32,
                (1, Value::Bytes(bytes)) => bundle = Some(bytes),
                (69, Value::Bytes(bytes)) => service = Some(bytes),
                (33, Value::Bytes(config)) => self.preserved |= preserves(config),
                (60, Value::Bytes(bytes)) => descriptor = Some(bytes),
                (50 | 133, Value::Bytes(packed)) if outer => self.packed(packed)?,
                _ => (),
            }
        }
        if self.machine.is_some_and(|wanted| wanted != machine) {
            return Ok(());
        }
        if let Some(descriptor) = descriptor {
            self.descriptor(descriptor);
        }
        if let (Some(event), Some(time)) = (service, time)
            && number(event, 2) == Some(1)
        {
            self.started = Some((clock, time));
        }
        if let Some(bundle) = bundle {
            self.bundle(machine, bundle);
        }
        Ok(())
    }

    fn packed(&mut self, packed: &[u8]) -> io::Result<()> {
        let mut packets = Packets::new(Unpacked::new(packed));
        while self.unpacked < MOST_UNPACKED {
            let Found::Packet(length) = packets.next()? else {
                break;
            };
            self.unpacked += length as u64;
            self.packet(packets.packet(length), false)?;
        }
        Ok(())
    }

    fn descriptor(&mut self, message: &[u8]) {
        let uuid = number(message, 1).unwrap_or(0);
        let size = message.len() + size_of::<Box<[u8]>>();
        if self.described + size <= MOST_DESCRIBED && !self.descriptors.contains_key(&uuid) {
            self.described += size;
            self.descriptors.insert(uuid, message.into());
        }
    }

    /// The header of a bundle: the first one of a CPU contains the end of the data read from it before.
    fn bundle(&mut self, machine: u32, message: &[u8]) {
        let cpu = number(message, 1).unwrap_or(0);
        if !self.seen.insert((machine, cpu)) {
            return;
        }
        let clock = super::ftrace::clock(number(message, 5).unwrap_or(0));
        // Field 9 is its name in recorders before v47.
        let read = number(message, 10).or_else(|| number(message, 9));
        if let (Some(clock), Some(read)) = (clock, read)
            && i64::try_from(read).is_ok_and(|read| read < MOST_TIME)
        {
            let latest = self.read.entry(clock).or_insert(0);
            *latest = read.max(*latest);
        }
    }

    /// The start of complete data in bundles with a clock, in nanoseconds of the trace's clock.
    pub fn of_bundles(&self, world: &mut World, clock: u64) -> i64 {
        let mut whole = i64::MIN;
        if let Some((clock, time)) = self.started
            && !self.preserved
        {
            let converted = world.clocks.convert(clock, 0, time.cast_signed());
            whole = converted.unwrap_or(time.cast_signed());
        }
        if let Some(read) = self.read.get(&clock) {
            let converted = world.clocks.convert(clock, 0, read.cast_signed());
            whole = whole.max(converted.unwrap_or(read.cast_signed()));
        }
        whole
    }
}

/// Whether a message `TraceConfig` requests the earlier contents of the kernel's buffer.
fn preserves(config: &[u8]) -> bool {
    Fields::of(config).any(|(field, value)| {
        let (2, Value::Bytes(source)) = (field, value) else {
            return false;
        };
        let ftrace = bytes(source, 1).and_then(|config| bytes(config, 100));
        ftrace.and_then(|ftrace| number(ftrace, 23)) == Some(1)
    })
}
