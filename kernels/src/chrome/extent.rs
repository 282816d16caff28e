//! The end of a JSON value, found by its brackets and quotes alone, even if the value comes in pieces.

use memchr::memchr2;

/// The state of the scan of a value that begins with a bracket or a quote.
#[derive(Clone, Copy, Default)]
pub struct Follow {
    depth: usize,
    quoted: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
}

impl Follow {
    /// Scan the next piece of the value: returns the bytes up to its end, if that is in the piece.
    ///
    /// Brackets of both kinds count as one kind.
    pub fn piece(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        if self.escaped && !text.is_empty() {
            self.escaped = false;
            at = 1;
        }
        while let Some(byte) = text.get(at) {
            if self.quoted {
                at = self.string(text, at)?;
                if !self.quoted && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            at += 1;
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                b'"' => self.quoted = true,
                _ => (),
            }
        }
        None
    }

    /// The end of the string here, after its quote, or None at the end of the piece.
    fn string(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            at += memchr2(b'"', b'\\', text.get(at..)?)?;
            if text.get(at) == Some(&b'"') {
                self.quoted = false;
                return Some(at + 1);
            }
            if at + 1 >= text.len() {
                self.escaped = true;
                return None;
            }
            at += 2;
        }
    }
}

/// The length of the value at the start of `text`; None if it extends beyond the end of `text`.
pub fn extent(text: &[u8]) -> Option<usize> {
    match text.first() {
        Some(b'{' | b'[' | b'"') => Follow::default().piece(text),
        _ => {
            let ends = |byte: &u8| b",]}[{\":=".contains(byte) || byte.is_ascii_whitespace();
            text.iter().position(ends).map(|end| end.max(1))
        }
    }
}
