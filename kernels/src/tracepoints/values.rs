//! Format fields that are not numbers as text.

use super::expression::{Context, field_text};
use super::format::{Field, Order, Shape, extended};

/// Add a field in a table's format: text unchanged, bytes in hexadecimal, numbers as a JSON list, CPUs as `0-3,7`.
pub fn text(field: &Field, context: Context<'_>, out: &mut Vec<u8>) -> Option<()> {
    let order = context.order;
    match field.shape {
        Shape::Text | Shape::DynamicText { .. } => {
            out.extend_from_slice(field_text(field, context.record, order)?);
        }
        Shape::DynamicBits { .. } => bits(field.bytes(context.record, order)?, order, out),
        Shape::Array(1) | Shape::DynamicArray { element: 1, .. } => {
            for byte in field.bytes(context.record, order)? {
                hexadecimal(out, *byte);
            }
        }
        Shape::Array(size) | Shape::DynamicArray { element: size, .. } => {
            let bytes = field.bytes(context.record, order)?;
            out.push(b'[');
            list(bytes, (size, field.signed), order, out, |out, value, signed| {
                let text = match signed {
                    true => value.to_string(),
                    false => value.cast_unsigned().to_string(),
                };
                out.extend_from_slice(text.as_bytes());
            });
            out.push(b']');
        }
        Shape::Number => return None,
    }
    Some(())
}

/// Add an array as the kernel prints it: `{0x1,0x2}`.
pub fn braces(field: &Field, context: Context<'_>, out: &mut Vec<u8>) -> Option<()> {
    let size = match field.shape {
        Shape::Array(size) | Shape::DynamicArray { element: size, .. } => size,
        _ => 1,
    };
    let bytes = field.bytes(context.record, context.order)?;
    out.push(b'{');
    list(bytes, (size, false), context.order, out, |out, value, _| {
        out.extend_from_slice(format!("0x{value:x}").as_bytes());
    });
    out.push(b'}');
    Some(())
}

/// Add the arguments of a system call, as printed for `sys_enter`: `ffffff9c, 39deafd0, 100`.
pub fn arguments(field: &Field, context: Context<'_>, out: &mut Vec<u8>) -> Option<()> {
    let bytes = field.bytes(context.record, context.order)?;
    let size = match field.shape {
        Shape::Array(size) => size,
        _ => context.order.long,
    };
    for (place, bytes) in bytes.chunks_exact(size.max(1)).enumerate() {
        if place > 0 {
            out.extend_from_slice(b", ");
        }
        let value = context.order.number(bytes, size)?;
        digits(out, value);
    }
    Some(())
}

fn list(
    bytes: &[u8],
    (size, signed): (usize, bool),
    order: Order,
    out: &mut Vec<u8>,
    put: impl Fn(&mut Vec<u8>, i64, bool),
) {
    for (place, bytes) in bytes.chunks_exact(size.max(1)).enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let value = order.number(bytes, size).unwrap_or(0);
        let value = match signed {
            true => extended(value, size),
            false => value.cast_signed(),
        };
        put(out, value, signed);
    }
}

/// The numbers of the set bits, as ranges.
fn bits(bytes: &[u8], order: Order, out: &mut Vec<u8>) {
    let mut open: Option<(usize, usize)> = None;
    let mut first = true;
    let mut close = |range: Option<(usize, usize)>, out: &mut Vec<u8>| {
        let Some((low, high)) = range else { return };
        if !first {
            out.push(b',');
        }
        first = false;
        let text = match low == high {
            true => low.to_string(),
            false => format!("{low}-{high}"),
        };
        out.extend_from_slice(text.as_bytes());
    };
    for (word, bytes) in bytes.chunks(order.long.max(1)).enumerate() {
        let value = order.number(bytes, bytes.len()).unwrap_or(0);
        for bit in (0..bytes.len() * 8).filter(|bit| bit < &64 && value >> bit & 1 == 1) {
            let cpu = word * order.long * 8 + bit;
            match &mut open {
                Some((_, high)) if *high + 1 == cpu => *high = cpu,
                _ => close(open.replace((cpu, cpu)), out),
            }
        }
    }
    close(open, out);
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn hexadecimal(out: &mut Vec<u8>, byte: u8) {
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

/// A number in hexadecimal, without leading zeros.
pub fn digits(out: &mut Vec<u8>, value: u64) {
    let length = (64 - value.leading_zeros()).div_ceil(4).max(1);
    for place in (0..length).rev() {
        out.push(DIGITS[(value >> (4 * place) & 15) as usize]);
    }
}
