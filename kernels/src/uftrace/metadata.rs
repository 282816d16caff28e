//! Put the contents of small files into tables: tasks, sessions, maps, symbols, and the functions called.

use rustc_hash::FxHashMap;

use super::events::Fields;
use super::merged::Merged;
use super::setup::Setup;
use super::tables::plain;
use super::task::Task;
use crate::rows::{Sink, Type};

const INT: Type = Type::Int;
const TEXT: Type = Type::Text;

const TASKS: Fields = &[("tid", INT, ""), ("pid", INT, ""), ("ppid", INT, ""), ("comm", TEXT, ""), ("start", INT, "")];
const SESSIONS: Fields =
    &[("session", INT, ""), ("sid", TEXT, ""), ("pid", INT, ""), ("start", INT, ""), ("exename", TEXT, "")];
const MAPS: Fields =
    &[("session", INT, ""), ("start", INT, ""), ("end", INT, ""), ("path", TEXT, ""), ("opened", INT, "")];
const SYMBOLS: Fields = &[
    ("module", TEXT, ""),
    ("addr", INT, ""),
    ("size", INT, "B"),
    ("type", TEXT, ""),
    ("name", TEXT, ""),
    ("file", TEXT, ""),
    ("line", INT, ""),
];
const FUNCTIONS: Fields = &[
    ("session", INT, ""),
    ("name", TEXT, ""),
    ("module", TEXT, ""),
    ("addr", INT, ""),
    ("size", INT, "B"),
    ("type", TEXT, ""),
    ("file", TEXT, ""),
    ("line", INT, ""),
];

/// Tables that are known before any record is read.
pub fn before(sink: &mut Sink, setup: &Setup) {
    sessions(sink, setup);
    symbols(sink, setup);
}

/// Threads, with their last names: a thread may rename itself, else it has the name of its program.
fn tasks(sink: &mut Sink, merged: &Merged, setup: &Setup) {
    let table = plain(sink, "tasks", TASKS);
    for one in &setup.tasks {
        let rows = sink.rows(table);
        rows.int(0, one.tid);
        rows.int(1, one.pid);
        if let Some(ppid) = one.ppid {
            rows.int(2, ppid);
        }
        let task = merged.numbers.get(&one.tid).and_then(|at| merged.tasks.get(*at));
        if let Some(name) = task.and_then(|task| task.name.as_ref()) {
            rows.text(3, name);
        } else if let Some(session) = task.and_then(Task::last_session).and_then(|at| setup.sessions.get(at)) {
            let exename = session.exename.as_str();
            let comm = exename.rsplit('/').next().unwrap_or(exename);
            rows.text(3, comm.as_bytes());
        }
        rows.int(4, one.start);
        sink.end(table);
    }
}

fn sessions(sink: &mut Sink, setup: &Setup) {
    let table = plain(sink, "sessions", SESSIONS);
    let maps = plain(sink, "maps", MAPS);
    for (number, one) in setup.sessions.iter().enumerate() {
        let rows = sink.rows(table);
        rows.int(0, number as i64);
        rows.text(1, one.sid.as_bytes());
        rows.int(2, one.pid);
        rows.int(3, one.start);
        rows.text(4, one.exename.as_bytes());
        sink.end(table);
        let mapped = one.maps.iter().map(|(start, end, module)| (*start, Some(*end), *module, None));
        let opened = one.libraries.iter().map(|(time, base, module)| (*base, None, *module, Some(*time)));
        for (start, end, module, opened) in mapped.chain(opened) {
            let rows = sink.rows(maps);
            rows.int(0, number as i64);
            rows.int(1, start.cast_signed());
            if let Some(end) = end {
                rows.int(2, end.cast_signed());
            }
            if let Some((path, _)) = setup.modules.get(module) {
                rows.text(3, path.as_bytes());
            }
            if let Some(opened) = opened {
                rows.int(4, opened);
            }
            sink.end(maps);
        }
    }
}

fn symbols(sink: &mut Sink, setup: &Setup) {
    let table = plain(sink, "symbols", SYMBOLS);
    let lines = lines(setup);
    for (module, (path, symbols)) in setup.modules.iter().enumerate() {
        let module_name = path.rsplit('/').next().unwrap_or(path);
        for (address, size, kind, name) in symbols {
            let rows = sink.rows(table);
            rows.text(0, module_name.as_bytes());
            rows.int(1, address.cast_signed());
            rows.int(2, size.cast_signed());
            rows.text(3, kind.to_string().as_bytes());
            rows.text(4, name.as_bytes());
            if let Some((file, line)) = lines.get(&(module, *address)) {
                rows.text(5, file.as_bytes());
                rows.int(6, *line);
            }
            sink.end(table);
        }
    }
}

type Lines<'a> = FxHashMap<(usize, u64), (&'a str, i64)>;

/// File and line of functions; an address within a function stands for the function.
fn lines(setup: &Setup) -> Lines<'_> {
    let mut found = Lines::default();
    for (module, address, file, line) in &setup.lines {
        found.insert((*module, *address), (file.as_str(), *line));
    }
    found
}

/// Tables that depend on records: threads, and the functions called.
pub fn after(sink: &mut Sink, merged: &Merged, setup: &Setup) {
    tasks(sink, merged, setup);
    functions(sink, merged, setup);
}

fn functions(sink: &mut Sink, merged: &Merged, setup: &Setup) {
    let table = plain(sink, "functions", FUNCTIONS);
    let lines = lines(setup);
    for one in &merged.symbols.functions {
        let rows = sink.rows(table);
        rows.int(0, one.session as i64);
        rows.text(1, &one.name);
        let module = one.module.and_then(|at| merged.symbols.modules.get(at));
        if let Some(module) = module {
            rows.text(2, module.name.as_bytes());
        }
        rows.int(3, one.address.cast_signed());
        let symbol = one.symbol.and_then(|at| module.and_then(|module| module.symbols.get(at)));
        if let (Some(symbol), Some(module)) = (symbol, one.module) {
            rows.int(4, symbol.size.cast_signed());
            rows.text(5, symbol.kind.to_string().as_bytes());
            if let Some((file, line)) = lines.get(&(module, symbol.address)) {
                rows.text(6, file.as_bytes());
                rows.int(7, *line);
            }
        }
        sink.end(table);
    }
}
