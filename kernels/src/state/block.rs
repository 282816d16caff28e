//! Encode intervals of one attribute as a block of bytes with random access to its intervals.
//!
//! A block: 32 bytes (count, kind, widths, flags, first start, minimum value, count of texts), a validity bit for each
//! value if some are missing, offsets of starts from the first, lengths if they do not follow from the next start,
//! offsets of values from the minimum, ends of texts, texts. Numbers are little-endian and as wide as the largest of
//! their kind in the block.

use super::cell::{Cell, Kind, Value};
use super::fault::Fault;
use super::near::{Near, Pace, partition};
use crate::input::bytes::number_of;

const HEAD: usize = 32;
const NULLS: u8 = 1;
const ENDS: u8 = 2;

/// An interval in memory: its start, whether it has a value, and its value or the number of its text.
#[derive(Clone, Copy)]
pub struct Row {
    pub start: i64,
    there: bool,
    bits: u64,
}

impl Row {
    fn value(&self) -> Option<u64> {
        self.there.then_some(self.bits)
    }
}

/// Consecutive intervals of one attribute, in memory.
#[derive(Default)]
pub struct Tail {
    pub rows: Vec<Row>,
    /// Only if there are gaps between the intervals.
    pub ends: Vec<i64>,
    /// Texts of this tail; values are their numbers.
    texts: Vec<Box<str>>,
}

impl Tail {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub fn push(&mut self, start: i64, end: Option<i64>, cell: &Cell) {
        self.ends.extend(end);
        let bits = match &cell.text {
            None => cell.bits,
            Some(text) => self.number(text),
        };
        let there = cell.kind != Kind::Null;
        self.rows.push(Row { start, there, bits });
    }

    fn number(&mut self, text: &str) -> u64 {
        // Texts rarely repeat after long, so only the latest ones are searched; a repeated text only costs space.
        let known = self.texts.iter().rev().take(64).position(|one| **one == *text);
        let number = match known {
            Some(back) => self.texts.len() - 1 - back,
            None => {
                self.texts.push(text.into());
                self.texts.len() - 1
            }
        };
        number as u64
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.texts.clear();
    }

    pub fn value(&self, kind: Kind, row: usize) -> Value<'_> {
        let Some(bits) = self.rows[row].value() else {
            return Value::NULL;
        };
        let text = match kind {
            Kind::Text => &self.texts[bits as usize],
            _ => "",
        };
        Value { kind, bits, text }
    }
}

fn width(largest: u64) -> u8 {
    match largest {
        0 => 0,
        1..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    }
}

fn put(out: &mut Vec<u8>, width: u8, values: impl Iterator<Item = u64>) {
    match width {
        0 => {}
        1 => out.extend(values.map(|value| value as u8)),
        2 => values.for_each(|value| out.extend((value as u16).to_le_bytes())),
        4 => values.for_each(|value| out.extend((value as u32).to_le_bytes())),
        _ => values.for_each(|value| out.extend(value.to_le_bytes())),
    }
}

/// Encode a nonempty tail.
pub fn encode(tail: &Tail, kind: Kind) -> Vec<u8> {
    let first = tail.rows[0].start;
    let behind = |row: &Row| row.start.wrapping_sub(first).cast_unsigned();
    let lengths = || {
        let both = tail.ends.iter().zip(&tail.rows);
        both.map(|(end, row)| end.wrapping_sub(row.start).cast_unsigned())
    };
    let values = || tail.rows.iter().map(Row::value);
    let base = match kind {
        Kind::Int | Kind::Long => values().flatten().map(u64::cast_signed).min().map_or(0, i64::cast_unsigned),
        _ => values().flatten().min().unwrap_or(0),
    };
    let above = || values().map(|bits| bits.map_or(0, |bits| bits.wrapping_sub(base)));
    let start_width = width(tail.rows.last().map_or(0, behind));
    let end_width = width(lengths().max().unwrap_or(0));
    let value_width = width(above().max().unwrap_or(0));
    let nulls = tail.rows.iter().any(|row| !row.there);
    let flags = u8::from(nulls) * NULLS + u8::from(!tail.ends.is_empty()) * ENDS;
    let mut out = Vec::with_capacity(HEAD + tail.len() * 6);
    out.extend((tail.len() as u32).to_le_bytes());
    out.extend([kind as u8, start_width, value_width, flags]);
    out.extend(first.to_le_bytes());
    out.extend(base.to_le_bytes());
    out.extend((tail.texts.len() as u32).to_le_bytes());
    out.extend([end_width, 0, 0, 0]);
    if nulls {
        out.extend(tail.rows.chunks(8).map(|rows| {
            let each = rows.iter().enumerate();
            each.fold(0, |byte, (bit, row)| byte | u8::from(row.there) << bit)
        }));
    }
    put(&mut out, start_width, tail.rows.iter().map(behind));
    put(&mut out, end_width, lengths());
    put(&mut out, value_width, above());
    let mut end = 0u32;
    for text in &tail.texts {
        end += text.len() as u32;
        out.extend(end.to_le_bytes());
    }
    for text in &tail.texts {
        out.extend(text.as_bytes());
    }
    out
}

