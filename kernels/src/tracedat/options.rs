//! Options of a `trace.dat` file: clocks and their offsets, the host, losses, buffers.

use super::header::{Buffer, CpuData};
use crate::tracepoints::{Order, until_zero};

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
        let number = |at: usize, size: usize| order.number(data.get(at..)?, size);
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
            CPUCOUNT => self.cpus = Some(number(0, 4)?),
            TRACEID => self.trace = Some(number(0, 8)?),
            TIME_SHIFT => {
                self.peer = number(0, 8);
                self.shift = Some(Shift::read(data, order)?);
            }
            GUEST => self.guests.push(text()),
            TSC2NSEC => {
                let tsc = Tsc { multiplier: number(0, 4)? as u32, shift: number(4, 4)? as u32 };
                number(8, 8)?;
                self.tsc = Some(tsc).filter(|tsc| tsc.multiplier > 0);
            }
            STRINGS | BTF | LAST_BOOT | MODULES => {}
            FIRST_SECTION..=LAST_SECTION => self.sections.push((id, number(0, 8)?)),
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
    let mut rest = data;
    let number = |rest: &mut &[u8], size: usize| -> Option<u64> {
        let value = order.number(rest, size)?;
        *rest = rest.get(size..)?;
        Some(value)
    };
    let text = |rest: &mut &[u8]| -> Option<Vec<u8>> {
        let text = until_zero(rest);
        let after = rest.get(text.len() + 1..)?;
        let text = text.to_vec();
        *rest = after;
        Some(text)
    };
    let place = number(&mut rest, 8)?;
    let mut buffer = Buffer { place, ..Buffer::default() };
    if !sections {
        buffer.name = until_zero(rest).to_vec();
        return Some(buffer);
    }
    buffer.name = text(&mut rest)?;
    buffer.clock = String::from_utf8_lossy(&text(&mut rest)?).into_owned();
    buffer.page = number(&mut rest, 4)?;
    for _ in 0..number(&mut rest, 4)? {
        buffer.cpus.push(CpuData {
            cpu: i64::try_from(number(&mut rest, 4)?).ok()?,
            offset: number(&mut rest, 8)?,
            size: number(&mut rest, 8)?,
        });
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
    fn read(data: &[u8], order: Order) -> Option<Shift> {
        let interpolate = order.number(data.get(8..)?, 4)? & 1 != 0;
        let mut rest = data.get(12..)?;
        let count = order.number(rest, 4)?;
        rest = rest.get(4..)?;
        let mut cpus = Vec::new();
        for _ in 0..count {
            let samples = usize::try_from(order.number(rest, 4)?).ok()?;
            rest = rest.get(4..)?;
            let column = samples.checked_mul(8)?;
            let parts = rest.get(..column.checked_mul(3)?)?;
            rest = &rest[parts.len()..];
            let at = |part: usize, row: usize| order.number(&parts[part * column + row * 8..], 8);
            let samples = (0..samples).map(|row| {
                Some(Sample {
                    time: at(0, row)?.cast_signed(),
                    offset: at(1, row)?.cast_signed(),
                    scale: at(2, row)?.cast_signed(),
                    fraction: 0,
                })
            });
            cpus.push(samples.collect::<Option<Vec<_>>>()?);
        }
        for samples in &mut cpus {
            for sample in samples.iter_mut() {
                let Some(fraction) = order.number(rest, 8) else {
                    break;
                };
                rest = rest.get(8..)?;
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
