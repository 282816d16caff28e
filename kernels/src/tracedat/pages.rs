//! Read the events of one CPU, in order, from the pages of its ring buffer.

use std::collections::VecDeque;

use super::header::{Buffer, CpuData, Header};
use super::input::{Input, unpack};
use crate::input::bytes::u32_of;
use crate::input::unpack::Unpacker;
use crate::rows::Failure;
use crate::tracepoints::Order;

/// Bytes of pages per read.
const READ: u64 = 1 << 18;
/// Maximum unpacked size of a compressed chunk of pages.
const CHUNK_LIMIT: u64 = 1 << 26;

const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
const COMMIT: u64 = (1 << 27) - 1;

/// Types of entries in a page; smaller values are lengths.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// Statistics of the pages of a CPU.
#[derive(Default, Clone, Copy)]
pub struct CpuStatistics {
    pub pages: u64,
    pub events: u64,
    /// Lost events according to the pages.
    pub lost: u64,
    /// Number of losses of unknown size.
    pub lost_unknown: u64,
    /// Pages with an invalid header.
    pub bad_pages: u64,
    /// Pages with invalid entries from some place on.
    pub bad_entries: u64,
    /// Chunks with invalid compression.
    pub bad_chunks: u64,
    /// Missing bytes of the file.
    pub missing: u64,
    /// Bytes after the last whole page.
    pub odd: u64,
}

/// One CPU of one buffer.
pub struct Stream {
    pub cpu: i64,
    pub buffer: usize,
    pub statistics: CpuStatistics,
    /// The time of the next event in the page, and its bytes in the data read.
    pub next: Option<Entry>,
    data: Data,
    order: Order,
    head: usize,
    page: usize,
    /// The bytes read, the start of the current page, and its remaining entries.
    bytes: Vec<u8>,
    packed: Vec<u8>,
    begin: usize,
    at: usize,
    end: usize,
    ts: u64,
}

/// One event.
#[derive(Clone, Copy)]
pub struct Entry {
    pub ts: u64,
    begin: usize,
    end: usize,
}

/// The source of pages.
enum Data {
    Plain {
        offset: u64,
        left: u64,
    },
    /// Place, compressed size and unpacked size of each chunk.
    Packed(VecDeque<(u64, u64, u64)>, Option<Unpacker>),
}

impl Stream {
    /// Start with the first event of a CPU.
    pub fn open(
        input: &mut Input,
        header: &Header,
        (number, buffer): (usize, &Buffer),
        cpu: &CpuData,
    ) -> Result<Stream, Failure> {
        let mut statistics = CpuStatistics::default();
        let data = match buffer.packed {
            true => chunks(input, header, cpu, &mut statistics)?,
            false => {
                let there = input.size.saturating_sub(cpu.offset).min(cpu.size);
                statistics.missing = cpu.size - there;
                Data::Plain { offset: cpu.offset, left: there }
            }
        };
        let mut stream = Stream {
            cpu: cpu.cpu,
            buffer: number,
            statistics,
            next: None,
            data,
            order: header.order,
            head: header.page_head,
            page: usize::try_from(buffer.page).unwrap_or(4096),
            bytes: Vec::new(),
            packed: Vec::new(),
            begin: 0,
            at: 0,
            end: 0,
            ts: 0,
        };
        stream.advance(input)?;
        Ok(stream)
    }

    /// The bytes of the next event.
    #[inline]
    pub fn record(&self) -> &[u8] {
        let place = self.next.as_ref().map(|next| next.begin..next.end);
        let bytes = place.and_then(|place| self.bytes.get(place));
        bytes.unwrap_or_default()
    }

    /// Bytes of processed pages.
    pub fn done(&self) -> u64 {
        self.statistics.pages.saturating_mul(self.page as u64)
    }

    /// Advance to the next event.
    #[inline]
    pub fn advance(&mut self, input: &mut Input) -> Result<(), Failure> {
        loop {
            if let Some(entry) = self.entry() {
                self.statistics.events += 1;
                self.next = Some(entry);
                return Ok(());
            }
            if !self.next_page(input)? {
                self.next = None;
                return Ok(());
            }
        }
    }

    /// The next event of the page.
    #[inline]
    fn entry(&mut self) -> Option<Entry> {
        while self.at < self.end {
            let place = self.at;
            let Some(first) = self.word(place) else {
                self.stop();
                return None;
            };
            let (kind, delta) = match self.order.big {
                true => (first >> 27, first & ((1 << 27) - 1)),
                false => (first & 31, first >> 5),
            };
            let second = place + 4;
            match kind {
                PADDING if delta == 0 => {
                    self.at = self.end;
                    return None;
                }
                PADDING | 0 => {
                    let Some(length) = self.word(second).map(|length| length as usize) else {
                        self.stop();
                        return None;
                    };
                    self.ts = self.ts.wrapping_add(u64::from(delta));
                    let next = second.saturating_add(length.next_multiple_of(4));
                    if length < 4 || next > self.end {
                        self.stop();
                        return None;
                    }
                    self.at = next;
                    if kind == 0 {
                        return Some(Entry { ts: self.ts, begin: second + 4, end: second + length });
                    }
                }
                TIME_EXTEND | TIME_STAMP => {
                    let Some(high) = self.word(second) else {
                        self.stop();
                        return None;
                    };
                    let time = (u64::from(high) << 27) + u64::from(delta);
                    self.ts = match kind {
                        TIME_EXTEND => self.ts.wrapping_add(time),
                        _ => absolute(time, self.ts),
                    };
                    self.at = second + 4;
                }
                words => {
                    self.ts = self.ts.wrapping_add(u64::from(delta));
                    let end = second + 4 * words as usize;
                    if end > self.end {
                        self.stop();
                        return None;
                    }
                    self.at = end;
                    return Some(Entry { ts: self.ts, begin: second, end });
                }
            }
        }
        None
    }

