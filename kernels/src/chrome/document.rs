//! Parse the text of files into events and properties; recognize the JSON format in use, however damaged.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::event::{Event, Field};
use super::extent::{Follow, extent};
use super::feed::{Feed, Halt, Part};
use super::frames::Frames;
use super::placing::Placing;
use super::properties::Properties;
use super::repair::repair;
use super::resync::resync;
use crate::input::Damage;
use crate::rows::{Decode, Failure, Learnt, Place, Sink};

/// Maximum length of an event or property.
pub const LONGEST: usize = 64 << 20;
/// Text that may be scanned in vain, beyond a multiple of the text that was consumed.
const VAIN: u64 = 512 << 20;
const VAIN_TIMES: u64 = 16;
/// Bytes scanned at a time for the next event.
const SIGHT: usize = 1 << 20;

/// A file of a trace, or a member of an archive.
pub struct File {
    pub path: String,
    pub part: Option<Part>,
}

/// The state of the parser within a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a document.
    Top,
    /// Between members of the object.
    Members,
    /// Between events.
    Events {
        /// Whether the list is a member of an object.
        inside: bool,
        /// Whether the list began with a bracket.
        bracket: bool,
    },
}

/// What to do next.
enum Next {
    Go,
    /// The file has ended, or the rest of it is ignored.
    End,
}

/// A decoder of all files of a trace.
pub struct Document {
    files: Vec<File>,
    next: usize,
    done: Arc<AtomicU64>,
    feed: Option<Feed>,
    state: State,
    event: Event,
    placing: Placing,
    properties: Properties,
    /// Bytes scanned in vain.
    vain: u64,
    /// Whether a document has begun in this file.
    begun: bool,
    /// Whether a value was read since the last comma.
    valued: bool,
    /// Whether to scan for the next event.
    lost: bool,
    finished: bool,
}

impl Document {
    pub fn new(files: Vec<File>, done: Arc<AtomicU64>) -> Document {
        Document {
            files,
            next: 0,
            done,
            feed: None,
            state: State::Top,
            event: Event::default(),
            placing: Placing::default(),
            properties: Properties::default(),
            vain: 0,
            begun: false,
            valued: false,
            lost: false,
            finished: false,
        }
    }

    fn open(&mut self) -> Result<bool, Failure> {
        let Some(file) = self.files.get(self.next) else {
            return Ok(false);
        };
        let feed = Feed::open(file.path.as_ref(), file.part, Arc::clone(&self.done))
            .map_err(|error| Failure::Io(file.path.clone(), error))?;
        self.feed = Some(feed);
        self.placing.begin_file(self.next as u32);
        self.state = State::Top;
        self.vain = 0;
        self.begun = false;
        self.lost = false;
        self.next += 1;
        Ok(true)
    }

    fn halted(&self, halt: Halt) -> Failure {
        let path = match self.next.checked_sub(1).and_then(|at| self.files.get(at)) {
            Some(file) => file.path.clone(),
            None => String::new(),
        };
        match halt {
            Halt::Io(error) => Failure::Io(path, error),
            Halt::Bomb => Failure::Bad(format!("cannot read `{path}`: it unpacks to more than 500 times its size")),
        }
    }

    /// Continue in the open file until the sink is full or the file ends; returns whether it has ended.
    fn run(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<bool, Halt> {
        loop {
            let next = match self.state {
                State::Top => self.top(feed, sink)?,
                State::Members => self.member(feed, sink)?,
                State::Events { .. } => self.events(feed, sink)?,
            };
            match next {
                Next::End => return Ok(true),
                Next::Go if sink.full() => return Ok(false),
                Next::Go => (),
            }
        }
    }

    /// The next byte that is not white space, and whether commas were skipped; None at the end.
    fn byte(feed: &mut Feed, valued: &mut bool) -> Result<Option<u8>, Halt> {
        loop {
            let space = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1e);
            let rest = feed.rest();
            let found = rest.iter().position(space);
            let passed = found.unwrap_or(rest.len());
            if *valued && rest.get(..passed).is_some_and(|text| text.contains(&b',')) {
                *valued = false;
            }
            let byte = found.and_then(|at| rest.get(at).copied());
            feed.pass(passed);
            if byte.is_some() || !feed.more()? {
                return Ok(byte);
            }
        }
    }

