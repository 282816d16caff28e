//! What process trees and descriptors tell of processes and threads -> tables of their names.

use rustc_hash::FxHashMap;

use super::tables::{put_int, put_text};
use super::tracks::int;
use super::wire::{Fields, Value};
use crate::rows::{ColumnSpec, Sink, TableSpec, Type};

/// The parent of the kernel's threads.
const KTHREADD: i64 = 2;
/// More names than these are not kept.
const MOST_NAMES: usize = 1 << 20;

#[derive(Default, Clone, PartialEq)]
struct Process {
    name: Option<Vec<u8>>,
    ppid: Option<i64>,
    uid: Option<i64>,
    cmdline: Option<Vec<u8>>,
    start: Option<i64>,
}

/// Names of processes and threads; of several names of one, all are kept in the order in which they were told.
#[derive(Default)]
pub struct Names {
    processes: Vec<(i64, Process)>,
    last_process: FxHashMap<i64, usize>,
    threads: Vec<(Option<i64>, i64, Option<Vec<u8>>)>,
    last_thread: FxHashMap<i64, usize>,
    pub left_out: u64,
}

impl Names {
    fn add(&mut self, pid: i64, told: Process) {
        if let Some((_, known)) = self
            .last_process
            .get(&pid)
            .and_then(|at| self.processes.get_mut(*at))
        {
            let same = known.name == told.name || told.name.is_none() || known.name.is_none();
            if same {
                known.name = told.name.or(known.name.take());
                known.ppid = told.ppid.or(known.ppid);
                known.uid = told.uid.or(known.uid);
                known.cmdline = told.cmdline.or(known.cmdline.take());
                known.start = told.start.or(known.start);
                return;
            }
        }
        if self.processes.len() >= MOST_NAMES {
            self.left_out += 1;
            return;
        }
        self.last_process.insert(pid, self.processes.len());
        self.processes.push((pid, told));
    }

    pub fn process(&mut self, pid: i64, name: &[u8]) {
        let told = Process {
            name: Some(name.to_owned()),
            ..Process::default()
        };
        self.add(pid, told);
    }

    pub fn thread(&mut self, pid: Option<i64>, tid: i64, name: Option<&[u8]>) {
        let name = name.filter(|name| !name.is_empty());
        if let Some((process, _, known)) = self
            .last_thread
            .get(&tid)
            .and_then(|at| self.threads.get_mut(*at))
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

    /// Take a message `ProcessTree` in.
    pub fn tree(&mut self, message: &[u8]) {
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Bytes(process)) => self.branch(process),
                (2, Value::Bytes(thread)) => {
                    let pid = super::wire::number(thread, 3).map(|_| int(thread, 3));
                    let name = super::wire::bytes(thread, 2);
                    self.thread(pid, int(thread, 1), name.map(worker));
                }
                _ => (),
            }
        }
    }

    fn branch(&mut self, message: &[u8]) {
        let mut told = Process::default();
        let mut line: Vec<u8> = Vec::new();
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (2, _) => told.ppid = Some(int(message, 2)),
                (5, _) => told.uid = Some(int(message, 5)),
                (7, _) => told.start = value.number().map(u64::cast_signed),
                (3, Value::Bytes(word)) => {
                    if told.name.is_none() {
                        told.name = Some(word.to_owned());
                    } else {
                        line.push(b' ');
                    }
                    line.extend_from_slice(word);
                }
                _ => (),
            }
        }
        if told.ppid == Some(KTHREADD) {
            told.name = told.name.map(|name| worker(&name).to_owned());
        }
        told.cmdline = (!line.is_empty()).then_some(line);
        self.add(int(message, 1), told);
    }

    /// Put all names into their tables.
    pub fn emit(&self, sink: &mut Sink) {
        if !self.processes.is_empty() {
            let table = sink.table("process_names", process_spec);
            for (pid, process) in &self.processes {
                let rows = sink.rows(table);
                rows.int(0, *pid);
                put_text(rows, 1, process.name.as_deref());
                put_int(rows, 2, process.ppid);
                put_int(rows, 3, process.uid);
                put_text(rows, 4, process.cmdline.as_deref());
                put_int(rows, 5, process.start);
                sink.end(table);
            }
        }
        if !self.threads.is_empty() {
            let table = sink.table("thread_names", thread_spec);
            for (pid, tid, name) in &self.threads {
                let rows = sink.rows(table);
                put_int(rows, 0, *pid);
                rows.int(1, *tid);
                put_text(rows, 2, name.as_deref());
                sink.end(table);
            }
        }
    }
}

/// What a worker of the kernel is called without the queue that it happens to work for: `kworker/1:0-events`.
fn worker(name: &[u8]) -> &[u8] {
    let Some(rest) = name.strip_prefix(b"kworker/") else {
        return name;
    };
    let end = rest.iter().position(|byte| matches!(byte, b'+' | b'-'));
    end.and_then(|end| name.get(..b"kworker/".len() + end))
        .unwrap_or(name)
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
        ],
        event: None,
    }
}

fn thread_spec() -> TableSpec {
    TableSpec {
        name: "thread_names".to_owned(),
        columns: vec![
            ColumnSpec::new("pid", Type::Int),
            ColumnSpec::new("tid", Type::Int),
            ColumnSpec::new("name", Type::Text),
        ],
        event: None,
    }
}