    #[inline]
    fn word(&self, at: usize) -> Option<u32> {
        Some(u32_of(*self.bytes.get(at..)?.first_chunk()?, self.order.big))
    }

    /// Give up the rest of a page.
    fn stop(&mut self) {
        self.statistics.bad_entries += 1;
        self.at = self.end;
    }

    /// Start the next page; false if there is none.
    fn next_page(&mut self, input: &mut Input) -> Result<bool, Failure> {
        let next = match self.statistics.pages {
            0 => 0,
            _ => self.begin.saturating_add(self.page),
        };
        self.begin = next;
        if self.begin.saturating_add(self.page) > self.bytes.len() {
            let odd = self.bytes.len().saturating_sub(self.begin) as u64;
            if !self.fill(input)? {
                self.statistics.odd += odd;
                return Ok(false);
            }
            self.statistics.odd += odd;
            self.begin = 0;
        }
        self.statistics.pages += 1;
        self.header();
        Ok(true)
    }

    /// Read the header of the page; if it is invalid, the page has no events.
    fn header(&mut self) {
        let page = self.bytes.get(self.begin..).unwrap_or_default();
        let size = self.order.long;
        let time = self.order.number(page, 8);
        let commit = page.get(8..).and_then(|rest| self.order.number(rest, size));
        let (Some(time), Some(commit)) = (time, commit) else {
            self.statistics.bad_pages += 1;
            self.end = 0;
            self.at = 0;
            return;
        };
        let length = (commit & COMMIT) as usize;
        self.ts = time;
        self.at = self.begin + self.head;
        self.end = self.at + length;
        if length > self.page.saturating_sub(self.head) {
            self.statistics.bad_pages += 1;
            self.end = self.at;
        } else if commit & MISSED != 0 {
            let stored = page.get(self.head + length..self.page.min(page.len()));
            let stored = stored.filter(|_| commit & MISSED_STORED != 0);
            match stored.and_then(|bytes| self.order.number(bytes, self.order.long)) {
                Some(lost @ 1..) => self.statistics.lost = self.statistics.lost.saturating_add(lost),
                _ => self.statistics.lost_unknown += 1,
            }
        }
    }

    /// Read more pages; false at the end.
    fn fill(&mut self, input: &mut Input) -> Result<bool, Failure> {
        let page = self.page as u64;
        match &mut self.data {
            Data::Plain { offset, left } => {
                let wanted = (READ / page).max(1).saturating_mul(page).min(*left);
                input.read(*offset, wanted, &mut self.bytes)?;
                let read = self.bytes.len() as u64;
                *offset += read;
                *left -= read.min(*left);
                if read < wanted {
                    *left = 0;
                }
                if read > 0 && read < page {
                    self.statistics.odd += read;
                    return Ok(false);
                }
                Ok(read >= page)
            }
            Data::Packed(chunks, unpacker) => {
                while let Some((place, packed, whole)) = chunks.pop_front() {
                    input.read(place, packed, &mut self.packed)?;
                    let done = unpack(unpacker, &self.packed, whole, &mut self.bytes);
                    let found = self.bytes.len() as u64;
                    self.statistics.bad_chunks += u64::from(done.is_err() || found != whole);
                    if found >= page {
                        return Ok(true);
                    }
                    self.statistics.odd += found;
                }
                self.bytes.clear();
                Ok(false)
            }
        }
    }
}

/// A time of 59 bits, extended by the high bits of the time before it.
fn absolute(time: u64, before: u64) -> u64 {
    const HIGH: u64 = !((1 << 59) - 1);
    let time = time | before & HIGH;
    match before & HIGH != 0 && time < before {
        true => time.wrapping_add(1 << 59),
        false => time,
    }
}

/// Find the compressed chunks of a CPU: their places, and their sizes compressed and unpacked.
fn chunks(input: &mut Input, header: &Header, cpu: &CpuData, statistics: &mut CpuStatistics) -> Result<Data, Failure> {
    let order = header.order;
    // The number of chunks precedes the counted bytes.
    let end = cpu.offset.saturating_add(cpu.size).saturating_add(4);
    statistics.missing = end.saturating_sub(input.size).min(cpu.size);
    let end = end.min(input.size);
    let mut found = VecDeque::new();
    let mut at = cpu.offset;
    let mut bytes = Vec::new();
    let mut numbers = |input: &mut Input, at: u64, size: u64| -> Result<Option<Vec<u64>>, Failure> {
        input.read(at, size.min(end.saturating_sub(at)), &mut bytes)?;
        let parts = bytes.chunks_exact(4).map(|part| order.number(part, 4));
        Ok(parts.collect::<Option<Vec<_>>>())
    };
    let count = match numbers(input, at, 4)?.as_deref() {
        Some([count]) => *count,
        _ => 0,
    };
    at += 4;
    for _ in 0..count {
        let sizes = numbers(input, at, 8)?;
        let Some([packed, whole]) = sizes.as_deref() else {
            statistics.bad_chunks += 1;
            break;
        };
        at += 8;
        if *whole > CHUNK_LIMIT || at.saturating_add(*packed) > end {
            statistics.bad_chunks += 1;
            break;
        }
        found.push_back((at, *packed, *whole));
        at += packed;
    }
    Ok(Data::Packed(found, header.method.unpacker()))
}
