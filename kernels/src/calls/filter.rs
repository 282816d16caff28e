//! `filter_calls`: select the calls that pass the filters, in time order, and find their parents and depths.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, StringArray};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::engine::{Call, ENTRY, EXIT, Engine, Shown};
use super::frames::Kept;
use super::functions::{Columns, Functions};
use super::missed::Missed;
use super::patterns::Book;
use super::rules::Rules;
use super::ties::InOrder;
use crate::exchange::{InputStream, OutputStream};
use crate::sweeps::{
    Cancel, ChunkedInput, Kind, Partitions, ROWS, Sweep, Token, fail, gather_some, int64, made, nullable, schema,
    stream, to_python,
};

/// The column of ids, after time and thread.
const ID: usize = 2;
/// Columns between the key and the rest: id, parent, duration, name, module, size, file, arguments, marks.
const OWN: usize = 9;

struct Filter {
    input: ChunkedInput,
    partitions: Partitions,
    fields: Vec<FieldRef>,
    /// The data attached to a call is its row.
    engine: Engine<u64>,
    missed: Option<Missed>,
}

/// The columns of a chunk that filters use.
struct Chunk {
    ids: Int64Array,
    parents: Int64Array,
    lengths: Int64Array,
    args: StringArray,
    marks: Int8Array,
    codes: Vec<u32>,
}

fn integer(values: &Int64Array, row: usize) -> Option<i64> {
    values.is_valid(row).then(|| values.value(row))
}

impl Chunk {
    fn args(&self, row: usize) -> Option<&str> {
        self.args.is_valid(row).then(|| self.args.value(row))
    }

    fn marks(&self, row: usize) -> u8 {
        if self.marks.is_valid(row) { self.marks.value(row).cast_unsigned() } else { ENTRY | EXIT }
    }
}

impl Filter {
    fn chunk(&mut self) -> Result<Chunk, ArrowError> {
        let column = |number| self.input.payload_column(number);
        let integers = |number| column(number).and_then(|one| one.as_primitive_opt::<Int64Type>().ok_or_else(differs));
        let texts = |number| column(number).and_then(|one| one.as_string_opt::<i32>().ok_or_else(differs));
        let marks = column(8)?.as_primitive_opt::<Int8Type>().ok_or_else(differs)?;
        let texts_and_sizes = Columns { texts: [texts(3)?, texts(4)?, texts(6)?], sizes: integers(5)? };
        let codes = self.engine.functions.encode(&texts_and_sizes, self.input.chunk.ts.len())?;
        Ok(Chunk {
            ids: integers(0)?.clone(),
            parents: integers(1)?.clone(),
            lengths: integers(2)?.clone(),
            args: texts(7)?.clone(),
            marks: marks.clone(),
            codes,
        })
    }

    fn run(&mut self) -> Result<(), ArrowError> {
        let chunk = self.chunk()?;
        while !self.input.empty() {
            let row = self.input.pos;
            let time = self.input.time();
            let marks = chunk.marks(row);
            let dur = integer(&chunk.lengths, row).map(|dur| dur.max(0));
            let call = Call {
                more: self.input.chunk.base + row as u64,
                time,
                thread: self.input.chunk.code[row],
                id: integer(&chunk.ids, row).ok_or_else(|| fail(format!("a call at {time} has no id")))?,
                parent: integer(&chunk.parents, row),
                end: dur.map(|dur| time.saturating_add(dur)),
                marks,
                function: chunk.codes[row],
                args: chunk.args(row),
            };
            self.engine.enter(&call);
            self.input.pos += 1;
        }
        Ok(())
    }

