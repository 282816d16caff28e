//! Whole numbers of one column in the narrowest width that holds them all, in memory and as bytes.

use super::bytes::Bytes;
use crate::columns::make_room;

/// Numbers of one width.
pub enum Ints {
    W1(Vec<i8>),
    W2(Vec<i16>),
    W4(Vec<i32>),
    W8(Vec<i64>),
}

/// A number of any width.
trait Wide: Copy {
    fn wide(self) -> i64;
}

macro_rules! narrow {
    ($($kind:ty)*) => {
        $(impl Wide for $kind {
            #[inline]
            fn wide(self) -> i64 {
                i64::from(self)
            }
        })*
    };
}

narrow!(i8 i16 i32);

impl Wide for i64 {
    #[inline]
    fn wide(self) -> i64 {
        self
    }
}

/// How many bytes a number of this range takes.
fn width(min: i64, max: i64) -> u8 {
    let fits = |low: i64, high: i64| min >= low && max <= high;
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

/// Returns the range of some numbers and 0.
pub fn range(values: &[i64]) -> (i64, i64) {
    values.iter().fold((0, 0), |(min, max), value| {
        (min.min(*value), max.max(*value))
    })
}

macro_rules! each {
    ($ints:expr, $values:ident => $body:expr) => {
        match $ints {
            Ints::W1($values) => $body,
            Ints::W2($values) => $body,
            Ints::W4($values) => $body,
            Ints::W8($values) => $body,
        }
    };
}

impl Ints {
    pub fn new() -> Ints {
        Ints::W1(Vec::new())
    }

    pub fn width(&self) -> u8 {
        match self {
            Ints::W1(_) => 1,
            Ints::W2(_) => 2,
            Ints::W4(_) => 4,
            Ints::W8(_) => 8,
        }
    }

    pub fn memory(&self) -> usize {
        // Room that nothing was written to yet takes no memory.
        self.len().saturating_mul(usize::from(self.width()))
    }

    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    fn widen(&mut self, width: u8) {
        let mut wide = Vec::new();
        self.all(&mut wide);
        *self = match width {
            2 => Ints::W2(wide.into_iter().map(|v| v as i16).collect()),
            4 => Ints::W4(wide.into_iter().map(|v| v as i32).collect()),
            _ => Ints::W8(wide),
        };
    }

    /// Appends numbers of a range, each of which the width is made to hold.
    pub fn extend(&mut self, new: &[i64], (min, max): (i64, i64)) {
        let need = width(min, max);
        if need > self.width() {
            self.widen(need);
        }
        each!(self, values => make_room(values, new.len()));
        match self {
            Ints::W1(values) => values.extend(new.iter().map(|v| *v as i8)),
            Ints::W2(values) => values.extend(new.iter().map(|v| *v as i16)),
            Ints::W4(values) => values.extend(new.iter().map(|v| *v as i32)),
            Ints::W8(values) => values.extend_from_slice(new),
        }
    }

    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        each!(self, values => values[row].wide())
    }

    /// Appends zeros.
    pub fn pad(&mut self, rows: usize) {
        each!(self, values => values.resize(values.len().saturating_add(rows), 0));
    }

    /// Writes the numbers of some rows into `out`, in that order.
    pub fn gather(&self, rows: &[u32], out: &mut Vec<i64>) {
        out.clear();
        each!(self, values => out.extend(rows.iter().map(|row| values[*row as usize].wide())));
    }

    /// Writes all numbers into `out`.
    pub fn all(&self, out: &mut Vec<i64>) {
        out.clear();
        each!(self, values => out.extend(values.iter().map(|value| value.wide())));
    }

    /// The numbers, if they are held at full width.
    pub fn as_wide(&self) -> Option<&[i64]> {
        match self {
            Ints::W8(values) => Some(values),
            _ => None,
        }
    }

    /// Takes the numbers, at full width.
    pub fn into_wide(mut self) -> Vec<i64> {
        if self.width() < 8 {
            self.widen(8);
        }
        match self {
            Ints::W8(values) => values,
            _ => Vec::new(),
        }
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
        Some(Ints::W8(match width {
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
