//! `flame_slices`, `flame_stacks`: sum slices, or stacks with weights, into one row per path of names.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::forest::Forest;
use super::input::Rows;
use super::nested::Nested;
use super::paths::{Paths, ROOT, paths_of, texts};
use super::self_time::own_times;
use crate::exchange::{InputStream, OutputStream, Reader};
use crate::sweeps::{Cancel, Partitions, Sweep, Token, fail, int64, made, schema, stream, to_python};

/// The sums of one path.
#[derive(Clone, Copy, Default)]
pub struct Sums {
    count: i64,
    total: i64,
    own: i64,
}

impl Sums {
    /// Add a slice without nested ones.
    pub fn add(&mut self, length: Option<i64>) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(length.unwrap_or(0));
        self.own = self.own.saturating_add(length.unwrap_or(0));
    }

    /// Subtracts the time covered by nested slices.
    pub fn take(&mut self, length: i64) {
        self.own = self.own.saturating_sub(length);
    }
}

/// Paths with their sums, in output order.
struct Graph {
    paths: Paths,
    sums: Vec<Sums>,
    names: StringArray,
    order: Vec<u32>,
    given: usize,
}

/// Maximum text of a batch, unless a single stack exceeds it.
const TEXT: usize = 1 << 22;

/// The column with the names of slices.
const NAME: usize = 4;

/// Maximum rows of a batch.
const ROWS: usize = 1 << 16;

impl Graph {
    fn new(paths: Paths, sums: Vec<Sums>, names: StringArray) -> Self {
        let order = in_order(&paths, &sums, &names);
        Self { paths, sums, names, order, given: 0 }
    }

    fn batch(&mut self) -> Option<Vec<ArrayRef>> {
        let (mut stacks, mut size) = (Vec::new(), 0);
        let first = self.given;
        while stacks.len() < ROWS
            && size < TEXT
            && let Some(&path) = self.order.get(self.given)
        {
            let text = self.paths.text(path, &self.names);
            size += text.len();
            stacks.push(text);
            self.given += 1;
        }
        let rows = self.order.get(first..self.given).filter(|rows| !rows.is_empty())?;
        let sums = |value: fn(&Sums) -> i64| {
            let of = |&path: &u32| self.sums.get(path as usize).map_or(0, value);
            int64(rows.iter().map(of).collect())
        };
        let nodes = || rows.iter().filter_map(|&path| self.paths.node(path));
        let parents = nodes().map(|(below, _)| (below != ROOT).then(|| i64::from(below) + 1));
        let names = nodes().map(|(_, name)| {
            let place = name as usize;
            (place < self.names.len() && self.names.is_valid(place)).then(|| self.names.value(place))
        });
        let depths = rows.iter().map(|&path| i32::try_from(self.paths.depth(path)).unwrap_or(i32::MAX));
        Some(vec![
            int64(rows.iter().map(|&path| i64::from(path) + 1).collect()),
            Arc::new(parents.collect::<Int64Array>()),
            Arc::new(Int32Array::from_iter_values(depths)),
            Arc::new(names.collect::<StringArray>()),
            sums(|sums| sums.count),
            sums(|sums| sums.total),
            sums(|sums| sums.own),
            Arc::new(rows.iter().map(|&path| Some(self.paths.recursive(path))).collect::<BooleanArray>()),
            Arc::new(StringArray::from(stacks)),
        ])
    }
}

/// Parents before children; siblings by descending sum, then by name.
fn in_order(paths: &Paths, sums: &[Sums], names: &StringArray) -> Vec<u32> {
    let total = |path: u32| sums.get(path as usize).map_or(0, |sums| sums.total);
    let name = |path: u32| {
        let place = paths.node(path).map_or(usize::MAX, |(_, name)| name as usize);
        (place < names.len() && names.is_valid(place)).then(|| names.value(place))
    };
    let mut below: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for path in 0..paths.len() as u32 {
        let parent = paths.node(path).map_or(ROOT, |(parent, _)| parent);
        below.entry(parent).or_default().push(path);
    }
    for children in below.values_mut() {
        // Children are taken from the end.
        children.sort_by(|&a, &b| total(a).cmp(&total(b)).then_with(|| name(b).cmp(&name(a))));
    }
    let (mut order, mut waiting) = (Vec::with_capacity(paths.len()), below.remove(&ROOT).unwrap_or_default());
    while let Some(path) = waiting.pop() {
        order.push(path);
        waiting.extend(below.remove(&path).unwrap_or_default());
    }
    order
}

/// Makes a graph from an input.
type Read = fn(Reader, &Token) -> Result<Graph, ArrowError>;

struct Flame {
    input: Option<Reader>,
    read: Read,
    cancel: Token,
    graph: Option<Graph>,
}

