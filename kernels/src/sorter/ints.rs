//! Integers of one column, each part of its rows in the narrowest width that holds them, in memory and as bytes.

use std::ops::Range;

use super::order::Rows;
use crate::input::bytes::Bytes;

/// Rows of a part: appending numbers never copies the full parts before.
const PART_BITS: u32 = 16;
const PART: usize = 1 << PART_BITS;

/// Distances of numbers from a base, in one width.
pub enum Values {
    W1(Vec<i8>),
    W2(Vec<i16>),
    W4(Vec<i32>),
    W8(Vec<i64>),
}

/// A number of any width.
pub trait Wide: Copy + Ord {
    fn wide(self) -> i64;
    fn of(wide: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn hold(values: Vec<Self>) -> Values;
    /// The numbers, if they are of this width.
    fn slice(values: &Values) -> Option<&[Self]>;
    fn take(values: Values) -> Option<Vec<Self>>;
}

macro_rules! wide {
    ($($kind:ty, $width:ident;)*) => {
        $(impl Wide for $kind {
            #[inline]
            fn wide(self) -> i64 {
                self as i64
            }

            #[inline]
            fn of(wide: i64) -> $kind {
                wide as $kind
            }

            #[inline]
            fn plus(self, other: $kind) -> $kind {
                self.wrapping_add(other)
            }

            fn hold(values: Vec<$kind>) -> Values {
                Values::$width(values)
            }

            #[inline]
            fn slice(values: &Values) -> Option<&[$kind]> {
                match values {
                    Values::$width(values) => Some(values),
                    _ => None,
                }
            }

            fn take(values: Values) -> Option<Vec<$kind>> {
                match values {
                    Values::$width(values) => Some(values),
                    _ => None,
                }
            }
        })*
    };
}

wide! { i8, W1; i16, W2; i32, W4; i64, W8; }

macro_rules! each {
    ($values:expr, $name:ident => $body:expr) => {
        match $values {
            Values::W1($name) => $body,
            Values::W2($name) => $body,
            Values::W4($name) => $body,
            Values::W8($name) => $body,
        }
    };
}

/// Append numbers in another width, each with `more` added.
fn push<T: Wide, N: Wide>(values: &mut Vec<T>, new: &[N], more: i64) {
    let more = T::of(more);
    values.extend(new.iter().map(|v| T::of(v.wide()).plus(more)));
}

impl Values {
    fn new(width: u8) -> Values {
        match width {
            1 => Values::W1(Vec::new()),
            2 => Values::W2(Vec::new()),
            4 => Values::W4(Vec::new()),
            _ => Values::W8(Vec::new()),
        }
    }

    fn width(&self) -> u8 {
        match self {
            Values::W1(_) => 1,
            Values::W2(_) => 2,
            Values::W4(_) => 4,
            Values::W8(_) => 8,
        }
    }

    fn len(&self) -> usize {
        each!(self, values => values.len())
    }
}

/// Consecutive rows.
struct Part {
    /// 0 for numbers of full width.
    base: i64,
    values: Values,
}

impl Part {
    fn new(range: (i64, i64)) -> Part {
        let width = width(range.0, range);
        Part { base: if width < 8 { range.0 } else { 0 }, values: Values::new(width) }
    }

    /// Widen all numbers to at least this width, with room for `room` of them.
    fn widen(&mut self, width: u8, room: usize) {
        if width <= self.values.width() {
            return;
        }
        let base = if width < 8 { self.base } else { 0 };
        let mut wide = Values::new(width);
        each!(&mut wide, wide => {
            wide.reserve_exact(room);
            each!(&self.values, values => push(wide, values, self.base.wrapping_sub(base)));
        });
        self.base = base;
        self.values = wide;
    }

    /// Make numbers of a range fit, `room` in all.
    fn prepare(&mut self, range: (i64, i64), room: usize) {
        // Untouched capacity takes no memory: a large part is not moved again.
        let room = if room > PART / 4 { PART } else { room.next_power_of_two() };
        self.widen(width(self.base, range), room);
        each!(&mut self.values, values => {
            values.reserve_exact(room.saturating_sub(values.len()));
        });
    }

