//! Split the bytes after a file's header into records, including those inside compressed ones.

use std::io::{self, Read};

use super::zstd::{Records, Stop};
use crate::input::bytes::Bytes;
use crate::input::{Input, Window};
use crate::rows::Notes;

const HEADER: usize = 8;
/// Far beyond all kinds of records: text that a tool wrote into the same pipe is not a record.
pub const LAST_KIND: u32 = 1 << 16;

/// Kinds of records; up to 63 they are the kernel's.
pub mod kind {
    pub const MMAP: u32 = 1;
    pub const LOST: u32 = 2;
    pub const COMM: u32 = 3;
    pub const EXIT: u32 = 4;
    pub const THROTTLE: u32 = 5;
    pub const UNTHROTTLE: u32 = 6;
    pub const FORK: u32 = 7;
    pub const READ: u32 = 8;
    pub const SAMPLE: u32 = 9;
    pub const MMAP2: u32 = 10;
    pub const AUX: u32 = 11;
    pub const ITRACE_START: u32 = 12;
    pub const LOST_SAMPLES: u32 = 13;
    pub const SWITCH: u32 = 14;
    pub const SWITCH_CPU_WIDE: u32 = 15;
    pub const NAMESPACES: u32 = 16;
    pub const KSYMBOL: u32 = 17;
    pub const BPF_EVENT: u32 = 18;
    pub const CGROUP: u32 = 19;
    pub const TEXT_POKE: u32 = 20;
    pub const AUX_OUTPUT_HW_ID: u32 = 21;
    pub const TOOL: u32 = 64;
    pub const ATTR: u32 = 64;
    pub const EVENT_TYPE: u32 = 65;
    pub const TRACING_DATA: u32 = 66;
    pub const BUILD_ID: u32 = 67;
    pub const FINISHED_ROUND: u32 = 68;
    pub const ID_INDEX: u32 = 69;
    pub const AUXTRACE: u32 = 71;
    pub const EVENT_UPDATE: u32 = 78;
    pub const FEATURE: u32 = 80;
    pub const COMPRESSED: u32 = 81;
    pub const COMPRESSED2: u32 = 83;
}

/// The header of a record.
#[derive(Clone, Copy)]
pub struct Head {
    pub kind: u32,
    pub misc: u16,
    pub size: usize,
}

impl Head {
    pub fn read(record: &[u8], big: bool) -> Option<Head> {
        let mut at = Bytes::new(record, big);
        Some(Head { kind: at.u32()?, misc: at.u16()?, size: usize::from(at.u16()?) })
    }
}

