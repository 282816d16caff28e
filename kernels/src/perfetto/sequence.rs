//! State referred to by the packets of one writer: interned texts and messages, defaults, and the writing thread.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::wire::{Fields, Value};

/// Maximum bytes of interned data of all sequences; later data are dropped.
pub const MOST_INTERNED: usize = 96 << 20;
/// Maximum number of sequences; further ones share one.
const MOST_SEQUENCES: usize = 1 << 16;
/// Overhead of an interned message besides its bytes.
const EACH: usize = 64;

/// Fields of `InternedData`.
pub const CATEGORIES: u32 = 1;
pub const EVENT_NAMES: u32 = 2;
pub const ANNOTATION_NAMES: u32 = 3;
pub const SOURCE_LOCATIONS: u32 = 4;
pub const FUNCTION_NAMES: u32 = 5;
pub const FRAMES: u32 = 6;
pub const CALLSTACKS: u32 = 7;
pub const BUILD_IDS: u32 = 16;
pub const MAPPING_PATHS: u32 = 17;
pub const MAPPINGS: u32 = 19;
pub const LOG_BODIES: u32 = 20;
pub const GPU_STAGES: u32 = 24;
pub const KERNEL_SYMBOLS: u32 = 26;
pub const ANNOTATION_TYPES: u32 = 27;
pub const ANNOTATION_VALUES: u32 = 29;
pub const CORRELATIONS: u32 = 43;
pub const GPU_COUNTERS: u32 = 47;
pub const TASK_CONTEXTS: u32 = 48;
pub const EXECUTION_CONTEXTS: u32 = 49;
pub const SAMPLE_COUNTERS: u32 = 50;

/// An interned message, and the text in its field 2.
struct Entry {
    message: Box<[u8]>,
    text: (u32, u32),
}

/// Interned messages of a sequence by field and id.
#[derive(Default)]
pub struct Interned {
    entries: FxHashMap<(u32, u64), Entry>,
    stacks: FxHashMap<u64, Arc<[u8]>>,
    bytes: usize,
}

impl Interned {
    pub fn text(&self, field: u32, id: u64) -> Option<&[u8]> {
        let entry = self.entries.get(&(field, id))?;
        let (from, to) = entry.text;
        entry.message.get(from as usize..to as usize)
    }

    pub fn message(&self, field: u32, id: u64) -> Option<&[u8]> {
        Some(&self.entries.get(&(field, id))?.message)
    }

    pub fn stack(&self, id: u64) -> Option<Arc<[u8]>> {
        self.stacks.get(&id).cloned()
    }

    /// Store a message; returns the bytes by which memory grew.
    fn keep(&mut self, field: u32, message: &[u8]) -> usize {
        let Some(id) = super::wire::number(message, 1) else {
            return 0;
        };
        let text = super::wire::bytes(message, 2).map_or((0, 0), |text| {
            let from = text.as_ptr() as usize - message.as_ptr() as usize;
            (from as u32, (from + text.len()) as u32)
        });
        let entry = Entry { message: message.into(), text };
        let grown = message.len() + EACH;
        let old = self.entries.insert((field, id), entry);
        let freed = old.map_or(0, |old| old.message.len() + EACH);
        self.bytes = (self.bytes + grown).saturating_sub(freed);
        grown.saturating_sub(freed)
    }
}

/// One sequence of packets.
#[derive(Default)]
pub struct Sequence {
    pub interned: Interned,
    /// Whether the data that packets refer to are complete.
    pub valid: bool,
    /// The message `TracePacketDefaults`.
    pub defaults: Option<Arc<Defaults>>,
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    /// The origins of time differences of old writers: monotonic ns, thread time in ns, instructions.
    pub reference: Option<[i64; 3]>,
    /// Sums of counters with values given as differences, by track.
    pub sums: FxHashMap<u64, f64>,
    /// Whether the sequence had a packet before.
    pub seen: bool,
}

/// Defaults of the packets of a sequence.
#[derive(Default)]
pub struct Defaults {
    pub clock: Option<u64>,
    pub track: Option<u64>,
    pub counters: Vec<u64>,
    pub double_counters: Vec<u64>,
    /// The message `PerfSampleDefaults`.
    pub perf: Vec<u8>,
    pub stack_sample: Vec<u8>,
}

impl Defaults {
    pub fn of(message: &[u8]) -> Defaults {
        let mut defaults = Defaults::default();
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (58, Value::Varint(clock)) => defaults.clock = Some(clock),
                (11, Value::Bytes(events)) => defaults.events(events),
                (12, Value::Bytes(perf)) => defaults.perf = perf.to_vec(),
                (100, Value::Bytes(sample)) => defaults.stack_sample = sample.to_vec(),
                _ => (),
            }
        }
        defaults
    }

    fn events(&mut self, message: &[u8]) {
        for (number, value) in Fields::of(message) {
            match number {
                11 => self.track = value.number(),
                31 => numbers(value, &mut self.counters),
                45 => numbers(value, &mut self.double_counters),
                _ => (),
            }
        }
    }
}

/// Append the numbers of a repeated field, packed or not.
pub fn numbers(value: Value<'_>, out: &mut Vec<u64>) {
    match value {
        Value::Bytes(bytes) => out.extend(super::wire::varints(bytes)),
        _ => out.extend(value.number()),
    }
}

/// All sequences of a trace.
#[derive(Default)]
pub struct Sequences {
    all: FxHashMap<u32, Sequence>,
    interned: usize,
    /// Number of dropped interned messages.
    pub left_out: u64,
}

impl Sequences {
    #[inline]
    pub fn get(&mut self, id: u32) -> &mut Sequence {
        let id = match self.all.len() < MOST_SEQUENCES || self.all.contains_key(&id) {
            true => id,
            false => u32::MAX,
        };
        self.all.entry(id).or_insert_with(|| Sequence {
            // A writer without a sequence of its own never declares its state complete.
            valid: id == 0,
            ..Sequence::default()
        })
    }

    /// Clear interned data, when the writer does.
    pub fn clear(&mut self, id: u32) {
        let sequence = self.get(id);
        let bytes = sequence.interned.bytes;
        sequence.interned = Interned::default();
        sequence.defaults = None;
        sequence.valid = true;
        sequence.sums.clear();
        self.interned = self.interned.saturating_sub(bytes);
    }

    /// Store the interned messages of a packet.
    pub fn intern(&mut self, id: u32, data: &[u8]) {
        for (field, value) in Fields::of(data) {
            if let Value::Bytes(message) = value {
                self.keep(id, field, message);
            }
        }
    }

    /// Store one interned message.
    pub fn keep(&mut self, id: u32, field: u32, message: &[u8]) {
        if self.interned + message.len() > MOST_INTERNED {
            self.left_out += 1;
            return;
        }
        self.interned += self.get(id).interned.keep(field, message);
    }

    /// Store the text of a stack.
    pub fn keep_stack(&mut self, id: u32, stack: u64, text: &Arc<[u8]>) {
        if self.interned + text.len() > MOST_INTERNED {
            return;
        }
        let grown = text.len() + EACH;
        self.interned += grown;
        let interned = &mut self.get(id).interned;
        interned.bytes += grown;
        interned.stacks.insert(stack, Arc::clone(text));
    }
}