    #[inline]
    fn get(&self, row: usize) -> i64 {
        each!(&self.values, values => self.base.wrapping_add(values[row].wide()))
    }

    /// Append the numbers of consecutive rows.
    fn copy<T: Wide>(&self, rows: Range<usize>, out: &mut Vec<T>) {
        each!(&self.values, values => push(out, &values[rows], self.base));
    }
}

/// The bytes for the distances of a range from a base.
fn width(base: i64, (min, max): (i64, i64)) -> u8 {
    let (Some(low), Some(high)) = (min.checked_sub(base), max.checked_sub(base)) else {
        return 8;
    };
    let fits = |least: i64, most: i64| low >= least && high <= most;
    if fits(i64::from(i8::MIN), i64::from(i8::MAX)) {
        1
    } else if fits(i64::from(i16::MIN), i64::from(i16::MAX)) {
        2
    } else if fits(i64::from(i32::MIN), i64::from(i32::MAX)) {
        4
    } else {
        8
    }
}

/// The bytes for a nonnegative number; none for 0.
fn above(most: u64) -> u8 {
    match most {
        0 => 0,
        _ if most <= u64::from(u8::MAX) => 1,
        _ if most <= u64::from(u16::MAX) => 2,
        _ if most <= u64::from(u32::MAX) => 4,
        _ => 8,
    }
}

/// Append the lowest `WIDTH` bytes of each number.
fn put<const WIDTH: usize>(values: &[i64], each: impl Fn(i64) -> [u8; WIDTH], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len() * WIDTH, 0);
    let (places, _) = out[start..].as_chunks_mut();
    let values = places.iter_mut().zip(values);
    values.for_each(|(place, value)| *place = each(*value));
}

/// Return the range of some numbers, 0 to 0 for none.
pub fn range<T: Wide>(values: &[T]) -> (i64, i64) {
    let first = values.first().copied().unwrap_or(T::of(0));
    let range = values.iter().fold((first, first), |(min, max), value| (min.min(*value), max.max(*value)));
    (range.0.wide(), range.1.wide())
}

/// Numbers of many rows.
#[derive(Default)]
pub struct Ints {
    /// All but the last have `PART` rows, if there are several.
    parts: Vec<Part>,
}

impl Ints {
    /// Numbers held without conversion.
    pub fn of<T: Wide>(values: Vec<T>) -> Ints {
        Ints { parts: vec![Part { base: 0, values: T::hold(values) }] }
    }

    pub fn memory(&self) -> usize {
        let parts = self.parts.iter();
        // Untouched capacity takes no memory.
        parts.map(|part| part.values.len() * usize::from(part.values.width())).sum()
    }

    pub fn len(&self) -> usize {
        let before = self.parts.len().saturating_sub(1) * PART;
        self.parts.last().map_or(0, |part| before + part.values.len())
    }

    /// Prepares for numbers of a range; returns the part for them, and how many of `more` it takes.
    fn open(&mut self, range: (i64, i64), more: usize) -> Option<(&mut Part, usize)> {
        let held = match self.parts.last().map(|part| part.values.len()) {
            Some(held) if held < PART => held,
            _ => {
                self.parts.push(Part::new(range));
                0
            }
        };
        let taken = more.min(PART - held);
        let is_first = self.parts.len() == 1;
        let part = self.parts.last_mut()?;
        part.prepare(range, if is_first { held + taken } else { PART });
        Some((part, taken))
    }

    /// Append numbers of a range.
    pub fn extend<T: Wide>(&mut self, mut new: &[T], range: (i64, i64)) {
        while !new.is_empty()
            && let Some((part, taken)) = self.open(range, new.len())
        {
            let (now, later) = new.split_at(taken);
            let less = part.base.wrapping_neg();
            each!(&mut part.values, values => push(values, now, less));
            new = later;
        }
    }

