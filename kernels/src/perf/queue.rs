//! Sort records from file order, buffer by buffer, into time order.

/// Maximum bytes of waiting records.
const MOST: usize = 32 << 20;

/// A waiting record.
#[derive(Clone, Copy)]
pub struct Entry {
    pub time: u64,
    /// The record's number in the trace.
    pub line: u64,
    /// The place of its event, found while reading its time.
    pub event: usize,
    at: usize,
    len: usize,
}

/// Records that wait until no earlier one can follow.
#[derive(Default)]
pub struct Queue {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The number of entries that are in order and final, and of those returned.
    ready: usize,
    gone: usize,
    /// The latest time before the last round's end, and of all records.
    sure: u64,
    latest: u64,
    /// Whether rounds are meaningless, since records come with a delay.
    pub delayed: bool,
}

impl Queue {
    pub fn push(&mut self, time: u64, line: u64, event: usize, record: &[u8]) {
        self.entries.push(Entry { time, line, event, at: self.bytes.len(), len: record.len() });
        self.bytes.extend_from_slice(record);
        self.latest = self.latest.max(time);
        if self.bytes.len() >= MOST {
            self.sort();
            self.ready = self.entries.len() / 2;
        }
    }

    /// End a round: records before the end of the previous round are complete.
    pub fn round(&mut self) {
        if self.delayed {
            return;
        }
        self.sort();
        let sure = self.sure;
        self.ready = self.entries.partition_point(|entry| entry.time <= sure);
        self.sure = self.latest;
    }

    /// End the input.
    pub fn end(&mut self) {
        self.sort();
        self.ready = self.entries.len();
    }

    pub fn is_empty(&self) -> bool {
        self.gone >= self.entries.len()
    }

    /// The next final record, with its bytes.
    pub fn pop(&mut self) -> Option<(Entry, &[u8])> {
        if self.gone >= self.ready {
            return None;
        }
        let entry = *self.entries.get(self.gone)?;
        self.gone += 1;
        let record = self.bytes.get(entry.at..entry.at + entry.len)?;
        Some((entry, record))
    }

    fn sort(&mut self) {
        self.compact();
        self.entries.sort_unstable_by_key(|entry| (entry.time, entry.line));
    }

    /// Release the memory of returned records.
    fn compact(&mut self) {
        if self.gone == 0 {
            return;
        }
        self.entries.drain(..self.gone);
        let mut bytes = Vec::with_capacity(self.bytes.len() / 2);
        for entry in &mut self.entries {
            let at = bytes.len();
            if let Some(record) = self.bytes.get(entry.at..entry.at + entry.len) {
                bytes.extend_from_slice(record);
            }
            entry.at = at;
        }
        self.bytes = bytes;
        self.gone = 0;
        self.ready = 0;
    }
}
