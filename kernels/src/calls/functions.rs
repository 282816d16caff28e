//! Names, modules, sizes and files of calls -> numbers of functions, and what the filters say of each.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::patterns::Book;
use super::rules::Trigger;
use crate::sweeps::fail;

/// One function.
pub struct Function {
    pub name: Box<str>,
    pub trigger: Trigger,
    pub size: Option<i64>,
}

/// Numbers functions in order of first appearance; the rules are asked once for each.
pub struct Functions {
    numbers: FxHashMap<Vec<u8>, u32>,
    all: Vec<Function>,
    book: Book,
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
    pub fn new(book: Book) -> Self {
        Self {
            numbers: FxHashMap::default(),
            all: Vec::new(),
            book,
            key: Vec::new(),
        }
    }

    /// Gives each row the number of its function.
    pub fn encode(&mut self, columns: &Columns, rows: usize) -> Result<Vec<u32>, ArrowError> {
        let mut codes = Vec::with_capacity(rows);
        for row in 0..rows {
            columns.key(row, &mut self.key);
            let code = match self.numbers.get(&self.key) {
                Some(&code) => code,
                None => {
                    let code = u32::try_from(self.numbers.len())
                        .map_err(|_| fail("more functions than can be numbered"))?;
                    self.numbers.insert(self.key.clone(), code);
                    let name = columns.text(0, row);
                    self.all.push(Function {
                        trigger: self.book.trigger(
                            name,
                            columns.text(1, row),
                            columns.text(3, row),
                        ),
                        size: columns.size(row),
                        name: name.unwrap_or_default().into(),
                    });
                    code
                }
            };
            codes.push(code);
        }
        Ok(codes)
    }

    pub fn get(&self, code: u32) -> Option<&Function> {
        self.all.get(code as usize)
    }
}
