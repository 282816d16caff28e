//! Collect the names of processes and threads from process trees and descriptors into tables.

use rustc_hash::FxHashMap;

use super::tables::{put_int, put_text};
use super::tracks::int;
use super::wire::{Fields, Value};
use crate::rows::{ColumnSpec, Sink, TableSpec, Type};

/// Maximum number of names.
const MOST_NAMES: usize = 1 << 20;

#[derive(Default, Clone, PartialEq)]
struct Process {
    name: Option<Vec<u8>>,
    ppid: Option<i64>,
    uid: Option<i64>,
    cmdline: Option<Vec<u8>>,
    start: Option<i64>,
    is_kthread: Option<bool>,
}

/// The kernel's thread that is the parent of all its other threads.
const KTHREADD: i64 = 2;

/// The name of a kernel worker without its current queue: `kworker/1:0-events`.
fn worker(name: &[u8]) -> &[u8] {
    const PREFIX: &[u8] = b"kworker/";
    if !name.starts_with(PREFIX) {
        return name;
    }
    let end = name.iter().skip(PREFIX.len()).position(|byte| matches!(byte, b'+' | b'-'));
    end.and_then(|end| name.get(..PREFIX.len() + end)).unwrap_or(name)
}

/// The name of a process, which is the first word of its command line, and the whole line.
fn command(message: &[u8], field: u32) -> (Option<Vec<u8>>, Vec<u8>) {
    let words = Fields::of(message).filter(|(number, _)| *number == field).filter_map(|(_, word)| word.bytes());
    let words: Vec<&[u8]> = words.collect();
    let first = match words.as_slice() {
        // Some processes store their whole command line in its first word.
        [line] => line.split(|byte| *byte == b' ').next(),
        words => words.first().copied(),
    };
    (first.filter(|name| !name.is_empty()).map(<[u8]>::to_owned), words.join(&b' '))
}

/// Names of processes and threads; several names of one are all kept, in order.
#[derive(Default)]
pub struct Names {
    processes: Vec<(i64, Process)>,
    last_process: FxHashMap<i64, usize>,
    threads: Vec<(Option<i64>, i64, Option<Vec<u8>>)>,
    last_thread: FxHashMap<i64, usize>,
    pub left_out: u64,
}

impl Names {
    fn add(&mut self, pid: i64, update: Process) {
        if let Some((_, known)) = self.last_process.get(&pid).and_then(|at| self.processes.get_mut(*at)) {
            let same = known.name == update.name || update.name.is_none() || known.name.is_none();
            if same {
                known.name = update.name.or(known.name.take());
                known.ppid = update.ppid.or(known.ppid);
                known.uid = update.uid.or(known.uid);
                known.cmdline = update.cmdline.or(known.cmdline.take());
                known.start = update.start.or(known.start);
                known.is_kthread = update.is_kthread.or(known.is_kthread);
                return;
            }
        }
        if self.processes.len() >= MOST_NAMES {
            self.left_out += 1;
            return;
        }
        self.last_process.insert(pid, self.processes.len());
        self.processes.push((pid, update));
    }

    /// Add a message `ProcessDescriptor`. Writers without a name for their process give its command line.
    pub fn process(&mut self, message: &[u8]) {
        let given = super::wire::bytes(message, 6).filter(|name| !name.is_empty()).map(<[u8]>::to_owned);
        let (first, line) = command(message, 2);
        let update = Process {
            name: given.or(first),
            cmdline: (!line.is_empty()).then_some(line),
            start: super::wire::number(message, 7).map(u64::cast_signed),
            ..Process::default()
        };
        if update != Process::default() {
            self.add(int(message, 1), update);
        }
    }

    pub fn thread(&mut self, pid: Option<i64>, tid: i64, name: Option<&[u8]>) {
        let name = name.filter(|name| !name.is_empty());
        if let Some((process, _, known)) = self.last_thread.get(&tid).and_then(|at| self.threads.get_mut(*at))
            && (name.is_none() || known.is_none() || known.as_deref() == name)
            && (pid.is_none() || process.is_none() || *process == pid)
        {
            *process = pid.or(*process);
            if known.is_none() {
                *known = name.map(<[u8]>::to_owned);
            }
            return;
        }
        if self.threads.len() >= MOST_NAMES {
            self.left_out += 1;
            return;
        }
        self.last_thread.insert(tid, self.threads.len());
        self.threads.push((pid, tid, name.map(<[u8]>::to_owned)));
    }

