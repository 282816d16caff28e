//! The values in a print format: C expressions over the record's fields, with the kernel's helpers.

use super::format::{Field, Order, Shape, extended, until_zero};
use super::symbols::Symbols;

/// How deep expressions may be nested, and how many parts one may have.
const DEPTH_LIMIT: usize = 100;
const LIST_LIMIT: usize = 4096;

/// What a value is computed from.
#[derive(Clone, Debug)]
pub enum Expression {
    Number(i64),
    Text(Vec<u8>),
    Field(Field),
    /// A value of an array, and its number.
    Element(Field, Box<Expression>),
    /// Bytes of a dynamic field.
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

/// The operators, the longest first, and how tightly they bind.
const OPERATORS: [(&[u8], Operator, u8); 18] = [
    (b"||", Operator::Or, 1),
    (b"&&", Operator::And, 2),
    (b"==", Operator::Equal, 6),
    (b"!=", Operator::Unequal, 6),
    (b"<<", Operator::Left, 8),
    (b">>", Operator::Right, 8),
    (b"<=", Operator::LessEqual, 7),
    (b">=", Operator::GreaterEqual, 7),
    (b"|", Operator::BitOr, 3),
    (b"^", Operator::BitXor, 4),
    (b"&", Operator::BitAnd, 5),
    (b"<", Operator::Less, 7),
    (b">", Operator::Greater, 7),
    (b"+", Operator::Plus, 9),
    (b"-", Operator::Minus, 9),
    (b"*", Operator::Times, 10),
    (b"/", Operator::Over, 10),
    (b"%", Operator::Modulo, 10),
];

/// Constants that kernels print by name and whose values their formats do not tell.
const CONSTANTS: [(&[u8], i64); 14] = [
    (b"HRTIMER_MODE_ABS", 0),
    (b"HRTIMER_MODE_REL", 1),
    (b"HRTIMER_MODE_PINNED", 2),
    (b"HRTIMER_MODE_ABS_PINNED", 2),
    (b"HRTIMER_MODE_REL_PINNED", 3),
    (b"HRTIMER_MODE_ABS_SOFT", 4),
    (b"HRTIMER_MODE_REL_SOFT", 5),
    (b"HRTIMER_MODE_ABS_PINNED_SOFT", 6),
    (b"HRTIMER_MODE_REL_PINNED_SOFT", 7),
    (b"HRTIMER_MODE_ABS_HARD", 8),
    (b"HRTIMER_MODE_REL_HARD", 9),
    (b"HRTIMER_MODE_ABS_PINNED_HARD", 10),
    (b"HRTIMER_MODE_REL_PINNED_HARD", 11),
    (b"NULL", 0),
];

/// The text of a print format that is still to be read.
pub struct Tokens<'a> {
    rest: &'a [u8],
}

type Fields<'a> = &'a dyn Fn(&[u8]) -> Option<Field>;

