//! One line into the fields of a record.

use super::json::{Invalid, Scanner, Text, Token, unescape};

/// A key and its value.
#[derive(Clone, Copy)]
pub struct Member {
    pub key: Text,
    pub value: Token,
}

/// The fields of a line; kept from line to line for its memory.
#[derive(Default)]
pub struct Record {
    pub name: Token,
    pub cat: Token,
    pub layer: Token,
    pub id: Token,
    pub pid: Token,
    pub tid: Token,
    pub ts: Token,
    pub dur: Token,
    pub phase: Token,
    /// What stands beside the known fields, `args` too where it is not an object.
    pub others: Vec<Member>,
    pub args: Vec<Member>,
    stack: Vec<u8>,
    key: Vec<u8>,
}

/// What a line is.
#[derive(PartialEq, Eq)]
pub enum Line {
    Blank,
    /// `[` or `]` alone: the brackets some writers put around all records.
    Bracket,
    Object,
    /// JSON, but no object.
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
                return if scanner.at_end() {
                    Ok(Line::Other)
                } else {
                    Err(Invalid)
                };
            }
        }
        self.reset();
        scanner.next();
        self.object(&mut scanner, line)?;
        if scanner.at_end() {
            Ok(Line::Object)
        } else {
            Err(Invalid)
        }
    }

    fn reset(&mut self) {
        for field in [
            &mut self.name,
            &mut self.cat,
            &mut self.layer,
            &mut self.id,
            &mut self.pid,
            &mut self.tid,
            &mut self.ts,
            &mut self.dur,
            &mut self.phase,
        ] {
            *field = Token::Absent;
        }
        self.others.clear();
        self.args.clear();
    }

    fn object(&mut self, scanner: &mut Scanner, line: &[u8]) -> Result<(), Invalid> {
        scanner.skip_space();
        if scanner.peek() == b'}' {
            scanner.next();
            return Ok(());
        }
        loop {
            let key = scanner.key()?;
            self.member(scanner, line, key)?;
            match scanner.next() {
                b',' => (),
                b'}' => return Ok(()),
                _ => return Err(Invalid),
            }
        }
    }

    fn member(&mut self, scanner: &mut Scanner, line: &[u8], key: Text) -> Result<(), Invalid> {
        let mut name = key.span.of(line);
        if key.escaped {
            self.key.clear();
            unescape(name, &mut self.key);
            name = &self.key;
        }
        let field = match name {
            b"args" => return self.args(scanner, key),
            b"name" => &mut self.name,
            b"cat" => &mut self.cat,
            b"type" => &mut self.layer,
            b"id" => &mut self.id,
            b"pid" => &mut self.pid,
            b"tid" => &mut self.tid,
            b"ts" => &mut self.ts,
            b"dur" => &mut self.dur,
            b"ph" => &mut self.phase,
            _ => {
                let value = scanner.value(&mut self.stack)?;
                self.others.push(Member { key, value });
                return Ok(());
            }
        };
        *field = scanner.value(&mut self.stack)?;
        Ok(())
    }

    fn args(&mut self, scanner: &mut Scanner, key: Text) -> Result<(), Invalid> {
        self.args.clear();
        scanner.skip_space();
        if scanner.peek() != b'{' {
            let value = scanner.value(&mut self.stack)?;
            self.others.push(Member { key, value });
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
