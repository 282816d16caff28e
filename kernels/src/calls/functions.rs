//! Names, modules, sizes and files of calls -> numbers of functions, and what the filters say of each.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::rules::Trigger;
use crate::sweeps::fail;

type Told = (Option<String>, Option<String>, Option<i64>, Option<String>);

/// One function.
pub struct Function {
    pub trigger: Trigger,
    pub size: Option<i64>,
}

/// Numbers functions in order of first appearance; the filters are asked once for each.
pub struct Functions {
    numbers: FxHashMap<Vec<u8>, u32>,
    all: Vec<Function>,
    ask: Py<PyAny>,
    key: Vec<u8>,
}

/// The columns that say which function is called: name, module, size and file.
pub struct Columns<'a>([&'a ArrayRef; 4]);

impl<'a> Columns<'a> {
    pub fn new(columns: [&'a ArrayRef; 4]) -> Self {
        Self(columns)
    }

    fn text(&self, column: usize, row: usize) -> Option<&'a str> {
        let texts = self.0.get(column)?.as_string_opt::<i32>()?;
        texts.is_valid(row).then(|| texts.value(row))
    }

    fn size(&self, row: usize) -> Option<i64> {
        let sizes = self.0[2].as_primitive_opt::<Int64Type>()?;
        sizes.is_valid(row).then(|| sizes.value(row))
    }

    fn key(&self, row: usize, key: &mut Vec<u8>) {
        key.clear();
        for column in [0, 1, 3] {
            match self.text(column, row) {
                Some(text) => {
                    key.extend_from_slice(&text.len().to_le_bytes());
                    key.extend_from_slice(text.as_bytes());
                }
                None => key.push(1),
            }
        }
        if let Some(size) = self.size(row) {
            key.extend_from_slice(&size.to_le_bytes());
        }
    }
}

impl Functions {
    /// `ask` takes a list of (name, module, size, file) and returns what the filters say of each.
    pub fn new(ask: Py<PyAny>) -> Self {
        Self {
            numbers: FxHashMap::default(),
            all: Vec::new(),
            ask,
            key: Vec::new(),
        }
    }

    /// Gives each row the number of its function.
    pub fn encode(&mut self, columns: &Columns, rows: usize) -> Result<Vec<u32>, ArrowError> {
        let mut codes = Vec::with_capacity(rows);
        let mut fresh: Vec<Told> = Vec::new();
        for row in 0..rows {
            columns.key(row, &mut self.key);
            let code = match self.numbers.get(&self.key) {
                Some(&code) => code,
                None => {
                    let code = u32::try_from(self.numbers.len())
                        .map_err(|_| fail("more functions than can be numbered"))?;
                    self.numbers.insert(self.key.clone(), code);
                    let text = |column| columns.text(column, row).map(str::to_owned);
                    fresh.push((text(0), text(1), columns.size(row), text(3)));
                    code
                }
            };
            codes.push(code);
        }
        if !fresh.is_empty() {
            self.learn(fresh)?;
        }
        Ok(codes)
    }

    fn learn(&mut self, fresh: Vec<Told>) -> Result<(), ArrowError> {
        let sizes: Vec<Option<i64>> = fresh.iter().map(|told| told.2).collect();
        let triggers = Python::attach(|py| {
            self.ask
                .call1(py, (fresh,))
                .and_then(|told| told.extract::<Vec<Trigger>>(py))
        });
        let triggers = triggers.map_err(|error| fail(error.to_string()))?;
        if triggers.len() != sizes.len() {
            return Err(fail("filters said nothing of some functions"));
        }
        let functions = triggers.into_iter().zip(sizes);
        self.all
            .extend(functions.map(|(trigger, size)| Function { trigger, size }));
        Ok(())
    }

    pub fn get(&self, code: u32) -> Option<&Function> {
        self.all.get(code as usize)
    }
}
