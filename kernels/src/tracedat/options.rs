//! Options of a `trace.dat` file: clocks and their offsets, the host, losses, buffers.

use super::header::{Buffer, CpuData};
use crate::input::bytes::{Bytes, until_zero};
use crate::tracepoints::Order;

const DATE: u16 = 1;
const CPUSTAT: u16 = 2;
pub const BUFFER: u16 = 3;
const TRACECLOCK: u16 = 4;
const UNAME: u16 = 5;
const HOOK: u16 = 6;
const OFFSET: u16 = 7;
const CPUCOUNT: u16 = 8;
const VERSION: u16 = 9;
const PROCMAPS: u16 = 10;
const TRACEID: u16 = 11;
const TIME_SHIFT: u16 = 12;
const GUEST: u16 = 13;
const TSC2NSEC: u16 = 14;
const STRINGS: u16 = 15;
const FIRST_SECTION: u16 = 16;
const LAST_SECTION: u16 = 21;
pub const BUFFER_TEXT: u16 = 22;
const BTF: u16 = 23;
const LAST_BOOT: u16 = 24;
const MODULES: u16 = 25;

/// The contents of the options.
#[derive(Default)]
pub struct Options {
    /// The offset from times to the time of day, in ns.
    pub date: Option<i64>,
    /// The offset added to all times, in ns.
    pub offset: i64,
    /// The selected clock.
    pub clock: String,
    pub has_clock: bool,
    pub uname: String,
    pub version: String,
    pub hooks: Vec<String>,
    pub cpus: Option<u64>,
    pub trace: Option<u64>,
    pub peer: Option<u64>,
    pub shift: Option<Shift>,
    pub guests: Vec<String>,
    pub tsc: Option<Tsc>,
    /// Texts of `per_cpu/cpu0/stats`.
    pub stats: Vec<String>,
    pub maps: String,
    /// Sections, and their places.
    pub sections: Vec<(u16, u64)>,
    /// Ids of unknown options, with their counts.
    pub unknown: Vec<(u16, u64)>,
    /// Number of options that are too short for their contents.
    pub short: u64,
}

/// Converts counts of the processor's clock to ns.
#[derive(Clone, Copy)]
pub struct Tsc {
    pub multiplier: u32,
    pub shift: u32,
}

/// Offsets of the clock of another machine, by CPU.
pub struct Shift {
    interpolate: bool,
    cpus: Vec<Vec<Sample>>,
}

#[derive(Clone, Copy)]
struct Sample {
    time: i64,
    offset: i64,
    scale: i64,
    fraction: u32,
}

impl Options {
    /// Read an option, except for those of buffers.
    pub fn read(&mut self, id: u16, data: &[u8], order: Order) {
        if self.learn(id, data, order).is_none() {
            self.short += 1;
        }
    }

    /// None if the option is too short for its contents.
    fn learn(&mut self, id: u16, data: &[u8], order: Order) -> Option<()> {
        let text = || String::from_utf8_lossy(until_zero(data)).trim().to_owned();
        let mut at = Bytes::new(data, order.big);
        match id {
            DATE => self.date = integer(&text())?.checked_mul(1000),
            OFFSET => self.offset = self.offset.saturating_add(integer(&text())?),
            CPUSTAT => self.stats.push(text()),
            TRACECLOCK => {
                self.has_clock = true;
                self.clock = chosen(data).unwrap_or_default();
            }
            UNAME => self.uname = text(),
            VERSION => self.version = text(),
            HOOK => self.hooks.push(text()),
            PROCMAPS => self.maps.push_str(&text()),
            CPUCOUNT => self.cpus = Some(u64::from(at.u32()?)),
            TRACEID => self.trace = Some(at.u64()?),
            TIME_SHIFT => {
                self.peer = at.u64();
                self.shift = Some(Shift::read(at)?);
            }
            GUEST => self.guests.push(text()),
            TSC2NSEC => {
                let tsc = Tsc { multiplier: at.u32()?, shift: at.u32()? };
                at.u64()?;
                self.tsc = Some(tsc).filter(|tsc| tsc.multiplier > 0);
            }
            STRINGS | BTF | LAST_BOOT | MODULES => {}
            FIRST_SECTION..=LAST_SECTION => self.sections.push((id, at.u64()?)),
            _ => match self.unknown.iter_mut().find(|one| one.0 == id) {
                Some((_, count)) => *count += 1,
                None => self.unknown.push((id, 1)),
            },
        }
        Some(())
    }

