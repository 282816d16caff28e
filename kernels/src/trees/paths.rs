//! Number the paths of nested names, and format them as text; `stack_paths` returns the path of each row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::forest::Forest;
use super::input::Rows;
use crate::exchange::{InputStream, OutputStream, Reader};
use crate::sweeps::{Cancel, Partitions, Sweep, Token, fail, made, schema, stream, to_python};

/// The empty path.
pub const ROOT: u32 = u32::MAX;

/// Number of names at each end of a path that are part of its text; those in between are omitted.
const SHOWN: usize = 256;

/// Maximum rows of a batch.
const ROWS: usize = 1 << 16;

/// Paths by number: each is a parent path, or none, and a name.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<(u32, u32)>,
    depths: Vec<u32>,
    known: FxHashMap<(u32, u32), u32>,
}

impl Paths {
    /// The number of a path below another one.
    pub fn push(&mut self, below: u32, name: u32) -> Result<u32, ArrowError> {
        if let Some(&path) = self.known.get(&(below, name)) {
            return Ok(path);
        }
        let path = u32::try_from(self.nodes.len()).ok().filter(|&path| path != ROOT);
        let path = path.ok_or_else(|| fail("more stacks than can be numbered"))?;
        self.nodes.push((below, name));
        self.depths.push(self.depths.get(below as usize).map_or(0, |depth| depth + 1));
        self.known.insert((below, name), path);
        Ok(path)
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The parent of a path, and its last name.
    pub fn node(&self, path: u32) -> Option<(u32, u32)> {
        self.nodes.get(path as usize).copied()
    }

    /// The number of names before the last one.
    pub fn depth(&self, path: u32) -> u32 {
        self.depths.get(path as usize).copied().unwrap_or(0)
    }

    /// Whether the last name of a path occurs in it before.
    pub fn recursive(&self, path: u32) -> bool {
        self.node(path).is_some_and(|(below, own)| {
            std::iter::successors(self.node(below), |&(below, _)| self.node(below)).any(|(_, name)| name == own)
        })
    }

    /// The names of a path, the outermost first, separated by `;`.
    pub fn text(&self, path: u32, names: &StringArray) -> String {
        let mut found: Vec<&str> = std::iter::successors(self.node(path), |&(below, _)| self.node(below))
            .map(|(_, name)| name_of(names, name))
            .collect();
        found.reverse();
        match (found.get(..SHOWN), found.len().checked_sub(SHOWN)) {
            (Some(first), Some(rest)) if rest > SHOWN => {
                let last = found.get(rest..).unwrap_or_default();
                format!("{};...;{}", first.join(";"), last.join(";"))
            }
            _ => found.join(";"),
        }
    }
}

fn name_of(names: &StringArray, code: u32) -> &str {
    let place = code as usize;
    if place < names.len() && names.is_valid(place) { names.value(place) } else { "?" }
}

/// The texts of the names so far.
pub fn texts(names: &mut Partitions) -> Result<StringArray, ArrowError> {
    let found = cast(&names.distinct(0)?, &DataType::Utf8)?;
    Ok(found.as_string::<i32>().clone())
}

/// Number the path of each row; `codes` are the names of rows.
pub fn paths_of(forest: &Forest, codes: &[u32], paths: &mut Paths) -> Result<Vec<u32>, ArrowError> {
    let mut failure = None;
    let found = forest.fold(|row, parent: Option<u32>| {
        let name = codes.get(row).copied().unwrap_or(u32::MAX);
        paths.push(parent.unwrap_or(ROOT), name).unwrap_or_else(|error| {
            failure = Some(error);
            ROOT
        })
    });
    failure.map_or(Ok(found), Err)
}

struct StackPaths {
    input: Option<Reader>,
    cancel: Token,
    ids: Vec<Option<i64>>,
    found: Vec<u32>,
    texts: Option<StringArray>,
    given: usize,
}

impl StackPaths {
    fn load(&mut self, reader: Reader) -> Result<(), ArrowError> {
        let mut rows = Rows::read(reader, 2, true, &self.cancel)?;
        let forest = Forest::new(rows.integers(0), rows.integers(1));
        let mut paths = Paths::default();
        self.found = paths_of(&forest, &rows.codes, &mut paths)?;
        self.ids = rows.integers(0).to_vec();
        let names = texts(&mut rows.names)?;
        let all = (0..paths.len() as u32).map(|path| paths.text(path, &names));
        self.texts = Some(StringArray::from_iter_values(all));
        Ok(())
    }
}

impl Sweep for StackPaths {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if let Some(reader) = self.input.take() {
            self.load(reader)?;
        }
        let last = self.given.saturating_add(ROWS).min(self.found.len());
        let (Some(texts), Some(found), Some(ids)) =
            (&self.texts, self.found.get(self.given..last), self.ids.get(self.given..last))
        else {
            return Ok(None);
        };
        if found.is_empty() {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(ids.iter().copied().collect::<Int64Array>()),
            take(texts, &UInt32Array::from(found.to_vec()), None)?,
        ];
        self.given = last;
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (slices, *, names, cancel=None))]
pub fn stack_paths(
    slices: InputStream,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let cancel = Token::new(cancel);
    let fields = vec![made(DataType::Int64, true), made(DataType::Utf8, false)];
    let schema = schema(fields, &names).map_err(to_python)?;
    let sweep = StackPaths {
        input: Some(slices.into_reader()),
        cancel: cancel.clone(),
        ids: Vec::new(),
        found: Vec::new(),
        texts: None,
        given: 0,
    };
    Ok(stream(schema, sweep, cancel))
}