    fn top(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<Next, Halt> {
        while feed.rest().len() < 3 && feed.more()? {}
        if !self.begun && feed.rest().starts_with(b"\xef\xbb\xbf") {
            feed.pass(3);
        }
        let byte = Self::byte(feed, &mut self.valued)?;
        self.valued = false;
        match byte {
            None => Ok(Next::End),
            Some(b'[') => {
                feed.pass(1);
                self.begin(State::Events { inside: false, bracket: true })
            }
            Some(b'{') if self.is_event(feed) => self.begin(State::Events { inside: false, bracket: false }),
            Some(b'{') => {
                feed.pass(1);
                self.begin(State::Members)
            }
            Some(_) => {
                let reason = match self.begun {
                    true => "text after the end of the JSON is not read",
                    false => "text is not JSON",
                };
                self.placing.unread(reason, true, feed.rest(), sink);
                Ok(Next::End)
            }
        }
    }

    fn begin(&mut self, state: State) -> Result<Next, Halt> {
        self.state = state;
        self.begun = true;
        self.valued = false;
        Ok(Next::Go)
    }

    /// Whether events begin here without a list around them.
    fn is_event(&mut self, feed: &Feed) -> bool {
        self.event.read(feed.rest()).is_ok() && self.event.has(Field::Ph)
    }

    fn events(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<Next, Halt> {
        while !sink.full() {
            if self.lost {
                self.seek(feed)?;
            }
            let byte = Self::byte(feed, &mut self.valued)?;
            match byte {
                Some(b'{') => {
                    self.missing_comma(feed.rest());
                    match self.event.read(feed.rest()) {
                        Ok(used) => {
                            let text = feed.rest().get(..used).unwrap_or_default();
                            self.placing.place(&self.event, text, sink);
                            feed.pass(used);
                            self.valued = true;
                        }
                        Err(_) => self.trouble(feed, sink)?,
                    }
                }
                Some(b']') => return self.close(feed),
                Some(b'}') if matches!(self.state, State::Events { inside: true, .. }) => {
                    self.placing.notes.count("list is not closed", false, b"");
                    return self.close_object(feed);
                }
                Some(_) => self.trouble(feed, sink)?,
                None => return self.unclosed(),
            }
        }
        Ok(Next::Go)
    }

    fn missing_comma(&mut self, text: &[u8]) {
        if self.valued && matches!(self.state, State::Events { bracket: true, .. }) {
            self.placing.notes.count("comma is missing", false, text);
        }
    }

    /// End the list.
    fn close(&mut self, feed: &mut Feed) -> Result<Next, Halt> {
        feed.pass(1);
        self.placing.phase = None;
        self.valued = true;
        self.state = match self.state {
            State::Events { inside: true, .. } => State::Members,
            _ => State::Top,
        };
        Ok(Next::Go)
    }

    /// End the object.
    fn close_object(&mut self, feed: &mut Feed) -> Result<Next, Halt> {
        feed.pass(1);
        self.placing.phase = None;
        self.state = State::Top;
        Ok(Next::Go)
    }

    /// Handle the end of the text within a list or object.
    fn unclosed(&mut self) -> Result<Next, Halt> {
        self.placing.phase = None;
        match self.state {
            State::Events { inside: false, bracket: true } => {
                let reason = "list is not closed, as if it were still being written";
                self.placing.notes.count(reason, false, b"");
            }
            State::Events { inside: true, .. } | State::Members => {
                let reason = "file ends before its JSON does";
                self.placing.notes.count(reason, true, b"");
            }
            State::Events { bracket: false, .. } | State::Top => (),
        }
        Ok(Next::End)
    }

    /// Handle text between events that is not an event, or incomplete.
    fn trouble(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<(), Halt> {
        self.valued = true;
        loop {
            let rest = feed.rest();
            let rest = rest.get(..LONGEST).unwrap_or(rest);
            self.vain = self.vain.saturating_add(rest.len() as u64);
            let is_object = rest.first() == Some(&b'{');
            match extent(rest) {
                Some(end) => {
                    let text = rest.get(..end).unwrap_or(rest);
                    let used = self.lone_value(is_object, text, rest, sink);
                    feed.pass(used);
                    return Ok(());
                }
                None if rest.len() < LONGEST && feed.more()? => (),
                None => return self.cut(feed, sink),
            }
        }
    }

    /// Handle a complete value between events; returns the bytes that it takes.
    fn lone_value(&mut self, is_object: bool, text: &[u8], rest: &[u8], sink: &mut Sink) -> usize {
        if !is_object {
            let reason = "text between events is not read";
            self.placing.line += 1;
            self.placing.unread(reason, false, text, sink);
            return text.len();
        }
        if self.event.read(text).is_ok() {
            self.placing.place(&self.event, text, sink);
            return text.len();
        }
        if let Some(repaired) = repair(text)
            && self.event.read(&repaired).is_ok()
            && (self.event.has(Field::Ph) || self.event.has(Field::Ts))
        {
            self.placing.notes.count("event is not JSON, repaired", false, text);
            self.placing.place(&self.event, &repaired, sink);
            return text.len();
        }
        let used = match self.may_look() {
            true => resync(rest, &mut self.event).map_or(text.len(), |next| next.min(text.len())),
            false => text.len(),
        };
        let lost = text.get(..used).unwrap_or(text);
        self.placing.line += 1;
        self.placing.unread("event is not JSON", true, lost, sink);
        self.valued = false;
        used
    }

    /// Skip text until an event begins.
    fn seek(&mut self, feed: &mut Feed) -> Result<(), Halt> {
        while self.lost {
            while feed.rest().len() < SIGHT && feed.more()? {}
            let size = feed.rest().len();
            self.vain = self.vain.saturating_add(size as u64);
            let found = match self.may_look() {
                true => resync(feed.rest(), &mut self.event),
                false => None,
            };
            match found {
                Some(at) => {
                    feed.pass(at);
                    self.lost = false;
                }
                None if feed.ended() => {
                    feed.pass(size);
                    self.lost = false;
                }
                None => feed.pass(size.saturating_sub(SIGHT / 2).max(1)),
            }
        }
        Ok(())
    }

    /// Whether more text may be scanned in vain.
    fn may_look(&self) -> bool {
        self.vain < VAIN.saturating_add(self.placing.passed.saturating_mul(VAIN_TIMES))
    }

    /// Handle a value that continues to the end of the text, or exceeds the maximum length.
    fn cut(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<(), Halt> {
        let all = feed.rest();
        let rest = all.get(..LONGEST).unwrap_or(all);
        let ends = feed.ended() && rest.len() == all.len();
        let next = match self.may_look() {
            true => resync(rest, &mut self.event),
            false => None,
        };
        let used = next.unwrap_or(rest.len());
        let reason = match (next, ends) {
            (Some(_), _) => "event is not JSON",
            (None, true) => "file ends inside of an event",
            (None, false) => "event is longer than 64 MiB",
        };
        self.placing.line += 1;
        let lost = rest.get(..used).unwrap_or(rest);
        self.placing.unread(reason, true, lost, sink);
        self.lost = next.is_none() && !ends;
        self.valued = false;
        feed.pass(used);
        Ok(())
    }

    /// Handle one member of the object.
    fn member(&mut self, feed: &mut Feed, sink: &mut Sink) -> Result<Next, Halt> {
        let Some(byte) = Self::byte(feed, &mut self.valued)? else {
            return self.unclosed();
        };
        if byte == b'}' {
            return self.close_object(feed);
        }
        let Some(key) = self.key(feed)? else {
            self.placing.notes.count("text between members is not read", true, feed.rest());
            let used = extent(feed.rest()).unwrap_or(feed.rest().len());
            feed.pass(used.max(1));
            return Ok(Next::Go);
        };
        let Some(byte) = Self::byte(feed, &mut self.valued)? else {
            return self.unclosed();
        };
        self.valued = true;
        let listed = matches!(key.as_slice(), b"traceEvents" | b"samples");
        if byte == b'[' && listed {
            feed.pass(1);
            self.placing.phase = (key == b"samples").then_some(b'P');
            return self.begin(State::Events { inside: true, bracket: true });
        }
        self.value(feed, &key, sink)
    }

    /// A key and the colon after it; None if there is something else here.
    fn key(&mut self, feed: &mut Feed) -> Result<Option<Vec<u8>>, Halt> {
        loop {
            if let Some((key, used)) = key_of(feed.rest()) {
                feed.pass(used);
                return Ok(Some(key));
            }
            if feed.rest().len() > LONGEST / 64 || !feed.more()? {
                return Ok(None);
            }
        }
    }

    fn value(&mut self, feed: &mut Feed, key: &[u8], sink: &mut Sink) -> Result<Next, Halt> {
        loop {
            let rest = feed.rest();
            if let Some(end) = extent(rest) {
                let value = rest.get(..end).unwrap_or(rest);
                self.property(key, value, sink);
                feed.pass(end);
                return Ok(Next::Go);
            }
            if rest.len() < LONGEST {
                if feed.more()? {
                    continue;
                }
                let reason = "file ends inside of a member";
                self.placing.notes.count(reason, true, key);
                feed.pass(usize::MAX);
                return Ok(Next::End);
            }
            let reason = "member is longer than 64 MiB, left out";
            self.placing.notes.count(reason, true, key);
            return skip(feed);
        }
    }

    fn property(&mut self, key: &[u8], value: &[u8], sink: &mut Sink) {
        match key {
            b"stackFrames" => Frames::read(value, &mut self.placing.notes, sink),
            b"systemTraceEvents" => self.placing.system_trace(value, sink),
            _ => self.properties.take(key, value, &mut self.placing.notes),
        }
    }

    fn end_of_file(&mut self, feed: &Feed) {
        let reason = match feed.damage() {
            Some(Damage::Truncated) => "gzip data end early",
            Some(Damage::Corrupt) => "gzip data are damaged",
            Some(Damage::Trailing) => "bytes that are not gzip follow the gzip data",
            None => {
                if !self.begun {
                    self.placing.notes.count("file is empty", false, b"");
                }
                return;
            }
        };
        self.placing.notes.count(reason, true, b"");
    }
}

/// Skip a value that is too long for memory.
fn skip(feed: &mut Feed) -> Result<Next, Halt> {
    let mut follow = Follow::default();
    loop {
        if let Some(end) = follow.piece(feed.rest()) {
            feed.pass(end);
            return Ok(Next::Go);
        }
        feed.pass(usize::MAX);
        if !feed.more()? {
            return Ok(Next::End);
        }
    }
}

/// A key, with or without quotes, and the bytes up to the end of its colon.
fn key_of(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let end = extent(text)?;
    let word = text.get(..end)?;
    let mut at = end;
    while text.get(at)?.is_ascii_whitespace() {
        at += 1;
    }
    if !matches!(text.get(at), Some(b':' | b'=')) {
        return None;
    }
    let key = match word.first()? {
        b'"' => {
            let mut key = Vec::new();
            crate::json::unescape(word.get(1..end - 1)?, &mut key);
            key
        }
        first if first.is_ascii_alphabetic() => word.to_vec(),
        _ => return None,
    };
    Some((key, at + 1))
}

impl Decode for Document {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        loop {
            let mut feed = match self.feed.take() {
                Some(feed) => feed,
                None if self.open()? => continue,
                None if self.finished => return Ok(None),
                None => {
                    self.finished = true;
                    self.placing.finish(sink);
                    self.properties.start = sink.range().map(|range| range.0);
                    let file = self.files.len().saturating_sub(1) as u32;
                    let place = Place { file, begin: 0, end: 0 };
                    return Ok((sink.len() > 0).then_some(place));
                }
            };
            let begin = feed.offset();
            let ended = self.run(&mut feed, sink).map_err(|halt| self.halted(halt))?;
            let place = Place { file: self.placing.notes.file, begin, end: feed.offset() };
            if ended {
                self.end_of_file(&feed);
            } else {
                self.feed = Some(feed);
            }
            if sink.len() > 0 {
                return Ok(Some(place));
            }
        }
    }

    fn learnt(&mut self) -> Learnt {
        Learnt { notes: self.placing.notes.take(), properties: self.properties.properties() }
    }
}
