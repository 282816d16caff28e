//! Repair almost valid JSON, as scripts and careless writers produce it.

use crate::json::{Scanner, push_escaped, push_quoted};

/// The last token written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Open,
    Key,
    Colon,
    Value,
    Comma,
}

/// Repair one object with keys without quotes, `=` for `:`, quotes of the other kind, control characters in strings,
/// numbers unknown to JSON, or extra or missing commas; None if it has other errors.
pub fn repair(text: &[u8]) -> Option<Vec<u8>> {
    let mut repair =
        Repair { text, at: 0, out: Vec::with_capacity(text.len() + 16), open: Vec::new(), last: Last::Comma };
    while let Some(byte) = text.get(repair.at) {
        repair.token(*byte)?;
    }
    repair.open.is_empty().then_some(repair.out)
}

struct Repair<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    open: Vec<u8>,
    last: Last,
}

impl Repair<'_> {
    fn token(&mut self, byte: u8) -> Option<()> {
        match byte {
            b'{' | b'[' => {
                self.before_value()?;
                self.put(byte, Last::Open);
                self.open.push(byte);
            }
            b'}' | b']' => self.close(byte)?,
            b',' => match self.last {
                Last::Value => self.put(b',', Last::Comma),
                Last::Open | Last::Comma => self.at += 1,
                Last::Key | Last::Colon => return None,
            },
            b':' | b'=' if self.last == Last::Key => self.put(b':', Last::Colon),
            b'"' | b'\'' => {
                let end = self.before_text()?;
                self.string(byte)?;
                self.last = end;
            }
            _ if byte.is_ascii_whitespace() => self.at += 1,
            _ => self.word()?,
        }
        Some(())
    }

    fn put(&mut self, byte: u8, last: Last) {
        self.out.push(byte);
        self.at += 1;
        self.last = last;
    }

    fn close(&mut self, byte: u8) -> Option<()> {
        if self.open.pop()? + 2 != byte || matches!(self.last, Last::Key | Last::Colon) {
            return None;
        }
        if self.last == Last::Comma {
            self.out.pop();
        }
        self.put(byte, Last::Value);
        Some(())
    }

    /// Whether a key is expected.
    fn key_is_due(&self) -> bool {
        self.open.last() == Some(&b'{') && self.last != Last::Colon
    }

    fn before_value(&mut self) -> Option<()> {
        if self.key_is_due() {
            return None;
        }
        self.missing_comma();
        Some(())
    }

    fn missing_comma(&mut self) {
        if self.last == Last::Value {
            self.out.push(b',');
        }
    }

    /// The role of a text here.
    fn before_text(&mut self) -> Option<Last> {
        let key = self.key_is_due();
        if self.last == Last::Key {
            return None;
        }
        self.missing_comma();
        Some(if key { Last::Key } else { Last::Value })
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        self.out.push(b'"');
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                _ if byte == quote => break,
                b'\\' => self.escape()?,
                _ => push_escaped(&mut self.out, &[byte]),
            }
        }
        self.out.push(b'"');
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        let kind = *self.text.get(self.at)?;
        let hex = |from: usize, to: usize| {
            let digits = self.text.get(self.at + from..self.at + to)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)
        };
        let (piece, used) = match kind {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => (vec![b'\\', kind], 1),
            b'\'' => (vec![kind], 1),
            b'u' if hex(1, 5).is_some() => (b"\\u".to_vec(), 1),
            b'x' if hex(1, 3).is_some() => ([b"\\u00", hex(1, 3)?].concat(), 3),
            _ => (b"\\\\".to_vec(), 0),
        };
        self.out.extend_from_slice(&piece);
        self.at += used;
        Some(())
    }

    /// A key without quotes, or a number or a literal.
    fn word(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let ends = |byte: &u8| b",]}[{\":='".contains(byte) || byte.is_ascii_whitespace();
        let end = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
        let word = rest.get(..end)?;
        let last = self.before_text()?;
        if last == Last::Value && is_value(word) {
            self.out.extend_from_slice(word);
        } else if last == Last::Value && word == b"undefined" {
            self.out.extend_from_slice(b"null");
        } else {
            push_quoted(&mut self.out, word);
        }
        self.at += end;
        self.last = last;
        Some(())
    }
}

fn is_value(word: &[u8]) -> bool {
    let mut scanner = Scanner::new(word);
    scanner.value(&mut Vec::new()).is_ok() && scanner.at_end()
}
