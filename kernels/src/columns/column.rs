//! One growing column: the narrowest type that holds its values exactly.

use arrow_buffer::NullBufferBuilder;

use super::strings::{Interner, Strings};
use super::values::{Values, bool_text};

/// The type of a column, as far as its values show; see [`Kind::with`] for how types mix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Empty,
    Int,
    /// Integers, none negative, some beyond int64.
    Uint,
    Float,
    Bool,
    Text,
}

/// Properties of a column's integers that decide how they mix with other types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    pub kind: Kind,
    /// Some value is negative.
    pub negative: bool,
    /// Some integer is not exactly representable as a float.
    pub inexact: bool,
}

impl Traits {
    /// The type that holds the values of both columns; the same in any order of mixing.
    pub fn with(self, other: Traits) -> Traits {
        use Kind::{Bool, Empty, Float, Int, Uint};
        let negative = self.negative || other.negative;
        let inexact = self.inexact || other.inexact;
        let kind = match (self.kind, other.kind) {
            (Empty, kind) | (kind, Empty) => kind,
            (Int, Int) => Int,
            (Int | Uint, Int | Uint) if !negative => Uint,
            (Float, Float) => Float,
            (Int, Float) | (Float, Int) if !inexact => Float,
            (Bool, Bool) => Bool,
            _ => Kind::Text,
        };
        Traits { kind, negative, inexact }
    }
}

pub struct DecodedColumn {
    pub values: Values,
    pub nulls: NullBufferBuilder,
    /// Floats as written, in case a text follows.
    written: Strings,
    negative: bool,
    inexact: bool,
}

fn is_exact(value: i64) -> bool {
    (value as f64) as i128 == i128::from(value)
}

impl DecodedColumn {
    pub fn new() -> DecodedColumn {
        DecodedColumn {
            values: Values::Empty,
            nulls: NullBufferBuilder::new(0),
            written: Strings::default(),
            negative: false,
            inexact: false,
        }
    }

    pub fn traits(&self) -> Traits {
        let kind = match &self.values {
            Values::Empty => Kind::Empty,
            Values::Int(_) => Kind::Int,
            Values::Uint(_) => Kind::Uint,
            Values::Float(_) => Kind::Float,
            Values::Bool(_) => Kind::Bool,
            Values::Coded(..) | Values::Text(_) => Kind::Text,
        };
        Traits { kind, negative: self.negative, inexact: self.inexact }
    }

    /// Make this column end before `row`: pad with nulls, or drop the row's earlier value.
    pub fn pad(&mut self, row: usize) {
        let have = self.nulls.len();
        if have == row {
            return;
        }
        self.nulls.truncate(row);
        self.nulls.append_n_nulls(row.saturating_sub(have));
        self.resize(row);
    }

    fn resize(&mut self, row: usize) {
        self.values.resize(row);
        if let Values::Float(_) = self.values {
            self.written.resize(row);
        }
    }

    /// Widen the column to `kind`, which must result from mixing `traits` with something.
    pub fn promote(&mut self, kind: Kind) {
        let rows = self.nulls.len();
        if self.traits().kind == kind {
            return;
        }
        let old = std::mem::replace(&mut self.values, Values::Empty);
        self.values = match (kind, old) {
            (Kind::Empty, old) => old,
            (Kind::Int, _) => Values::Int(Vec::new()),
            (Kind::Uint, Values::Int(v)) => Values::Uint(v.into_iter().map(i64::cast_unsigned).collect()),
            (Kind::Uint, _) => Values::Uint(Vec::new()),
            (Kind::Float, Values::Int(v)) => {
                v.iter().for_each(|x| self.written.push(x.to_string().as_bytes()));
                Values::Float(v.into_iter().map(|x| x as f64).collect())
            }
            (Kind::Float, _) => Values::Float(Vec::new()),
            (Kind::Bool, _) => Values::Bool(Vec::new()),
            (Kind::Text, Values::Empty) => Values::Coded(Vec::new(), Interner::default()),
            (Kind::Text, Values::Float(_)) => Values::Text(std::mem::take(&mut self.written)),
            (Kind::Text, old) => Values::Text(old.into_texts()),
        };
        self.resize(rows);
    }

    fn widen(&mut self, row: usize, kind: Kind, negative: bool, inexact: bool) {
        self.pad(row);
        let mixed = self.traits().with(Traits { kind, negative, inexact });
        self.promote(mixed.kind);
        self.negative = mixed.negative;
        self.inexact = mixed.inexact;
    }

    #[inline]
    pub fn push_i64(&mut self, row: usize, value: i64) {
        if !matches!(self.values, Values::Int(_))
            || self.nulls.len() != row
            || (value < 0 && !self.negative)
            || (value.unsigned_abs() > 1 << 53 && !self.inexact)
        {
            self.widen(row, Kind::Int, value < 0, !is_exact(value));
        }
        match &mut self.values {
            Values::Int(v) => v.push(value),
            Values::Uint(v) => v.push(value.cast_unsigned()),
            Values::Float(v) => {
                v.push(value as f64);
                self.written.push(value.to_string().as_bytes());
            }
            _ => return self.push_bytes(row, value.to_string().as_bytes()),
        }
        self.nulls.append_non_null();
    }

    pub fn push_u64(&mut self, row: usize, value: u64) {
        if let Ok(small) = i64::try_from(value) {
            return self.push_i64(row, small);
        }
        self.widen(row, Kind::Uint, false, true);
        match &mut self.values {
            Values::Uint(v) => v.push(value),
            _ => return self.push_bytes(row, value.to_string().as_bytes()),
        }
        self.nulls.append_non_null();
    }

    pub fn push_f64(&mut self, row: usize, value: f64, text: &[u8]) {
        self.widen(row, Kind::Float, false, false);
        match &mut self.values {
            Values::Float(v) => {
                v.push(value);
                self.written.push(text);
            }
            _ => return self.push_bytes(row, text),
        }
        self.nulls.append_non_null();
    }

    pub fn push_bool(&mut self, row: usize, value: bool) {
        self.widen(row, Kind::Bool, false, false);
        match &mut self.values {
            Values::Bool(v) => v.push(value),
            _ => return self.push_bytes(row, bool_text(value)),
        }
        self.nulls.append_non_null();
    }

    #[inline]
    pub fn push_bytes(&mut self, row: usize, value: &[u8]) {
        if !matches!(self.values, Values::Coded(..) | Values::Text(_)) || self.nulls.len() != row {
            self.widen(row, Kind::Text, false, false);
        }
        if self.values.push_text(value) {
            self.nulls.append_non_null();
        }
    }
}