    /// Add a message `ProcessTree`.
    pub fn tree(&mut self, message: &[u8]) {
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Bytes(process)) => self.branch(process),
                (2, Value::Bytes(thread)) => {
                    let pid = super::wire::number(thread, 3).map(|_| int(thread, 3));
                    let tid = int(thread, 1);
                    let is_worker = pid == Some(tid) && self.is_kernel(tid);
                    let name = super::wire::bytes(thread, 2);
                    self.thread(pid, tid, if is_worker { name.map(worker) } else { name });
                }
                _ => (),
            }
        }
    }

    /// Whether a process is known to be a kernel thread.
    fn is_kernel(&self, pid: i64) -> bool {
        let known = self.last_process.get(&pid);
        known.and_then(|at| self.processes.get(*at)).is_some_and(|(_, known)| known.ppid == Some(KTHREADD))
    }

    fn branch(&mut self, message: &[u8]) {
        let mut update = Process::default();
        let (name, mut line) = command(message, 3);
        update.name = name;
        let mut is_comm = false;
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (2, _) => update.ppid = Some(int(message, 2)),
                (5, _) => update.uid = Some(int(message, 5)),
                (7, _) => update.start = value.number().map(u64::cast_signed),
                (8, _) => update.is_kthread = value.number().map(|number| number != 0),
                (9, _) => is_comm = value.number().is_some_and(|number| number != 0),
                _ => (),
            }
        }
        if update.ppid == Some(KTHREADD) {
            let name = update.name.as_deref().unwrap_or_default();
            let short = worker(name).to_owned();
            if short.len() != name.len() {
                line.clone_from(&short);
                update.name = Some(short);
            }
        }
        let pid = int(message, 1);
        if is_comm {
            self.thread(Some(pid), pid, Some(&line));
        }
        update.cmdline = (!line.is_empty()).then_some(line);
        self.add(pid, update);
    }

    /// Put all names into their tables.
    pub fn emit(&self, sink: &mut Sink) {
        if !self.processes.is_empty() {
            let table = sink.table("process_names", process_spec);
            for (place, (pid, process)) in self.processes.iter().enumerate() {
                let rows = sink.rows(table);
                rows.int(0, *pid);
                put_text(rows, 1, process.name.as_deref());
                put_int(rows, 2, process.ppid);
                put_int(rows, 3, process.uid);
                put_text(rows, 4, process.cmdline.as_deref());
                put_int(rows, 5, process.start);
                if let Some(is_kthread) = process.is_kthread {
                    rows.bool(6, is_kthread);
                }
                rows.int(7, place as i64);
                sink.end(table);
            }
        }
        if !self.threads.is_empty() {
            let table = sink.table("thread_names", thread_spec);
            for (place, (pid, tid, name)) in self.threads.iter().enumerate() {
                let rows = sink.rows(table);
                put_int(rows, 0, *pid);
                rows.int(1, *tid);
                put_text(rows, 2, name.as_deref());
                rows.int(3, place as i64);
                sink.end(table);
            }
        }
    }
}

fn process_spec() -> TableSpec {
    TableSpec {
        name: "process_names".to_owned(),
        columns: vec![
            ColumnSpec::new("pid", Type::Int),
            ColumnSpec::new("name", Type::Text),
            ColumnSpec::new("ppid", Type::Int),
            ColumnSpec::new("uid", Type::Int),
            ColumnSpec::new("cmdline", Type::Text),
            ColumnSpec::new("start_from_boot", Type::Int).with_unit("ns"),
            ColumnSpec::new("is_kthread", Type::Bool),
            ColumnSpec::new("told", Type::Int),
        ],
        event: None,
    }
}

fn thread_spec() -> TableSpec {
    let columns = [("pid", Type::Int), ("tid", Type::Int), ("name", Type::Text), ("told", Type::Int)];
    TableSpec::plain("thread_names", &columns)
}
