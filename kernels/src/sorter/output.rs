//! Combine blocks of several runs into columns of one kind each, and convert these into Arrow arrays.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringArray, UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, MutableBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::column::{Kind, SorterColumn};
use super::ints::Ints;
use super::table::{FILE, Info, TS, Table};
use super::texts::Texts;
use crate::columns::Strings;
use crate::input::bytes::Bytes;
use crate::sweeps::fail;

/// Some rows of a run, columns in the order in which the table got them; later ones may be missing.
pub struct Block {
    pub columns: Vec<SorterColumn>,
    pub rows: usize,
    pub bytes: usize,
}

impl Block {
    pub fn decode(encoded: &[u8]) -> Result<Block, ArrowError> {
        let read = |bytes: &mut Bytes| {
            let (rows, count) = (bytes.u32()? as usize, bytes.u32()?);
            let columns = (0..count).map(|_| SorterColumn::decode(bytes, rows)).collect::<Option<_>>()?;
            Some(Block { columns, rows, bytes: encoded.len() })
        };
        read(&mut Bytes::new(encoded, false)).ok_or_else(|| fail("a spilled block is damaged"))
    }
}

/// A reference to a row: the number of its block, and its number within that.
pub type Pick = (u32, u32);

struct SourceColumn {
    kind: Kind,
    texts: Texts,
    name: String,
    /// Whether the output, or its order, depends on it.
    used: bool,
}

/// A column of the output.
struct Shown {
    /// Its number among the input columns; None if no chunk had it.
    place: Option<usize>,
    dictionary: Option<ArrayRef>,
    is_file: bool,
    added: Vec<i64>,
}

/// Turns columns of all runs into those of the merged table.
pub struct Output {
    given: Vec<SourceColumn>,
    shown: Vec<Shown>,
    schema: SchemaRef,
}

/// A column as described by the metadata of a whole trace.
#[derive(Clone)]
pub struct DeclaredColumn {
    pub name: String,
    pub kind: Kind,
    /// Its name in the chunks.
    pub source: String,
    /// The offsets added to integers: none, one number, or one for each file.
    pub added: Vec<i64>,
}

impl DeclaredColumn {
    pub fn plain(name: &str, kind: Kind) -> DeclaredColumn {
        DeclaredColumn { name: name.to_owned(), kind, source: name.to_owned(), added: Vec::new() }
    }
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Int => DataType::Int64,
        Kind::Uint => DataType::UInt64,
        Kind::Float => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Code => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        Kind::Empty | Kind::Text => DataType::Utf8,
    }
}

fn source_column(info: Info, wanted: Option<Kind>) -> SourceColumn {
    let mut kind = wanted.unwrap_or_else(|| info.mixed());
    let others = [Kind::Int, Kind::Uint, Kind::Float, Kind::Bool, Kind::Text];
    if kind == Kind::Text && info.has(Kind::Code) && !others.iter().any(|kind| info.has(*kind)) {
        kind = Kind::Code;
    }
    SourceColumn { kind, texts: info.texts, used: info.name == TS, name: info.name }
}