/// A block with random access.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub count: usize,
    pub kind: Kind,
    pub first: i64,
    base: u64,
    nulls: Option<&'a [u8]>,
    pub starts: Numbers<'a>,
    ends: Option<Numbers<'a>>,
    values: Numbers<'a>,
    text_ends: &'a [u8],
    texts: &'a [u8],
}

/// Numbers that are compared at once.
const WINDOW: usize = 32;

/// A number of some width.
pub trait Wide: Copy {
    fn wide(self) -> u64;

    /// The number of these that are at most a limit.
    fn count(some: &[Self; WINDOW], limit: u64) -> usize;
}

macro_rules! wide {
    ($($bytes:ty, $number:ty);*) => { $(
        impl Wide for $bytes {
            #[inline]
            fn wide(self) -> u64 {
                u64::from(<$number>::from_le_bytes(self))
            }

            #[inline]
            fn count(some: &[Self; WINDOW], limit: u64) -> usize {
                let limit = <$number>::try_from(limit).unwrap_or(<$number>::MAX);
                let mut count: $number = 0;
                for one in some {
                    count += <$number>::from(<$number>::from_le_bytes(*one) <= limit);
                }
                count as usize
            }
        }
    )* };
}

wide!([u8; 1], u8; [u8; 2], u16; [u8; 4], u32; [u8; 8], u64);

/// The number of ascending ones that are at most a limit, if the first of these are; `step` estimates how many more
/// there are.
#[inline]
pub fn ahead<N: Wide>(all: &[N], limit: u64, first: usize, pace: &Pace) -> usize {
    let mut first = first;
    if pace.step() <= WINDOW {
        for _ in 0..2 {
            let Some(some) = all.get(first..).and_then(|rest| rest.first_chunk()) else {
                break;
            };
            let count = N::count(some, limit);
            first += count;
            if count < WINDOW {
                return first;
            }
        }
    }
    at_most(all, limit, pace.next(false))
}

fn at_most<N: Wide>(all: &[N], limit: u64, near: Near) -> usize {
    partition(all.len(), near, |row| all[row].wide() <= limit)
}

