//! Convert the identifiers of processes, threads and groups of events into numbers and keys.

use super::texts::plain;
use crate::columns::Interner;
use crate::json::{Scanner, Token, parse_int};

/// Processes and threads with texts as ids get numbers from here downwards.
const FIRST_TEXT: i64 = -1_000_001;

/// Ids that are not integers, in order of occurrence.
#[derive(Default)]
pub struct TextIds {
    texts: Interner,
}

impl TextIds {
    /// The number of a process or thread; None if it is missing.
    #[inline]
    pub fn number(&mut self, token: Token, raw: &[u8], text: &[u8]) -> Option<i64> {
        match token {
            Token::Int(value) => Some(value),
            Token::Absent | Token::Null => None,
            _ => self.odd(token, raw, text),
        }
    }

    fn odd(&mut self, token: Token, raw: &[u8], text: &[u8]) -> Option<i64> {
        if let Token::Float(span) = token
            && let Some(whole) = integral(span.of(text))
        {
            return Some(whole);
        }
        let name = plain(token, raw, text)?;
        if let Some(value) = parse_int(name.trim_ascii()) {
            return Some(value);
        }
        let at = i64::try_from(self.texts.intern(&name)).ok()?;
        Some(FIRST_TEXT.saturating_sub(at))
    }

    /// The text of a number returned by `number` for a text.
    pub fn text(&self, number: i64) -> Option<&[u8]> {
        let at = usize::try_from(FIRST_TEXT.checked_sub(number)?).ok()?;
        (at < self.texts.len()).then(|| self.texts.get(at))
    }
}

/// `7` of `7.0`.
fn integral(text: &[u8]) -> Option<i64> {
    let point = text.iter().position(|byte| *byte == b'.')?;
    let zeros = text.get(point + 1..)?.iter().all(|byte| *byte == b'0');
    zeros.then(|| parse_int(text.get(..point)?)).flatten()
}

/// The scope of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The default for its kind of events.
    Plain,
    Process,
    Everyone,
}

/// An id and its scope.
pub struct GroupId {
    pub reach: Reach,
    pub text: Vec<u8>,
}

/// The id of `id2`, an object with one member, or of `id`.
pub fn group_id((id, id_raw): (Token, &[u8]), (id2, id2_raw): (Token, &[u8]), text: &[u8]) -> Option<GroupId> {
    if let Token::Nested(_) = id2
        && let Some(found) = of_object(id2_raw)
    {
        return Some(found);
    }
    plain(id, id_raw, text).map(|id| GroupId { reach: Reach::Plain, text: id.into_owned() })
}

fn of_object(raw: &[u8]) -> Option<GroupId> {
    let mut scanner = Scanner::new(raw);
    if scanner.next() != b'{' {
        return None;
    }
    let key = scanner.key().ok()?;
    let reach = match key.span.of(raw) {
        b"local" => Reach::Process,
        b"global" => Reach::Everyone,
        _ => return None,
    };
    scanner.skip_space();
    let start = scanner.at();
    let token = scanner.value(&mut Vec::new()).ok()?;
    let value = plain(token, raw.get(start..scanner.at())?, raw)?;
    Some(GroupId { reach, text: value.into_owned() })
}
