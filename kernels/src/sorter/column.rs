//! One column of rows that wait to be written, or of a block read back.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, MutableBuffer, NullBuffer, bit_util};
use arrow_schema::DataType;

use super::ints::{Ints, Wide, range};
use super::order::Rows;
use super::texts::Texts;
use crate::columns::Strings;
use crate::input::bytes::Bytes;

/// The representation of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Only nulls.
    Empty,
    Int,
    /// The bits of u64.
    Uint,
    /// The bits of f64.
    Float,
    Bool,
    /// Codes of texts in the column's dictionary.
    Code,
    Text,
}

const KINDS: [Kind; 7] = [Kind::Empty, Kind::Int, Kind::Uint, Kind::Float, Kind::Bool, Kind::Code, Kind::Text];

pub struct SorterColumn {
    pub kind: Kind,
    pub ints: Ints,
    pub texts: Strings,
    pub valid: Option<BooleanBufferBuilder>,
    rows: usize,
}

/// Properties of integers that decide how they mix with other types.
#[derive(Clone, Copy, Default)]
pub struct Traits {
    pub negative: bool,
    /// Some number is not exactly representable as a float.
    pub inexact: bool,
}

impl Traits {
    fn of<T: Wide>(values: &[T], (min, max): (i64, i64)) -> Traits {
        let large = min < -(1 << 53) || max > 1 << 53;
        let exact = |value: &T| (value.wide() as f64) as i128 == i128::from(value.wide());
        Traits { negative: min < 0, inexact: large && !values.iter().all(exact) }
    }
}

/// Reusable buffers.
#[derive(Default)]
pub struct Scratch {
    wide: Vec<i64>,
    narrow: Vec<i32>,
}

/// Return the representation for the values of an array.
pub fn kind_of(array: &ArrayRef, texts: &mut Texts) -> Result<Kind, String> {
    if array.null_count() == array.len() {
        return Ok(Kind::Empty);
    }
    Ok(match array.data_type() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Kind::Int,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => Kind::Int,
        DataType::UInt64 => Kind::Uint,
        DataType::Float32 | DataType::Float64 => Kind::Float,
        DataType::Boolean => Kind::Bool,
        DataType::Utf8 | DataType::LargeUtf8 => texts.choose(array.len(), false),
        DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
            texts.choose(array.len(), true)
        }
        DataType::Null => Kind::Empty,
        other => return Err(format!("a column of type {other} cannot be stored")),
    })
}

/// Write mapped values to `out`, 0 for nulls.
fn map<T: Copy, N: Copy + Default>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    mut to: impl FnMut(T) -> N,
    out: &mut Vec<N>,
) {
    out.clear();
    match nulls {
        None => out.extend(values.iter().map(|value| to(*value))),
        Some(nulls) if nulls.null_count() > values.len() / 2 => {
            out.resize(values.len(), N::default());
            let valid = nulls.valid_indices();
            valid.for_each(|row| out[row] = to(values[row]));
        }
        Some(nulls) => {
            for (start, end) in nulls.valid_slices() {
                out.resize(start, N::default());
                out.extend(values[start..end].iter().map(|value| to(*value)));
            }
            out.resize(values.len(), N::default());
        }
    }
}

/// The numbers of an array, 0 for nulls; `out` holds them if the array does not.
fn zeroed<'a, T: ArrowPrimitiveType>(array: &'a PrimitiveArray<T>, out: &'a mut Vec<T::Native>) -> &'a [T::Native] {
    if array.null_count() == 0 {
        return array.values();
    }
    map(array.values(), array.nulls(), |value| value, out);
    out
}

fn wide<T: ArrowPrimitiveType>(array: &ArrayRef, to: impl Fn(T::Native) -> i64, out: &mut Vec<i64>) {
    let array = array.as_primitive::<T>();
    map(array.values(), array.nulls(), to, out);
}

