//! One event's growing table: fields typed by their values, leftovers as free text.

use std::sync::Arc;

use super::fields::Fill;
use super::forms::{self, Form};
use super::line::Prefix;
use super::values::{Hint, Quirk, Value};
use crate::columns::{Expected, TableBuilder};

/// Columns of every event; `_ts` holds the time as printed until the trace's start is known, `line` counts from the
/// chunk's start, and only numbered tables have it.
pub const FIXED: [&str; 7] = ["_ts", "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line"];
pub const LINE: usize = 6;
/// Maximum number of columns for fields of one event in a chunk; other fields stay in its free text.
const COLUMN_LIMIT: usize = 256;

/// The rows of one event in one chunk.
pub struct Table {
    pub builder: TableBuilder,
    /// The number of each row's line in the chunk, from 0.
    pub lines: Vec<u32>,
    pub form: Form,
    /// The event's names as printed, each with its count.
    pub printed: Vec<(Vec<u8>, u64)>,
    hints: Vec<Hint>,
    free: Vec<u8>,
    /// Whether all fields are texts.
    texts: bool,
    /// Whether rows have line numbers: for events with several tables that are read together in file order.
    numbered: bool,
    quirk: Quirk,
    /// Whether the lines after a row are part of it.
    pub is_stack: bool,
}

impl Table {
    pub fn new(event: &[u8], form: Option<Form>, expected: Option<&Arc<Expected>>) -> Table {
        let form = form.unwrap_or_else(|| forms::of(event));
        Table {
            builder: match expected {
                Some(expected) => TableBuilder::expecting(&FIXED, Arc::clone(expected)),
                None => TableBuilder::new(&FIXED),
            },
            lines: Vec::new(),
            form,
            printed: Vec::new(),
            hints: Vec::new(),
            free: Vec::new(),
            texts: matches!(form, Form::SyscallEnter | Form::SyscallExit),
            numbered: NUMBERED.iter().any(|head| event.starts_with(head)),
            is_stack: matches!(event, b"kernel_stack" | b"user_stack"),
            quirk: Quirk::of(event),
        }
    }

    /// Begin a row of an event that is printed as `name` in a line of the chunk.
    pub fn begin(&mut self, prefix: &Prefix<'_>, name: &[u8], line: u64) {
        match self.printed.iter_mut().find(|(printed, _)| printed == name) {
            Some((_, count)) => *count += 1,
            None => self.printed.push((name.to_vec(), 1)),
        }
        self.lines.push(line.saturating_sub(1) as u32);
        self.builder.push_i64(0, prefix.ts);
        self.builder.push_i64(1, prefix.cpu);
        self.builder.push_str(2, prefix.comm);
        self.builder.push_i64(3, prefix.pid);
        if let Some(tgid) = prefix.tgid {
            self.builder.push_i64(4, tgid);
        }
        if let Some(flags) = prefix.flags {
            self.builder.push_str(5, flags);
        }
        if self.numbered {
            self.builder.push_i64(LINE, line.cast_signed());
        }
    }

    fn put_free(&mut self, key: &[u8], value: &[u8]) {
        self.free(&[key, b"=", value].concat());
    }

    pub fn end(&mut self) {
        if !self.free.is_empty() {
            let column = self.builder.column(FREE.as_bytes());
            self.builder.push_str(column, &self.free);
            self.free.clear();
        }
        self.builder.end_row();
    }
}

impl Fill for Table {
    fn put(&mut self, key: &[u8], value: &[u8]) {
        if self.hints.len() >= COLUMN_LIMIT {
            return self.put_free(key, value);
        }
        let key = self.quirk.name(key);
        let column = self.builder.column(key);
        if self.builder.is_set(column) {
            return self.put_free(key, value);
        }
        let index = column - FIXED.len();
        if index >= self.hints.len() {
            self.hints.resize(index + 1, Hint::Any);
            self.hints[index] = if self.texts { Hint::Text } else { self.quirk.hint(key) };
        }
        match self.hints[index].read(value) {
            Value::Int(number) => self.builder.push_i64(column, number),
            Value::Uint(number) => self.builder.push_u64(column, number),
            Value::Float(number) => self.builder.push_f64(column, number, value),
            Value::Text => self.builder.push_str(column, value),
            Value::Missing => {}
        }
    }

    fn put_text(&mut self, key: &[u8], value: &[u8]) {
        let column = self.builder.column(key);
        if self.builder.is_set(column) {
            return self.put_free(key, value);
        }
        self.builder.push_str(column, value);
    }

    fn free(&mut self, piece: &[u8]) {
        let piece = piece.trim_ascii();
        if piece.is_empty() || piece == b"," {
            return;
        }
        if !self.free.is_empty() {
            self.free.push(b' ');
        }
        self.free.extend_from_slice(piece);
    }
}

/// The usual name of an event: entries of functions have another one with the option `funcgraph-retaddr`.
pub fn usual_name(event: &[u8]) -> &[u8] {
    match event {
        b"fgraph_retaddr_entry" => b"funcgraph_entry",
        other => other,
    }
}

/// Prefixes of the names of events with line numbers: timestamps are often whole microseconds, and only the file gives
/// the order of equal ones. They include all that the standard library sorts by lines.
pub const NUMBERED: [&[u8]; 21] = [
    b"print|",
    b"sched_",
    b"irq_handler_",
    b"softirq_",
    b"sys_",
    b"block_",
    b"binder_",
    b"cpu_",
    b"task_",
    b"rss_stat",
    b"mm_",
    b"oom_",
    b"mark_victim",
    b"page_fault_",
    b"kmalloc",
    b"kmem_",
    b"kfree",
    b"ion_",
    b"dma_heap_stat",
    b"gpu_mem_total",
    b"contention_",
];

/// The column of free text while a table grows, since a field may be named `text`; no field can have this name.
pub const FREE: &str = " text";
