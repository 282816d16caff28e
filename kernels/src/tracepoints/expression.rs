//! Evaluate the expressions of a print format over the fields of a record, to numbers and strings.

use super::format::{Field, Order, Shape, extended};
use super::symbols::Symbols;
use crate::input::bytes::until_zero;

/// An expression for a value.
#[derive(Clone, Debug)]
pub enum Expression {
    Number(i64),
    Text(Vec<u8>),
    Field(Field),
    /// A value of an array, by its number.
    Element(Field, Box<Expression>),
    /// Length of a dynamic field in bytes.
    Length(Field),
    Unary(u8, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    Cast(usize, bool, Box<Expression>),
    Symbolic(Box<Expression>, Vec<(i64, Vec<u8>)>),
    Flags(Box<Expression>, Vec<u8>, Vec<(i64, Vec<u8>)>),
    Hex(Field, bool),
    List(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Left,
    Right,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

pub fn narrow(value: i64, size: usize, signed: bool) -> i64 {
    match signed {
        true => extended(value.cast_unsigned(), size),
        false => value & ((1i64 << (8 * size)) - 1),
    }
}

pub fn negated(operator: u8, value: i64) -> i64 {
    match operator {
        b'-' => value.wrapping_neg(),
        b'!' => i64::from(value == 0),
        _ => !value,
    }
}

impl Operator {
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        let shift = u32::try_from(b).ok();
        Some(match self {
            Operator::Or => i64::from(a != 0 || b != 0),
            Operator::And => i64::from(a != 0 && b != 0),
            Operator::BitOr => a | b,
            Operator::BitXor => a ^ b,
            Operator::BitAnd => a & b,
            Operator::Equal => i64::from(a == b),
            Operator::Unequal => i64::from(a != b),
            Operator::Less => i64::from(a < b),
            Operator::Greater => i64::from(a > b),
            Operator::LessEqual => i64::from(a <= b),
            Operator::GreaterEqual => i64::from(a >= b),
            Operator::Left => a.checked_shl(shift?).unwrap_or(0),
            Operator::Right => a.cast_unsigned().checked_shr(shift?).unwrap_or(0).cast_signed(),
            Operator::Plus => a.wrapping_add(b),
            Operator::Minus => a.wrapping_sub(b),
            Operator::Times => a.wrapping_mul(b),
            Operator::Over => a.checked_div(b)?,
            Operator::Modulo => a.checked_rem(b)?,
        })
    }
}

/// A record, with the data needed to read its values.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub record: &'a [u8],
    pub order: Order,
    pub symbols: &'a Symbols,
}

impl Expression {
    /// The only field that the value depends on, if that is a number.
    pub fn only_field(&self) -> Option<&Field> {
        let mut found: Option<&Field> = None;
        let mut single = true;
        self.visit(&mut |one| {
            let same = found.is_none_or(|known| known.name == one.name);
            single &= same && one.shape == Shape::Number;
            found = Some(one);
        });
        found.filter(|_| single)
    }

    fn visit<'a>(&'a self, visitor: &mut impl FnMut(&'a Field)) {
        match self {
            Expression::Number(_) | Expression::Text(_) => {}
            Expression::Field(field)
            | Expression::Length(field)
            | Expression::Hex(field, _)
            | Expression::List(field) => visitor(field),
            Expression::Element(field, value) => {
                visitor(field);
                value.visit(visitor);
            }
            Expression::Unary(_, value)
            | Expression::Cast(_, _, value)
            | Expression::Symbolic(value, _)
            | Expression::Flags(value, _, _) => value.visit(visitor),
            Expression::Binary(_, a, b) => {
                a.visit(visitor);
                b.visit(visitor);
            }
            Expression::Choice(a, b, c) => {
                a.visit(visitor);
                b.visit(visitor);
                c.visit(visitor);
            }
        }
    }

    /// The value as a number; None if it is a text, or out of bounds.
    pub fn number(&self, context: Context<'_>) -> Option<i64> {
        match self {
            Expression::Number(value) => Some(*value),
            Expression::Field(field) if field.shape == Shape::Number => field.number(context.record, context.order),
            Expression::Element(field, place) => {
                let place = usize::try_from(place.number(context)?).ok()?;
                let size = match field.shape {
                    Shape::Array(size) => size,
                    Shape::DynamicArray { element, .. } => element,
                    _ => 1,
                };
                let bytes = field.bytes(context.record, context.order)?;
                let at = bytes.get(place.checked_mul(size)?..)?;
                let value = context.order.number(at, size)?;
                Some(narrow_or_whole(value, size, field.signed))
            }
            Expression::Length(field) => i64::try_from(field.bytes(context.record, context.order)?.len()).ok(),
            Expression::Unary(operator, value) => Some(negated(*operator, value.number(context)?)),
            Expression::Binary(operator, a, b) => operator.apply(a.number(context)?, b.number(context)?),
            Expression::Choice(test, yes, no) => match test.number(context)? {
                0 => no.number(context),
                _ => yes.number(context),
            },
            Expression::Cast(size, signed, value) => Some(narrow(value.number(context)?, *size, *signed)),
            _ => None,
        }
    }

    /// Add the value as a text; None if it is a number, or out of bounds.
    pub fn text(&self, context: Context<'_>, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Expression::Text(text) => out.extend_from_slice(text),
            Expression::Field(field) if field.shape != Shape::Number => {
                super::values::text(field, context, out)?;
            }
            Expression::Choice(test, yes, no) => match test.number(context)? {
                0 => no.text(context, out)?,
                _ => yes.text(context, out)?,
            },
            Expression::Symbolic(value, pairs) => {
                let value = value.number(context)?;
                match pairs.iter().find(|(known, _)| *known == value) {
                    Some((_, text)) => out.extend_from_slice(text),
                    None => out.extend_from_slice(format!("0x{value:x}").as_bytes()),
                }
            }
            Expression::Flags(value, between, pairs) => {
                flags(value.number(context)?, between, pairs, out);
            }
            Expression::Hex(field, joined) => {
                for (place, byte) in field.bytes(context.record, context.order)?.iter().enumerate() {
                    if place > 0 && !joined {
                        out.push(b' ');
                    }
                    out.extend_from_slice(format!("{byte:02x}").as_bytes());
                }
            }
            Expression::List(field) => super::values::braces(field, context, out)?,
            _ => return None,
        }
        Some(())
    }
}

fn narrow_or_whole(value: u64, size: usize, signed: bool) -> i64 {
    match signed {
        true => extended(value, size),
        false => value.cast_signed(),
    }
}

/// The names of the bits of a value; bits without a name are printed as a number.
fn flags(value: i64, between: &[u8], pairs: &[(i64, Vec<u8>)], out: &mut Vec<u8>) {
    let mut left = value;
    let mut first = true;
    let mut part = |text: &[u8], out: &mut Vec<u8>| {
        if !first {
            out.extend_from_slice(between);
        }
        first = false;
        out.extend_from_slice(text);
    };
    for (mask, name) in pairs {
        if left & mask == *mask && left != 0 {
            left &= !mask;
            part(name, out);
        }
    }
    if left != 0 {
        part(format!("0x{left:x}").as_bytes(), out);
    }
}

/// The text in a field.
pub fn field_text<'a>(field: &Field, record: &'a [u8], order: Order) -> Option<&'a [u8]> {
    Some(until_zero(field.bytes(record, order)?))
}