    /// An event's time in ns of the clock of the trace.
    #[inline]
    pub fn time(&self, ts: u64, cpu: i64) -> i64 {
        let mut ts = ts.cast_signed();
        if let Some(shift) = &self.shift {
            ts = shift.apply(ts, cpu);
        }
        if let Some(tsc) = &self.tsc {
            let product = u128::from(ts.cast_unsigned()) * u128::from(tsc.multiplier);
            let scaled = product.checked_shr(tsc.shift).unwrap_or(0);
            ts = i64::try_from(scaled).unwrap_or(i64::MAX);
        }
        ts.saturating_add(self.offset)
    }
}

/// A buffer's option; in version 7 it also has the places of its pages.
pub fn buffer(data: &[u8], order: Order, sections: bool) -> Option<Buffer> {
    let mut at = Bytes::new(data, order.big);
    let mut buffer = Buffer { place: at.u64()?, ..Buffer::default() };
    if !sections {
        buffer.name = until_zero(at.rest()).to_vec();
        return Some(buffer);
    }
    buffer.name = at.zero_text()?.to_vec();
    buffer.clock = String::from_utf8_lossy(at.zero_text()?).into_owned();
    buffer.page = u64::from(at.u32()?);
    for _ in 0..at.u32()? {
        buffer.cpus.push(CpuData { cpu: i64::from(at.u32()?), offset: at.u64()?, size: at.u64()? });
    }
    Some(buffer)
}

/// The clock in brackets: `local [global] counter`.
pub fn chosen(text: &[u8]) -> Option<String> {
    let open = memchr::memchr(b'[', text)?;
    let rest = &text[open + 1..];
    let close = memchr::memchr(b']', rest)?;
    Some(String::from_utf8_lossy(&rest[..close]).into_owned())
}

/// `12`, `-12` or `0x1f`
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?.cast_signed(),
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

impl Shift {
    /// The identity of the other machine comes before.
    fn read(mut at: Bytes<'_>) -> Option<Shift> {
        let interpolate = at.u32()? & 1 != 0;
        let mut cpus = Vec::new();
        for _ in 0..at.u32()? {
            let samples = at.u32()? as usize;
            let mut part = || at.part(samples.checked_mul(8)?);
            let (mut times, mut offsets, mut scales) = (part()?, part()?, part()?);
            let samples = (0..samples).map(|_| {
                Some(Sample { time: times.i64()?, offset: offsets.i64()?, scale: scales.i64()?, fraction: 0 })
            });
            cpus.push(samples.collect::<Option<Vec<_>>>()?);
        }
        for samples in &mut cpus {
            for sample in samples.iter_mut() {
                let Some(fraction) = at.u64() else {
                    break;
                };
                sample.fraction = u32::try_from(fraction).unwrap_or(0).min(63);
            }
            samples.sort_by_key(|sample| sample.time);
            samples.dedup_by_key(|sample| sample.time);
        }
        Some(Shift { interpolate, cpus })
    }

    fn apply(&self, ts: i64, cpu: i64) -> i64 {
        let samples = usize::try_from(cpu).ok().and_then(|cpu| self.cpus.get(cpu));
        match samples.map(Vec::as_slice) {
            None | Some([]) => ts,
            Some([only]) => ts.wrapping_add(only.offset),
            Some(samples) => {
                let after = samples.partition_point(|sample| sample.time <= ts);
                let low = after.saturating_sub(1).min(samples.len() - 2);
                self.between(ts, &samples[low], &samples[low + 1])
            }
        }
    }

    fn between(&self, ts: i64, low: &Sample, high: &Sample) -> i64 {
        let (time, offset) = (i128::from(low.time), i128::from(low.offset));
        let length = i128::from(high.time) - time;
        let correction = match self.interpolate && length != 0 {
            true => {
                let part = (i128::from(ts) - time) * (i128::from(high.offset) - offset);
                offset + (part + length / 2) / length
            }
            false => offset,
        };
        let scaled = (i128::from(ts) * i128::from(low.scale.max(1))) >> low.fraction;
        i64::try_from(scaled + correction).unwrap_or(ts)
    }
}
