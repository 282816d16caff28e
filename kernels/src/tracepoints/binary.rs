//! Format a record of the kernel's `trace_printk` (a format and packed values) as text.

use super::expression::Context;
use super::text::{Conversion, Part, parse};
use crate::input::bytes::until_zero;

/// Add the text; false if values are missing in the record.
pub fn put(format: &[u8], mut values: &[u8], context: Context<'_>, out: &mut Vec<u8>) -> bool {
    let mut packed = Packed { whole: values.len(), context };
    let mut whole = true;
    for part in parse(format) {
        match part {
            Part::Literal(text) => out.extend_from_slice(&text),
            Part::Conversion(conversion) => {
                for _ in 0..conversion.stars {
                    whole &= packed.number(&mut values, 4).is_some();
                }
                whole &= packed.value(&conversion, &mut values, out).is_some();
            }
        }
    }
    whole
}

struct Packed<'a> {
    /// Bytes of all values: alignment is relative to the first.
    whole: usize,
    context: Context<'a>,
}

impl Packed<'_> {
    fn align(&self, values: &mut &[u8], size: usize) -> Option<()> {
        let done = self.whole - values.len();
        let aligned = done.next_multiple_of(size);
        *values = values.get(aligned - done..)?;
        Some(())
    }

    fn number(&mut self, values: &mut &[u8], size: usize) -> Option<u64> {
        // Numbers of 8 bytes are only aligned to 4.
        self.align(values, size.min(4))?;
        let value = self.context.order.number(values, size)?;
        *values = values.get(size..)?;
        Some(value)
    }

    fn value(&mut self, conversion: &Conversion, values: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
        let long = self.context.order.long;
        let is_text = conversion.kind == b's'
            || conversion.kind == b'p'
                && !matches!(conversion.extension.first(), None | Some(b'S' | b's' | b'F' | b'f' | b'x' | b'K' | b'e'));
        if is_text {
            let text = until_zero(values);
            *values = values.get(text.len() + 1..).unwrap_or_default();
            conversion.put_text(out, text);
            return Some(());
        }
        let value = self.number(values, conversion.bytes(long))?;
        if conversion.is_symbol() {
            let mut name = Vec::new();
            let offset = conversion.shows_offset();
            self.context.symbols.put(value, offset, &mut name);
            conversion.put_text(out, &name);
        } else {
            conversion.put_number(out, value.cast_signed(), long);
        }
        Some(())
    }
}
