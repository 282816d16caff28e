//! Group the line numbers of events by category and name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rustc_hash::FxHashMap;

use super::text::float;
use super::values::{Typed, typed};
use super::varint::{Packer, Varints, put};
use crate::input::unpack::Unpacker;

/// Speed matters more than the last tenth of the size here: these are most of the compressed bytes.
const LEVEL: u32 = 3;
/// How many numbers are checked at once for fitting in one byte each.
const PIECE: usize = 64;

/// Line numbers by category and name.
#[derive(Default)]
pub struct Lines {
    groups: BTreeMap<(String, String), Vec<u32>>,
}

impl Lines {
    /// Add events of one name; a missing category is the empty text.
    pub fn add(&mut self, name: &str, category: Option<&ArrayRef>, lines: &ArrayRef) -> Result<(), &'static str> {
        if *lines.data_type() != DataType::UInt32 || lines.null_count() > 0 {
            return Err("the column `dctv:line` must be uint32 without nulls");
        }
        let lines = lines.as_primitive::<UInt32Type>().values();
        for (category, rows) in split(category, lines)? {
            let group = self.groups.entry((category, name.to_owned())).or_default();
            group.extend_from_slice(&rows);
        }
        Ok(())
    }

    /// The number of groups.
    pub fn number(&self) -> usize {
        self.groups.len()
    }

    /// For each name, the most frequent category of its events.
    pub fn categories(&self) -> BTreeMap<&str, &str> {
        let mut best: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for ((category, name), lines) in &self.groups {
            let place = best.entry(name).or_insert((category, 0));
            if lines.len() > place.1 {
                *place = (category, lines.len());
            }
        }
        best.into_iter().map(|(name, (category, _))| (name, category)).collect()
    }

    /// Category, name, packed lines and their number.
    pub fn finish(self, packer: &mut Packer) -> Vec<(String, String, Vec<u8>, u64)> {
        self.groups
            .into_iter()
            .map(|((category, name), mut lines)| {
                let number = lines.len() as u64;
                if !lines.is_sorted() {
                    lines.sort_unstable();
                }
                (category, name, pack(&lines, packer), number)
            })
            .collect()
    }
}

/// zlib of varints: the first number, then the difference of each from the one before.
fn pack(lines: &[u32], packer: &mut Packer) -> Vec<u8> {
    let mut raw = Vec::with_capacity(lines.len() + 8);
    let mut before = 0;
    for piece in lines.chunks(PIECE) {
        let mut steps = [0; PIECE];
        for (step, line) in steps.iter_mut().zip(piece) {
            *step = line.wrapping_sub(before);
            before = *line;
        }
        let steps = &steps[..piece.len()];
        if steps.iter().fold(0, |all, step| all | step) < 0x80 {
            raw.extend(steps.iter().map(|step| *step as u8));
        } else {
            steps.iter().for_each(|step| put(&mut raw, u64::from(*step)));
        }
    }
    // Compression in memory fails only when memory runs out.
    packer.pack(&raw, LEVEL, usize::MAX).unwrap_or_default()
}

/// Pack ascending line numbers.
pub fn packed(lines: &[u32]) -> Vec<u8> {
    pack(lines, &mut Packer::new())
}

/// Unpack numbers, at most `most` of them; None if the bytes are invalid.
pub fn unpack(bytes: &[u8], most: usize) -> Option<Vec<u32>> {
    let mut raw = Vec::new();
    // A number has at most five bytes; anything longer is not from `pack`.
    let limit = (most as u64).saturating_mul(5).saturating_add(1);
    Unpacker::zlib().whole(bytes, limit, &mut raw).ok()?;
    let mut numbers = Varints(&raw);
    let (mut lines, mut last) = (Vec::new(), 0u64);
    while !numbers.0.is_empty() {
        last = last.checked_add(numbers.next()?)?;
        lines.push(u32::try_from(last).ok()?);
    }
    (lines.len() <= most).then_some(lines)
}

type Groups<'a> = Vec<(String, Cow<'a, [u32]>)>;

