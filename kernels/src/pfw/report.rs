//! Skipped, repaired or lost data while decoding: counted per file and kind, with the first example.

use std::collections::BTreeMap;

/// Kinds of trouble; the texts of `reason` are part of the interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trouble {
    NotJson,
    NotObject,
    NoName,
    NoTime,
    BadTime,
    NegativeTime,
    TimeOverflow,
    BadDuration,
    NegativeDuration,
    BadId,
    LongLine,
    CutLine,
    NotUtf8,
    BadUnit,
    TwoUnits,
    AmbiguousHash,
    UnknownHash,
    Empty,
    Truncated,
    Corrupt,
    Trailing,
    Unreadable,
}

impl Trouble {
    pub fn reason(self) -> &'static str {
        match self {
            Trouble::NotJson => "line is not JSON",
            Trouble::NotObject => "line is not a JSON object",
            Trouble::NoName => "record without a name",
            Trouble::NoTime => "event without a timestamp",
            Trouble::BadTime => "event whose timestamp is not a whole number",
            Trouble::NegativeTime => "event with a negative timestamp",
            Trouble::TimeOverflow => "event whose time does not fit into 64 bits of nanoseconds",
            Trouble::BadDuration => "duration is not a whole number (read as NULL)",
            Trouble::NegativeDuration => "event with a negative duration",
            Trouble::BadId => "process or thread is not a whole number (read as NULL)",
            Trouble::LongLine => "line is too long",
            Trouble::CutLine => "file ends inside a record",
            Trouble::NotUtf8 => "text is not UTF-8 (bad bytes replaced)",
            Trouble::BadUnit => "unknown time unit (microseconds assumed)",
            Trouble::TwoUnits => "file tells several time units (the first is taken)",
            Trouble::AmbiguousHash => "hash stands for several texts",
            Trouble::UnknownHash => "hash without a text",
            Trouble::Empty => "file is empty",
            Trouble::Truncated => "gzip data end early",
            Trouble::Corrupt => "gzip data are damaged",
            Trouble::Trailing => "bytes that are not gzip follow the gzip data",
            Trouble::Unreadable => "file cannot be read",
        }
    }

    /// Whether part of the trace was not read.
    pub fn incomplete(self) -> bool {
        matches!(
            self,
            Trouble::LongLine
                | Trouble::CutLine
                | Trouble::Truncated
                | Trouble::Corrupt
                | Trouble::Trailing
                | Trouble::Unreadable
        )
    }
}

struct Entry {
    count: u64,
    /// Line of the example, from 1, in the file or (before `merge`) in the chunk.
    line: u64,
    example: String,
}

/// Troubles of some lines.
#[derive(Default)]
pub struct Report {
    entries: BTreeMap<(usize, Trouble), Entry>,
}

/// A reported trouble: file, kind, count, example.
pub struct Reported {
    pub file: usize,
    pub trouble: Trouble,
    pub count: u64,
    pub example: String,
}

const EXAMPLE_BYTES: usize = 120;

impl Report {
    /// Count a trouble of a line (from 1).
    pub fn line(&mut self, file: usize, trouble: Trouble, line: u64, text: &[u8]) {
        let entry = self.entries.entry((file, trouble)).or_insert_with(|| {
            let head = text.get(..EXAMPLE_BYTES).unwrap_or(text);
            Entry { count: 0, line, example: String::from_utf8_lossy(head.trim_ascii()).into_owned() }
        });
        entry.count += 1;
    }

    /// Count a trouble without a line.
    pub fn note(&mut self, file: usize, trouble: Trouble, count: u64, example: &str) {
        let entry = self.entries.entry((file, trouble)).or_insert_with(|| Entry {
            count: 0,
            line: 0,
            example: example.chars().take(EXAMPLE_BYTES).collect(),
        });
        entry.count += count;
    }

    /// Add the troubles of a later chunk, whose lines follow `before` lines of the file.
    pub fn merge(&mut self, later: Report, before: u64) {
        for ((file, trouble), mut entry) in later.entries {
            if entry.line > 0 {
                entry.line += before;
            }
            self.entries.entry((file, trouble)).and_modify(|first| first.count += entry.count).or_insert(entry);
        }
    }

    /// All troubles, by file and kind.
    pub fn into_entries(self) -> impl Iterator<Item = Reported> {
        self.entries.into_iter().map(|((file, trouble), entry)| {
            let example = match entry.line {
                0 => entry.example,
                line => format!("line {line}: {}", entry.example),
            };
            Reported { file, trouble, count: entry.count, example }
        })
    }
}