impl Output {
    /// Take a table's information about its columns.
    pub fn new(table: &mut Table, wanted: Option<&[DeclaredColumn]>) -> Output {
        let kind_of = |name: &str| {
            let mut all = wanted.unwrap_or_default().iter();
            all.find(|one| one.source == name).map(|one| one.kind)
        };
        let infos = std::mem::take(&mut table.columns).into_iter();
        let mut given: Vec<SourceColumn> = infos
            .map(|info| {
                let wanted = kind_of(&info.name);
                source_column(info, wanted)
            })
            .collect();
        let place = |name: &str| given.iter().position(|column| column.name == name);
        let columns: Vec<DeclaredColumn> = match wanted {
            Some(wanted) => wanted.to_vec(),
            None => {
                let own = given.iter().filter(|column| column.name != FILE);
                let own = own.map(|column| DeclaredColumn::plain(&column.name, column.kind));
                own.chain([DeclaredColumn::plain(FILE, Kind::Int)]).collect()
            }
        };
        let mut shown = Vec::new();
        let mut fields = Vec::new();
        for column in columns {
            let place = place(&column.source);
            let kind = place.map_or(column.kind, |place| given[place].kind);
            let texts = place.filter(|_| kind == Kind::Code).map(|place| &given[place].texts);
            let is_file = wanted.is_none() && column.name == FILE;
            let shape = if is_file { DataType::UInt32 } else { data_type(kind) };
            fields.push(Field::new(column.name, shape, true));
            shown.push(Shown { place, dictionary: texts.map(Texts::dictionary), is_file, added: column.added });
        }
        let by_file = shown.iter().any(|shown| shown.added.len() > 1);
        for (number, one) in given.iter_mut().enumerate() {
            let is_shown = shown.iter().any(|shown| shown.place == Some(number));
            one.used |= is_shown || (by_file && one.name == FILE);
        }
        Output { given, shown, schema: Arc::new(Schema::new(fields)) }
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Whether an input column, by number, is needed.
    pub fn uses(&self, place: usize) -> bool {
        self.given.get(place).is_some_and(|given| given.used)
    }

    /// Gathers rows of blocks into columns, in the order in which the table got them.
    pub fn gather(&self, blocks: &[Block], picks: &[Pick]) -> Result<Vec<SorterColumn>, ArrowError> {
        let each = self.given.iter().enumerate();
        each.map(|(place, given)| given.gather(place, blocks, picks)).collect()
    }

    /// Take all rows of a block.
    pub fn whole(&self, block: Block) -> Result<Vec<SorterColumn>, ArrowError> {
        let mut each = self.given.iter().zip(&block.columns);
        if each.all(|(given, column)| column.kind == given.kind || column.kind == Kind::Empty) {
            return Ok(block.columns);
        }
        let picks: Vec<Pick> = (0..block.rows as u32).map(|row| (0, row)).collect();
        self.gather(&[block], &picks)
    }

    /// Make the output batch from gathered columns.
    pub fn batch(&self, columns: Vec<SorterColumn>, rows: usize) -> Result<RecordBatch, ArrowError> {
        let files = self.files(&columns);
        let mut columns: Vec<Option<SorterColumn>> = columns.into_iter().map(Some).collect();
        let fields = self.schema.fields().iter();
        let arrays = self.shown.iter().zip(fields).map(|(shown, field)| {
            let column = shown.place.and_then(|place| columns.get_mut(place)?.take());
            match column {
                Some(column) if column.kind != Kind::Empty => array(column, shown, &files),
                _ => Ok(new_null_array(field.data_type(), rows)),
            }
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema(), arrays, &options)
    }

    /// The number of each row's file, if some column needs it.
    fn files(&self, columns: &[SorterColumn]) -> Vec<i64> {
        let mut files = Vec::new();
        let place = self.given.iter().position(|column| column.name == FILE);
        if self.shown.iter().any(|shown| shown.added.len() > 1)
            && let Some(column) = place.and_then(|place| columns.get(place))
        {
            column.ints.all(&mut files);
        }
        files
    }
}

impl SourceColumn {
    fn gather(&self, place: usize, blocks: &[Block], picks: &[Pick]) -> Result<SorterColumn, ArrowError> {
        let parts: Vec<Option<&SorterColumn>> = blocks.iter().map(|block| block.columns.get(place)).collect();
        let empty = parts.iter().flatten().all(|part| part.kind == Kind::Empty);
        if empty || self.kind == Kind::Empty || !self.used {
            return Ok(SorterColumn::nulls(picks.len()));
        }
        let valid = valid(&parts, picks);
        if self.kind == Kind::Text {
            let texts = self.texts(&parts, picks);
            return Ok(SorterColumn::of(Kind::Text, Ints::default(), texts, valid));
        }
        let zeros = |block: &Block| Ok(Cow::Owned(vec![0; block.rows]));
        let each = parts.iter().zip(blocks).map(|(part, block)| match part {
            Some(part) if part.kind != Kind::Empty => self.widened(part),
            _ => zeros(block),
        });
        let wide: Vec<Cow<[i64]>> = each.collect::<Result<_, _>>()?;
        let values = picks.iter().map(|(block, row)| wide[*block as usize][*row as usize]);
        Ok(SorterColumn::of(self.kind, Ints::of(values.collect()), Strings::default(), valid))
    }

    /// The numbers of a column in this one's kind.
    fn widened<'a>(&self, part: &'a SorterColumn) -> Result<Cow<'a, [i64]>, ArrowError> {
        let own = match part.ints.as_wide() {
            Some(wide) => Cow::Borrowed(wide),
            None => {
                let mut wide = Vec::new();
                part.ints.all(&mut wide);
                Cow::Owned(wide)
            }
        };
        match (part.kind, self.kind) {
            (one, other) if one == other => return Ok(own),
            (Kind::Int, Kind::Float) => {
                let floats = own.iter().map(|v| (*v as f64).to_bits() as i64);
                return Ok(Cow::Owned(floats.collect()));
            }
            (Kind::Int, Kind::Uint) | (Kind::Uint, Kind::Int) if own.iter().all(|v| *v >= 0) => {
                return Ok(own);
            }
            _ => (),
        }
        let (name, from, to) = (&self.name, part.kind, self.kind);
        Err(fail(format!("column `{name}` has values of kind {from:?}, which cannot become {to:?}")))
    }

