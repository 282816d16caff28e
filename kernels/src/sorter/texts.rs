//! The distinct texts of one column of one table, over all chunks, while they are few.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};

use super::column::Kind;
use crate::columns::Interner;

/// A column with at least this many texts, or bytes of them, gets no new codes.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 2 << 20;
/// A chunk with at least this many rows and no dictionary has too many distinct texts for one.
const LARGE: usize = 1024;
/// Up to this many texts, it does not matter how often each occurs.
const FEW: usize = 4096;

#[derive(Default)]
pub struct Texts {
    interner: Interner,
    rows: usize,
    plain: bool,
    /// Size in bytes from which the dictionary stops growing, set while memory is short.
    cap: Option<usize>,
}

impl Texts {
    pub fn memory(&self) -> usize {
        self.interner.memory()
    }

    pub fn cap(&mut self, bytes: usize) {
        self.cap = Some(bytes);
    }

    /// Decides the representation of more rows.
    pub fn choose(&mut self, rows: usize, dictionary: bool) -> Kind {
        self.rows += rows;
        let (many, bytes) = (self.interner.len(), self.interner.memory());
        let too_large = many > MOST || bytes > self.cap.unwrap_or(MOST_BYTES).min(MOST_BYTES);
        let too_varied = many > FEW && many.saturating_mul(2) > self.rows;
        if too_large || too_varied || (!dictionary && rows >= LARGE) {
            self.plain = true;
        }
        if self.plain { Kind::Text } else { Kind::Code }
    }

    pub fn code(&mut self, text: &str) -> i32 {
        self.interner.intern(text.as_bytes()) as i32
    }

    pub fn get(&self, code: i64) -> &[u8] {
        self.interner.get_or_empty(usize::try_from(code).unwrap_or(usize::MAX))
    }

    /// Return all texts in order of their codes.
    pub fn dictionary(&self) -> ArrayRef {
        let texts = self.interner.iter().map(String::from_utf8_lossy);
        Arc::new(StringArray::from_iter_values(texts))
    }
}
