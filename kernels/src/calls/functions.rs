//! Number functions by name, module, size and file, and evaluate the filters once for each.

use std::sync::Arc;

use arrow_array::{Array, Int64Array, StringArray};
use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::missed::Missed;
use super::patterns::Book;
use super::rules::Trigger;
use crate::sweeps::fail;

/// One function.
pub struct Function {
    /// Empty if it is unknown.
    pub name: Arc<str>,
    pub named: bool,
    pub module: Option<Arc<str>>,
    pub trigger: Trigger,
    pub size: Option<i64>,
}

/// Numbers functions in order of first appearance; the rules are evaluated once for each.
pub struct Functions {
    numbers: FxHashMap<Vec<u8>, u32>,
    all: Vec<Function>,
    book: Book,
    key: Vec<u8>,
}

/// The columns that identify a function: name, module and file; sizes.
pub struct Columns<'a> {
    pub texts: [&'a StringArray; 3],
    pub sizes: &'a Int64Array,
}

const NAME: usize = 0;
const MODULE: usize = 1;
const FILE: usize = 2;

impl<'a> Columns<'a> {
    fn text(&self, column: usize, row: usize) -> Option<&'a str> {
        let texts = self.texts.get(column)?;
        texts.is_valid(row).then(|| texts.value(row))
    }

    fn size(&self, row: usize) -> Option<i64> {
        self.sizes.is_valid(row).then(|| self.sizes.value(row))
    }
}

fn write_key(texts: &[Option<&str>; 3], size: Option<i64>, key: &mut Vec<u8>) {
    key.clear();
    for text in texts {
        match text {
            Some(text) => {
                key.extend_from_slice(&text.len().to_le_bytes());
                key.extend_from_slice(text.as_bytes());
            }
            None => key.push(1),
        }
    }
    if let Some(size) = size {
        key.extend_from_slice(&size.to_le_bytes());
    }
}

impl Functions {
    pub fn new(book: Book) -> Self {
        Self { numbers: FxHashMap::default(), all: Vec::new(), book, key: Vec::new() }
    }

    /// Give each row the number of its function.
    pub fn encode(&mut self, columns: &Columns, rows: usize) -> Result<Vec<u32>, ArrowError> {
        (0..rows)
            .map(|row| {
                let texts = [NAME, MODULE, FILE].map(|column| columns.text(column, row));
                self.number(texts, columns.size(row))
            })
            .collect()
    }

    /// The number of a function of this name, module, file and size.
    pub fn number(&mut self, texts: [Option<&str>; 3], size: Option<i64>) -> Result<u32, ArrowError> {
        write_key(&texts, size, &mut self.key);
        if let Some(&code) = self.numbers.get(&self.key) {
            return Ok(code);
        }
        let code = u32::try_from(self.numbers.len()).map_err(|_| fail("more functions than can be numbered"))?;
        self.numbers.insert(self.key.clone(), code);
        let [name, module, file] = texts;
        self.all.push(Function {
            trigger: self.book.trigger(name, module, file),
            size,
            name: name.unwrap_or_default().into(),
            named: name.is_some(),
            module: module.map(Arc::from),
        });
        Ok(code)
    }

    #[inline]
    pub fn get(&self, code: u32) -> Option<&Function> {
        self.all.get(code as usize)
    }

    /// Report the rules that matched no function.
    pub fn tell(&self, missed: &Missed) {
        let names = self.all.iter().map(|function| &*function.name);
        missed.tell(self.book.missed(), names);
    }
}
