//! Read a stored table of recorded calls in blocks, ordered by time and number, with the values that filters use.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use rustc_hash::FxHashMap;

use super::engine::{ENTRY, EXIT};
use super::functions::Functions;
use super::ties::{WholeTimes, order};
use crate::sweeps::fail;

/// Rows of a block: half of a row group, so that it has texts of only one dictionary.
const ROWS: usize = 61_440;
const NONE: u32 = u32::MAX;

/// Columns of few texts, which are read as codes.
const CODED: [&str; 3] = ["name", "module", "state"];

/// Which columns to read besides those that are always needed.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    pub modules: bool,
    pub args: bool,
    pub own: bool,
    /// Columns needed only for lines of text.
    pub lines: bool,
}

impl Wanted {
    fn names(self) -> Vec<&'static str> {
        let mut names = vec!["_ts", "dur", "tid", "id", "parent", "name", "state"];
        names.extend(self.modules.then_some("module"));
        names.extend(self.args.then_some("args"));
        names.extend(self.own.then_some("self"));
        if self.lines {
            names.extend(["depth", "retval", "addr"]);
        }
        names
    }
}

/// Sizes and files of functions by name and module.
pub type FunctionMetadata = FxHashMap<(String, String), (Option<i64>, Option<String>)>;

/// A column of coded texts.
type Texts = DictionaryArray<Int32Type>;

/// Consecutive calls.
pub struct Block {
    pub times: Int64Array,
    pub lengths: Int64Array,
    pub tids: Int64Array,
    pub ids: Int64Array,
    pub parents: Int64Array,
    pub args: Option<StringArray>,
    pub own: Option<Int64Array>,
    pub depths: Option<Int64Array>,
    pub results: Option<StringArray>,
    pub addresses: Option<Int64Array>,
    names: Texts,
    states: Texts,
    modules: Option<Texts>,
    /// Rows in the order of their times and numbers; none if they are already in order.
    order: Option<Vec<u32>>,
}

/// How a call was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallState {
    pub marks: u8,
    pub inherited: bool,
    pub entered: bool,
}

const WHOLE: CallState = CallState { marks: ENTRY | EXIT, inherited: false, entered: false };

fn state(word: &str) -> CallState {
    let marks = match word {
        "open" | "left" | "lost" => ENTRY,
        "entered" => EXIT,
        "inherited" => 0,
        _ => ENTRY | EXIT,
    };
    CallState { marks, inherited: word == "inherited", entered: word == "entered" }
}

/// The number of a value, if there is one.
#[inline]
pub fn integer(values: &Int64Array, row: usize) -> Option<i64> {
    values.is_valid(row).then(|| values.value(row))
}

/// A text, if there is one.
#[inline]
pub fn text(values: &Option<StringArray>, row: usize) -> Option<&str> {
    text_at(values.as_ref()?, row)
}

/// The text of a row of a column.
#[inline]
pub fn text_at(values: &StringArray, row: usize) -> Option<&str> {
    values.is_valid(row).then(|| values.value(row))
}

