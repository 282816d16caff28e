//! Parse the text of one event, a JSON object, into its members by field.

use crate::json::{Invalid, Scanner, Span, Text, Token};

/// The known members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Ph,
    Ts,
    Dur,
    Name,
    Cat,
    Pid,
    Tid,
    Args,
    Id,
    Id2,
    Scope,
    S,
    Bp,
    BindId,
    FlowIn,
    FlowOut,
    Tts,
    Tdur,
    Sf,
    Stack,
    Esf,
    Estack,
    Cname,
    Cpu,
    Weight,
}

const FIELDS: usize = 25;
/// Number of members of an event that are expected at their places in the event before.
const EXPECTED: usize = 10;

/// A known key with its quotes and colon, as the low bytes of a word.
#[derive(Clone, Copy)]
struct Expected {
    pattern: u64,
    mask: u64,
    length: usize,
    field: Field,
}

impl Expected {
    /// None if the key does not fit into a word.
    fn of(key: &[u8], field: Field) -> Option<Expected> {
        let mut bytes = [0; 8];
        let length = key.len() + 3;
        let text = [b"\"", key, b"\":"].concat();
        bytes.get_mut(..length)?.copy_from_slice(&text);
        let mask = u64::MAX >> (8 * (8 - length));
        Some(Expected { pattern: u64::from_le_bytes(bytes), mask, length, field })
    }
}

fn field(key: &[u8]) -> Option<Field> {
    Some(match key {
        b"ph" => Field::Ph,
        b"ts" => Field::Ts,
        b"dur" => Field::Dur,
        b"name" => Field::Name,
        b"cat" => Field::Cat,
        b"pid" => Field::Pid,
        b"tid" => Field::Tid,
        b"args" => Field::Args,
        b"id" => Field::Id,
        b"id2" => Field::Id2,
        b"scope" => Field::Scope,
        b"s" => Field::S,
        b"bp" => Field::Bp,
        b"bind_id" => Field::BindId,
        b"flow_in" => Field::FlowIn,
        b"flow_out" => Field::FlowOut,
        b"tts" => Field::Tts,
        b"tdur" => Field::Tdur,
        b"sf" => Field::Sf,
        b"stack" => Field::Stack,
        b"esf" => Field::Esf,
        b"estack" => Field::Estack,
        b"cname" => Field::Cname,
        b"cpu" => Field::Cpu,
        b"weight" => Field::Weight,
        _ => return None,
    })
}

/// A member as written.
#[derive(Clone, Copy)]
pub struct Member {
    pub key: Text,
    pub value: Span,
}

/// One event; spans are of the text that it was read from.
#[derive(Default)]
pub struct Event {
    tokens: [Token; FIELDS],
    spans: [Span; FIELDS],
    seen: u32,
    /// Unknown members.
    pub others: Vec<Member>,
    /// Number of repeated members; the last one counts.
    pub repeated: u32,
    /// Whether lists and objects are nested too deep for readers of JSON.
    pub deep: bool,
    expected: [Option<Expected>; EXPECTED],
    stack: Vec<u8>,
}

/// Maximum depth of lists and objects that are kept as JSON.
pub const DEEPEST: usize = 512;

impl Event {
    /// Read an event; returns its length in bytes.
    pub fn read(&mut self, text: &[u8]) -> Result<usize, Invalid> {
        self.seen = 0;
        self.others.clear();
        self.repeated = 0;
        let mut stack = std::mem::take(&mut self.stack);
        let done = self.members(text, &mut stack);
        self.stack = stack;
        done
    }

    fn members(&mut self, text: &[u8], stack: &mut Vec<u8>) -> Result<usize, Invalid> {
        let mut scanner = Scanner::new(text);
        if scanner.next() != b'{' {
            return Err(Invalid);
        }
        scanner.skip_space();
        if scanner.peek() == b'}' {
            scanner.next();
            self.deep = false;
            return Ok(scanner.at());
        }
        for place in 0.. {
            let found = match self.expected(place, &mut scanner) {
                Some(field) => Ok(field),
                None => self.other_key(place, text, &mut scanner)?,
            };
            scanner.skip_space();
            let start = scanner.at();
            let token = scanner.value(stack)?;
            let value = Span::new(start, scanner.at());
            match found {
                Ok(field) => self.set(field, token, value),
                Err(key) => self.others.push(Member { key, value }),
            }
            match scanner.next() {
                b',' => (),
                b'}' => break,
                _ => return Err(Invalid),
            }
        }
        self.deep = scanner.deepest() > DEEPEST;
        Ok(scanner.at())
    }

    /// The field of the key here, consumed, if it is the expected one at this place.
    #[inline]
    fn expected(&self, place: usize, scanner: &mut Scanner<'_>) -> Option<Field> {
        let expected = self.expected.get(place).copied().flatten()?;
        scanner.skip_space();
        let found = scanner.skip_pattern(expected.pattern, expected.mask, expected.length);
        found.then_some(expected.field)
    }

    fn other_key(
        &mut self,
        place: usize,
        text: &[u8],
        scanner: &mut Scanner<'_>,
    ) -> Result<Result<Field, Text>, Invalid> {
        let key = scanner.key()?;
        let name = key.span.of(text);
        let Some(found) = field(name) else {
            return Ok(Err(key));
        };
        if let Some(expected) = self.expected.get_mut(place) {
            *expected = Expected::of(name, found);
        }
        Ok(Ok(found))
    }

    #[inline]
    fn set(&mut self, field: Field, token: Token, span: Span) {
        let at = field as usize;
        self.repeated += self.seen >> at & 1;
        self.seen |= 1 << at;
        self.tokens[at] = token;
        self.spans[at] = span;
    }

    #[inline]
    pub fn has(&self, field: Field) -> bool {
        self.seen >> (field as usize) & 1 == 1
    }

    #[inline]
    pub fn get(&self, field: Field) -> Token {
        match self.has(field) {
            true => self.tokens[field as usize],
            false => Token::Absent,
        }
    }

    /// The member's value as written.
    #[inline]
    pub fn raw<'a>(&self, field: Field, text: &'a [u8]) -> &'a [u8] {
        match self.has(field) {
            true => self.spans[field as usize].of(text),
            false => b"",
        }
    }

    /// Whether there are members with columns that tables get only on demand.
    #[inline]
    pub fn has_rare(&self) -> bool {
        const USUAL: u32 = (1 << (Field::Args as usize + 1)) - 1;
        self.seen & !USUAL != 0
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.seen == 0 && self.others.is_empty()
    }
}
