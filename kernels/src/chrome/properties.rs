//! Convert the members of the trace's object, except events, into properties.

use super::decimal::thousandths;
use super::texts::{json, plain};
use crate::json::{Scanner, Token};
use crate::rows::Notes;

/// Maximum bytes of one property, and of all.
const ONE: usize = 1 << 16;
const ALL: usize = 1 << 20;
/// Maximum number of properties.
const MOST: usize = 1024;

#[derive(Default)]
pub struct Properties {
    found: Vec<(String, String)>,
    bytes: usize,
    /// The absolute time of the first event in ns, once it is known.
    pub start: Option<i64>,
}

impl Properties {
    /// Store a member.
    pub fn take(&mut self, key: &[u8], value: &[u8], notes: &mut Notes) {
        let mut scanner = Scanner::new(value);
        let token = scanner.value(&mut Vec::new());
        let deep = scanner.deepest() > super::event::DEEPEST;
        let text = match token {
            Ok(token @ Token::Nested(_)) => plain(token, &json(value, deep), value).map(|text| text.into_owned()),
            Ok(token) => plain(token, value, value).map(|text| text.into_owned()),
            Err(_) => {
                notes.count("member is not JSON", false, key);
                Some(value.to_vec())
            }
        };
        let Some(text) = text else {
            return;
        };
        if text.len() > ONE || self.bytes + text.len() > ALL || self.found.len() >= MOST {
            notes.count("member is longer than 64 KiB, left out", false, key);
            return;
        }
        self.bytes += text.len();
        let key = String::from_utf8_lossy(key.get(..256).unwrap_or(key)).into_owned();
        let text = String::from_utf8_lossy(&text).into_owned();
        if !self.found.iter().any(|(known, _)| *known == key) {
            self.found.push((key, text));
        }
    }

    fn find(&self, key: &str) -> Option<&str> {
        let found = self.found.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// All properties, including derived ones.
    pub fn properties(&self) -> Vec<(String, String)> {
        let mut properties = self.found.clone();
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value
                && !properties.iter().any(|(known, _)| known == key)
            {
                properties.push((key.to_owned(), value));
            }
        };
        let base = self.base();
        let unix = base.and_then(|base| self.start?.checked_add(base));
        add("start_unix_ns", unix.map(|ns| ns.to_string()));
        add("clock", Some(self.clock(base)));
        add("tool", self.tool());
        properties
    }

    /// The offset from times to Unix times in ns.
    fn base(&self) -> Option<i64> {
        if let Some(base) = self.find("baseTimeNanoseconds") {
            return base.parse().ok();
        }
        if let Some(begin) = self.find("beginningOfTime") {
            return thousandths(begin.as_bytes());
        }
        // Kineto's times are Unix times unless they have a base.
        let recent = |start: i64| start > 1_000_000_000_000_000_000;
        (self.find("schemaVersion").is_some() && self.start.is_some_and(recent)).then_some(0)
    }

    fn clock(&self, base: Option<i64>) -> String {
        let properties = self.find("metadata").and_then(|text| {
            let at = text.find("\"clock-domain\"")?;
            text.get(at + 14..)?.split('"').nth(1)
        });
        let clock = match (properties, base) {
            (Some("LINUX_CLOCK_MONOTONIC"), _) => "monotonic",
            (Some(other), _) => return other.to_lowercase(),
            (None, Some(0)) => "realtime",
            (None, _) => "trace",
        };
        clock.to_owned()
    }

    fn tool(&self) -> Option<String> {
        if self.find("schemaVersion").is_some() {
            return Some("PyTorch profiler (Kineto)".to_owned());
        }
        self.find("beginningOfTime").map(|_| "clang -ftime-trace".to_owned())
    }
}