fn of_slices(reader: Reader, cancel: &Token) -> Result<Graph, ArrowError> {
    let mut rows = Rows::read(reader, 4, true, cancel)?;
    let forest = Forest::new(rows.integers(1), rows.integers(2));
    let own = own_times(&forest, rows.integers(0), rows.integers(3));
    let mut paths = Paths::default();
    let found = paths_of(&forest, &rows.codes, &mut paths)?;
    let mut sums = vec![Sums::default(); paths.len()];
    for ((path, own), total) in found.iter().zip(own).zip(rows.integers(3)) {
        if let Some(sums) = sums.get_mut(*path as usize) {
            sums.count = sums.count.saturating_add(1);
            sums.own = sums.own.saturating_add(own.unwrap_or(0));
            sums.total = sums.total.saturating_add(total.unwrap_or(0));
        }
    }
    let names = texts(&mut rows.names)?;
    Ok(Graph::new(paths, sums, names))
}

/// Each slice lies within the time of its parent, so slices that are over are not kept.
fn of_nested(reader: Reader, cancel: &Token) -> Result<Graph, ArrowError> {
    let types: Vec<DataType> =
        reader.schema().fields().iter().skip(NAME).map(|field| field.data_type().clone()).collect();
    if types.len() != 1 {
        return Err(fail("expected times, ids, parents, durations and names"));
    }
    let mut names = Partitions::new(&["name".to_owned()], types)?;
    let mut nested = Nested::default();
    for batch in reader {
        cancel.check()?;
        let batch = batch?;
        let column = batch.columns().get(NAME..).ok_or_else(|| fail("a batch differs from its stream's schema"))?;
        let codes = names.encode(column, batch.num_rows())?;
        nested.add(&batch, &codes)?;
    }
    let names = texts(&mut names)?;
    Ok(Graph::new(nested.paths, nested.sums, names))
}

/// Stacks come with their number of samples and weight; each counts for all its prefixes.
fn of_stacks(reader: Reader, cancel: &Token) -> Result<Graph, ArrowError> {
    let (mut paths, mut sums) = (Paths::default(), Vec::<Sums>::new());
    let (mut codes, mut names) = (FxHashMap::<String, u32>::default(), Vec::<String>::new());
    for batch in reader {
        cancel.check()?;
        let batch = batch?;
        let [counts, weights, stacks] = batch.columns() else {
            return Err(fail("expected counts, weights and stacks"));
        };
        let stacks = cast(stacks, &DataType::Utf8)?;
        let stacks = stacks.as_string::<i32>();
        let numbers = [counts, weights].map(|column| column.as_primitive_opt::<Int64Type>());
        let [Some(counts), Some(weights)] = numbers else {
            return Err(fail("counts and weights are Int64"));
        };
        for row in 0..stacks.len() {
            if stacks.is_null(row) || stacks.value(row).is_empty() {
                continue;
            }
            let (count, weight) = (counts.value(row), weights.value(row));
            let mut path = ROOT;
            for name in stacks.value(row).split(';') {
                let code = match codes.get(name) {
                    Some(&code) => code,
                    None => {
                        let code = names.len() as u32;
                        codes.insert(name.to_owned(), code);
                        names.push(name.to_owned());
                        code
                    }
                };
                path = paths.push(path, code)?;
                sums.resize(paths.len(), Sums::default());
                if let Some(sums) = sums.get_mut(path as usize) {
                    sums.count = sums.count.saturating_add(count);
                    sums.total = sums.total.saturating_add(weight);
                }
            }
            if let Some(sums) = sums.get_mut(path as usize) {
                sums.own = sums.own.saturating_add(weight);
            }
        }
    }
    Ok(Graph::new(paths, sums, StringArray::from(names)))
}

impl Sweep for Flame {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if let Some(reader) = self.input.take() {
            self.graph = Some((self.read)(reader, &self.cancel)?);
        }
        Ok(self.graph.as_mut().and_then(Graph::batch))
    }
}

fn open(input: InputStream, names: &[String], cancel: Option<PyRef<'_, Cancel>>, read: Read) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let sums = || made(DataType::Int64, false);
    let fields = vec![
        made(DataType::Int64, false),
        made(DataType::Int64, true),
        made(DataType::Int32, false),
        made(DataType::Utf8, true),
        sums(),
        sums(),
        sums(),
        made(DataType::Boolean, false),
        made(DataType::Utf8, false),
    ];
    let schema = schema(fields, names).map_err(to_python)?;
    let sweep = Flame { input: Some(input.into_reader()), read, cancel: cancel.clone(), graph: None };
    Ok(stream(schema, sweep, cancel))
}

#[pyfunction]
#[pyo3(signature = (slices, *, names, strict=false, cancel=None))]
pub fn flame_slices(
    slices: InputStream,
    names: Vec<String>,
    strict: bool,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let read = if strict { of_nested } else { of_slices };
    open(slices, &names, cancel, read)
}

#[pyfunction]
#[pyo3(signature = (stacks, *, names, cancel=None))]
pub fn flame_stacks(
    stacks: InputStream,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    open(stacks, &names, cancel, of_stacks)
}
