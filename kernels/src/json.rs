//! Scan one line or record for JSON tokens, accepting exactly what Python's `json.loads` accepts.

/// Bytes `start..end` of a line; lines are shorter than 4 GiB.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    #[inline]
    pub fn of<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        line.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The inside of a string literal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Text {
    pub span: Span,
    pub escaped: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Token {
    /// Missing.
    #[default]
    Absent,
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond int64.
    Uint(u64),
    /// An integer beyond uint64, as written.
    Huge(Span),
    Float(Span),
    Text(Text),
    /// A list or an object, as written.
    Nested(Span),
}

/// The line is not JSON.
#[derive(Debug)]
pub struct Invalid;

/// Python rejects integers with more digits.
const MAX_DIGITS: usize = 4300;

pub struct Scanner<'a> {
    line: &'a [u8],
    at: usize,
    deepest: usize,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Mark quotes, backslashes and control characters in the high bit of each byte; only the lowest mark is reliable.
#[inline]
fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5c);
    let zero = |x: u64| x.wrapping_sub(ONES) & !x;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(backslash) | control) & HIGHS
}

/// Pass each member of an object to a function: its key, its value, and the bytes of that.
///
/// # Errors
/// It is not an object, or `each` rejects a member.
pub fn members<'a>(
    object: &'a [u8],
    mut each: impl FnMut(Text, Token, &'a [u8]) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    let mut scanner = Scanner::new(object);
    let mut stack = Vec::new();
    if scanner.next() != b'{' {
        return Err(Invalid);
    }
    scanner.skip_space();
    if scanner.peek() == b'}' {
        return Ok(());
    }
    loop {
        let key = scanner.key()?;
        scanner.skip_space();
        let start = scanner.at();
        let value = scanner.value(&mut stack)?;
        each(key, value, object.get(start..scanner.at()).ok_or(Invalid)?)?;
        match scanner.next() {
            b',' => (),
            b'}' => return Ok(()),
            _ => return Err(Invalid),
        }
    }
}

impl<'a> Scanner<'a> {
    #[inline]
    pub fn new(line: &'a [u8]) -> Scanner<'a> {
        Scanner { line, at: 0, deepest: 0 }
    }

    /// The number of consumed bytes.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The maximum depth of the lists and objects returned by `value`.
    #[inline]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    #[inline]
    pub fn peek(&self) -> u8 {
        self.line.get(self.at).copied().unwrap_or(0)
    }

    /// Consume and return the next byte that is not white space; 0 at the end.
    #[inline]
    pub fn next(&mut self) -> u8 {
        self.skip_space();
        let byte = self.peek();
        self.at += 1;
        byte
    }

    #[inline]
    pub fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Whether only white space is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.line.len()
    }