/// The values of a column without texts, 0 for nulls; `out` holds them if they need conversion.
fn numbers<'a>(array: &'a ArrayRef, out: &'a mut Vec<i64>) -> &'a [i64] {
    if let Some(array) = array.as_primitive_opt::<Int64Type>() {
        return zeroed(array, out);
    }
    match array.data_type() {
        DataType::Int8 => wide::<Int8Type>(array, i64::from, out),
        DataType::Int16 => wide::<Int16Type>(array, i64::from, out),
        DataType::UInt8 => wide::<UInt8Type>(array, i64::from, out),
        DataType::UInt16 => wide::<UInt16Type>(array, i64::from, out),
        DataType::UInt32 => wide::<UInt32Type>(array, i64::from, out),
        DataType::UInt64 => wide::<UInt64Type>(array, |v| v as i64, out),
        DataType::Float32 => wide::<Float32Type>(array, |v| f64::from(v).to_bits() as i64, out),
        DataType::Float64 => wide::<Float64Type>(array, |v| v.to_bits() as i64, out),
        DataType::Boolean => {
            let array = array.as_boolean();
            out.clear();
            out.extend(array.iter().map(|v| i64::from(v.unwrap_or(false))));
        }
        _ => {
            out.clear();
            out.resize(array.len(), 0);
        }
    }
    out
}

/// The bytes of the texts of an array, if it stores each separately.
fn bytes_of(array: &ArrayRef) -> usize {
    let texts = array.as_string_opt::<i32>();
    let offsets = texts.map(|texts| texts.value_offsets());
    let ends = offsets.and_then(|offsets| Some((offsets.first()?, offsets.last()?)));
    ends.map_or(0, |(first, last)| (last - first) as usize)
}

/// Call `each` with every text of an array, None for nulls.
fn each_text(array: &ArrayRef, mut each: impl FnMut(Option<&str>)) {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(each),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(each),
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int32Type>();
            let values = array.values().as_string::<i32>();
            for key in array.keys() {
                let key = key.map(|key| key as usize).filter(|key| values.is_valid(*key));
                each(key.map(|key| values.value(key)));
            }
        }
        _ => (0..array.len()).for_each(|_| each(None)),
    }
}

/// Codes of texts, and their range.
type Codes<'a> = (&'a [i32], (i64, i64));

/// The codes of a column's texts in the dictionary, written to `out`; 0 for nulls.
fn codes<'a>(array: &ArrayRef, texts: &mut Texts, out: &'a mut Vec<i32>) -> Codes<'a> {
    if !matches!(array.data_type(), DataType::Dictionary(..)) {
        out.clear();
        each_text(array, |text| out.push(text.map_or(0, |text| texts.code(text))));
        return (out, range(out));
    }
    let array = array.as_dictionary::<Int32Type>();
    let values = array.values().as_string::<i32>();
    let mut known: Vec<i32> = vec![-1; values.len()];
    let code_of = |key: i32| match known.get(key as usize) {
        Some(code) if *code >= 0 => *code,
        _ => learn(&mut known, values, key, texts),
    };
    map(array.keys().values(), array.keys().nulls(), code_of, out);
    let most = known.into_iter().max().unwrap_or(0).max(0);
    (out, (0, i64::from(most)))
}

#[cold]
fn learn(known: &mut [i32], values: &StringArray, key: i32, texts: &mut Texts) -> i32 {
    let key = key as usize;
    let Some(code) = known.get_mut(key) else {
        return 0;
    };
    let text = values.is_valid(key).then(|| values.value(key));
    *code = text.map_or(0, |text| texts.code(text));
    *code
}

/// The bits of some rows, in their order.
fn bits(valid: &BooleanBufferBuilder, rows: Rows) -> BooleanBufferBuilder {
    let bits = valid.as_slice();
    match rows {
        Rows::Each(rows) => {
            let is_valid = |place: usize| bit_util::get_bit(bits, rows[place] as usize);
            let taken = MutableBuffer::collect_bool(rows.len(), is_valid);
            BooleanBufferBuilder::new_from_buffer(taken, rows.len())
        }
        Rows::Stretches(stretches) => {
            let mut taken = BooleanBufferBuilder::new(rows.len());
            for rows in stretches {
                match rows.len() {
                    1 => taken.append(bit_util::get_bit(bits, rows.start as usize)),
                    _ => taken.append_packed_range(rows.start as usize..rows.end as usize, bits),
                }
            }
            taken
        }
    }
}