impl<'a> Tokens<'a> {
    pub fn new(text: &'a [u8]) -> Tokens<'a> {
        Tokens { rest: text }
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn take(&mut self, text: &[u8]) -> bool {
        self.blank();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a [u8] {
        self.blank();
        let letters = self.rest.iter();
        let end = letters
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// String literals side by side, as one text.
    pub fn texts(&mut self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut found = false;
        while self.take(b"\"") {
            found = true;
            loop {
                match self.rest {
                    [b'"', rest @ ..] => {
                        self.rest = rest;
                        break;
                    }
                    [b'\\', letter, rest @ ..] => {
                        self.rest = rest;
                        text.push(match letter {
                            b'n' => b'\n',
                            b't' => b'\t',
                            b'r' => b'\r',
                            b'0' => 0,
                            other => *other,
                        });
                    }
                    [letter, rest @ ..] => {
                        self.rest = rest;
                        text.push(*letter);
                    }
                    [] => return None,
                }
            }
        }
        found.then_some(text)
    }

    /// Pass over the rest of a value, up to the comma behind it.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(letter) = self.rest.first() {
            match letter {
                b'"' => {
                    self.texts();
                    continue;
                }
                b'(' | b'{' | b'[' => depth += 1,
                b')' | b'}' | b']' if depth == 0 => return,
                b')' | b'}' | b']' => depth -= 1,
                b',' if depth == 0 => return,
                _ => {}
            }
            self.rest = &self.rest[1..];
        }
    }
}

/// The next value behind a comma; None if it is not understood, and then it is passed over.
pub fn argument(tokens: &mut Tokens<'_>, fields: Fields<'_>, order: Order) -> Option<Expression> {
    if !tokens.take(b",") {
        return None;
    }
    let begin = tokens.rest;
    let mut parser = Parser {
        tokens,
        fields,
        order,
        depth: 0,
    };
    let found = parser.choice();
    tokens.blank();
    if found.is_some() && matches!(tokens.rest.first(), None | Some(b',')) {
        return found;
    }
    tokens.rest = begin;
    tokens.skip();
    None
}

struct Parser<'t, 'a, 'f> {
    tokens: &'t mut Tokens<'a>,
    fields: Fields<'f>,
    order: Order,
    depth: usize,
}

impl Parser<'_, '_, '_> {
    fn choice(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return None;
        }
        let found = self.binary(1)?;
        let found = if self.tokens.take(b"?") {
            let yes = self.choice()?;
            if !self.tokens.take(b":") {
                return None;
            }
            let no = self.choice()?;
            match found {
                Expression::Number(0) => no,
                Expression::Number(_) => yes,
                _ => Expression::Choice(Box::new(found), Box::new(yes), Box::new(no)),
            }
        } else {
            found
        };
        self.depth -= 1;
        Some(found)
    }

    fn binary(&mut self, least: u8) -> Option<Expression> {
        let mut left = self.unary()?;
        for _ in 0..LIST_LIMIT {
            self.tokens.blank();
            let found = OPERATORS
                .iter()
                .find(|(text, _, _)| self.tokens.rest.starts_with(text));
            let Some((text, operator, binds)) = found.filter(|one| one.2 >= least) else {
                return Some(left);
            };
            self.tokens.take(text);
            self.depth += 1;
            if self.depth > DEPTH_LIMIT {
                return None;
            }
            let right = self.binary(binds + 1)?;
            self.depth -= 1;
            left = match (&left, &right) {
                (Expression::Number(a), Expression::Number(b)) => {
                    Expression::Number(operator.apply(*a, *b)?)
                }
                _ => Expression::Binary(*operator, Box::new(left), Box::new(right)),
            };
        }
        None
    }

    fn unary(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return None;
        }
        self.tokens.blank();
        let found = match self.tokens.rest.first()? {
            letter @ (b'-' | b'!' | b'~') => {
                let letter = *letter;
                self.tokens.take(&[letter]);
                match self.unary()? {
                    Expression::Number(value) => Expression::Number(negated(letter, value)),
                    other => Expression::Unary(letter, Box::new(other)),
                }
            }
            b'(' => self.parenthesis()?,
            b'"' => Expression::Text(self.tokens.texts()?),
            letter if letter.is_ascii_digit() => self.number()?,
            _ => self.named()?,
        };
        self.depth -= 1;
        Some(found)
    }

    fn parenthesis(&mut self) -> Option<Expression> {
        self.tokens.take(b"(");
        let inside = &self.tokens.rest[..memchr::memchr(b')', self.tokens.rest)?];
        if let Some((size, signed)) = cast(inside, self.order) {
            self.tokens.rest = &self.tokens.rest[inside.len() + 1..];
            let value = self.unary()?;
            return Some(match value {
                Expression::Number(value) if size < 8 => {
                    Expression::Number(narrow(value, size, signed))
                }
                value if size < 8 => Expression::Cast(size, signed, Box::new(value)),
                value => value,
            });
        }
        let found = self.choice()?;
        self.tokens.take(b")").then_some(found)
    }

    fn number(&mut self) -> Option<Expression> {
        let word = self.tokens.word();
        let text = str::from_utf8(word).ok()?;
        let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let lower = text.to_ascii_lowercase();
        let value = match lower.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok()?,
            None => text.parse().ok()?,
        };
        Some(Expression::Number(value.cast_signed()))
    }

    fn named(&mut self) -> Option<Expression> {
        let word = self.tokens.word();
        match word {
            b"" => None,
            b"REC" => {
                if !self.tokens.take(b"->") {
                    return None;
                }
                self.field()
            }
            b"sizeof" => None,
            _ if self.tokens.take(b"(") => {
                let found = self.call(word)?;
                self.tokens.take(b")").then_some(found)
            }
            _ => CONSTANTS
                .iter()
                .find(|(name, _)| *name == word)
                .map(|(_, value)| Expression::Number(*value)),
        }
    }

    fn field(&mut self) -> Option<Expression> {
        let field = (self.fields)(self.tokens.word())?;
        if !self.tokens.take(b"[") {
            return Some(Expression::Field(field));
        }
        let place = self.choice()?;
        self.tokens
            .take(b"]")
            .then(|| Expression::Element(field, Box::new(place)))
    }

    fn call(&mut self, name: &[u8]) -> Option<Expression> {
        match name {
            b"__get_str"
            | b"__get_rel_str"
            | b"__get_dynamic_array"
            | b"__get_rel_dynamic_array" => {
                Some(Expression::Field((self.fields)(self.tokens.word())?))
            }
            b"__get_dynamic_array_len" | b"__get_rel_dynamic_array_len" => {
                Some(Expression::Length((self.fields)(self.tokens.word())?))
            }
            b"__get_bitmask" | b"__get_cpumask" | b"__get_rel_bitmask" | b"__get_rel_cpumask" => {
                let mut field = (self.fields)(self.tokens.word())?;
                if let Shape::DynamicArray { relative, .. } = field.shape {
                    field.shape = Shape::DynamicBits { relative };
                }
                Some(Expression::Field(field))
            }
            b"__print_symbolic" => {
                let value = self.choice()?;
                Some(Expression::Symbolic(Box::new(value), self.pairs()?))
            }
            b"__print_flags" => {
                let value = self.choice()?;
                self.tokens.take(b",").then_some(())?;
                let between = self.tokens.texts()?;
                Some(Expression::Flags(Box::new(value), between, self.pairs()?))
            }
            b"__print_hex" | b"__print_hex_str" => {
                let field = self.array()?;
                self.to_end();
                Some(Expression::Hex(field, name.ends_with(b"str")))
            }
            b"__print_array" => {
                let field = self.array()?;
                self.to_end();
                Some(Expression::List(field))
            }
            _ => None,
        }
    }

    fn array(&mut self) -> Option<Field> {
        match self.choice()? {
            Expression::Field(field) if field.shape != Shape::Number => Some(field),
            _ => None,
        }
    }

    /// Pass over the values that follow up to the bracket: lengths are known from the field.
    fn to_end(&mut self) {
        while self.tokens.take(b",") {
            self.tokens.skip();
        }
    }

    /// `, { 1, "S" }, { 2, "D" }`; a pair that stands for the end of the list is left out.
    fn pairs(&mut self) -> Option<Vec<(i64, Vec<u8>)>> {
        let mut pairs = Vec::new();
        while self.tokens.take(b",") {
            self.tokens.take(b"{").then_some(())?;
            let value = self.choice()?;
            self.tokens.take(b",").then_some(())?;
            let Expression::Number(value) = value else {
                return None;
            };
            match self.choice()? {
                Expression::Text(text) => pairs.push((value, text)),
                Expression::Number(0) => {}
                _ => return None,
            }
            self.tokens.take(b"}").then_some(())?;
            if pairs.len() > LIST_LIMIT {
                return None;
            }
        }
        Some(pairs)
    }
}

