//! Build densely numbered tracks from track descriptors: threads, processes, counters, and others.

use rustc_hash::FxHashMap;

use super::wire::{Fields, Value};
use crate::rows::{Sink, TableSpec, Type};

/// Maximum number of tracks; further ones share one.
const MOST_TRACKS: usize = 1 << 20;

/// The kind of a track.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Named by its descriptor, below a process, a thread or nothing.
    #[default]
    Custom,
    Thread,
    Process,
    Counter,
    Async,
    /// The track of events without one.
    Global,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Custom => "track",
            Kind::Thread => "thread",
            Kind::Process => "process",
            Kind::Counter => "counter",
            Kind::Async => "async",
            Kind::Global => "global",
        }
    }
}

/// The encoding of the values of a counter.
#[derive(Clone, Copy, Default)]
pub struct Counting {
    pub incremental: bool,
    pub multiplier: Option<i64>,
    /// 1: the thread's CPU time in ns; 2: its instructions.
    pub builtin: u64,
}

#[derive(Default)]
pub struct Track {
    pub kind: Kind,
    pub name: Option<Vec<u8>>,
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub counting: Counting,
    /// The name of its first event.
    first_event: Option<Vec<u8>>,
    parent: Option<u64>,
    uuid: Option<u64>,
    machine: Option<i64>,
    scope: String,
    id: String,
    unit: String,
}

/// The name of a thread in a descriptor, and its id.
#[derive(Default)]
pub struct TrackNames {
    pub thread: Option<(i64, i64, Vec<u8>)>,
    pub ids: Option<(i64, i64)>,
}

#[derive(Default)]
pub struct Tracks {
    /// The machine of new tracks, if that is not the recording one.
    pub machine: Option<i64>,
    all: Vec<Track>,
    by_uuid: FxHashMap<u64, usize>,
    /// Descriptors that come later in the file, by uuid.
    pub coming: FxHashMap<u64, Box<[u8]>>,
    threads: FxHashMap<(Option<i64>, i64, i64), usize>,
    keyed: FxHashMap<Vec<u8>, usize>,
    /// Number of tracks that had to share one.
    pub left_out: u64,
}

impl Tracks {
    fn push(&mut self, mut track: Track) -> usize {
        track.machine = self.machine;
        if self.all.len() >= MOST_TRACKS {
            self.left_out += 1;
            return self.all.len() - 1;
        }
        self.all.push(track);
        self.all.len() - 1
    }

    pub fn get(&self, number: usize) -> Option<&Track> {
        self.all.get(number)
    }

    /// The track of a uuid; 0 is the track of events without one.
    #[inline]
    pub fn of(&mut self, uuid: u64) -> usize {
        if let Some(number) = self.known(uuid) {
            return number;
        }
        let track = Track {
            kind: if uuid == 0 { Kind::Global } else { Kind::Custom },
            uuid: (uuid != 0).then_some(uuid),
            ..Track::default()
        };
        let number = self.push(track);
        if self.all.len() < MOST_TRACKS {
            self.by_uuid.insert(uuid, number);
        }
        number
    }

    /// The track of a uuid that has events, or that a descriptor describes, even one that comes later.
    #[inline]
    fn known(&mut self, uuid: u64) -> Option<usize> {
        if let Some(number) = self.by_uuid.get(&uuid) {
            return Some(*number);
        }
        let descriptor = self.coming.remove(&uuid)?;
        self.describe(&descriptor);
        self.by_uuid.get(&uuid).copied()
    }

    pub fn thread(&mut self, pid: i64, tid: i64) -> usize {
        let key = (self.machine, pid, tid);
        if let Some(number) = self.threads.get(&key) {
            return *number;
        }
        let number = self.push(Track { kind: Kind::Thread, pid: Some(pid), tid: Some(tid), ..Track::default() });
        if self.all.len() < MOST_TRACKS {
            self.threads.insert(key, number);
        }
        number
    }

    /// A track identified by an internal key.
    pub fn keyed(&mut self, key: &[u8], make: impl FnOnce() -> Track) -> usize {
        let mut whole;
        let key = match self.machine {
            Some(machine) => {
                whole = format!("machine {machine}\0").into_bytes();
                whole.extend_from_slice(key);
                whole.as_slice()
            }
            None => key,
        };
        if let Some(number) = self.keyed.get(key) {
            return *number;
        }
        let number = self.push(make());
        if self.all.len() < MOST_TRACKS {
            self.keyed.insert(key.to_owned(), number);
        }
        number
    }

