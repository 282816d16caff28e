//! Number the tracks of threads, processes, groups of asynchronous events, counters and objects, and build the table
//! `tracks`.

use rustc_hash::FxHashMap;

use crate::columns::Interner;
use crate::rows::{Sink, TableSpec, Type};

type Id = Option<i64>;
/// File, process, thread.
type Thread = (u32, Id, Id);

/// A track that does not belong to a thread or process.
pub struct Group<'a> {
    pub kind: &'static str,
    /// Its identity besides the kind.
    pub key: &'a [&'a [u8]],
    pub pid: Id,
    pub tid: Id,
    pub parent: Id,
    pub name: Option<&'a [u8]>,
    pub cat: Option<&'a [u8]>,
    pub scope: Option<&'a [u8]>,
    pub id: Option<&'a [u8]>,
    pub series: Option<&'a [u8]>,
}

/// All tracks so far.
#[derive(Default)]
pub struct Tracks {
    count: i64,
    file: u32,
    threads: FxHashMap<Thread, i64>,
    last: Option<(Thread, i64)>,
    processes: FxHashMap<(u32, Id), i64>,
    globals: FxHashMap<u32, i64>,
    /// Keys of groups, and the track of each.
    groups: Interner,
    numbers: Vec<i64>,
    key: Vec<u8>,
}

const TRACK: usize = 0;
const KIND: usize = 1;
const NAME: usize = 2;
const PID: usize = 3;
const TID: usize = 4;
const PARENT: usize = 5;
const CAT: usize = 6;
const SCOPE: usize = 7;
const ID: usize = 8;
const SERIES: usize = 9;
const FILE: usize = 10;

fn spec() -> TableSpec {
    let columns = [
        ("track", Type::Int),
        ("kind", Type::Text),
        ("name", Type::Text),
        ("pid", Type::Int),
        ("tid", Type::Int),
        ("parent", Type::Int),
        ("cat", Type::Text),
        ("scope", Type::Text),
        ("id", Type::Text),
        ("series", Type::Text),
        ("file", Type::Int),
    ];
    TableSpec::plain("tracks", &columns)
}

impl Tracks {
    /// Start another file, with threads of its own.
    pub fn begin_file(&mut self, file: u32) {
        self.file = file;
    }

    fn new_number(&mut self) -> i64 {
        self.count += 1;
        self.count
    }

    /// The track of a thread.
    #[inline]
    pub fn thread(&mut self, pid: Id, tid: Id) -> i64 {
        let thread = (self.file, pid, tid);
        match self.last {
            Some((last, track)) if last == thread => track,
            _ => self.other_thread(thread),
        }
    }

    fn other_thread(&mut self, thread: Thread) -> i64 {
        let track = match self.threads.get(&thread) {
            Some(track) => *track,
            None => {
                if thread.1.is_some() {
                    self.process(thread.1);
                }
                let track = self.new_number();
                self.threads.insert(thread, track);
                track
            }
        };
        self.last = Some((thread, track));
        track
    }

    /// The track of a process.
    pub fn process(&mut self, pid: Id) -> i64 {
        let key = (self.file, pid);
        match self.processes.get(&key) {
            Some(track) => *track,
            None => {
                let track = self.new_number();
                self.processes.insert(key, track);
                track
            }
        }
    }

    /// The track of events of all processes.
    pub fn global(&mut self) -> i64 {
        match self.globals.get(&self.file) {
            Some(track) => *track,
            None => {
                let track = self.new_number();
                self.globals.insert(self.file, track);
                track
            }
        }
    }

    /// The track of a group; the row of a new one is written.
    pub fn group(&mut self, group: &Group<'_>, sink: &mut Sink) -> i64 {
        self.key.clear();
        self.key.extend_from_slice(&self.file.to_le_bytes());
        for part in [group.kind.as_bytes()].iter().chain(group.key) {
            self.key.extend_from_slice(&part.len().to_le_bytes());
            self.key.extend_from_slice(part);
        }
        let at = self.groups.intern(&self.key);
        if let Some(track) = self.numbers.get(at) {
            return *track;
        }
        let track = self.new_number();
        self.numbers.push(track);
        write(group, track, self.file, sink);
        track
    }

    /// File, process and thread of all tracks of threads.
    pub fn all_threads(&self) -> impl Iterator<Item = Thread> + '_ {
        self.threads.keys().copied()
    }

    /// Write the rows of threads and processes, once their names are known.
    pub fn finish<'a>(&self, sink: &mut Sink, name: impl Fn(u32, Id, Option<Id>) -> Option<&'a [u8]>) {
        let table = sink.table("tracks", spec);
        let mut rows: Vec<(i64, &'static str, u32, Id, Option<Id>)> = Vec::new();
        rows.extend(self.processes.iter().map(|(key, track)| (*track, "process", key.0, key.1, None)));
        rows.extend(self.threads.iter().map(|(key, track)| (*track, "thread", key.0, key.1, Some(key.2))));
        rows.extend(self.globals.iter().map(|(file, track)| (*track, "global", *file, None, None)));
        rows.sort_unstable();
        for (track, kind, file, pid, tid) in rows {
            let parent = tid.and_then(|_| self.processes.get(&(file, pid)));
            let into = sink.rows(table);
            into.int(TRACK, track);
            into.text(KIND, kind.as_bytes());
            if let Some(name) = name(file, pid, tid) {
                into.text(NAME, name);
            }
            for (column, value) in [(PID, pid), (TID, tid.flatten()), (PARENT, parent.copied())] {
                if let Some(value) = value {
                    into.int(column, value);
                }
            }
            into.int(FILE, i64::from(file));
            sink.end(table);
        }
    }
}

fn write(group: &Group<'_>, track: i64, file: u32, sink: &mut Sink) {
    let table = sink.table("tracks", spec);
    let rows = sink.rows(table);
    rows.int(TRACK, track);
    rows.text(KIND, group.kind.as_bytes());
    let texts = [(NAME, group.name), (CAT, group.cat), (SCOPE, group.scope), (ID, group.id), (SERIES, group.series)];
    for (column, value) in texts {
        if let Some(value) = value {
            rows.text(column, value);
        }
    }
    for (column, value) in [(PID, group.pid), (TID, group.tid), (PARENT, group.parent)] {
        if let Some(value) = value {
            rows.int(column, value);
        }
    }
    rows.int(FILE, i64::from(file));
    sink.end(table);
}
