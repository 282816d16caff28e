//! Decode blocks of lines into growing tables, one per event name, and collect the other content of the lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::record::{Field, Line, Member, Record};
use super::report::{Report, Trouble};
use crate::columns::{Expected, Interner, TableBuilder};
use crate::json::{Text, Token, parse_int, unescape};

/// The columns of every event table, in order; `TS` and `DUR` in the unit of the file.
pub const EVENT_COLUMNS: [&str; 8] = ["_ts", "dur", "cat", "pid", "tid", "id", "ph", "type"];
const TS: usize = 0;
const DUR: usize = 1;
const CAT: usize = 2;
const PID: usize = 3;
const TID: usize = 4;
const ID: usize = 5;
const PH: usize = 6;
const TYPE: usize = 7;

/// The columns of the table of metadata records.
pub const METADATA_COLUMNS: [&str; 9] = ["file", "kind", "pid", "tid", "key", "value", "cat", "id", "type"];

/// The events of one name.
pub struct EventTable {
    pub table: TableBuilder,
    /// The line of each row in the chunk, from 0.
    pub lines: Vec<u32>,
}

/// Column types known before decoding.
#[derive(Default)]
pub struct Expectations {
    pub events: FxHashMap<Vec<u8>, Arc<Expected>>,
    pub metadata: Arc<Expected>,
}

/// A metadata record that gives a hash its text.
pub struct HashRecord {
    pub file: usize,
    pub kind: HashKind,
    pub hash: Vec<u8>,
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HashKind {
    File,
    Host,
    String,
}

impl HashKind {
    /// The name of the dimension of these hashes in indexes.
    pub fn dimension(self) -> &'static str {
        match self {
            HashKind::File => "fhash",
            HashKind::Host => "hhash",
            HashKind::String => "shash",
        }
    }

    pub fn of_dimension(name: &str) -> Option<HashKind> {
        [HashKind::File, HashKind::Host, HashKind::String].into_iter().find(|kind| kind.dimension() == name)
    }
}

/// The number of lines of each kind in a file, or a part of it.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub lines: u64,
    pub metadata: u64,
    pub invalid: u64,
    pub other: u64,
}

/// The result of decoding a chunk.
pub struct Part {
    pub names: Interner,
    pub events: Vec<EventTable>,
    pub metadata: TableBuilder,
    pub hashes: Vec<HashRecord>,
    /// Values of `time_metric`.
    pub units: Vec<Vec<u8>>,
    pub counts: Counts,
    pub report: Report,
    /// Lines that are not events, by the kind of metadata, or under an empty name.
    pub other_lines: BTreeMap<String, Vec<u32>>,
    expectations: Arc<Expectations>,
    /// Values with an unpaired surrogate, which is not representable in UTF-8.
    replaced: u64,
    record: Record,
    buffer: Vec<u8>,
}

/// A block and its source.
pub struct Input<'a> {
    pub file: usize,
    /// The path as shown in the tables.
    pub path: &'a str,
    pub text: &'a [u8],
    /// Whether the file ends with this block.
    pub last: bool,
}

impl Part {
    /// An empty part, with column types known beforehand.
    pub fn new(expectations: &Arc<Expectations>) -> Part {
        Part {
            names: Interner::default(),
            events: Vec::new(),
            metadata: TableBuilder::expecting(&METADATA_COLUMNS, Arc::clone(&expectations.metadata)),
            hashes: Vec::new(),
            units: Vec::new(),
            counts: Counts::default(),
            report: Report::default(),
            other_lines: BTreeMap::new(),
            expectations: Arc::clone(expectations),
            replaced: 0,
            record: Record::default(),
            buffer: Vec::new(),
        }
    }

    fn no_event(&mut self, kind: &[u8], number: u64) {
        let number = u32::try_from(number - 1).unwrap_or(u32::MAX);
        let kind = String::from_utf8_lossy(kind);
        match self.other_lines.get_mut(kind.as_ref()) {
            Some(numbers) => numbers.push(number),
            None => drop(self.other_lines.insert(kind.into_owned(), vec![number])),
        }
    }

