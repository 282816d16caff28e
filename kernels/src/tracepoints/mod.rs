//! Decode records of kernel tracepoints in ring buffers into rows of one table for each event.
//!
//! Every format that contains the kernel's `format` files uses this: they are added with [`Tracepoints::add`], then
//! each record (from its `common_type` on) is put with [`Tracepoints::row`]. Tables and columns are those of ftrace's
//! text: fields by their names; a value printed as `name=text` by `__print_symbolic`, `__print_flags`, `%pS` and the
//! like is a text column of that name, and its number is `<name>_number` if the field has the same name.

mod address;
mod binary;
mod event;
mod expression;
mod flags;
mod format;
mod layout;
mod numbers;
mod parse;
mod print;
mod quick;
mod special;
mod symbols;
mod text;
mod values;

use rustc_hash::FxHashMap;

use crate::rows::Sink;
use event::Event;
use expression::Context;
use format::Field;
pub use format::Order;
pub use layout::Optional;
use special::Special;
use symbols::Names;
pub use symbols::Symbols;

/// Formats of `trace_printk` by their address.
pub type Printks = FxHashMap<u64, Vec<u8>>;

/// Maximum number of different events with tables.
const TABLE_LIMIT: usize = 10_000;

/// One record of a ring buffer.
pub struct Record<'a> {
    /// Absolute, in ns.
    pub ts: i64,
    pub cpu: i64,
    /// The name of the thread, and its number, if there is one.
    pub comm: &'a [u8],
    pub comm_number: Option<usize>,
    /// The process of the thread, if known.
    pub tgid: Option<i64>,
    /// The number of the event in the trace's order.
    pub line: i64,
    /// The name of the buffer, except for the main one.
    pub buffer: Option<&'a [u8]>,
    /// From `common_type` on.
    pub bytes: &'a [u8],
}

/// The result for a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    Row,
    /// A row with NULL for data that are out of bounds or have no description.
    Partial,
    /// No row: the record is too short for the common fields.
    Short,
    /// No row: there is no format with this number.
    Unknown(u32),
    /// No row: too many different events.
    TooMany,
}

enum EventDecoder {
    Event(Box<Event>),
    Special(Box<Special>),
    TooMany,
}

/// The events of a trace.
pub struct Tracepoints {
    order: Order,
    optional: Optional,
    symbols: Symbols,
    names: Names,
    printks: Printks,
    formats: FxHashMap<u32, Vec<u8>>,
    known: Vec<Option<EventDecoder>>,
    /// Events with names of threads, and the fields with ids and names.
    naming: Vec<(u32, Vec<(Field, Field)>)>,
    tables: usize,
}

/// Names of the events with names of threads.
const NAMING: [&str; 3] = ["sched_switch", "sched_wakeup", "sched_wakeup_new"];
const NAMES: [(&[u8], &[u8]); 3] = [(b"prev_pid", b"prev_comm"), (b"next_pid", b"next_comm"), (b"pid", b"comm")];

impl Tracepoints {
    pub fn new(order: Order, optional: Optional) -> Tracepoints {
        Tracepoints {
            order,
            optional,
            symbols: Symbols::default(),
            names: Names::default(),
            printks: Printks::default(),
            formats: FxHashMap::default(),
            known: Vec::new(),
            naming: Vec::new(),
            tables: 0,
        }
    }

    /// Add the text of a `format` file; false if it is invalid.
    pub fn add(&mut self, text: Vec<u8>) -> bool {
        let Some((_, id)) = format::head(&text) else {
            return false;
        };
        self.formats.insert(id, text);
        true
    }

    /// The id of a record's thread; 0 where the record is too short.
    #[inline]
    pub fn pid(&self, record: &[u8]) -> i64 {
        let bytes = record.get(4..).unwrap_or_default();
        let pid = self.order.number(bytes, 4).unwrap_or(0);
        i64::from(pid as i32)
    }

    pub fn set_symbols(&mut self, symbols: Symbols) {
        self.symbols = symbols;
    }