    fn release(&mut self) {
        if self.input.held.is_full() {
            let open = self.engine.threads.iter().flat_map(|thread| &thread.frames);
            let open = open.filter(|frame| self.engine.switching || frame.kept == Kept::Waiting);
            let waiting = self.engine.out.iter().map(|one| one.more);
            self.input.held.retain(open.map(|frame| frame.more).chain(waiting));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.engine.out);
        let times = out.iter().map(|one| self.input.held.time(one.more));
        let mut columns = vec![int64(times.collect())];
        let threads = out.iter().map(|one| one.thread).collect();
        columns.extend(self.partitions.columns(threads)?);
        columns.push(int64(out.iter().map(|one| one.id).collect()));
        columns.push(Arc::new(out.iter().map(|one| one.above).collect::<Int64Array>()));
        let depths =
            |of: fn(&Shown<u64>) -> i32| -> ArrayRef { Arc::new(Int32Array::from_iter_values(out.iter().map(of))) };
        columns.push(depths(|one| one.depth));
        let marks = out.iter().map(|one| one.marks.cast_signed());
        columns.push(Arc::new(Int8Array::from_iter_values(marks)));
        columns.push(depths(|one| one.indent));
        columns.push(depths(|one| one.outdent));
        let stacks = out.iter().map(|one| one.stack.as_deref());
        columns.push(Arc::new(stacks.collect::<StringArray>()));
        let types = self.fields.iter().map(|field| field.data_type());
        let wanted: Vec<_> = types.enumerate().skip(OWN).collect();
        let rows: Vec<u64> = out.iter().map(|one| one.more).collect();
        columns.extend(gather_some(&self.input.held, &wanted, &rows)?);
        Ok(columns)
    }
}

fn differs() -> ArrowError {
    fail("a batch differs from its stream's schema")
}

impl Sweep for Filter {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while self.engine.out.len() < ROWS {
            self.input.fill(&mut self.partitions)?;
            if self.input.done {
                self.engine.end();
                if let Some(missed) = self.missed.take() {
                    self.engine.functions.tell(&missed);
                }
                break;
            }
            self.run()?;
            self.release();
        }
        if self.engine.out.is_empty() && self.input.done {
            return Ok(None);
        }
        self.flush().map(Some)
    }
}

#[pyfunction]
#[pyo3(signature = (calls, *, rules, names, missed=None, cancel=None))]
pub fn filter_calls(
    calls: InputStream,
    mut rules: Rules,
    names: Vec<String>,
    missed: Option<PyRef<'_, Missed>>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let missed = missed.map(|missed| missed.clone());
    let open = || -> Result<_, ArrowError> {
        let ordered = InOrder::new(calls.into_reader(), 0, ID);
        let input = ChunkedInput::new(Box::new(ordered), Kind::Events, 1, "calls", cancel.clone())?;
        let fields = input.payload_fields();
        check(&fields)?;
        let keys = input.partition_fields();
        let partitions = Partitions::new(&["thread".to_owned()], input.partition_types())?;
        let mut made_fields = vec![made(DataType::Int64, false)];
        made_fields.extend(nullable(keys));
        made_fields.push(made(DataType::Int64, false));
        made_fields.push(made(DataType::Int64, true));
        made_fields.push(made(DataType::Int32, false));
        made_fields.push(made(DataType::Int8, false));
        made_fields.extend([(); 2].map(|()| made(DataType::Int32, false)));
        made_fields.push(made(DataType::Utf8, true));
        made_fields.extend(nullable(fields.iter().skip(OWN).cloned().collect()));
        let schema = schema(made_fields, &names)?;
        let book = Book::new(std::mem::take(&mut rules.rules), &rules.kind).map_err(fail)?;
        let sweep = Filter { input, partitions, fields, engine: Engine::new(rules, Functions::new(book)), missed };
        Ok((schema, sweep))
    };
    let (schema, sweep) = open().map_err(to_python)?;
    Ok(stream(schema, sweep, cancel))
}

fn check(fields: &[FieldRef]) -> Result<(), ArrowError> {
    let expected = [
        DataType::Int64,
        DataType::Int64,
        DataType::Int64,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Int64,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Int8,
    ];
    let found = fields.iter().map(|field| field.data_type());
    let fits = fields.len() >= OWN && found.zip(&expected).all(|(one, other)| one == other);
    if fits {
        return Ok(());
    }
    let found: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
    Err(fail(format!("columns after the thread are {found:?}, expected them to begin with {expected:?}")))
}
