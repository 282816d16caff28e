//! One event's growing table: fields typed by their values, leftovers as free text.

use std::sync::Arc;

use super::fields::Fill;
use super::forms::{self, Form};
use super::line::{Prefix, integer};
use crate::columns::{Expected, TableBuilder};

/// Columns of every event; `_ts` holds the time as printed until the trace's start is known, `line` counts from the
/// chunk's start, and only numbered tables have it.
pub const FIXED: [&str; 7] = ["_ts", "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line"];
pub const LINE: usize = 6;
/// Maximum number of columns for fields of one event in a chunk; other fields stay in its free text.
const COLUMN_LIMIT: usize = 256;

/// Information about a column's type before its values are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    Any,
    /// Always a text: names, and hexadecimal without 0x.
    Text,
    /// A number printed with leading zeros: `target_cpu=007`.
    Padded,
    /// A number of bytes printed with a `B` after it.
    Bytes,
}

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

/// A peculiarity of one event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quirk {
    None,
    /// The field `size` is printed with a `B` after it.
    SizeInBytes,
    /// Old kernels print the field `ret` as `return`.
    ReturnIsRet,
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
            quirk: match event {
                b"rss_stat" => Quirk::SizeInBytes,
                b"irq_handler_exit" => Quirk::ReturnIsRet,
                _ => Quirk::None,
            },
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

    fn put_any(&mut self, column: usize, value: &[u8]) {
        match number(value) {
            Number::Int(number) => self.builder.push_i64(column, number),
            Number::Uint(number) => self.builder.push_u64(column, number),
            Number::Float(number) => self.builder.push_f64(column, number, value),
            Number::No if value.is_empty() => {}
            Number::No => self.builder.push_str(column, value),
        }
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
        let key = match self.quirk {
            Quirk::ReturnIsRet if key == b"return" => b"ret",
            _ => key,
        };
        let column = self.builder.column(key);
        if self.builder.is_set(column) {
            return self.put_free(key, value);
        }
        let index = column - FIXED.len();
        if index >= self.hints.len() {
            self.hints.resize(index + 1, Hint::Any);
            self.hints[index] = match (self.texts, self.quirk) {
                (true, _) => Hint::Text,
                (_, Quirk::SizeInBytes) if key == b"size" => Hint::Bytes,
                _ => hint(key),
            };
        }
        match self.hints[index] {
            Hint::Text => self.builder.push_str(column, value),
            Hint::Padded => match integer(value) {
                Some(number) => self.builder.push_i64(column, number),
                None => self.put_any(column, value),
            },
            Hint::Bytes => self.put_any(column, value.strip_suffix(b"B").unwrap_or(value)),
            Hint::Any => self.put_any(column, value),
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

/// Fields that are names, lists or hexadecimal without 0x, even if a value looks like a decimal number.
const TEXTS: [&[u8]; 26] = [
    b"prev_state",
    b"caller",
    b"function",
    b"action",
    b"ip",
    b"parent_ip",
    b"args",
    b"cpus",
    b"cpumask",
    b"path",
    b"track",
    b"clone_flags",
    b"call_site",
    b"ptr",
    b"page",
    b"sa_handler",
    b"sa_flags",
    b"timer",
    b"hrtimer",
    b"work",
    b"skbaddr",
    b"skaddr",
    b"func",
    b"calltime",
    b"rettime",
    b"thermal_zone",
];

/// The type that a field's name implies.
pub fn hint(key: &[u8]) -> Hint {
    if key.ends_with(b"comm") || key.ends_with(b"name") || TEXTS.contains(&key) {
        Hint::Text
    } else if key.ends_with(b"cpu") {
        Hint::Padded
    } else {
        Hint::Any
    }
}

/// A value as a number, if it is one.
pub enum Number {
    Int(i64),
    Uint(u64),
    Float(f64),
    No,
}

/// A number with the same printed form, except for trailing zeros of floats.
pub fn number(text: &[u8]) -> Number {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (Some(first), Some(last)) = (digits.first(), digits.last()) else {
        return Number::No;
    };
    if !first.is_ascii_digit() || !last.is_ascii_digit() || text.len() > 40 {
        return Number::No;
    }
    if let Some(number) = integer(digits) {
        let padded = *first == b'0' && (digits.len() > 1 || text.len() > 1);
        return match padded {
            true => Number::No,
            false => Number::Int(if text.len() > digits.len() { -number } else { number }),
        };
    }
    let Ok(text) = str::from_utf8(text) else {
        return Number::No;
    };
    let dots = digits.iter().filter(|b| **b == b'.').count();
    let plain = digits.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    match (plain, dots) {
        (true, 0) if *first != b'0' => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(number), _) => Number::Int(number),
            (_, Ok(number)) => Number::Uint(number),
            _ => Number::No,
        },
        (true, 1) if *first != b'0' || digits.get(1) == Some(&b'.') => text.parse().map_or(Number::No, Number::Float),
        _ => Number::No,
    }
}