    /// Add the text of `printk_formats`: `0xffffffff8281972f : "thaw_processes"`.
    pub fn add_printks(&mut self, text: &[u8]) {
        for line in text.split(|b| *b == b'\n') {
            if let Some((address, text)) = printk(line) {
                self.printks.insert(address, text);
            }
        }
    }

    /// Return the ids of threads in a record that was put, and a function for their names.
    #[inline]
    pub fn names_in<'a>(&self, record: &'a [u8], mut tell: impl FnMut(i64, &dyn Fn() -> Option<&'a [u8]>)) {
        let id = self.order.number(record, 2).unwrap_or(0) as u32;
        let Some((_, fields)) = self.naming.iter().find(|one| one.0 == id) else {
            return;
        };
        for (pid, name) in fields {
            if let Some(pid) = pid.number(record, self.order) {
                tell(pid, &|| name.bytes(record, self.order));
            }
        }
    }

    /// Number of marks of programs with missing fields, kept as text.
    pub fn bad_marks(&self) -> u64 {
        let special = self.known.iter().flatten().map(|known| match known {
            EventDecoder::Special(special) => special.bad_marks(),
            _ => 0,
        });
        special.sum()
    }

    /// Put a record into its table.
    pub fn row(&mut self, record: &Record<'_>, sink: &mut Sink) -> Put {
        self.row_with(record, None, sink)
    }

    /// Put a record into its table, with the stack taken with it as an additional column.
    pub fn row_with(&mut self, record: &Record<'_>, stack: Option<&[u8]>, sink: &mut Sink) -> Put {
        let Some(id) = self.order.number(record.bytes, 2) else {
            return Put::Short;
        };
        let id = id as u32;
        if !matches!(self.known.get(id as usize), Some(Some(_))) && !self.learn(id, sink) {
            return Put::Unknown(id);
        }
        let context = Context { record: record.bytes, order: self.order, symbols: &self.symbols };
        let known = self.known.get_mut(id as usize).and_then(Option::as_mut);
        let done = match known {
            Some(EventDecoder::Event(event)) => event.row(record, stack, context, &mut self.names, sink),
            Some(EventDecoder::Special(special)) => {
                special.row(record, context, (&mut self.names, &self.printks), sink)
            }
            Some(EventDecoder::TooMany) => return Put::TooMany,
            None => return Put::Unknown(id),
        };
        match done {
            Some(true) => Put::Row,
            Some(false) => Put::Partial,
            None => Put::Short,
        }
    }

    /// Read the description of an event; false if there is none.
    fn learn(&mut self, id: u32, sink: &mut Sink) -> bool {
        let Some(text) = self.formats.get(&id) else {
            return false;
        };
        let Some(format) = format::parse(text, self.order) else {
            return false;
        };
        if NAMING.contains(&format.name.as_str()) {
            let pairs = NAMES.iter().filter_map(|(pid, name)| {
                let (pid, name) = (format.find(pid)?, format.find(name)?);
                Some((pid.clone(), name.clone()))
            });
            self.naming.push((id, pairs.collect()));
        }
        let known = if self.tables >= TABLE_LIMIT {
            EventDecoder::TooMany
        } else {
            self.tables += 1;
            match Special::of(&format, self.order, self.optional) {
                Some(special) => EventDecoder::Special(Box::new(special)),
                None => {
                    let event = Event::new(&format, self.order, self.optional, sink);
                    EventDecoder::Event(Box::new(event))
                }
            }
        };
        let place = id as usize;
        if self.known.len() <= place {
            self.known.resize_with(place + 1, || None);
        }
        self.known[place] = Some(known);
        true
    }
}

/// `0xffffffff8281972f : "thaw_processes"`: the address, and the text without its quotes.
fn printk(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let line = line.trim_ascii();
    let colon = memchr::memchr(b':', line)?;
    let address = line[..colon].trim_ascii();
    let digits = str::from_utf8(address.strip_prefix(b"0x").unwrap_or(address)).ok()?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    let text = line[colon + 1..].trim_ascii();
    let text = text.strip_prefix(b"\"")?;
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    Some((address, unescaped(text)))
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => match rest.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(other) => out.push(*other),
                None => out.push(b'\\'),
            },
            other => out.push(*other),
        }
    }
    out
}
