//! The shared state of the decoder: descriptors, clocks, sequences, tracks, names, and the data for the final report.

use rustc_hash::FxHashMap;

use super::clocks::{Clocks, MOST_TIME};
use super::json::Json;
use super::names::Names;
use super::schema::Schema;
use super::sequence::Sequences;
use super::start::Start;
use super::tables::Tables;
use super::tracks::Tracks;
use crate::rows::Notes;

/// The properties of a packet besides its contents.
#[derive(Clone, Copy, Default)]
pub struct Packet {
    /// In nanoseconds of the trace's clock.
    pub time: Option<i64>,
    pub sequence: u32,
    /// Its machine, if that is not the recording one.
    pub machine: Option<i64>,
    /// Number among all packets.
    pub number: u64,
}

/// The shared state of the decoder.
pub struct World {
    pub schema: Schema,
    pub clocks: Clocks,
    pub sequences: Sequences,
    pub tracks: Tracks,
    pub names: Names,
    pub tables: Tables,
    pub notes: Notes,
    pub json: Json,
    /// The time of the last packet that had one.
    pub last_time: Option<i64>,
    /// The time of the last event of the kernel.
    pub kernel_end: Option<i64>,
    /// The number of the last event.
    pub line: i64,
    pub properties: Vec<(String, String)>,
    /// Events of CPUs lost before the trace began.
    pub losses: FxHashMap<(u64, &'static str), u64>,
    /// The time from which the events of all CPUs are in the file.
    pub start: Start,
    /// The machine whose packets are read, 0 for the recording one; None for all.
    pub wanted_machine: Option<u32>,
    /// The machine of the first events of a kernel.
    pub kernel_machine: Option<Option<i64>>,
    /// Major and minor version of the kernel, as far as it is known.
    pub kernel: Option<(u64, u64)>,
}

impl World {
    pub fn new(schema: Schema) -> World {
        World {
            schema,
            clocks: Clocks::new(),
            sequences: Sequences::default(),
            tracks: Tracks::default(),
            names: Names::default(),
            tables: Tables::new(),
            notes: Notes::default(),
            json: Json::default(),
            last_time: None,
            kernel_end: None,
            line: 0,
            properties: Vec::new(),
            losses: FxHashMap::default(),
            start: Start::default(),
            wanted_machine: None,
            kernel_machine: None,
            kernel: None,
        }
    }

    #[inline]
    pub fn next_line(&mut self) -> i64 {
        self.line += 1;
        self.line
    }

    /// A time of a clock in nanoseconds of the trace's clock; unchanged, and counted, if no snapshots lead there.
    ///
    /// None if it is impossible: a negative number, or one after 146 years; this is counted.
    #[inline]
    pub fn time(&mut self, clock: u64, sequence: u32, time: u64) -> Option<i64> {
        let stated = time.cast_signed();
        let found = self.clocks.convert(clock, sequence, stated);
        if !(0..MOST_TIME).contains(&stated) {
            return self.impossible(time);
        }
        match found {
            Some(found) if (-MOST_TIME..MOST_TIME).contains(&found) => Some(found),
            Some(_) => self.impossible(time),
            None => {
                let reason = "time of a clock without a snapshot is taken as it is";
                self.notes.add(reason, 1, false, || format!("clock {clock}: {stated}"));
                Some(stated)
            }
        }
    }

    /// A time already in the trace's clock.
    #[inline]
    pub fn own_time(&mut self, time: u64) -> Option<i64> {
        match i64::try_from(time) {
            Ok(stated) if stated < MOST_TIME => Some(stated),
            _ => self.impossible(time),
        }
    }

    #[cold]
    fn impossible(&mut self, time: u64) -> Option<i64> {
        let reason = "event with an impossible time is left out";
        self.notes.add(reason, 1, false, || time.cast_signed().to_string());
        None
    }

    /// Count events of a machine's kernel beside those of another's.
    pub fn kernel_of(&mut self, machine: Option<i64>) {
        if *self.kernel_machine.get_or_insert(machine) != machine {
            let reason = "events of the kernels of several machines are mixed: choose one by the option `machine`";
            self.notes.add(reason, 1, true, || format!("machine {}", machine.unwrap_or(0)));
        }
    }

    pub fn property(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        match self.properties.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => self.properties.push((key.to_owned(), value)),
        }
    }
}
