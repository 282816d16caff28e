//! Parse one line into the fields of a record.

use crate::json::{Invalid, Scanner, Text, Token, unescape};

/// A key and its value.
#[derive(Clone, Copy)]
pub struct Member {
    pub key: Text,
    pub value: Token,
}

/// The known fields of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Name,
    Cat,
    Type,
    Id,
    Pid,
    Tid,
    Ts,
    Dur,
    Phase,
    Args,
}

const FIELDS: [(&[u8], Field); 10] = [
    (b"name", Field::Name),
    (b"cat", Field::Cat),
    (b"type", Field::Type),
    (b"id", Field::Id),
    (b"pid", Field::Pid),
    (b"tid", Field::Tid),
    (b"ts", Field::Ts),
    (b"dur", Field::Dur),
    (b"ph", Field::Phase),
    (b"args", Field::Args),
];

/// The usual spelling of a field's key in a line, quotes and colon included, as a little-endian word.
struct Pattern {
    word: u64,
    mask: u64,
    length: usize,
}

const PATTERNS: [Pattern; 10] = {
    let mut patterns = [const { Pattern { word: 0, mask: 0, length: 0 } }; 10];
    let mut field = 0;
    while field < 10 {
        let key = FIELDS[field].0;
        let mut bytes = [0; 8];
        let mut at = 0;
        while at < key.len() {
            bytes[at + 1] = key[at];
            at += 1;
        }
        bytes[0] = b'"';
        bytes[at + 1] = b'"';
        bytes[at + 2] = b':';
        let length = key.len() + 3;
        let mask = u64::MAX >> (64 - 8 * length);
        patterns[field] = Pattern { word: u64::from_le_bytes(bytes), mask, length };
        field += 1;
    }
    patterns
};

/// The fields of a line; reused from line to line for its memory.
pub struct Record {
    fields: [Token; 10],
    /// The members besides the known fields.
    pub others: Vec<Member>,
    pub args: Vec<Member>,
    stack: Vec<u8>,
    key: Vec<u8>,
    /// The field after each field in the line before; the last entry is for the first field.
    after: [usize; 11],
}

impl Default for Record {
    fn default() -> Record {
        Record {
            fields: [Token::Absent; 10],
            others: Vec::new(),
            args: Vec::new(),
            stack: Vec::new(),
            key: Vec::new(),
            after: [0; 11],
        }
    }
}

/// The kind of a line.
#[derive(PartialEq, Eq)]
pub enum Line {
    Blank,
    /// `[` or `]` alone: the brackets that some writers put around all records.
    Bracket,
    Object,
    /// JSON, but not an object.
    Other,
}

impl Record {
    /// Read a line into this record; each field is reset first.
    pub fn read(&mut self, line: &[u8]) -> Result<Line, Invalid> {
        let mut scanner = Scanner::new(line);
        scanner.skip_space();
        match scanner.peek() {
            b'{' => (),
            0 if scanner.at_end() => return Ok(Line::Blank),
            bracket => {
                if matches!(bracket, b'[' | b']') && line.trim_ascii().len() == 1 {
                    return Ok(Line::Bracket);
                }
                scanner.value(&mut self.stack)?;
                return if scanner.at_end() { Ok(Line::Other) } else { Err(Invalid) };
            }
        }
        scanner.next();
        self.object(&mut scanner, line)?;
        if scanner.at_end() { Ok(Line::Object) } else { Err(Invalid) }
    }

    /// The value of a field.
    #[inline]
    pub fn get(&self, field: Field) -> Token {
        self.fields[field as usize]
    }

    fn object(&mut self, scanner: &mut Scanner, line: &[u8]) -> Result<(), Invalid> {
        self.fields = [Token::Absent; 10];
        self.others.clear();
        self.args.clear();
        scanner.skip_space();
        if scanner.peek() == b'}' {
            scanner.next();
            return Ok(());
        }
        let mut before = FIELDS.len();
        loop {
            let guess = self.after[before];
            let pattern = &PATTERNS[guess];
            if scanner.skip_pattern(pattern.word, pattern.mask, pattern.length) {
                before = guess;
                self.field(scanner, guess)?;
            } else {
                let key = scanner.key()?;
                before = self.member(scanner, line, key, before)?;
            }
            match scanner.next() {
                b',' => (),
                b'}' => return Ok(()),
                _ => return Err(Invalid),
            }
        }
    }

    #[inline]
    fn field(&mut self, scanner: &mut Scanner, field: usize) -> Result<(), Invalid> {
        if field == Field::Args as usize {
            return self.args(scanner);
        }
        self.fields[field] = scanner.value(&mut self.stack)?;
        Ok(())
    }

    /// Read the value of a key that was not guessed; returns its field, or `before` if it has none.
    fn member(&mut self, scanner: &mut Scanner, line: &[u8], key: Text, before: usize) -> Result<usize, Invalid> {
        let mut name = key.span.of(line);
        if key.escaped {
            self.key.clear();
            unescape(name, &mut self.key);
            name = &self.key;
        }
        if let Some(field) = FIELDS.iter().position(|(known, _)| *known == name) {
            self.after[before] = field;
            self.field(scanner, field)?;
            return Ok(field);
        }
        let value = scanner.value(&mut self.stack)?;
        self.others.push(Member { key, value });
        Ok(before)
    }

    fn args(&mut self, scanner: &mut Scanner) -> Result<(), Invalid> {
        self.args.clear();
        self.fields[Field::Args as usize] = Token::Absent;
        scanner.skip_space();
        if scanner.peek() != b'{' {
            self.fields[Field::Args as usize] = scanner.value(&mut self.stack)?;
            return Ok(());
        }
        scanner.next();
        scanner.skip_space();
        if scanner.peek() == b'}' {
            scanner.next();
            return Ok(());
        }
        loop {
            let key = scanner.key()?;
            let value = scanner.value(&mut self.stack)?;
            self.args.push(Member { key, value });
            match scanner.next() {
                b',' => (),
                b'}' => return Ok(()),
                _ => return Err(Invalid),
            }
        }
    }
}