impl Block {
    fn new(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let column = |name| batch.column_by_name(name).ok_or_else(|| lacks(name));
        let integers = |name| column(name).and_then(integers);
        let coded = |name| column(name).and_then(coded);
        let maybe = |name: &str| batch.column_by_name(name);
        let mut block = Self {
            times: integers("_ts")?,
            lengths: integers("dur")?,
            tids: integers("tid")?,
            ids: integers("id")?,
            parents: integers("parent")?,
            args: maybe("args").map(texts).transpose()?,
            own: maybe("self").map(self::integers).transpose()?,
            depths: maybe("depth").map(self::integers).transpose()?,
            results: maybe("retval").map(texts).transpose()?,
            addresses: maybe("addr").map(self::integers).transpose()?,
            names: coded("name")?,
            states: coded("state")?,
            modules: maybe("module").map(self::coded).transpose()?,
            order: None,
        };
        if block.times.null_count() + block.ids.null_count() > 0 {
            return Err(fail("a call has no time or number"));
        }
        if !block.times.values().is_sorted() {
            return Err(fail("the stored table is not in order of time"));
        }
        block.order = order(block.times.values(), block.ids.values())?;
        Ok(block)
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// The row at a place in the order.
    #[inline]
    pub fn row(&self, place: usize) -> usize {
        match &self.order {
            Some(order) => order.get(place).map_or(place, |&row| row as usize),
            None => place,
        }
    }
}

fn lacks(name: &str) -> ArrowError {
    fail(format!("the stored table has no column `{name}`"))
}

fn differs() -> ArrowError {
    fail("a column of the stored table has another type")
}

fn integers(column: &ArrayRef) -> Result<Int64Array, ArrowError> {
    column.as_primitive_opt::<Int64Type>().cloned().ok_or_else(differs)
}

fn texts(column: &ArrayRef) -> Result<StringArray, ArrowError> {
    column.as_string_opt::<i32>().cloned().ok_or_else(differs)
}

fn coded(column: &ArrayRef) -> Result<Texts, ArrowError> {
    column.as_dictionary_opt::<Int32Type>().cloned().ok_or_else(differs)
}

#[inline]
fn key(column: &Texts, row: usize) -> Option<usize> {
    let keys = column.keys();
    if keys.is_valid(row) { usize::try_from(keys.value(row)).ok() } else { None }
}

fn value(column: &Texts, key: Option<usize>) -> Option<&str> {
    let values = column.values().as_string_opt::<i32>()?;
    let key = key.filter(|&key| key < values.len() && values.is_valid(key))?;
    Some(values.value(key))
}

/// Whether the results for the codes of a column hold for another one.
fn same(known: &Option<ArrayRef>, column: &Texts) -> bool {
    known.as_ref().is_some_and(|known| Arc::ptr_eq(known, column.values()))
}

/// Reads a file block by block.
pub struct Stored(WholeTimes<ParquetRecordBatchReader>);

fn wrong(error: ParquetError) -> ArrowError {
    fail(error.to_string())
}

impl Stored {
    pub fn open(path: &Path, wanted: Wanted) -> Result<Self, ArrowError> {
        let file = File::open(path).map_err(|error| fail(format!("{}: {error}", path.display())))?;
        let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(wrong)?;
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let coded = |field: &Arc<Field>| match CODED.contains(&field.name().as_str()) {
            true => Arc::new(Field::clone(field).with_data_type(kind.clone())),
            false => field.clone(),
        };
        let schema = Arc::new(Schema::new(found.schema().fields().iter().map(coded).collect::<Vec<_>>()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(found.metadata().clone(), options);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.map_err(wrong)?);
        let mask = ProjectionMask::columns(builder.parquet_schema(), wanted.names());
        let builder = builder.with_projection(mask).with_batch_size(ROWS);
        let reader = builder.build().map_err(wrong)?;
        let schema = reader.schema();
        let time = schema.index_of("_ts").map_err(|_| lacks("_ts"))?;
        Ok(Self(WholeTimes::new(reader, time)))
    }

    /// The next rows; rows of equal time are in one block.
    pub fn next(&mut self) -> Result<Option<Block>, ArrowError> {
        self.0.next().map(|batch| batch.and_then(|batch| Block::new(&batch))).transpose()
    }
}

/// Numbers of functions and states for the texts of blocks, computed once per dictionary.
#[derive(Default)]
pub struct Codes {
    metadata: FunctionMetadata,
    names: Option<ArrayRef>,
    modules: Option<ArrayRef>,
    states: Option<ArrayRef>,
    /// By name: a module, and the function of that name there.
    usual: Vec<(Option<usize>, u32)>,
    others: FxHashMap<(Option<usize>, Option<usize>), u32>,
    known: Vec<CallState>,
}

impl Codes {
    pub fn new(metadata: FunctionMetadata) -> Self {
        Self { metadata, ..Self::default() }
    }

    /// Prepare the numbers for a block.
    pub fn load(&mut self, block: &Block) {
        let modules = block.modules.as_ref();
        if !same(&self.names, &block.names) || modules.is_some_and(|one| !same(&self.modules, one)) {
            self.names = Some(block.names.values().clone());
            self.modules = modules.map(|one| one.values().clone());
            self.usual.clear();
            self.usual.resize(block.names.values().len(), (None, NONE));
            self.others.clear();
        }
        if !same(&self.states, &block.states) {
            self.states = Some(block.states.values().clone());
            let words = (0..block.states.values().len()).map(|key| value(&block.states, Some(key)));
            self.known = words.map(|word| word.map_or(WHOLE, state)).collect();
        }
    }

    /// How a call was recorded.
    #[inline]
    pub fn state(&self, block: &Block, row: usize) -> CallState {
        key(&block.states, row).and_then(|key| self.known.get(key).copied()).unwrap_or(WHOLE)
    }

    /// The number of the called function.
    #[inline]
    pub fn function(&mut self, functions: &mut Functions, block: &Block, row: usize) -> Result<u32, ArrowError> {
        let name = key(&block.names, row);
        let module = block.modules.as_ref().and_then(|one| key(one, row));
        match name.and_then(|name| self.usual.get(name)) {
            Some(&(usual, code)) if usual == module && code != NONE => Ok(code),
            _ => self.number(functions, block, name, module),
        }
    }

    #[cold]
    fn number(
        &mut self,
        functions: &mut Functions,
        block: &Block,
        name: Option<usize>,
        module: Option<usize>,
    ) -> Result<u32, ArrowError> {
        if let Some(&code) = self.others.get(&(name, module)) {
            return Ok(code);
        }
        let called = value(&block.names, name);
        let within = block.modules.as_ref().and_then(|one| value(one, module));
        let named = called.zip(within).map(|(a, b)| (a.to_owned(), b.to_owned()));
        let (size, file) = named
            .and_then(|named| self.metadata.get(&named))
            .map_or((None, None), |(size, file)| (*size, file.as_deref()));
        let code = functions.number([called, within, file], size)?;
        self.others.insert((name, module), code);
        if let Some(usual) = name.and_then(|name| self.usual.get_mut(name))
            && usual.1 == NONE
        {
            *usual = (module, code);
        }
        Ok(code)
    }
}
