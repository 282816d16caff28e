//! Parse the text of a print format into expressions: C over the record's fields, with the kernel's helpers.

use super::expression::{Expression, Operator, narrow, negated};
use super::format::{Field, Order, Shape};

/// Maximum depth of expressions, and number of parts.
const DEPTH_LIMIT: usize = 100;
const LIST_LIMIT: usize = 4096;

/// The operators, the longest first, with their precedence.
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

/// Constants that kernels print by name without giving their values in formats.
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

/// The unread rest of a print format.
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
        let end = letters.take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Adjacent string literals, as one text.
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

    /// Skip the rest of a value, up to the comma after it.
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

/// The next value after a comma; None if it is not supported, and then it is skipped.
pub fn argument(tokens: &mut Tokens<'_>, fields: Fields<'_>, order: Order) -> Option<Expression> {
    if !tokens.take(b",") {
        return None;
    }
    let begin = tokens.rest;
    let mut parser = Parser { tokens, fields, order, depth: 0 };
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
            let found = OPERATORS.iter().find(|(text, _, _)| self.tokens.rest.starts_with(text));
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
                (Expression::Number(a), Expression::Number(b)) => Expression::Number(operator.apply(*a, *b)?),
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
                Expression::Number(value) if size < 8 => Expression::Number(narrow(value, size, signed)),
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
            _ => CONSTANTS.iter().find(|(name, _)| *name == word).map(|(_, value)| Expression::Number(*value)),
        }
    }

    fn field(&mut self) -> Option<Expression> {
        let field = (self.fields)(self.tokens.word())?;
        if !self.tokens.take(b"[") {
            return Some(Expression::Field(field));
        }
        let place = self.choice()?;
        self.tokens.take(b"]").then(|| Expression::Element(field, Box::new(place)))
    }

    fn call(&mut self, name: &[u8]) -> Option<Expression> {
        match name {
            b"__get_str"
            | b"__get_rel_str"
            | b"__get_dynamic_array"
            | b"__get_rel_dynamic_array"
            | b"__get_sockaddr"
            | b"__get_rel_sockaddr" => Some(Expression::Field((self.fields)(self.tokens.word())?)),
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
                self.skip_rest();
                Some(Expression::Hex(field, name.ends_with(b"str")))
            }
            b"__print_array" => {
                let field = self.array()?;
                self.skip_rest();
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

    /// Skip the following values up to the bracket: lengths are known from the field.
    fn skip_rest(&mut self) {
        while self.tokens.take(b",") {
            self.tokens.skip();
        }
    }

    /// `, { 1, "S" }, { 2, "D" }`; the pair that ends the list is omitted.
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

/// Size and sign of the type in brackets; None if it is not a type.
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
