//! Parse stored `perf_event_attr` into the format of samples, and map counter ids to their events.

use rustc_hash::FxHashMap;

use crate::input::bytes::Bytes;

/// Bits of `sample_type`.
pub mod has {
    pub const IP: u64 = 1;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const BRANCH_STACK: u64 = 1 << 11;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
    pub const WEIGHT: u64 = 1 << 14 | 1 << 24;
    pub const DATA_SRC: u64 = 1 << 15;
    pub const IDENTIFIER: u64 = 1 << 16;
    pub const TRANSACTION: u64 = 1 << 17;
    pub const REGS_INTR: u64 = 1 << 18;
    pub const PHYS_ADDR: u64 = 1 << 19;
    pub const AUX: u64 = 1 << 20;
    pub const CGROUP: u64 = 1 << 21;
    pub const DATA_PAGE_SIZE: u64 = 1 << 22;
    pub const CODE_PAGE_SIZE: u64 = 1 << 23;
    /// All known bits; a sample with more bits has parts after these that are skipped.
    pub const KNOWN: u64 = (1 << 25) - 1;
}

/// The bit of `branch_sample_type` for an index before the branches, and for counters after them.
pub const BRANCH_INDEX: u64 = 1 << 17;
pub const BRANCH_COUNTERS: u64 = 1 << 19;

const FREQ: u64 = 1 << 10;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCKID: u64 = 1 << 25;

/// The size of an attr that gives size 0.
const FIRST_SIZE: usize = 64;
/// The type of tracepoints.
pub const TRACEPOINT: u32 = 2;

/// The settings of one event.
#[derive(Clone, Default)]
pub struct Attr {
    pub kind: u32,
    pub config: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub branch_sample_type: u64,
    pub regs_user: u64,
    pub regs_intr: u64,
    /// The period of all samples, if it is fixed.
    pub period: Option<u64>,
    pub sample_id_all: bool,
    pub clockid: Option<i32>,
    flags: u64,
}

impl Attr {
    /// Read one; returns also its size in bytes.
    pub fn read(bytes: Bytes<'_>) -> Option<(Attr, usize)> {
        let mut at = bytes;
        let kind = at.u32()?;
        let size = match at.u32()? as usize {
            0 => FIRST_SIZE,
            size => size,
        };
        let mut at = bytes;
        let mut at = at.part(size.min(bytes.len()))?;
        at.skip(8)?;
        let config = at.u64()?;
        let period = at.u64()?;
        let sample_type = at.u64()?;
        let read_format = at.u64()?;
        let flags = at.u64()?;
        // Bit fields begin at the most significant bit on big-endian machines.
        let flags = if bytes.big { flags.reverse_bits() } else { flags };
        // wakeup_events, bp_type, config1, config2
        at.skip(16).or(Some(()))?;
        let mut attr = Attr {
            kind,
            config,
            sample_type,
            read_format,
            period: (flags & FREQ == 0).then_some(period),
            sample_id_all: flags & SAMPLE_ID_ALL != 0,
            flags,
            ..Attr::default()
        };
        attr.later_parts(at, flags);
        Some((attr, size))
    }

    /// Fields added by later kernels; older attrs end before.
    fn later_parts(&mut self, mut at: Bytes<'_>, flags: u64) -> Option<()> {
        at.skip(8)?;
        self.branch_sample_type = at.u64()?;
        self.regs_user = at.u64()?;
        at.skip(4)?;
        let clockid = at.u32()?.cast_signed();
        if flags & USE_CLOCKID != 0 {
            self.clockid = Some(clockid);
        }
        self.regs_intr = at.u64()?;
        Some(())
    }

    /// The event's name by its type and number, if the trace does not contain it.
    pub fn generic_name(&self) -> String {
        const HARDWARE: [&str; 10] = [
            "cycles",
            "instructions",
            "cache-references",
            "cache-misses",
            "branches",
            "branch-misses",
            "bus-cycles",
            "stalled-cycles-frontend",
            "stalled-cycles-backend",
            "ref-cycles",
        ];
        const SOFTWARE: [&str; 12] = [
            "cpu-clock",
            "task-clock",
            "page-faults",
            "context-switches",
            "cpu-migrations",
            "minor-faults",
            "major-faults",
            "alignment-faults",
            "emulation-faults",
            "dummy",
            "bpf-output",
            "cgroup-switches",
        ];
        let config = self.config;
        let known = |names: &[&str]| {
            let place = usize::try_from(config & 0xffff_ffff).ok()?;
            names.get(place).map(|name| (*name).to_owned())
        };
        let found = match self.kind {
            0 => known(&HARDWARE),
            1 => known(&SOFTWARE),
            TRACEPOINT => Some(format!("tracepoint:{config}")),
            3 => Some(format!("cache:{config:#x}")),
            4 => Some(format!("raw:{config:#x}")),
            5 => Some("mem-breakpoint".to_owned()),
            _ => None,
        };
        let name = found.unwrap_or_else(|| format!("type{}:{config:#x}", self.kind));
        name + &self.modifiers()
    }