/// Numbers as wide as the largest of them.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    Zeros,
    One(&'a [[u8; 1]]),
    Two(&'a [[u8; 2]]),
    Four(&'a [[u8; 4]]),
    Eight(&'a [[u8; 8]]),
}

impl<'a> Numbers<'a> {
    fn new(bytes: &'a [u8], width: u8) -> Numbers<'a> {
        match width {
            0 => Numbers::Zeros,
            1 => Numbers::One(bytes.as_chunks().0),
            2 => Numbers::Two(bytes.as_chunks().0),
            4 => Numbers::Four(bytes.as_chunks().0),
            _ => Numbers::Eight(bytes.as_chunks().0),
        }
    }

    #[inline]
    fn get(&self, row: usize) -> u64 {
        match self {
            Numbers::Zeros => 0,
            Numbers::One(all) => all[row].wide(),
            Numbers::Two(all) => all[row].wide(),
            Numbers::Four(all) => all[row].wide(),
            Numbers::Eight(all) => all[row].wide(),
        }
    }

    /// The number of `count` ascending ones that are at most a limit, searched near a place.
    fn at_most(&self, limit: u64, count: usize, near: Near) -> usize {
        match *self {
            Numbers::Zeros => count,
            Numbers::One(all) => at_most(all, limit, near),
            Numbers::Two(all) => at_most(all, limit, near),
            Numbers::Four(all) => at_most(all, limit, near),
            Numbers::Eight(all) => at_most(all, limit, near),
        }
    }

    /// Append mapped numbers at some places.
    fn gather<T>(&self, rows: impl Iterator<Item = usize>, out: &mut Vec<T>, make: impl Fn(u64) -> T) {
        match *self {
            Numbers::Zeros => out.extend(rows.map(|_| make(0))),
            Numbers::One(all) => out.extend(rows.map(|row| make(all[row].wide()))),
            Numbers::Two(all) => out.extend(rows.map(|row| make(all[row].wide()))),
            Numbers::Four(all) => out.extend(rows.map(|row| make(all[row].wide()))),
            Numbers::Eight(all) => out.extend(rows.map(|row| make(all[row].wide()))),
        }
    }
}

fn damaged(what: &str) -> Fault {
    Fault::Damaged(format!("the history is damaged: {what}"))
}

impl<'a> View<'a> {
    /// # Errors
    /// The bytes are not a block.
    pub fn new(bytes: &'a [u8]) -> Result<View<'a>, Fault> {
        if bytes.len() < HEAD {
            return Err(damaged("a block is too short"));
        }
        let (head, mut rest) = bytes.split_at(HEAD);
        let count = number_of(&head[..4], false) as usize;
        let kind = Kind::of(head[4]).ok_or_else(|| damaged("an unknown kind of values"))?;
        let widths = [head[5], head[6], head[28]];
        if count == 0 || widths.iter().any(|width| !matches!(width, 0 | 1 | 2 | 4 | 8)) {
            return Err(damaged("a block without intervals"));
        }
        let texts = number_of(&head[24..28], false) as usize;
        let mut take = |size: Option<usize>| {
            let size = size.filter(|size| *size <= rest.len());
            let (taken, left) = rest.split_at(size.ok_or_else(|| damaged("a block is cut off"))?);
            rest = left;
            Ok::<_, Fault>(taken)
        };
        let nulls = head[7] & NULLS != 0;
        let nulls = nulls.then(|| take(Some(count.div_ceil(8)))).transpose()?;
        let mut numbers = |width: u8| -> Result<Numbers<'a>, Fault> {
            let bytes = take(count.checked_mul(usize::from(width)))?;
            Ok(Numbers::new(bytes, width))
        };
        let starts = numbers(widths[0])?;
        let ends = (head[7] & ENDS != 0).then(|| numbers(widths[2])).transpose()?;
        let values = numbers(widths[1])?;
        let text_ends = take(texts.checked_mul(4))?;
        Ok(View {
            count,
            kind,
            first: number_of(&head[8..16], false).cast_signed(),
            base: number_of(&head[16..24], false),
            nulls,
            starts,
            ends,
            values,
            text_ends,
            texts: rest,
        })
    }

    /// Whether its intervals have no gaps, and its values are numbers.
    pub fn is_plain(&self) -> bool {
        self.ends.is_none() && self.kind != Kind::Text
    }

    /// Append the starts of some intervals, each plus an offset.
    pub fn starts_at(&self, rows: impl Iterator<Item = usize>, plus: i64, out: &mut Vec<i64>) {
        let first = self.first.wrapping_add(plus);
        let start = |behind: u64| first.wrapping_add(behind.cast_signed());
        self.starts.gather(rows, out, start);
    }

    /// Append the values of some intervals, which are numbers.
    pub fn values_at(&self, rows: &[u32], kinds: &mut Vec<i8>, bits: &mut Vec<u64>) {
        let kind = self.kind as i8;
        match self.nulls {
            None => kinds.resize(kinds.len() + rows.len(), kind),
            Some(there) => kinds.extend(rows.iter().map(|row| {
                let row = *row as usize;
                kind * (there[row / 8] >> (row % 8) & 1).cast_signed()
            })),
        }
        let places = rows.iter().map(|row| *row as usize);
        self.values.gather(places, bits, |above| self.base.wrapping_add(above));
    }

    /// The number of intervals that begin at a time or before it, searched near a place.
    pub fn begun(&self, time: i64, near: Near) -> usize {
        if time < self.first {
            return 0;
        }
        let behind = time.wrapping_sub(self.first).cast_unsigned();
        self.starts.at_most(behind, self.count, near)
    }

    #[inline]
    pub fn start(&self, row: usize) -> i64 {
        self.first.wrapping_add(self.starts.get(row).cast_signed())
    }

    #[inline]
    pub fn end(&self, row: usize) -> Option<i64> {
        let length = self.ends.as_ref()?.get(row).cast_signed();
        Some(self.start(row).wrapping_add(length))
    }

    /// # Errors
    /// A text is out of bounds.
    #[inline]
    pub fn value(&self, row: usize) -> Result<Value<'a>, Fault> {
        if self.nulls.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) {
            return Ok(Value::NULL);
        }
        let bits = self.base.wrapping_add(self.values.get(row));
        let text = match self.kind {
            Kind::Text => self.text(bits)?,
            _ => "",
        };
        Ok(Value { kind: self.kind, bits, text })
    }

    fn text(&self, number: u64) -> Result<&'a str, Fault> {
        let end = |number: usize| {
            let bytes = self.text_ends.get(number * 4..number * 4 + 4)?;
            Some(number_of(bytes, false) as usize)
        };
        let place = usize::try_from(number).ok().filter(|place| *place < self.text_ends.len());
        let found = place.and_then(|place| {
            let begin = if place == 0 { 0 } else { end(place - 1)? };
            std::str::from_utf8(self.texts.get(begin..end(place)?)?).ok()
        });
        found.ok_or_else(|| damaged("a text is not there"))
    }
}