    /// Decode a block of whole lines.
    pub fn decode(&mut self, input: &Input) {
        let mut counts = self.counts;
        let mut record = std::mem::take(&mut self.record);
        let mut start = 0;
        while start < input.text.len() {
            let rest = &input.text[start..];
            let (line, complete) = match memchr::memchr(b'\n', rest) {
                Some(end) => (&rest[..end], true),
                None => (rest, !input.last),
            };
            start += line.len() + 1;
            counts.lines += 1;
            self.line(&mut record, input, line, complete, &mut counts);
        }
        self.record = record;
        self.counts = counts;
        let replaced = std::mem::take(&mut self.replaced);
        if replaced > 0 {
            let example = "half a surrogate pair";
            self.report.note(input.file, Trouble::NotUtf8, replaced, example);
        }
    }

    /// Count a line that was skipped because it is too long; `head` is its beginning.
    pub fn long_line(&mut self, file: usize, head: &[u8]) {
        self.counts.lines += 1;
        self.counts.invalid += 1;
        let number = self.counts.lines;
        self.report.line(file, Trouble::LongLine, number, head);
        self.no_event(b"", number);
    }

    fn line(&mut self, record: &mut Record, input: &Input, line: &[u8], complete: bool, counts: &mut Counts) {
        let trouble = match record.read(line) {
            Ok(Line::Blank | Line::Bracket) => return self.no_event(b"", counts.lines),
            Ok(Line::Object) => match self.record(record, input, line, counts) {
                Ok(()) => return,
                Err(trouble) => {
                    counts.other += 1;
                    trouble
                }
            },
            Ok(Line::Other) => {
                counts.other += 1;
                Trouble::NotObject
            }
            Err(_) => {
                counts.invalid += 1;
                if complete { Trouble::NotJson } else { Trouble::CutLine }
            }
        };
        self.report.line(input.file, trouble, counts.lines, line);
        self.no_event(b"", counts.lines);
    }

    fn record(&mut self, record: &Record, input: &Input, line: &[u8], counts: &mut Counts) -> Result<(), Trouble> {
        let Token::Text(name) = record.get(Field::Name) else {
            return Err(Trouble::NoName);
        };
        if matches!(record.get(Field::Phase), Token::Int(4)) || self.text_is(record.get(Field::Phase), line, b"M") {
            self.metadata(record, input, line);
            counts.metadata += 1;
            let mut kind = Vec::new();
            as_text(record.get(Field::Name), line, &mut kind, &mut 0);
            self.no_event(&kind, counts.lines);
            return Ok(());
        }
        let ts = match self.whole(record.get(Field::Ts), line) {
            Some(ts) if ts < 0 => return Err(Trouble::NegativeTime),
            Some(ts) => ts,
            None if matches!(record.get(Field::Ts), Token::Absent | Token::Null) => {
                return Err(Trouble::NoTime);
            }
            None if matches!(record.get(Field::Ts), Token::Uint(_) | Token::Huge(_)) => {
                return Err(Trouble::TimeOverflow);
            }
            None => return Err(Trouble::BadTime),
        };
        let dur = self.whole(record.get(Field::Dur), line);
        match dur {
            Some(dur) if dur < 0 => return Err(Trouble::NegativeDuration),
            None if matches!(record.get(Field::Dur), Token::Uint(_) | Token::Huge(_)) => {
                return Err(Trouble::TimeOverflow);
            }
            None if !matches!(record.get(Field::Dur), Token::Absent | Token::Null) => {
                self.report.line(input.file, Trouble::BadDuration, counts.lines, line);
            }
            _ => (),
        }
        self.event(record, input, line, counts.lines, (name, ts, dur));
        Ok(())
    }