    fn texts(&self, parts: &[Option<&SorterColumn>], picks: &[Pick]) -> Strings {
        let mut texts = Strings::default();
        for (block, row) in picks {
            let row = *row as usize;
            let part = parts.get(*block as usize).copied().flatten();
            match part.filter(|part| part.is_valid(row)) {
                None => texts.push(b""),
                Some(part) if part.kind == Kind::Text => texts.push(part.texts.get(row)),
                Some(part) => {
                    let number = part.ints.get(row);
                    match part.kind {
                        Kind::Code => texts.push(self.texts.get(number)),
                        Kind::Uint => texts.push((number as u64).to_string().as_bytes()),
                        Kind::Float => texts.push(format!("{:?}", f64::from_bits(number as u64)).as_bytes()),
                        Kind::Bool => texts.push(if number == 0 { b"false" } else { b"true" }),
                        _ => texts.push(number.to_string().as_bytes()),
                    }
                }
            }
        }
        texts
    }
}

fn valid(parts: &[Option<&SorterColumn>], picks: &[Pick]) -> Option<BooleanBufferBuilder> {
    let whole =
        |part: &Option<&SorterColumn>| part.is_some_and(|part| part.kind != Kind::Empty && part.valid.is_none());
    if parts.iter().all(whole) {
        return None;
    }
    let is_valid = |place: usize| {
        let (block, row) = picks[place];
        let part = parts.get(block as usize).copied().flatten();
        part.is_some_and(|part| part.is_valid(row as usize))
    };
    let valid = MutableBuffer::collect_bool(picks.len(), is_valid);
    Some(BooleanBufferBuilder::new_from_buffer(valid, picks.len()))
}

/// Add the offset of its row's file to each number.
fn add(values: &mut [i64], added: &[i64], files: &[i64]) {
    match added {
        [] => (),
        [same] => values.iter_mut().for_each(|v| *v = v.saturating_add(*same)),
        each => {
            for (value, file) in values.iter_mut().zip(files) {
                let more = usize::try_from(*file).ok().and_then(|file| each.get(file));
                *value = value.saturating_add(more.copied().unwrap_or(0));
            }
        }
    }
}

fn array(column: SorterColumn, shown: &Shown, files: &[i64]) -> Result<ArrayRef, ArrowError> {
    let nulls = column.valid.map(|mut valid| NullBuffer::new(valid.finish()));
    if column.kind == Kind::Text {
        return text_array(column.texts, nulls);
    }
    if column.kind == Kind::Code {
        let keys = Int32Array::try_new(column.ints.into::<i32>().into(), nulls)?;
        let dictionary = shown.dictionary.clone();
        let dictionary = dictionary.ok_or_else(|| fail("a dictionary is missing"))?;
        return Ok(Arc::new(DictionaryArray::try_new(keys, dictionary)?));
    }
    let mut values = column.ints.into::<i64>();
    if column.kind == Kind::Int {
        add(&mut values, &shown.added, files);
    }
    if shown.is_file {
        let values = values.into_iter().map(|v| v as u32).collect();
        return Ok(Arc::new(UInt32Array::try_new(values, nulls)?));
    }
    Ok(match column.kind {
        Kind::Uint => {
            let values = values.into_iter().map(|v| v as u64).collect();
            Arc::new(UInt64Array::try_new(values, nulls)?)
        }
        Kind::Float => {
            let values = values.into_iter().map(|v| f64::from_bits(v as u64)).collect();
            Arc::new(Float64Array::try_new(values, nulls)?)
        }
        Kind::Bool => {
            let values = BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0);
            Arc::new(BooleanArray::new(values, nulls))
        }
        _ => Arc::new(Int64Array::try_new(values.into(), nulls)?),
    })
}

fn text_array(texts: Strings, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let (ends, data) = texts.into_parts();
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0_i32);
    let last = ends.last().copied().unwrap_or(0);
    i32::try_from(last).map_err(|_| ArrowError::OffsetOverflowError(last))?;
    offsets.extend(ends.into_iter().map(|end| end as i32));
    let offsets = arrow_buffer::OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(StringArray::try_new(offsets, data.into(), nulls)?))
}