    /// The track of a series of values, of a process or without one.
    pub fn counter(&mut self, name: &[u8], unit: &'static str, pid: Option<i64>, scope: &str) -> usize {
        let mut key = format!("{scope}\0{}\0", pid.unwrap_or(-1)).into_bytes();
        key.extend_from_slice(name);
        self.keyed(&key, || Track {
            kind: Kind::Counter,
            name: Some(name.to_owned()),
            pid,
            unit: unit.to_owned(),
            scope: scope.to_owned(),
            ..Track::default()
        })
    }

    /// The track of a counter of a thread.
    pub fn thread_counter(&mut self, name: &'static str, pid: i64, tid: i64) -> usize {
        let key = format!("{name}\0{pid}\0{tid}");
        self.keyed(key.as_bytes(), || Track {
            kind: Kind::Counter,
            name: Some(name.as_bytes().to_owned()),
            pid: Some(pid),
            tid: Some(tid),
            ..Track::default()
        })
    }

    /// The track of asynchronous events with one id.
    pub fn id(&mut self, scope: &[u8], id: &str, pid: Option<i64>, name: &[u8]) -> usize {
        let mut key = format!("async\0{}\0{id}\0", pid.unwrap_or(-1)).into_bytes();
        key.extend_from_slice(scope);
        key.push(0);
        key.extend_from_slice(name);
        self.keyed(&key, || Track {
            kind: Kind::Async,
            name: (!name.is_empty()).then(|| name.to_owned()),
            pid,
            scope: String::from_utf8_lossy(scope).into_owned(),
            id: id.to_owned(),
            ..Track::default()
        })
    }

    /// The track of instant events of a process, or of the whole trace.
    pub fn moments(&mut self, pid: Option<i64>) -> usize {
        let key = format!("moments\0{}", pid.unwrap_or(-1));
        self.keyed(key.as_bytes(), || Track {
            kind: match pid {
                Some(_) => Kind::Process,
                None => Kind::Global,
            },
            pid,
            ..Track::default()
        })
    }

    /// Name a track by its first event, if no descriptor names it.
    #[inline]
    pub fn named_by_event(&mut self, number: usize, name: &[u8]) {
        if let Some(track) = self.all.get_mut(number)
            && track.kind == Kind::Custom
            && track.name.is_none()
            && track.first_event.is_none()
        {
            track.first_event = Some(name.to_owned());
        }
    }

