//! Copy fields with fixed place and size into columns, without consulting their description.

use super::format::{Order, Shape};
use super::layout::ColumnSource;
use super::numbers::NAME;
use super::symbols::Names;
use crate::rows::Rows;

/// A field that is copied directly, from little-endian numbers; and its place.
#[derive(Clone, Copy)]
pub enum Quick {
    I8(usize),
    I16(usize),
    I32(usize),
    I64(usize),
    U8(usize),
    U16(usize),
    U32(usize),
    Pointer(usize),
    Name(usize),
}

impl Quick {
    /// The quick source for a column, if it has one.
    pub fn of(source: &ColumnSource, order: Order) -> Option<Quick> {
        if order.big {
            return None;
        }
        Some(match source {
            ColumnSource::Number(field) => match (field.signed, field.size) {
                (true, 1) => Quick::I8(field.offset),
                (true, 2) => Quick::I16(field.offset),
                (true, 4) => Quick::I32(field.offset),
                (true, 8) => Quick::I64(field.offset),
                (false, 1) => Quick::U8(field.offset),
                (false, 2) => Quick::U16(field.offset),
                (false, 4) => Quick::U32(field.offset),
                _ => return None,
            },
            ColumnSource::Address(field) if field.size == 8 => Quick::Pointer(field.offset),
            ColumnSource::Text(field) if field.shape == Shape::Text && field.size == NAME => Quick::Name(field.offset),
            _ => return None,
        })
    }

    /// Fill the column; None if the field is out of bounds.
    #[inline]
    pub fn fill(self, column: usize, record: &[u8], names: &mut Names, rows: &mut Rows) -> Option<()> {
        let value = match self {
            Quick::I8(at) => i64::from(i8::from_le_bytes(bytes(record, at)?)),
            Quick::I16(at) => i64::from(i16::from_le_bytes(bytes(record, at)?)),
            Quick::I32(at) => i64::from(i32::from_le_bytes(bytes(record, at)?)),
            Quick::I64(at) => i64::from_le_bytes(bytes(record, at)?),
            Quick::U8(at) => i64::from(u8::from_le_bytes(bytes(record, at)?)),
            Quick::U16(at) => i64::from(u16::from_le_bytes(bytes(record, at)?)),
            Quick::U32(at) => i64::from(u32::from_le_bytes(bytes(record, at)?)),
            Quick::Pointer(at) => {
                rows.uint(column, u64::from_le_bytes(bytes(record, at)?));
                return Some(());
            }
            Quick::Name(at) => {
                let text = record.get(at..)?.first_chunk()?;
                let (number, length) = names.numbers.of(text);
                rows.numbered(column, number, || text.get(..length).unwrap_or_default());
                return Some(());
            }
        };
        rows.int(column, value);
        Some(())
    }
}

#[inline]
fn bytes<const N: usize>(record: &[u8], at: usize) -> Option<[u8; N]> {
    record.get(at..)?.first_chunk().copied()
}