/// Size and sign of the type that stands in brackets; None if it is none.
fn cast(text: &[u8], order: Order) -> Option<(usize, bool)> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b' ' | b'*' | b'\t');
    if !text.iter().all(plain) || text.trim_ascii().is_empty() {
        return None;
    }
    if text.contains(&b'*') {
        return Some((8, false));
    }
    let words = || text.split(|b| *b == b' ').filter(|word| !word.is_empty());
    let has = |word: &[u8]| words().any(|one| one == word);
    let unsigned = has(b"unsigned");
    let known = |word: &[u8]| {
        let word = word.strip_prefix(b"__").unwrap_or(word);
        Some(match word {
            b"u8" | b"uint8_t" => (1, false),
            b"s8" | b"int8_t" => (1, true),
            b"u16" | b"uint16_t" | b"be16" | b"le16" => (2, false),
            b"s16" | b"int16_t" => (2, true),
            b"u32" | b"uint32_t" | b"gfp_t" | b"be32" | b"le32" | b"uint" => (4, false),
            b"s32" | b"int32_t" | b"pid_t" => (4, true),
            b"u64" | b"uint64_t" | b"sector_t" | b"be64" | b"le64" | b"blkcnt_t" => (8, false),
            b"s64" | b"int64_t" | b"loff_t" | b"ktime_t" => (8, true),
            b"size_t" | b"uintptr_t" | b"pgoff_t" | b"ulong" => (order.long, false),
            b"ssize_t" => (order.long, true),
            b"bool" => (1, false),
            _ => return None,
        })
    };
    if has(b"long") {
        let twice = words().filter(|word| *word == b"long").count() > 1;
        return Some((if twice { 8 } else { order.long }, !unsigned));
    }
    if has(b"char") {
        return Some((1, !unsigned));
    }
    if has(b"short") {
        return Some((2, !unsigned));
    }
    if has(b"int") || unsigned || has(b"signed") || has(b"enum") {
        return Some((4, !unsigned));
    }
    words().find_map(known)
}