impl SorterColumn {
    pub fn new() -> SorterColumn {
        SorterColumn { kind: Kind::Empty, ints: Ints::default(), texts: Strings::default(), valid: None, rows: 0 }
    }

    /// Make a column of nulls only.
    pub fn nulls(rows: usize) -> SorterColumn {
        SorterColumn { rows, ..SorterColumn::new() }
    }

    /// Make a column of values assembled elsewhere.
    pub fn of(kind: Kind, ints: Ints, texts: Strings, valid: Option<BooleanBufferBuilder>) -> SorterColumn {
        let rows = if kind == Kind::Text { texts.len() } else { ints.len() };
        SorterColumn { kind, ints, texts, valid, rows }
    }

    pub fn memory(&self) -> usize {
        let valid = self.valid.as_ref().map_or(0, |valid| valid.capacity() / 8);
        self.ints.memory() + self.texts.memory() + valid
    }

    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        self.kind != Kind::Empty && self.valid.as_ref().is_none_or(|valid| valid.get_bit(row))
    }

    /// Whether values held as `kind` can be appended.
    pub fn takes(&self, kind: Kind) -> bool {
        self.kind == kind || self.kind == Kind::Empty || kind == Kind::Empty
    }

    fn fill(&mut self, rows: usize) {
        match self.kind {
            Kind::Empty => (),
            Kind::Text => (0..rows).for_each(|_| self.texts.push(b"")),
            _ => self.ints.repeat(0, rows),
        }
    }

    /// Return the validity bits; without them all rows so far are valid.
    fn mask(&mut self) -> &mut BooleanBufferBuilder {
        let rows = self.rows;
        self.valid.get_or_insert_with(|| {
            let mut valid = BooleanBufferBuilder::new(rows);
            valid.append_n(rows, true);
            valid
        })
    }

    /// Append nulls.
    pub fn pad(&mut self, rows: usize) {
        if rows > 0 && self.kind != Kind::Empty {
            self.mask().append_n(rows, false);
            self.fill(rows);
        }
        self.rows += rows;
    }

    /// Append an array of a kind that this column takes; return the properties of its integers.
    pub fn append(&mut self, array: &ArrayRef, kind: Kind, texts: &mut Texts, scratch: &mut Scratch) -> Traits {
        if kind == Kind::Empty {
            self.pad(array.len());
            return Traits::default();
        }
        if self.kind == Kind::Empty {
            self.start(kind);
        }
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        if let Some(nulls) = &nulls {
            let valid = self.mask();
            valid.append_buffer(nulls.inner());
        } else if let Some(valid) = &mut self.valid {
            valid.append_n(array.len(), true);
        }
        self.rows += array.len();
        if kind == Kind::Text {
            let strings = &mut self.texts;
            strings.reserve(array.len(), bytes_of(array));
            each_text(array, |text| strings.push(text.unwrap_or_default().as_bytes()));
            return Traits::default();
        }
        if kind == Kind::Code {
            let (codes, range) = codes(array, texts, &mut scratch.narrow);
            self.ints.extend(codes, range);
            return Traits::default();
        }
        let traits = match array.as_primitive_opt::<Int32Type>() {
            Some(array) => self.extend(zeroed(array, &mut scratch.narrow)),
            None => self.extend(numbers(array, &mut scratch.wide)),
        };
        if kind == Kind::Int { traits } else { Traits::default() }
    }

    fn extend<T: Wide>(&mut self, values: &[T]) -> Traits {
        let range = range(values);
        self.ints.extend(values, range);
        Traits::of(values, range)
    }

    /// Append the same integer `rows` times, to a column that takes it.
    pub fn repeat(&mut self, number: i64, rows: usize) {
        if self.kind == Kind::Empty {
            self.start(Kind::Int);
        }
        if let Some(valid) = &mut self.valid {
            valid.append_n(rows, true);
        }
        self.rows += rows;
        self.ints.repeat(number, rows);
    }

    /// Turns rows that were all null into nulls of a kind.
    fn start(&mut self, kind: Kind) {
        let rows = self.rows;
        if rows > 0 {
            let mut valid = BooleanBufferBuilder::new(rows);
            valid.append_n(rows, false);
            self.valid = Some(valid);
        }
        self.kind = kind;
        self.fill(rows);
    }

    /// Return some of the rows, in their order.
    pub fn gather(&self, rows: Rows) -> SorterColumn {
        let valid = self.valid.as_ref().map(|valid| bits(valid, rows));
        match self.kind {
            Kind::Empty => SorterColumn::nulls(rows.len()),
            Kind::Text => {
                let texts = self.texts(rows);
                SorterColumn::of(Kind::Text, Ints::default(), texts, valid)
            }
            Kind::Code => SorterColumn::of(self.kind, self.ints::<i32>(rows), Strings::default(), valid),
            _ => SorterColumn::of(self.kind, self.ints::<i64>(rows), Strings::default(), valid),
        }
    }

    fn ints<T: Wide>(&self, rows: Rows) -> Ints {
        let mut values: Vec<T> = Vec::with_capacity(rows.len());
        self.ints.gather(rows, &mut values);
        Ints::of(values)
    }

    fn texts(&self, rows: Rows) -> Strings {
        let mut texts = Strings::default();
        match rows {
            Rows::Each(rows) => {
                texts.reserve(rows.len(), self.texts.memory() / self.rows.max(1) * rows.len());
                let rows = rows.iter();
                rows.for_each(|row| texts.push(self.texts.get(*row as usize)));
            }
            Rows::Stretches(stretches) => {
                texts.reserve(rows.len(), 0);
                let stretches = stretches.iter();
                stretches.for_each(|rows| texts.extend(&self.texts, rows.start as usize..rows.end as usize));
            }
        }
        texts
    }

    /// Append some of the rows to bytes, in their order.
    pub fn encode(&self, rows: Rows, scratch: &mut Scratch, out: &mut Vec<u8>) {
        out.push(self.kind as u8);
        if self.kind == Kind::Empty {
            return;
        }
        out.push(u8::from(self.valid.is_some()));
        if let Some(valid) = &self.valid {
            out.extend(bits(valid, rows).as_slice());
        }
        let values = &mut scratch.wide;
        values.clear();
        if self.kind != Kind::Text {
            self.ints.gather(rows, values);
            return Ints::encode(values, out);
        }
        rows.for_each(|row| values.push(self.texts.get(row).len() as i64));
        Ints::encode(values, out);
        rows.for_each(|row| out.extend_from_slice(self.texts.get(row)));
    }

    /// Read a column of `rows` rows; None if the bytes are invalid.
    pub fn decode(bytes: &mut Bytes, rows: usize) -> Option<SorterColumn> {
        let mut column = SorterColumn::new();
        column.rows = rows;
        column.kind = *KINDS.get(usize::from(bytes.u8()?))?;
        if column.kind == Kind::Empty {
            return Some(column);
        }
        if bytes.u8()? == 1 {
            let mut valid = BooleanBufferBuilder::new(rows);
            valid.append_packed_range(0..rows, bytes.take(rows.div_ceil(8))?);
            column.valid = Some(valid);
        }
        let ints = Ints::decode(bytes, rows)?;
        if column.kind != Kind::Text {
            column.ints = ints;
            return Some(column);
        }
        for length in ints.into::<i64>() {
            column.texts.push(bytes.take(usize::try_from(length).ok()?)?);
        }
        Some(column)
    }
}
