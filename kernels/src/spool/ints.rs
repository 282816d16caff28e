//! Whole numbers of one column, each part of its rows in the narrowest width that holds them, in memory and as bytes.

use super::bytes::Bytes;

/// Rows of a part: numbers that are added never have to be copied from where many others are.
const PART_BITS: u32 = 16;
const PART: usize = 1 << PART_BITS;

/// How far numbers are from a base, in one width.
enum Values {
    W1(Vec<i8>),
    W2(Vec<i16>),
    W4(Vec<i32>),
    W8(Vec<i64>),
}

/// A number of any width.
trait Wide: Copy {
    fn wide(self) -> i64;
    fn of(wide: i64) -> Self;
    /// The numbers, if they are of this width.
    fn slice(values: &Values) -> Option<&[Self]>;
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
            fn slice(values: &Values) -> Option<&[$kind]> {
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

fn push<T: Wide>(values: &mut Vec<T>, new: impl Iterator<Item = i64>) {
    values.extend(new.map(T::of));
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

/// Some rows, one behind the other.
struct Part {
    base: i64,
    values: Values,
}

impl Part {
    fn new((min, max): (i64, i64), room: usize) -> Part {
        let mut part = Part {
            base: min,
            values: Values::new(width(min, (min, max))),
        };
        each!(&mut part.values, values => values.reserve_exact(room));
        part
    }

    /// Appends numbers of a range.
    fn extend(&mut self, new: &[i64], range: (i64, i64)) {
        let base = self.base;
        let need = width(base, range);
        if need > self.values.width() {
            let mut values = Values::new(need);
            each!(&self.values, old => {
                let old = old.iter().map(|value| value.wide());
                each!(&mut values, values => push(values, old));
            });
            self.values = values;
        }
        let new = new.iter().map(|value| value.wrapping_sub(base));
        each!(&mut self.values, values => push(values, new));
    }

    #[inline]
    fn get(&self, row: usize) -> i64 {
        each!(&self.values, values => self.base.wrapping_add(values[row].wide()))
    }

    fn all(&self, out: &mut Vec<i64>) {
        let base = self.base;
        each!(&self.values, values => {
            out.extend(values.iter().map(|value| base.wrapping_add(value.wide())));
        });
    }
}

/// How many bytes the distances of a range from a base take.
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

/// How many bytes hold a number that is not negative; none hold 0.
fn above(most: u64) -> u8 {
    match most {
        0 => 0,
        _ if most <= u64::from(u8::MAX) => 1,
        _ if most <= u64::from(u16::MAX) => 2,
        _ if most <= u64::from(u32::MAX) => 4,
        _ => 8,
    }
}

/// Returns the range of some numbers; that of none is 0.
pub fn range(values: &[i64]) -> (i64, i64) {
    let first = values.first().copied().unwrap_or(0);
    values.iter().fold((first, first), |(min, max), value| {
        (min.min(*value), max.max(*value))
    })
}

/// Numbers of many rows.
#[derive(Default)]
pub struct Ints {
    /// All but the last have `PART` rows, if there are more than one.
    parts: Vec<Part>,
}

impl Ints {
    /// Numbers that are held at full width.
    pub fn of(values: Vec<i64>) -> Ints {
        Ints {
            parts: vec![Part {
                base: 0,
                values: Values::W8(values),
            }],
        }
    }

    pub fn memory(&self) -> usize {
        let parts = self.parts.iter();
        // Room that nothing was written to yet takes no memory.
        parts
            .map(|part| part.values.len() * usize::from(part.values.width()))
            .sum()
    }

    pub fn len(&self) -> usize {
        let before = self.parts.len().saturating_sub(1) * PART;
        self.parts
            .last()
            .map_or(0, |part| before + part.values.len())
    }

    /// Appends numbers of a range.
    pub fn extend(&mut self, mut new: &[i64], range: (i64, i64)) {
        while !new.is_empty() {
            let last = self.parts.last().map_or(PART, |part| part.values.len());
            if last >= PART {
                self.parts.push(Part::new(range, new.len().min(PART)));
            }
            if let Some(part) = self.parts.last_mut() {
                let room = PART.saturating_sub(part.values.len());
                let (now, later) = new.split_at(room.min(new.len()));
                part.extend(now, range);
                new = later;
            }
        }
    }

    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        match self.parts.as_slice() {
            [one] => one.get(row),
            many => many[row >> PART_BITS].get(row & (PART - 1)),
        }
    }

    /// Appends zeros.
    pub fn pad(&mut self, rows: usize) {
        let zeros = [0; 1024];
        let mut left = rows;
        while left > 0 {
            let now = left.min(zeros.len());
            self.extend(&zeros[..now], (0, 0));
            left -= now;
        }
    }

    /// Writes the numbers of some rows into `out`, in that order.
    pub fn gather(&self, rows: &[u32], out: &mut Vec<i64>) {
        out.clear();
        let done = self.gather_as::<i8>(rows, out)
            || self.gather_as::<i16>(rows, out)
            || self.gather_as::<i32>(rows, out)
            || self.gather_as::<i64>(rows, out);
        if !done {
            out.extend(rows.iter().map(|row| self.get(*row as usize)));
        }
    }

    /// The same, if all parts are of one width, and settled.
    fn gather_as<T: Wide>(&self, rows: &[u32], out: &mut Vec<i64>) -> bool {
        if let [one] = self.parts.as_slice() {
            let Some(values) = T::slice(&one.values) else {
                return false;
            };
            let values = rows.iter().map(|row| values[*row as usize].wide());
            out.extend(values.map(|value| one.base.wrapping_add(value)));
            return true;
        }
        // Of parts that are known to be whole, rows need not be looked for in vain.
        let parts = self.parts.iter();
        let parts =
            parts.map(|part| Some((T::slice(&part.values)?.first_chunk::<PART>()?, part.base)));
        let Some(parts) = parts.collect::<Option<Vec<_>>>() else {
            return false;
        };
        out.extend(rows.iter().map(|row| {
            let (values, base) = parts[(row >> PART_BITS) as usize];
            base.wrapping_add(values[*row as usize % PART].wide())
        }));
        true
    }

    /// Says that numbers are only gathered from now on: many parts are all made whole, the last with zeros.
    pub fn settle(&mut self) {
        if self.parts.len() > 1
            && let Some(part) = self.parts.last_mut()
        {
            each!(&mut part.values, values => {
                values.reserve_exact(PART.saturating_sub(values.len()));
                values.resize(PART, 0);
            });
        }
    }

    /// Writes all numbers into `out`.
    pub fn all(&self, out: &mut Vec<i64>) {
        out.clear();
        self.parts.iter().for_each(|part| part.all(out));
    }

    /// The numbers, if they are held at full width.
    pub fn as_wide(&self) -> Option<&[i64]> {
        match self.parts.as_slice() {
            [part] if part.base == 0 => i64::slice(&part.values),
            _ => None,
        }
    }

    /// Takes the numbers, at full width.
    pub fn into_wide(mut self) -> Vec<i64> {
        if self.as_wide().is_some()
            && let Some(Values::W8(values)) = self.parts.pop().map(|part| part.values)
        {
            return values;
        }
        let mut wide = Vec::new();
        self.all(&mut wide);
        wide
    }

    /// Appends numbers to bytes: their width, the least of them, then how much larger each is.
    pub fn encode(values: &[i64], out: &mut Vec<u8>) {
        let least = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().copied().max().unwrap_or(0);
        let width = above(most.wrapping_sub(least).cast_unsigned());
        out.push(width);
        out.extend(least.to_le_bytes());
        out.reserve(values.len().saturating_mul(usize::from(width)));
        let above = values
            .iter()
            .map(|value| value.wrapping_sub(least).cast_unsigned());
        match width {
            0 => (),
            1 => out.extend(above.map(|v| v as u8)),
            2 => out.extend(above.flat_map(|v| (v as u16).to_le_bytes())),
            4 => out.extend(above.flat_map(|v| (v as u32).to_le_bytes())),
            _ => out.extend(above.flat_map(u64::to_le_bytes)),
        }
    }

    /// Reads so many numbers that were encoded; None if the bytes are not that.
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
                each.map(|c| add(u64::from(u16::from_le_bytes(*c))))
                    .collect()
            }
            4 => {
                let each = data.as_chunks().0.iter();
                each.map(|c| add(u64::from(u32::from_le_bytes(*c))))
                    .collect()
            }
            8 => {
                let each = data.as_chunks().0.iter();
                each.map(|c| add(u64::from_le_bytes(*c))).collect()
            }
            _ => return None,
        }))
    }
}