/// Records in file order.
pub struct Stream {
    source: io::Take<Window<Input>>,
    big: bool,
    /// Whether the file gives its length: then an early end is a loss.
    sized: bool,
    place: u64,
    record: Vec<u8>,
    unpacker: Option<Records>,
    /// Unpacked records, and the reading position in them.
    unpacked: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Stream {
    pub fn new(source: Window<Input>, start: u64, size: Option<u64>, big: bool) -> Stream {
        Stream {
            source: source.take(size.unwrap_or(u64::MAX)),
            big,
            sized: size.is_some(),
            place: start,
            record: Vec::new(),
            unpacker: None,
            unpacked: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    /// The current place in the file.
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Whether records are compressed.
    pub fn is_packed(&self) -> bool {
        self.unpacker.is_some()
    }

    /// End reading, except for unpacked records.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The last record returned by `next`.
    pub fn record(&self) -> &[u8] {
        &self.record
    }

    /// Read the next record; None at the end.
    ///
    /// # Errors
    /// The file cannot be read; damage is noted instead.
    pub fn next(&mut self, notes: &mut Notes) -> io::Result<Option<Head>> {
        loop {
            if let Some(head) = self.unpacked_record(notes) {
                return Ok(Some(head));
            }
            if self.ended && self.unpacker.is_none() {
                return Ok(None);
            }
            let head = match self.ended {
                true => None,
                false => self.stored_record(notes)?,
            };
            let Some(head) = head else {
                self.ended = true;
                self.unpacker = None;
                continue;
            };
            let packed = match head.kind {
                kind::COMPRESSED => self.record.get(HEADER..),
                kind::COMPRESSED2 => self.record.get(HEADER..).and_then(|body| {
                    let mut at = Bytes::new(body, self.big);
                    let size = usize::try_from(at.u64()?).ok()?;
                    at.take(size)
                }),
                _ => return Ok(Some(head)),
            };
            let outcome = match packed {
                Some(packed) => self.unpacker.get_or_insert_default().add(packed, &mut self.unpacked),
                None => Err(Stop::Damaged),
            };
            self.judge(outcome, notes);
        }
    }

    fn judge(&mut self, outcome: Result<(), Stop>, notes: &mut Notes) {
        let reason = match outcome {
            Ok(()) => return,
            Err(Stop::Damaged) => "compressed records do not unpack, the rest is not read",
            Err(Stop::TooMuch) => "compressed records expand too far, the rest is not read",
        };
        notes.cut(reason);
        self.ended = true;
        self.unpacker = None;
    }

    /// Take a whole record from the unpacked bytes.
    fn unpacked_record(&mut self, notes: &mut Notes) -> Option<Head> {
        let rest = self.unpacked.get(self.at..).unwrap_or_default();
        let head = Head::read(rest, self.big);
        let head = head.filter(|head| head.size < HEADER || rest.len() >= head.size);
        let Some(head) = head else {
            if self.ended && !rest.is_empty() {
                notes.cut("file ends within a record");
                self.at = self.unpacked.len();
            }
            // Only a partial record is left, so it is cheap to move it to the front.
            self.unpacked.drain(..self.at);
            self.at = 0;
            return None;
        };
        let Some(record) = rest.get(..head.size).filter(|_| head.size >= HEADER) else {
            notes.cut("record with an impossible size, the rest is not read");
            self.unpacked.clear();
            self.at = 0;
            self.ended = true;
            self.unpacker = None;
            return None;
        };
        self.record.clear();
        self.record.extend_from_slice(record);
        self.at += head.size;
        Some(head)
    }

    fn stored_record(&mut self, notes: &mut Notes) -> io::Result<Option<Head>> {
        self.record.clear();
        if !self.fill(HEADER, notes)? {
            return Ok(None);
        }
        let Some(head) = Head::read(&self.record, self.big) else {
            return Ok(None);
        };
        if head.size < HEADER {
            notes.cut("record with an impossible size, the rest is not read");
            return Ok(None);
        }
        if head.kind <= LAST_KIND && !self.fill(head.size, notes)? {
            return Ok(None);
        }
        Ok(Some(head))
    }

    /// Read until the record has `size` bytes; `false` if the file ends before.
    fn fill(&mut self, size: usize, notes: &mut Notes) -> io::Result<bool> {
        let wanted = (size.saturating_sub(self.record.len()) as u64).min(self.source.limit());
        let window = self.source.get_mut();
        window.need(wanted as usize)?;
        let rest = window.rest();
        let part = rest.get(..wanted as usize).unwrap_or(rest);
        let count = part.len();
        self.record.extend_from_slice(part);
        window.pass(count);
        let damaged = window.source.damage.is_some() && (count as u64) < wanted;
        self.source.set_limit(self.source.limit() - count as u64);
        self.place += count as u64;
        if damaged {
            notes.cut("file is damaged or ends early");
            return Ok(false);
        }
        let found = self.record.len();
        if found < size {
            if found > 0 {
                notes.cut("file ends within a record");
            } else if self.sized && self.source.limit() > 0 {
                notes.cut("file ends before its last record");
            }
            return Ok(false);
        }
        Ok(true)
    }

    /// Skip or read the payload after a record.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn payload(&mut self, size: u64, most: u64, notes: &mut Notes) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        self.source.by_ref().take(size.min(most)).read_to_end(&mut found)?;
        let rest = size.saturating_sub(most);
        let skipped = io::copy(&mut self.source.by_ref().take(rest), &mut io::sink())?;
        let read = found.len() as u64 + skipped;
        self.place += read;
        if read < size {
            notes.cut("file ends within a record");
        }
        Ok(found)
    }
}
