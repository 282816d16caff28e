//! Collect the names of processes and threads from metadata events.

use std::collections::BTreeMap;

use super::ids::TextIds;
use super::texts::plain;
use crate::json::{Scanner, Token, members};
use crate::rows::{ColumnSpec, Rows, Sink, TableSpec, Type};

type Id = Option<i64>;

/// Metadata of one process or thread; the last value counts.
#[derive(Default)]
struct Named {
    name: Option<Vec<u8>>,
    labels: Option<Vec<u8>>,
    sort_index: Option<i64>,
}

/// Names from metadata events, by file.
#[derive(Default)]
pub struct Names {
    processes: BTreeMap<(u32, Id), Named>,
    threads: BTreeMap<(u32, Id, Id), Named>,
}

/// The value of a member of an object, as text.
fn member(object: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    let done = members(object, |key, token, raw| {
        if found.is_none() && key.span.of(object) == wanted {
            found = Some(plain(token, raw, object).map(|value| value.into_owned()));
        }
        Ok(())
    });
    done.ok().and(found).flatten()
}

fn number(text: &[u8]) -> Option<i64> {
    let mut scanner = Scanner::new(text);
    match scanner.value(&mut Vec::new()).ok()? {
        Token::Int(value) => Some(value),
        _ => None,
    }
}

impl Names {
    /// Record a metadata event of a process or thread.
    pub fn learn(&mut self, file: u32, (pid, tid): (Id, Id), name: &[u8], args: &[u8]) {
        let process = (file, pid);
        let thread = (file, pid, tid.or(pid));
        match name {
            b"process_name" => {
                self.processes.entry(process).or_default().name = member(args, b"name");
            }
            b"process_labels" => {
                self.processes.entry(process).or_default().labels = member(args, b"labels");
            }
            b"process_sort_index" => {
                self.processes.entry(process).or_default().sort_index =
                    member(args, b"sort_index").and_then(|text| number(&text));
            }
            b"thread_name" => {
                self.threads.entry(thread).or_default().name = member(args, b"name");
            }
            b"thread_sort_index" => {
                self.threads.entry(thread).or_default().sort_index =
                    member(args, b"sort_index").and_then(|text| number(&text));
            }
            _ => (),
        }
    }

    /// The name of a process, or of a thread.
    pub fn name(&self, file: u32, pid: Id, tid: Option<Id>) -> Option<&[u8]> {
        let named = match tid {
            None => self.processes.get(&(file, pid)),
            Some(tid) => self.threads.get(&(file, pid, tid)),
        };
        named?.name.as_deref()
    }

    /// Use texts of ids as names, unless the trace gives others.
    pub fn name_texts(&mut self, ids: &TextIds, threads: impl Iterator<Item = (u32, Id, Id)>) {
        let text = |id: Id| id.and_then(|id| ids.text(id)).map(<[u8]>::to_vec);
        for (file, pid, tid) in threads {
            if let Some(name) = text(pid) {
                let named = self.processes.entry((file, pid)).or_default();
                named.name.get_or_insert(name);
            }
            if let Some(name) = text(tid) {
                let named = self.threads.entry((file, pid, tid)).or_default();
                named.name.get_or_insert(name);
            }
        }
    }

    /// Write the tables of names.
    pub fn finish(&self, sink: &mut Sink) {
        let columns = ["pid", "name", "labels", "sort_index", "file"];
        let table = open(sink, "process_names", &columns);
        for ((file, pid), named) in &self.processes {
            let rows = sink.rows(table);
            put_int(rows, 0, *pid);
            put_text(rows, 1, named.name.as_deref());
            put_text(rows, 2, named.labels.as_deref());
            put_int(rows, 3, named.sort_index);
            rows.int(4, i64::from(*file));
            sink.end(table);
        }
        let table = open(sink, "thread_names", &["tid", "pid", "name", "sort_index", "file"]);
        for ((file, pid, tid), named) in &self.threads {
            let rows = sink.rows(table);
            put_int(rows, 0, *tid);
            put_int(rows, 1, *pid);
            put_text(rows, 2, named.name.as_deref());
            put_int(rows, 3, named.sort_index);
            rows.int(4, i64::from(*file));
            sink.end(table);
        }
    }
}

fn put_int(rows: &mut Rows, column: usize, value: Option<i64>) {
    if let Some(value) = value {
        rows.int(column, value);
    }
}

fn put_text(rows: &mut Rows, column: usize, value: Option<&[u8]>) {
    if let Some(value) = value {
        rows.text(column, value);
    }
}

fn open(sink: &mut Sink, name: &str, columns: &[&str]) -> usize {
    let column = |name: &&str| match *name {
        "name" | "labels" => ColumnSpec::new(*name, Type::Text),
        _ => ColumnSpec::new(*name, Type::Int),
    };
    sink.table(name, || TableSpec { name: name.to_owned(), columns: columns.iter().map(column).collect(), event: None })
}