    /// Append a number `times` times.
    pub fn repeat(&mut self, number: i64, mut times: usize) {
        while times > 0
            && let Some((part, taken)) = self.open((number, number), times)
        {
            let above = number.wrapping_sub(part.base);
            each!(&mut part.values, values => {
                values.resize(values.len() + taken, Wide::of(above));
            });
            times -= taken;
        }
    }

    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        match self.parts.as_slice() {
            [one] => one.get(row),
            many => many[row >> PART_BITS].get(row & (PART - 1)),
        }
    }

    /// Append the numbers of some rows, in their order.
    pub fn gather<T: Wide>(&self, rows: Rows, out: &mut Vec<T>) {
        let rows = match rows {
            Rows::Each(rows) => rows,
            Rows::Stretches(stretches) => {
                return stretches.iter().for_each(|rows| match rows.len() {
                    1 => out.push(T::of(self.get(rows.start as usize))),
                    _ => self.copy(rows.start as usize..rows.end as usize, out),
                });
            }
        };
        let done = self.gather_as::<i8, T>(rows, out)
            || self.gather_as::<i16, T>(rows, out)
            || self.gather_as::<i32, T>(rows, out)
            || self.gather_as::<i64, T>(rows, out);
        if !done {
            out.extend(rows.iter().map(|row| T::of(self.get(*row as usize))));
        }
    }

    /// The same for consecutive rows.
    fn copy<T: Wide>(&self, mut rows: Range<usize>, out: &mut Vec<T>) {
        if let [one] = self.parts.as_slice() {
            return one.copy(rows, out);
        }
        while !rows.is_empty() {
            let start = rows.start % PART;
            let now = rows.len().min(PART - start);
            self.parts[rows.start >> PART_BITS].copy(start..start + now, out);
            rows.start += now;
        }
    }

    /// The same for scattered rows, if all parts have one width, and are settled.
    fn gather_as<T: Wide, N: Wide>(&self, rows: &[u32], out: &mut Vec<N>) -> bool {
        if let [one] = self.parts.as_slice() {
            let Some(values) = T::slice(&one.values) else {
                return false;
            };
            let values = rows.iter().map(|row| values[*row as usize].wide());
            out.extend(values.map(|value| N::of(one.base.wrapping_add(value))));
            return true;
        }
        // All parts are known to be full, so the part of a row is computed.
        let parts = self.parts.iter();
        let parts = parts.map(|part| Some((T::slice(&part.values)?.first_chunk::<PART>()?, part.base)));
        let Some(parts) = parts.collect::<Option<Vec<_>>>() else {
            return false;
        };
        out.extend(rows.iter().map(|row| {
            let (values, base) = parts[(row >> PART_BITS) as usize];
            N::of(base.wrapping_add(values[*row as usize % PART].wide()))
        }));
        true
    }

    /// Prepares for access to scattered rows: many parts are all made full and of one width.
    pub fn settle(&mut self) {
        if self.parts.len() < 2 {
            return;
        }
        let widest = self.parts.iter().map(|part| part.values.width()).max();
        for part in &mut self.parts {
            part.widen(widest.unwrap_or(0), PART);
            each!(&mut part.values, values => {
                values.reserve_exact(PART.saturating_sub(values.len()));
                values.resize(PART, 0);
            });
        }
    }

    /// Call `each` with consecutive stretches of rows with ascending numbers, as long as it returns true.
    pub fn ascending(&self, mut each: impl FnMut(Range<usize>) -> bool) -> bool {
        let mut start = 0;
        self.parts.iter().all(|part| {
            each!(&part.values, values => {
                values.chunk_by(|one, next| one <= next).all(|stretch| {
                    let rows = start..start + stretch.len();
                    start = rows.end;
                    each(rows)
                })
            })
        })
    }

    /// Write all numbers into `out`.
    pub fn all<T: Wide>(&self, out: &mut Vec<T>) {
        out.clear();
        out.reserve(self.len());
        let parts = self.parts.iter();
        parts.for_each(|part| part.copy(0..part.values.len(), out));
    }

    /// The numbers, if they are held in full width.
    pub fn as_wide(&self) -> Option<&[i64]> {
        match self.parts.as_slice() {
            [part] if part.base == 0 => i64::slice(&part.values),
            _ => None,
        }
    }

    /// Convert into numbers of some width.
    pub fn into<T: Wide>(mut self) -> Vec<T> {
        if let [part] = self.parts.as_slice()
            && part.base == 0
            && T::slice(&part.values).is_some()
            && let Some(values) = self.parts.pop().and_then(|part| T::take(part.values))
        {
            return values;
        }
        let mut values = Vec::new();
        self.all(&mut values);
        values
    }

    /// Append numbers to bytes: their width, their minimum, then the distance of each from it.
    pub fn encode(values: &[i64], out: &mut Vec<u8>) {
        let (least, most) = range(values);
        let width = above(most.wrapping_sub(least).cast_unsigned());
        out.push(width);
        out.extend(least.to_le_bytes());
        match width {
            0 => (),
            1 => put(values, |v| [v.wrapping_sub(least) as u8], out),
            2 => put(values, |v| (v.wrapping_sub(least) as u16).to_le_bytes(), out),
            4 => put(values, |v| (v.wrapping_sub(least) as u32).to_le_bytes(), out),
            _ => put(values, |v| v.wrapping_sub(least).to_le_bytes(), out),
        }
    }

    /// Read `rows` encoded numbers; None if the bytes are invalid.
    pub fn decode(bytes: &mut Bytes, rows: usize) -> Option<Ints> {
        let width = bytes.u8()?;
        let least = bytes.i64()?;
        let data = bytes.take(rows.checked_mul(usize::from(width))?)?;
        let add = |above: u64| least.wrapping_add(above.cast_signed());
        Some(Ints::of(match width {
            0 => vec![least; rows],
            1 => data.iter().map(|byte| add(u64::from(*byte))).collect(),
            2 => {
                let each = data.as_chunks().0.iter();
                each.map(|c| add(u64::from(u16::from_le_bytes(*c)))).collect()
            }
            4 => {
                let each = data.as_chunks().0.iter();
                each.map(|c| add(u64::from(u32::from_le_bytes(*c)))).collect()
            }
            8 => {
                let each = data.as_chunks().0.iter();
                each.map(|c| add(u64::from_le_bytes(*c))).collect()
            }
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<Vec<i64>> {
        let mixed = |at: i64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
        let mut cases = vec![vec![], vec![i64::MIN], vec![i64::MIN, i64::MAX], vec![-3; 9]];
        for shift in [0, 31, 32, 33, 47, 48, 55, 56, 57, 63] {
            cases.push((0..100).map(|at| mixed(at) >> shift).collect());
            cases.push((0..PART as i64 + 3).map(|at| i64::MAX - ((mixed(at) >> shift) & i64::MAX)).collect());
        }
        cases
    }

    #[test]
    fn numbers_of_every_width_come_back_from_bytes() {
        for values in cases() {
            let mut encoded = Vec::new();
            Ints::encode(&values, &mut encoded);
            let mut bytes = Bytes::new(&encoded, false);
            let found = Ints::decode(&mut bytes, values.len()).expect("it was encoded");
            assert!(bytes.rest().is_empty());
            let mut all: Vec<i64> = Vec::new();
            found.all(&mut all);
            assert_eq!(all, values);
            assert!(values.iter().enumerate().all(|(row, value)| found.get(row) == *value));
            let cut = &encoded[..encoded.len() - 1];
            assert!(Ints::decode(&mut Bytes::new(cut, false), values.len()).is_none());
        }
    }

    #[test]
    fn a_width_that_is_none_is_refused() {
        for width in [3, 5, 9, 255] {
            let mut encoded = vec![width];
            encoded.extend([0; 1000]);
            assert!(Ints::decode(&mut Bytes::new(&encoded, false), 2).is_none(), "{width}");
        }
    }
}