    /// A string whose opening quote is consumed.
    #[inline]
    pub fn string(&mut self) -> Result<Text, Invalid> {
        let start = self.at;
        let mut escaped = false;
        loop {
            while let Some(bytes) = self.line.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
                let marks = special(u64::from_le_bytes(*bytes));
                if marks != 0 {
                    self.at += marks.trailing_zeros() as usize / 8;
                    break;
                }
                self.at += 8;
            }
            match self.line.get(self.at) {
                None | Some(0..=0x1f) => return Err(Invalid),
                Some(b'"') => {
                    let span = Span::new(start, self.at);
                    self.at += 1;
                    return Ok(Text { span, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += self.escape()?;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// The length of the escape sequence here.
    fn escape(&self) -> Result<usize, Invalid> {
        match self.line.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') => {
                let digits = self.line.get(self.at + 2..self.at + 6).ok_or(Invalid)?;
                if digits.iter().all(u8::is_ascii_hexdigit) { Ok(6) } else { Err(Invalid) }
            }
            _ => Err(Invalid),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    /// Digits and their number, which is only right up to 19 of them.
    #[inline]
    fn whole(&mut self) -> (u64, usize) {
        let start = self.at;
        let mut value: u64 = 0;
        while let Some(bytes) = self.line.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
            let Some(eight) = eight_digits(u64::from_le_bytes(*bytes)) else {
                break;
            };
            value = value.wrapping_mul(100_000_000).wrapping_add(eight);
            self.at += 8;
        }
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        (value, self.at - start)
    }

    /// Skip the bytes of `pattern`, in the low bytes marked by `mask`, if they are next.
    #[inline]
    pub fn skip_pattern(&mut self, pattern: u64, mask: u64, length: usize) -> bool {
        let next = self.line.get(self.at..).and_then(|rest| rest.first_chunk::<8>());
        let found = next.is_some_and(|bytes| u64::from_le_bytes(*bytes) & mask == pattern);
        self.at += if found { length } else { 0 };
        found
    }

    #[inline]
    fn number(&mut self) -> Result<Token, Invalid> {
        let start = self.at;
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        if negative && self.peek() == b'I' {
            self.literal(b"Infinity")?;
            return Ok(Token::Float(Span::new(start, self.at)));
        }
        let (magnitude, digits) = match self.peek() {
            b'0' => {
                self.at += 1;
                (0, 1)
            }
            b'1'..=b'9' => self.whole(),
            _ => return Err(Invalid),
        };
        let last = self.at;
        if matches!(self.peek(), b'.' | b'e' | b'E') && (self.fraction() | self.exponent()) {
            return Ok(Token::Float(Span::new(start, self.at)));
        }
        if digits > 19 {
            return self.long_number(Span::new(start, last), digits);
        }
        Ok(match (i64::try_from(magnitude), negative) {
            (Ok(value), false) => Token::Int(value),
            (Ok(value), true) => Token::Int(-value),
            (Err(_), false) => Token::Uint(magnitude),
            (Err(_), true) if magnitude == 1 << 63 => Token::Int(i64::MIN),
            (Err(_), true) => Token::Huge(Span::new(start, last)),
        })
    }

    fn long_number(&self, span: Span, digits: usize) -> Result<Token, Invalid> {
        if digits > MAX_DIGITS {
            return Err(Invalid);
        }
        let text = std::str::from_utf8(span.of(self.line)).map_err(|_| Invalid)?;
        Ok(text.parse().map_or(Token::Huge(span), Token::Uint))
    }

    /// Consume `.` with digits after it; a point without digits is not consumed.
    #[inline]
    fn fraction(&mut self) -> bool {
        let start = self.at;
        if self.peek() == b'.' {
            self.at += 1;
            if self.digits() > 0 {
                return true;
            }
        }
        self.at = start;
        false
    }

    #[inline]
    fn exponent(&mut self) -> bool {
        let start = self.at;
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            if self.digits() > 0 {
                return true;
            }
        }
        self.at = start;
        false
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Invalid> {
        match self.line.get(self.at..) {
            Some(rest) if rest.starts_with(word) => {
                self.at += word.len();
                Ok(())
            }
            _ => Err(Invalid),
        }
    }

    /// Any value; `stack` is scratch space.
    #[inline]
    pub fn value(&mut self, stack: &mut Vec<u8>) -> Result<Token, Invalid> {
        self.skip_space();
        let start = self.at;
        match self.peek() {
            b'"' => {
                self.at += 1;
                Ok(Token::Text(self.string()?))
            }
            b'{' | b'[' => {
                self.nested(stack)?;
                Ok(Token::Nested(Span::new(start, self.at)))
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Token, Invalid> {
        let start = self.at;
        let (word, token): (&[u8], _) = match self.peek() {
            b't' => (b"true", Token::Bool(true)),
            b'f' => (b"false", Token::Bool(false)),
            b'n' => (b"null", Token::Null),
            b'N' => (b"NaN", Token::Float(Span::new(start, start + 3))),
            b'I' => (b"Infinity", Token::Float(Span::new(start, start + 8))),
            _ => return Err(Invalid),
        };
        self.literal(word)?;
        Ok(token)
    }

    /// Check a list or an object of any depth, without recursion.
    fn nested(&mut self, stack: &mut Vec<u8>) -> Result<(), Invalid> {
        stack.clear();
        loop {
            // A value is expected here.
            self.skip_space();
            let open = self.peek();
            let mut done = true;
            if open == b'{' || open == b'[' {
                self.at += 1;
                self.skip_space();
                if self.peek() == open + 2 {
                    self.at += 1;
                } else {
                    stack.push(open);
                    self.deepest = self.deepest.max(stack.len());
                    done = false;
                }
            } else if open == b'"' {
                self.at += 1;
                self.string()?;
            } else if open == b'-' || open.is_ascii_digit() {
                self.number()?;
            } else {
                self.word()?;
            }
            while done {
                match stack.last() {
                    None => return Ok(()),
                    Some(open) => match self.next() {
                        b',' => done = false,
                        close if close == open + 2 => {
                            stack.pop();
                        }
                        _ => return Err(Invalid),
                    },
                }
            }
            if stack.last() == Some(&b'{') {
                self.key()?;
            }
        }
    }

    /// A key and the colon after it.
    #[inline]
    pub fn key(&mut self) -> Result<Text, Invalid> {
        if self.next() != b'"' {
            return Err(Invalid);
        }
        let key = self.string()?;
        if self.next() != b':' {
            return Err(Invalid);
        }
        Ok(key)
    }
}

/// The number in eight ASCII digits, the first in the lowest byte.
#[inline]
fn eight_digits(word: u64) -> Option<u64> {
    let zeros = word ^ (ONES * 0x30);
    // Digits become 0 to 9; adding 6 carries into the high half of a byte for anything above 9.
    if (zeros | zeros.wrapping_add(ONES * 6)) & (ONES * 0xf0) != 0 {
        return None;
    }
    let pairs = (zeros * 10 + (zeros >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The number in a decimal text such as `-12`, as written in old traces.
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let mut scanner = Scanner::new(text);
    match scanner.number() {
        Ok(Token::Int(value)) if scanner.at >= text.len() => Some(value),
        _ => None,
    }
}

/// Append the value of a string literal; returns whether an unpaired surrogate was replaced by U+FFFD.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut at = 0;
    let mut replaced = false;
    while let Some(&byte) = raw.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let kind = raw.get(at + 1).copied().unwrap_or(b'\\');
        at += 2;
        let plain = match kind {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (code, used) = code_point(raw.get(at..).unwrap_or_default());
                at += used;
                let letter = char::from_u32(code);
                replaced |= letter.is_none();
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            other => other,
        };
        out.push(plain);
    }
    replaced
}

/// Append a text as a JSON string.
pub fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    push_escaped(out, text);
    out.push(b'"');
}

/// The same without quotes.
pub fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut done = 0;
    for (at, byte) in text.iter().enumerate().filter(|(_, byte)| **byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        out.extend_from_slice(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&text[done..]);
}

/// Append JSON that every reader accepts: numbers that are not finite, which JSON cannot hold, become strings.
pub fn push_finite(out: &mut Vec<u8>, text: &[u8]) {
    let (mut done, mut at, mut inside) = (0, 0, false);
    while at < text.len() {
        let rest = &text[at..];
        match rest[0] {
            b'"' => inside = !inside,
            b'\\' => at += 1,
            b'-' | b'I' | b'N' if !inside => {
                if let Some(word) = NOT_FINITE.iter().find(|word| rest.starts_with(word)) {
                    out.extend_from_slice(&text[done..at]);
                    push_quoted(out, word);
                    done = at + word.len();
                    at = done - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out.extend_from_slice(&text[done..]);
}

const NOT_FINITE: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

fn hex4(raw: &[u8]) -> Option<u32> {
    raw.get(..4)?.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

/// The code point after `\u` and its length in bytes, including the second half of a surrogate pair.
fn code_point(raw: &[u8]) -> (u32, usize) {
    let high = hex4(raw).unwrap_or(0xd800);
    if (0xd800..0xdc00).contains(&high)
        && raw.get(4..6) == Some(b"\\u")
        && let Some(low @ 0xdc00..0xe000) = raw.get(6..).and_then(hex4)
    {
        return (0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), 10);
    }
    (high, 4)
}