    fn event(
        &mut self,
        record: &Record,
        input: &Input,
        line: &[u8],
        number: u64,
        (name, ts, dur): (Text, i64, Option<i64>),
    ) {
        let name = bytes(name, line, &mut self.buffer, &mut self.replaced);
        let index = match std::str::from_utf8(name) {
            Ok(_) => self.names.intern(name),
            Err(_) => self.names.intern(String::from_utf8_lossy(name).as_bytes()),
        };
        if index == self.events.len() {
            let expected = self.expectations.events.get(self.names.get(index));
            self.events.push(EventTable {
                table: TableBuilder::expecting(&EVENT_COLUMNS, expected.cloned().unwrap_or_default()),
                lines: Vec::new(),
            });
        }
        let EventTable { table, lines } = &mut self.events[index];
        lines.push(u32::try_from(number - 1).unwrap_or(u32::MAX));
        let mut row = Row { table, line, buffer: &mut self.buffer, replaced: &mut self.replaced };
        row.table.push_i64(TS, ts);
        if let Some(dur) = dur {
            row.table.push_i64(DUR, dur);
        }
        row.push(CAT, record.get(Field::Cat));
        let ids = [(PID, Field::Pid), (TID, Field::Tid)];
        let known = ids.map(|(column, field)| row.push_id(column, record.get(field)));
        row.push_number(ID, record.get(Field::Id));
        row.push_phase(record.get(Field::Phase));
        row.push(TYPE, record.get(Field::Type));
        row.push_members(&record.args);
        row.push_others(record);
        table.end_row();
        if known.contains(&false) {
            self.report.line(input.file, Trouble::BadId, number, line);
        }
    }

    fn metadata(&mut self, record: &Record, input: &Input, line: &[u8]) {
        let [mut key, mut value] = [Token::Absent; 2];
        let mut others = Vec::new();
        for member in &record.args {
            match member.key.span.of(line) {
                b"name" => key = member.value,
                b"value" => value = member.value,
                _ => others.push(*member),
            }
        }
        let table = &mut self.metadata;
        let mut row = Row { table, line, buffer: &mut self.buffer, replaced: &mut self.replaced };
        row.table.push_str(0, input.path.as_bytes());
        row.push(1, record.get(Field::Name));
        row.push_id(2, record.get(Field::Pid));
        row.push_id(3, record.get(Field::Tid));
        row.push_text(4, key);
        row.push_text(5, value);
        row.push(6, record.get(Field::Cat));
        row.push_number(7, record.get(Field::Id));
        row.push(8, record.get(Field::Type));
        for (name, token) in [(&b"ts"[..], record.get(Field::Ts)), (b"dur", record.get(Field::Dur))] {
            if token != Token::Absent {
                let column = row.table.column(name);
                row.push_number(column, token);
            }
        }
        row.push_members(&others);
        row.push_others(record);
        table.end_row();
        self.learn(record, input.file, line, key, value);
    }

    /// Record the hashes and the time unit in a metadata record.
    fn learn(&mut self, record: &Record, file: usize, line: &[u8], key: Token, value: Token) {
        let mut plain = |token| {
            let mut out = Vec::new();
            as_text(token, line, &mut out, &mut self.replaced).then(|| clean(out))
        };
        let (Some(name), Some(text), Some(hash)) = (plain(record.get(Field::Name)), plain(key), plain(value)) else {
            return;
        };
        let kind = match name.as_slice() {
            b"FH" => HashKind::File,
            b"HH" => HashKind::Host,
            b"SH" => HashKind::String,
            b"CM" if text == b"time_metric" => return self.units.push(hash),
            _ => return,
        };
        self.hashes.push(HashRecord { file, kind, hash, text });
    }

    fn text_is(&mut self, token: Token, line: &[u8], expected: &[u8]) -> bool {
        match token {
            Token::Text(text) => bytes(text, line, &mut self.buffer, &mut self.replaced) == expected,
            _ => false,
        }
    }

    /// The value of a number, even in quotes.
    fn whole(&self, token: Token, line: &[u8]) -> Option<i64> {
        match token {
            Token::Int(value) => Some(value),
            Token::Text(text) => parse_int(text.span.of(line)),
            _ => None,
        }
    }
}