/// Lines by the text of their category.
fn split<'a>(category: Option<&ArrayRef>, lines: &'a [u32]) -> Result<Groups<'a>, &'static str> {
    let values = match category.map(|column| (column, typed(column))) {
        None | Some((_, Some(Typed::Nothing))) => {
            return Ok(vec![(String::new(), Cow::Borrowed(lines))]);
        }
        Some((column, Some(values))) if column.len() == lines.len() => values,
        Some(_) => return Err("the column `cat` has a type that no category has"),
    };
    let column = category.ok_or("no category")?;
    let nulls = column.nulls();
    let code = |row: usize| -> Option<u64> {
        let is_valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
        is_valid.then(|| match &values {
            Typed::Int(values) => values.value(row) as u64,
            Typed::Narrow(values) => values.value(row) as u64,
            Typed::Uint(values) => values.value(row),
            Typed::Float(values) => values.value(row).to_bits(),
            Typed::Bool(values) => u64::from(values.value(row)),
            Typed::Coded(values, _) => values.keys().value(row) as u64,
            Typed::Text(_) | Typed::Nothing => row as u64,
        })
    };
    let text = |row: usize| -> String {
        match &values {
            _ if column.is_null(row) => String::new(),
            Typed::Int(values) => values.value(row).to_string(),
            Typed::Narrow(values) => values.value(row).to_string(),
            Typed::Uint(values) => values.value(row).to_string(),
            Typed::Float(values) => float(values.value(row)),
            Typed::Bool(values) => values.value(row).to_string(),
            Typed::Text(values) => values.value(row).to_owned(),
            Typed::Coded(values, texts) => {
                let key = values.keys().value(row) as usize;
                match key < texts.len() && texts.is_valid(key) {
                    true => texts.value(key).to_owned(),
                    false => String::new(),
                }
            }
            Typed::Nothing => String::new(),
        }
    };
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    let mut codes: FxHashMap<Option<u64>, usize> = FxHashMap::default();
    let mut texts: FxHashMap<String, usize> = FxHashMap::default();
    let mut last = (None, usize::MAX);
    for (row, line) in lines.iter().enumerate() {
        let this = code(row);
        if last.1 == usize::MAX || this != last.0 {
            let index = match codes.get(&this) {
                Some(index) => *index,
                None => {
                    let key = text(row);
                    let index = *texts.entry(key.clone()).or_insert_with(|| {
                        groups.push((key, Vec::new()));
                        groups.len() - 1
                    });
                    if !matches!(values, Typed::Text(_)) {
                        codes.insert(this, index);
                    }
                    index
                }
            };
            last = (this, index);
        }
        groups[last.1].1.push(*line);
    }
    let groups = groups.into_iter();
    Ok(groups.map(|(text, lines)| (text, Cow::Owned(lines))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascending_lines_come_back() {
        let near = |count| (0..count).map(|at: u32| 7 + 3 * at).collect();
        let far: Vec<u32> = (0..200).map(|at| at * 21_000_000).collect();
        for lines in [vec![], vec![0], vec![u32::MAX], vec![0, u32::MAX], near(63), near(64), near(65), near(5000), far]
        {
            let bytes = packed(&lines);
            assert_eq!(unpack(&bytes, lines.len()), Some(lines.clone()));
            if !lines.is_empty() {
                assert_eq!(unpack(&bytes, lines.len() - 1), None, "there are more than are asked for");
                assert_eq!(unpack(&bytes[..bytes.len() / 2], lines.len()), None, "they are cut off");
            }
        }
    }

    #[test]
    fn what_is_no_line_is_none() {
        assert_eq!(unpack(b"no zlib", 10), None);
        let mut raw = Vec::new();
        put(&mut raw, u64::from(u32::MAX));
        put(&mut raw, 1);
        let bytes = Packer::new().pack(&raw, LEVEL, usize::MAX).expect("there is memory");
        assert_eq!(unpack(&bytes, 10), None, "no line has that number");
    }
}