fn narrow(value: i64, size: usize, signed: bool) -> i64 {
    match signed {
        true => extended(value.cast_unsigned(), size),
        false => value & ((1i64 << (8 * size)) - 1),
    }
}

fn negated(operator: u8, value: i64) -> i64 {
    match operator {
        b'-' => value.wrapping_neg(),
        b'!' => i64::from(value == 0),
        _ => !value,
    }
}

impl Operator {
    fn apply(self, a: i64, b: i64) -> Option<i64> {
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
            Operator::Right => a
                .cast_unsigned()
                .checked_shr(shift?)
                .unwrap_or(0)
                .cast_signed(),
            Operator::Plus => a.wrapping_add(b),
            Operator::Minus => a.wrapping_sub(b),
            Operator::Times => a.wrapping_mul(b),
            Operator::Over => a.checked_div(b)?,
            Operator::Modulo => a.checked_rem(b)?,
        })
    }
}

/// A record, and what its values are read with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub record: &'a [u8],
    pub order: Order,
    pub symbols: &'a Symbols,
}

impl Expression {
    /// The only field that the value depends on, if it is a number.
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

    fn visit<'a>(&'a self, told: &mut impl FnMut(&'a Field)) {
        match self {
            Expression::Number(_) | Expression::Text(_) => {}
            Expression::Field(field)
            | Expression::Length(field)
            | Expression::Hex(field, _)
            | Expression::List(field) => told(field),
            Expression::Element(field, value) => {
                told(field);
                value.visit(told);
            }
            Expression::Unary(_, value)
            | Expression::Cast(_, _, value)
            | Expression::Symbolic(value, _)
            | Expression::Flags(value, _, _) => value.visit(told),
            Expression::Binary(_, a, b) => {
                a.visit(told);
                b.visit(told);
            }
            Expression::Choice(a, b, c) => {
                a.visit(told);
                b.visit(told);
                c.visit(told);
            }
        }
    }

    /// The value as a number; None if it is a text, or lies outside of the record.
    pub fn number(&self, context: Context<'_>) -> Option<i64> {
        match self {
            Expression::Number(value) => Some(*value),
            Expression::Field(field) if field.shape == Shape::Number => {
                field.number(context.record, context.order)
            }
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
            Expression::Length(field) => {
                i64::try_from(field.bytes(context.record, context.order)?.len()).ok()
            }
            Expression::Unary(operator, value) => Some(negated(*operator, value.number(context)?)),
            Expression::Binary(operator, a, b) => {
                operator.apply(a.number(context)?, b.number(context)?)
            }
            Expression::Choice(test, yes, no) => match test.number(context)? {
                0 => no.number(context),
                _ => yes.number(context),
            },
            Expression::Cast(size, signed, value) => {
                Some(narrow(value.number(context)?, *size, *signed))
            }
            _ => None,
        }
    }

    /// Add the value as a text; None if it is a number, or lies outside of the record.
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
                for (place, byte) in field
                    .bytes(context.record, context.order)?
                    .iter()
                    .enumerate()
                {
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

/// The names of the bits of a value; what has no name is printed as a number.
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

/// The text that a field holds.
pub fn field_text<'a>(field: &Field, record: &'a [u8], order: Order) -> Option<&'a [u8]> {
    Some(until_zero(field.bytes(record, order)?))
}
