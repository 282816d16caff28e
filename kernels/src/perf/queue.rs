//! Records as they stand in the file, buffer by buffer -> records by time.

/// Bytes of records that wait at most.
const MOST: usize = 32 << 20;

/// A record that waits.
#[derive(Clone, Copy)]
pub struct Entry {
    pub time: u64,
    /// The record's number in the trace.
    pub line: u64,
    /// Where its event stands, as was found when its time was looked for.
    pub event: usize,
    at: usize,
    len: usize,
}

/// Records that wait until none can come that is earlier.
#[derive(Default)]
pub struct Queue {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// How many of the entries are in order and may go, and how many have gone.
    ready: usize,
    gone: usize,
    /// The latest time before the last round's end, and of all.
    sure: u64,
    latest: u64,
    /// Whether rounds mean nothing, since records come with a delay.
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

    /// A round has ended: what is earlier than the end of the round before is complete.
    pub fn round(&mut self) {
        if self.delayed {
            return;
        }
        self.sort();
        let sure = self.sure;
        self.ready = self.entries.partition_point(|entry| entry.time <= sure);
        self.sure = self.latest;
    }

    /// No record follows.
    pub fn end(&mut self) {
        self.sort();
        self.ready = self.entries.len();
    }

    pub fn is_empty(&self) -> bool {
        self.gone >= self.entries.len()
    }

    /// The next record that may go, with its bytes.
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

    /// Let go of what has gone.
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
