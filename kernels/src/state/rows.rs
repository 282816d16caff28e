//! Convert intervals into a batch of Arrow columns.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray, new_null_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::block::View;
use super::cell::{Kind, Value};
use super::fault::Fault;
use super::find::Extent;
use super::tree::Tree;

#[derive(Default)]
pub struct Rows {
    quarks: Vec<i32>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    ongoing: Vec<bool>,
    kinds: Vec<i8>,
    bits: Vec<u64>,
    /// Concatenated texts, and the ends of the texts of rows, up to the last row with a text.
    texts: Vec<u8>,
    text_ends: Vec<i32>,
}

pub fn schema() -> SchemaRef {
    let field = |name: &str, kind, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        field("quark", DataType::Int32, false),
        field("start", DataType::Int64, false),
        field("end", DataType::Int64, false),
        field("ongoing", DataType::Boolean, false),
        field("kind", DataType::Int8, false),
        field("whole", DataType::Int64, true),
        field("real", DataType::Float64, true),
        field("text", DataType::Utf8, true),
    ]))
}

impl Rows {
    pub fn with_capacity(rows: usize) -> Rows {
        Rows {
            quarks: Vec::with_capacity(rows),
            starts: Vec::with_capacity(rows),
            ends: Vec::with_capacity(rows),
            ongoing: Vec::with_capacity(rows),
            kinds: Vec::with_capacity(rows),
            bits: Vec::with_capacity(rows),
            ..Rows::default()
        }
    }

    pub fn len(&self) -> usize {
        self.quarks.len()
    }

    /// # Errors
    /// All texts together are too long for a column.
    pub fn push(&mut self, place: usize, extent: Extent, value: Value<'_>) -> Result<(), Fault> {
        if value.kind == Kind::Text {
            self.push_text(value.text)?;
        }
        self.quarks.push(place as i32);
        self.starts.push(extent.start);
        self.ends.push(extent.end);
        self.ongoing.push(extent.ongoing);
        self.kinds.push(value.kind as i8);
        self.bits.push(value.bits);
        Ok(())
    }

    /// Append intervals without gaps and with numeric values, of a block that ends at `end`.
    pub fn extend(&mut self, place: usize, view: &View<'_>, picked: &[u32], end: i64) {
        let rows = self.len() + picked.len();
        self.quarks.resize(rows, place as i32);
        self.ongoing.resize(rows, false);
        let places = || picked.iter().map(|row| *row as usize);
        view.starts_at(places(), 0, &mut self.starts);
        let inner = places().map(|row| row + 1).filter(|next| *next < view.count);
        view.starts_at(inner, -1, &mut self.ends);
        self.ends.resize(rows, end);
        view.values_at(picked, &mut self.kinds, &mut self.bits);
    }

    fn push_text(&mut self, text: &str) -> Result<(), Fault> {
        self.pad_texts(self.len())?;
        self.texts.extend(text.as_bytes());
        self.pad_texts(self.len() + 1)
    }

    /// Give rows without a text an empty one.
    fn pad_texts(&mut self, rows: usize) -> Result<(), Fault> {
        let end = i32::try_from(self.texts.len())
            .map_err(|_| Fault::Value("the texts of one answer have over 2 GiB".to_owned()))?;
        self.text_ends.resize(rows.max(self.text_ends.len()), end);
        Ok(())
    }

    /// The validity of values of some kinds, if there are any.
    fn rows_of(&self, is_one: impl Fn(i8) -> bool) -> Option<NullBuffer> {
        let known = BooleanBuffer::collect_bool(self.len(), |row| is_one(self.kinds[row]));
        let known = NullBuffer::new(known);
        (known.null_count() < known.len()).then_some(known)
    }