/// The text as shown in the tables.
fn clean(text: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(text) {
        Ok(text) => text.into_bytes(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into_bytes(),
    }
}

/// The value of a string literal.
#[inline]
fn bytes<'a>(text: Text, line: &'a [u8], buffer: &'a mut Vec<u8>, replaced: &mut u64) -> &'a [u8] {
    let raw = text.span.of(line);
    if !text.escaped {
        return raw;
    }
    buffer.clear();
    *replaced += u64::from(unescape(raw, buffer));
    buffer
}

/// Append a value as text: strings unescaped, others as written; false for none.
fn as_text(token: Token, line: &[u8], out: &mut Vec<u8>, replaced: &mut u64) -> bool {
    match token {
        Token::Absent | Token::Null => return false,
        Token::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Token::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Token::Uint(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Token::Huge(span) | Token::Float(span) | Token::Nested(span) => out.extend_from_slice(span.of(line)),
        Token::Text(text) if text.escaped => *replaced += u64::from(unescape(text.span.of(line), out)),
        Token::Text(text) => out.extend_from_slice(text.span.of(line)),
    }
    true
}

/// Whether the values of this column are hashes, which are texts in all tables, even if written as numbers.
pub fn is_hash(key: &[u8]) -> bool {
    matches!(key, b"fhash" | b"hhash" | b"shash" | b"cwd") || key.ends_with(b"_hash")
}

/// A row under construction.
struct Row<'a> {
    table: &'a mut TableBuilder,
    line: &'a [u8],
    buffer: &'a mut Vec<u8>,
    replaced: &'a mut u64,
}

impl Row<'_> {
    #[inline]
    fn push_members(&mut self, members: &[Member]) {
        for member in members {
            let key = bytes(member.key, self.line, self.buffer, self.replaced);
            let column = self.table.column(key);
            if matches!(member.value, Token::Int(_) | Token::Uint(_)) && is_hash(key) {
                self.push_text(column, member.value);
            } else {
                self.push(column, member.value);
            }
        }
    }

    #[inline]
    fn push(&mut self, column: usize, token: Token) {
        match token {
            Token::Absent => (),
            Token::Null => self.table.clear(column),
            Token::Bool(value) => self.table.push_bool(column, value),
            Token::Int(value) => self.table.push_i64(column, value),
            Token::Uint(value) => self.table.push_u64(column, value),
            Token::Huge(span) | Token::Nested(span) => self.table.push_str(column, span.of(self.line)),
            Token::Float(span) => {
                let text = span.of(self.line);
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                self.table.push_f64(column, number.unwrap_or(f64::NAN), text);
            }
            Token::Text(text) => {
                let text = bytes(text, self.line, self.buffer, self.replaced);
                self.table.push_str(column, text);
            }
        }
    }

    /// Push the values besides the known fields, and args that are not an object.
    #[inline]
    fn push_others(&mut self, record: &Record) {
        self.push_members(&record.others);
        let args = record.get(Field::Args);
        if args != Token::Absent {
            let column = self.table.column(b"args");
            self.push(column, args);
        }
    }

    /// Push a number that old writers put in quotes.
    #[inline]
    fn push_number(&mut self, column: usize, token: Token) {
        if let Token::Text(text) = token
            && let Some(value) = parse_int(text.span.of(self.line))
        {
            return self.table.push_i64(column, value);
        }
        self.push(column, token);
    }

    /// Push the number of a process or thread; returns false if it is invalid, which makes it null.
    #[inline]
    fn push_id(&mut self, column: usize, token: Token) -> bool {
        let value = match token {
            Token::Int(value) => Some(value),
            Token::Text(text) => parse_int(text.span.of(self.line)),
            Token::Absent | Token::Null => return true,
            _ => None,
        };
        if let Some(value) = value {
            self.table.push_i64(column, value);
        }
        value.is_some()
    }

    fn push_text(&mut self, column: usize, token: Token) {
        self.buffer.clear();
        if as_text(token, self.line, self.buffer, self.replaced) {
            self.table.push_str(column, self.buffer);
        }
    }

    /// Push the kind of the event as the letter of older writers.
    fn push_phase(&mut self, token: Token) {
        let letter: &[u8] = match token {
            Token::Int(1) => b"X",
            Token::Int(2) => b"C",
            Token::Int(3) => b"A",
            Token::Text(_) | Token::Absent => return self.push(PH, token),
            _ => return self.push_text(PH, token),
        };
        self.table.push_str(PH, letter);
    }
}
