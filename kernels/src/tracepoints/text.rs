//! Format strings of the kernel's printf, and formatted values.

/// Maximum width for padding with blanks or zeros.
const WIDTH_LIMIT: usize = 256;

/// A part of a format string.
pub enum Part {
    Literal(Vec<u8>),
    Conversion(Conversion),
}

/// `%-03lld`, `%pS`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    left: bool,
    plus: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Number of additional values for width and precision.
    pub stars: usize,
    /// 1, 2, 4 or 8 bytes; 0 is the kernel's `long`.
    pub size: usize,
    /// `d`, `u`, `x`, `X`, `o`, `c`, `s` or `p`.
    pub kind: u8,
    /// The letters after `%p`.
    pub extension: Vec<u8>,
}

impl Conversion {
    /// Whether it prints a number, for which a column has a type.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, b'd' | b'u' | b'x' | b'X' | b'o')
    }

    /// Whether it prints an address as the name of a function.
    pub fn is_symbol(&self) -> bool {
        matches!(self.extension.first(), Some(b'S' | b's' | b'F' | b'f' | b'B'))
    }

    /// Whether the name is followed by the offset of the address.
    pub fn shows_offset(&self) -> bool {
        matches!(self.extension.first(), Some(b'S' | b'B' | b'F'))
    }

    /// Whether no letter that selects a format follows `%p`.
    pub fn is_plain_pointer(&self) -> bool {
        self.kind == b'p' && matches!(self.extension.as_slice(), b"" | b"x" | b"K")
    }

    /// Whether it prints bytes in a form such as that of a network's addresses.
    pub fn is_address(&self) -> bool {
        self.kind == b'p' && super::address::is_known(&self.extension)
    }

    /// The size of the value in bytes.
    pub fn bytes(&self, long: usize) -> usize {
        match (self.kind, self.size) {
            (b'c', _) => 1,
            (b'p', _) | (_, 0) => long,
            (_, size) => size,
        }
    }

    /// The printed part of a number: the bytes of the conversion's type, with their sign.
    pub fn cut(&self, value: i64, long: usize) -> i64 {
        let size = self.bytes(long);
        let signed = self.kind == b'd';
        match size {
            8.. => value,
            _ if signed => super::format::extended(value.cast_unsigned(), size),
            _ => value & ((1i64 << (8 * size)) - 1),
        }
    }

    /// Print a number.
    pub fn put_number(&self, out: &mut Vec<u8>, value: i64, long: usize) {
        let value = self.cut(value, long);
        let digits = match self.kind {
            b'd' => value.unsigned_abs().to_string(),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            b'o' => format!("{value:o}"),
            b'p' => format!("{:0>width$x}", value, width = long * 2),
            b'c' => return self.padded(out, &[value as u8]),
            _ => value.cast_unsigned().to_string(),
        };
        let sign: &[u8] = match self.kind {
            b'd' if value < 0 => b"-",
            b'd' if self.plus => b"+",
            b'x' | b'p' if self.alternate && value != 0 => b"0x",
            b'X' if self.alternate && value != 0 => b"0X",
            _ => b"",
        };
        let least = match self.precision {
            Some(digits) => digits.min(WIDTH_LIMIT),
            None if self.zero && !self.left => self.width.saturating_sub(sign.len()),
            None => 0,
        };
        let mut text = sign.to_vec();
        text.resize(text.len() + least.saturating_sub(digits.len()), b'0');
        text.extend_from_slice(digits.as_bytes());
        self.padded(out, &text);
    }

    /// Print a text.
    pub fn put_text(&self, out: &mut Vec<u8>, text: &[u8]) {
        let most = self.precision.unwrap_or(text.len()).min(text.len());
        self.padded(out, &text[..most]);
    }

    fn padded(&self, out: &mut Vec<u8>, text: &[u8]) {
        let blanks = self.width.saturating_sub(text.len());
        if self.left {
            out.extend_from_slice(text);
        }
        out.resize(out.len() + blanks, b' ');
        if !self.left {
            out.extend_from_slice(text);
        }
    }
}

/// Split a format string into its parts.
pub fn parse(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        literal.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(b"%") {
            literal.push(b'%');
            rest = after;
            continue;
        }
        let (conversion, after) = conversion(rest);
        rest = after;
        if conversion.kind != 0 {
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Conversion(conversion));
        }
    }
    literal.extend_from_slice(rest);
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    parts
}

/// A conversion, after its percent sign.
fn conversion(text: &[u8]) -> (Conversion, &[u8]) {
    let mut found = Conversion { size: 4, ..Conversion::default() };
    let mut rest = text;
    while let [letter @ (b'-' | b'+' | b' ' | b'#' | b'0'), after @ ..] = rest {
        found.left |= *letter == b'-';
        found.plus |= *letter == b'+';
        found.alternate |= *letter == b'#';
        found.zero |= *letter == b'0';
        rest = after;
    }
    let width;
    (width, rest) = number(rest, &mut found.stars);
    found.width = width.unwrap_or(0);
    if let Some(after) = rest.strip_prefix(b".") {
        let precision;
        (precision, rest) = number(after, &mut found.stars);
        found.precision = precision.or((found.stars == 0).then_some(0));
    }
    while let [letter @ (b'l' | b'h' | b'z' | b't' | b'j' | b'L' | b'q'), after @ ..] = rest {
        found.size = match (*letter, found.size) {
            (b'l', 0) | (b'L' | b'q' | b'j', _) => 8,
            (b'l' | b'z' | b't', _) => 0,
            (b'h', 2) => 1,
            _ => 2,
        };
        rest = after;
    }
    let [kind, after @ ..] = rest else {
        return (found, rest);
    };
    rest = after;
    found.kind = match kind {
        b'i' => b'd',
        b'd' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p' => *kind,
        _ => 0,
    };
    if found.kind == b'p' {
        let letters = match rest.first() {
            Some(letter) if b"SsFfBRrhbMmIiEUVKNaGdCDgtxe".contains(letter) => {
                rest.iter().take(4).take_while(|b| b.is_ascii_alphanumeric()).count()
            }
            _ => 0,
        };
        (found.extension, rest) = (rest[..letters].to_vec(), &rest[letters..]);
    }
    (found, rest)
}

fn number<'a>(text: &'a [u8], stars: &mut usize) -> (Option<usize>, &'a [u8]) {
    if let Some(after) = text.strip_prefix(b"*") {
        *stars += 1;
        return (None, after);
    }
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let value = str::from_utf8(&text[..digits]).ok();
    let value = value.and_then(|v| v.parse::<usize>().ok());
    (value.map(|v| v.min(WIDTH_LIMIT)), &text[digits..])
}