    fn texts(&mut self) -> Result<ArrayRef, ArrowError> {
        let Some(known) = self.rows_of(|kind| kind == Kind::Text as i8) else {
            return Ok(new_null_array(&DataType::Utf8, self.len()));
        };
        self.pad_texts(self.len()).map_err(|fault| ArrowError::ExternalError(Box::new(fault)))?;
        let ends = std::iter::once(0).chain(std::mem::take(&mut self.text_ends));
        let offsets = OffsetBuffer::new(ends.collect::<ScalarBuffer<i32>>());
        let texts = Buffer::from_vec(std::mem::take(&mut self.texts));
        Ok(Arc::new(StringArray::try_new(offsets, texts, Some(known))?))
    }

    fn values(&mut self) -> Result<[ArrayRef; 3], ArrowError> {
        let whole = |kind| kind == Kind::Int as i8 || kind == Kind::Long as i8;
        let (wholes, reals) = (self.rows_of(whole), self.rows_of(|kind| kind == Kind::Double as i8));
        let texts = self.texts()?;
        let bits = Buffer::from_vec(std::mem::take(&mut self.bits));
        let count = self.len();
        let wholes: ArrayRef = match wholes {
            None => new_null_array(&DataType::Int64, count),
            some => Arc::new(Int64Array::try_new(ScalarBuffer::new(bits.clone(), 0, count), some)?),
        };
        let reals: ArrayRef = match reals {
            None => new_null_array(&DataType::Float64, count),
            some => Arc::new(Float64Array::try_new(ScalarBuffer::new(bits, 0, count), some)?),
        };
        Ok([wholes, reals, texts])
    }

    /// # Errors
    /// Arrow rejects the columns.
    pub fn batch(mut self) -> Result<RecordBatch, ArrowError> {
        let [whole, real, text] = self.values()?;
        let ongoing = match self.ongoing.contains(&true) {
            true => BooleanArray::from(self.ongoing),
            false => BooleanBuffer::new_unset(self.quarks.len()).into(),
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(self.quarks)),
            Arc::new(Int64Array::from(self.starts)),
            Arc::new(Int64Array::from(self.ends)),
            Arc::new(ongoing),
            Arc::new(Int8Array::from(self.kinds)),
            whole,
            real,
            text,
        ];
        RecordBatch::try_new(schema(), columns)
    }

    /// The same as a span table: times with a duration, paths beside quarks.
    ///
    /// # Errors
    /// Arrow rejects the columns.
    pub fn spans(mut self, tree: &Tree, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let [whole, real, text] = self.values()?;
        let mut paths = StringBuilder::new();
        let mut last = None;
        for quark in &self.quarks {
            let known = last.take().filter(|(known, _)| known == quark);
            let (_, path) = known.unwrap_or_else(|| (*quark, tree.path(*quark as usize)));
            paths.append_value(&path);
            last = Some((*quark, path));
        }
        let both = self.starts.iter().zip(&self.ends);
        let durations = both.map(|(start, end)| end.saturating_sub(*start).saturating_add(1));
        let durations = durations.collect::<Vec<_>>();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(self.starts)),
            Arc::new(Int64Array::from(durations)),
            Arc::new(Int32Array::from(self.quarks)),
            Arc::new(paths.finish()),
            whole,
            real,
            text,
        ];
        RecordBatch::try_new(schema, columns)
    }
}

/// The columns of spans, with the given names.
///
/// # Errors
/// The number of names is wrong.
pub fn span_schema(names: &[String]) -> Result<SchemaRef, ArrowError> {
    let types = [
        (DataType::Int64, false),
        (DataType::Int64, false),
        (DataType::Int32, false),
        (DataType::Utf8, false),
        (DataType::Int64, true),
        (DataType::Float64, true),
        (DataType::Utf8, true),
    ];
    if names.len() != types.len() {
        let text = format!("expected {} names, found {}", types.len(), names.len());
        return Err(ArrowError::InvalidArgumentError(text));
    }
    let fields = names.iter().zip(types);
    let fields = fields.map(|(name, (kind, nullable))| Field::new(name, kind, nullable));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}