    /// The modes it counted in, as a suffix of names like perf's: `:u`, `:ppH`.
    fn modifiers(&self) -> String {
        const USER: u32 = 4;
        const KERNEL: u32 = 5;
        const HYPERVISOR: u32 = 6;
        const PRECISE: u32 = 15;
        const HOST: u32 = 19;
        const GUEST: u32 = 20;
        let without = |bit: u32| self.flags >> bit & 1 == 1;
        let letter = |bit: u32, letter: &'static str| if without(bit) { "" } else { letter };
        let mut text = String::new();
        let mut usual = false;
        if without(KERNEL) || without(USER) || without(HYPERVISOR) {
            text.push_str(letter(KERNEL, "k"));
            text.push_str(letter(USER, "u"));
            text.push_str(letter(HYPERVISOR, "h"));
            usual = true;
        }
        let precise = (self.flags >> PRECISE & 3) as usize;
        if precise > 0 {
            text.push_str("ppp".get(..precise).unwrap_or_default());
            usual = true;
        }
        if without(HOST) || without(GUEST) == usual {
            text.push_str(letter(HOST, "H"));
            text.push_str(letter(GUEST, "G"));
        }
        match text.as_str() {
            "" | "HG" => String::new(),
            text => format!(":{text}"),
        }
    }
}

/// An event and its name.
pub struct Event {
    pub attr: Attr,
    pub name: Option<String>,
}

/// All events of a trace.
#[derive(Default)]
pub struct Events {
    list: Vec<Event>,
    by_id: FxHashMap<u64, usize>,
}

impl Events {
    pub fn add(&mut self, attr: Attr, ids: impl Iterator<Item = u64>) -> usize {
        let place = self.list.len();
        self.list.push(Event { attr, name: None });
        self.by_id.extend(ids.map(|id| (id, place)));
        place
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn all(&self) -> &[Event] {
        &self.list
    }

    pub fn first(&self) -> Option<&Event> {
        self.list.first()
    }

    pub fn get(&self, place: usize) -> Option<&Event> {
        self.list.get(place)
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Event> {
        self.list.get_mut(place)
    }

    /// The event with a counter of this id.
    pub fn place(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub fn learn_id(&mut self, id: u64, place: usize) {
        self.by_id.entry(id).or_insert(place);
    }

    /// The event of a sample.
    pub fn of_sample(&self, body: Bytes<'_>) -> Option<(usize, &Attr)> {
        let first = &self.first()?.attr;
        if self.list.len() == 1 {
            return Some((0, first));
        }
        let kind = first.sample_type;
        let before = match kind {
            kind if kind & has::IDENTIFIER != 0 => Some(0),
            kind if kind & has::ID != 0 => {
                let before = has::IP | has::TID | has::TIME | has::ADDR;
                Some((kind & before).count_ones() as usize)
            }
            _ => None,
        };
        let place = before.map_or(Some(0), |before| {
            let mut at = body;
            at.skip(before * 8)?;
            self.of_id(at.u64()?)
        })?;
        Some((place, &self.get(place)?.attr))
    }

    /// The event with the attr for the end of a record that is not a sample.
    pub fn of_other(&self, body: &[u8], big: bool) -> Option<(usize, &Attr)> {
        let first = &self.first()?.attr;
        if self.list.len() == 1 || !first.sample_id_all {
            return Some((0, first));
        }
        let from_end = match first.sample_type {
            kind if kind & has::IDENTIFIER != 0 => 8,
            kind if kind & has::ID != 0 => 8 + 8 * (kind & (has::STREAM_ID | has::CPU)).count_ones() as usize,
            _ => return Some((0, first)),
        };
        let tail = body.get(body.len().checked_sub(from_end)?..)?;
        let place = self.of_id(Bytes::new(tail, big).u64()?).unwrap_or(0);
        Some((place, &self.get(place)?.attr))
    }

    /// Records made by the tool have no id and follow the first event.
    fn of_id(&self, id: u64) -> Option<usize> {
        if id == 0 { Some(0) } else { self.place(id) }
    }
}