    /// Add a message `TrackDescriptor`.
    pub fn describe(&mut self, message: &[u8]) -> TrackNames {
        let mut names = TrackNames::default();
        let (mut uuid, mut parent, mut name) = (0, None, None);
        let (mut thread, mut process, mut counter) = (None, None, None);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, _) => uuid = value.number().unwrap_or(0),
                (5, _) => parent = value.number().filter(|parent| *parent != 0),
                (2 | 10 | 13, Value::Bytes(text)) => name = Some(text),
                (3, Value::Bytes(one)) => process = Some(one),
                (4, Value::Bytes(one)) => thread = Some(one),
                (8, Value::Bytes(one)) => counter = Some(one),
                _ => (),
            }
        }
        self.coming.remove(&uuid);
        let ids = thread.map(|thread| {
            let pid = int(thread, 1);
            (pid, int(thread, 2))
        });
        if let Some((pid, tid)) = ids
            && !self.by_uuid.contains_key(&uuid)
            && counter.is_none()
        {
            let number = self.thread(pid, tid);
            self.by_uuid.insert(uuid, number);
        }
        let number = self.of(uuid);
        let Some(track) = self.all.get_mut(number) else {
            return names;
        };
        track.uuid = Some(uuid);
        track.parent = parent.or(track.parent);
        if let Some(name) = name {
            track.name = Some(name.to_owned());
        }
        if let Some(process) = process {
            let pid = int(process, 1);
            track.kind = Kind::Process;
            track.pid = Some(pid);
        }
        names.ids = ids.filter(|_| counter.is_none());
        if let (Some((pid, tid)), Some(thread)) = (ids, thread) {
            track.kind = Kind::Thread;
            (track.pid, track.tid) = (Some(pid), Some(tid));
            let name = super::wire::bytes(thread, 5).or(name);
            names.thread = name.map(|name| (pid, tid, name.to_owned()));
        }
        if let Some(counter) = counter {
            track.count(counter);
        }
        self.join_lane(number);
        names
    }

    /// Merge a track below a thread's track into that thread if it is named like `lane 1`: dctv writes overlapping
    /// slices this way.
    fn join_lane(&mut self, number: usize) {
        let Some(track) = self.all.get(number) else {
            return;
        };
        let lane = track.name.as_deref().and_then(|name| name.strip_prefix(b"lane "));
        let is_lane = lane.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
        if track.kind != Kind::Custom || !is_lane {
            return;
        }
        let above = track.parent.and_then(|uuid| self.known(uuid));
        let thread = above.and_then(|above| self.all.get(above));
        let Some((pid, tid)) =
            thread.filter(|thread| thread.kind == Kind::Thread).map(|thread| (thread.pid, thread.tid))
        else {
            return;
        };
        if let Some(track) = self.all.get_mut(number) {
            track.kind = Kind::Thread;
            (track.pid, track.tid) = (pid, tid);
        }
    }

    /// The process and thread of a track, or of its parent.
    pub fn owner(&mut self, number: usize) -> (Option<i64>, Option<i64>) {
        let mut here = number;
        for _ in 0..32 {
            let Some(track) = self.all.get(here) else {
                break;
            };
            if track.pid.is_some() {
                let found = (track.pid, track.tid);
                if let Some(first) = self.all.get_mut(number) {
                    (first.pid, first.tid) = found;
                }
                return found;
            }
            let Some(next) = track.parent.and_then(|parent| self.known(parent)) else {
                break;
            };
            here = next;
        }
        (None, None)
    }

    /// Put all tracks into their table.
    pub fn emit(&mut self, sink: &mut Sink) {
        if self.all.is_empty() {
            return;
        }
        let table = sink.table("tracks", spec);
        for number in 0..self.all.len() {
            let (pid, tid) = self.owner(number);
            let parent = self.all.get(number).and_then(|track| track.parent);
            let parent = parent.and_then(|parent| self.by_uuid.get(&parent));
            let parent = parent.filter(|parent| **parent != number).map(|parent| *parent as i64);
            let Some(track) = self.all.get(number) else {
                continue;
            };
            let rows = sink.rows(table);
            rows.int(0, number as i64);
            rows.text(1, track.kind.name().as_bytes());
            let name = track.name.as_deref().or(match track.kind {
                Kind::Custom => track.first_event.as_deref(),
                Kind::Global => Some(b"Default Track"),
                _ => None,
            });
            super::tables::put_text(rows, 2, name);
            super::tables::put_int(rows, 3, pid);
            super::tables::put_int(rows, 4, tid);
            super::tables::put_int(rows, 5, parent);
            for (column, text) in [(6, &track.scope), (7, &track.id), (8, &track.unit)] {
                if !text.is_empty() {
                    rows.text(column, text.as_bytes());
                }
            }
            if let Some(uuid) = track.uuid {
                rows.uint(9, uuid);
            }
            super::tables::put_int(rows, 10, track.machine);
            sink.end(table);
        }
    }
}

impl Track {
    fn count(&mut self, counter: &[u8]) {
        self.kind = Kind::Counter;
        for (number, value) in Fields::of(counter) {
            match (number, value) {
                (1, Value::Varint(builtin)) => self.counting.builtin = builtin,
                (3, Value::Varint(unit)) => {
                    let unit = match unit {
                        1 => "ns",
                        2 => "",
                        3 => "B",
                        _ => continue,
                    };
                    unit.clone_into(&mut self.unit);
                }
                (6, Value::Bytes(unit)) => self.unit = String::from_utf8_lossy(unit).into_owned(),
                (4, Value::Varint(bits)) => self.counting.multiplier = Some(bits.cast_signed()),
                (5, Value::Varint(bits)) => self.counting.incremental = bits != 0,
                _ => (),
            }
        }
        let (name, unit) = match self.counting.builtin {
            1 => ("thread_time", "ns"),
            2 => ("thread_instruction_count", ""),
            _ => return,
        };
        self.name.get_or_insert_with(|| name.as_bytes().to_owned());
        if self.unit.is_empty() {
            unit.clone_into(&mut self.unit);
        }
    }
}

/// A number of 32 bits, which may be negative.
pub fn int(message: &[u8], number: u32) -> i64 {
    let bits = super::wire::number(message, number).unwrap_or(0);
    i64::from((bits as u32).cast_signed())
}

fn spec() -> TableSpec {
    let columns = [
        ("track", Type::Int),
        ("kind", Type::Text),
        ("name", Type::Text),
        ("pid", Type::Int),
        ("tid", Type::Int),
        ("parent", Type::Int),
        ("scope", Type::Text),
        ("id", Type::Text),
        ("unit", Type::Text),
        ("uuid", Type::Uint),
        ("machine", Type::Int),
    ];
    TableSpec::plain("tracks", &columns)
}
