//! Read the packets of a stream from its files, one after the other, and the headers of their events.

use std::sync::Arc;

use super::bits::{Bits, Stop};
use super::layout::{NONE, Program, role};
use super::out::{Json, Nothing};
use super::trace::{StreamClass, Trace};
use super::walk::{Seen, Walker};
use super::window::Window;
use crate::rows::{Failure, Notes};

const MAGIC: u64 = 0xC1FC_1FC1;

/// A file with packets of a stream.
#[derive(Clone)]
pub struct StreamFile {
    pub number: u32,
    pub path: Arc<str>,
    pub size: u64,
    /// The trace among those of the mount.
    pub trace: usize,
}

/// A packet with decoded header and context.
#[derive(Clone, Default)]
pub struct Packet {
    /// Its start and end in the file.
    pub from: u64,
    pub end: u64,
    /// The end of its content, in bits from its beginning.
    pub content: u64,
    /// The start of the next event.
    pub pos: u64,
    /// Index among the classes of the trace's streams.
    pub class: usize,
    pub instance: Option<u64>,
    pub cpu: Option<i64>,
    /// Its context as JSON, if that has fields without a role.
    pub context: Option<Vec<u8>>,
}

/// The row of a packet in the table of packets.
pub struct PacketRow {
    pub trace: usize,
    pub class: usize,
    pub file: Arc<str>,
    pub from: u64,
    pub size: u64,
    pub begin: Option<i64>,
    pub end: Option<i64>,
    pub cpu: Option<i64>,
    pub sequence: Option<u64>,
    pub discarded: Option<u64>,
    pub context: Option<Vec<u8>>,
}

/// State shared by all streams during decoding.
pub struct Shared {
    pub program: Program,
    pub traces: Arc<Vec<Trace>>,
    pub notes: Notes,
    pub captured: Vec<u8>,
    pub scratch: Vec<u8>,
    /// Values that are null because they are too long.
    pub too_long: u64,
    /// Started packets, until they are put into their table.
    pub packets: Vec<PacketRow>,
    /// How much of a packet is read at once.
    pub window: u64,
}

impl Shared {
    pub fn class(&self, trace: usize, class: usize) -> Option<&StreamClass> {
        self.traces.get(trace)?.streams.get(class)
    }
}

/// The next event of a stream, with a decoded header.
#[derive(Clone, Copy)]
pub struct Next {
    pub ts: i64,
    /// Index among the classes of the stream's events.
    pub event: usize,
    /// Its start, and the end of its header, in bits from the packet's beginning.
    pub from: u64,
    pub pos: u64,
}

/// A stream: files with consecutive packets.
pub struct Stream {
    pub files: Vec<StreamFile>,
    /// The current file.
    pub at: usize,
    pub packet: Packet,
    pub open: bool,
    pub window: Window,
    pub slots: Vec<u64>,
    pub seen: Seen,
    pub next: Option<Next>,
    sequence: Option<u64>,
    discarded: Option<u64>,
}

impl Stream {
    pub fn new(files: Vec<StreamFile>, slots: usize) -> Stream {
        Stream {
            files,
            at: 0,
            packet: Packet::default(),
            open: false,
            window: Window::default(),
            slots: vec![0; slots],
            seen: Seen::default(),
            next: None,
            sequence: None,
            discarded: None,
        }
    }

    pub fn file(&self) -> Option<&StreamFile> {
        self.files.get(self.at)
    }

    /// Decode a part of the packet; reads more if it is incomplete.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn walk<T>(
        &mut self,
        shared: &mut Shared,
        (pos, end): (u64, u64),
        mut work: impl FnMut(&mut Walker<'_>, &mut Bits<'_>) -> Result<T, Stop>,
    ) -> Result<Result<T, Stop>, Failure> {
        let mut wanted = shared.window;
        let end_byte = self.packet.from.saturating_add(end.div_ceil(8));
        loop {
            let from = self.packet.from.saturating_add(pos / 8);
            let mut bits = Bits::new(self.window.from(from), pos & !7, pos, end);
            let mut walker = Walker::new(
                &shared.program,
                (&mut self.slots, &mut self.seen),
                (&mut shared.captured, &mut shared.scratch),
                &mut shared.too_long,
            );
            let kept = walker.seen.cycles;
            match work(&mut walker, &mut bits) {
                Err(Stop::Short) => {
                    self.seen.cycles = kept;
                    let left = end_byte.saturating_sub(from);
                    let here = self.window.from(from).len() as u64;
                    if here >= left {
                        return Ok(Err(Stop::Damaged("the file is shorter than it was")));
                    }
                    let Some(file) = self.files.get(self.at) else {
                        return Ok(Err(Stop::Damaged("the file is shorter than it was")));
                    };
                    let count = wanted.max(here.saturating_mul(2)).min(left);
                    self.window.read(&file.path, from, count)?;
                    if (self.window.from(from).len() as u64) < count {
                        return Ok(Err(Stop::Damaged("the file is shorter than it was")));
                    }
                    wanted = wanted.saturating_mul(2);
                }
                other => return Ok(other),
            }
        }
    }

    /// Begin a packet at `from`; None if the data there are invalid.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn begin(&mut self, shared: &mut Shared, from: u64) -> Result<Option<()>, Failure> {
        let Some(file) = self.files.get(self.at).cloned() else {
            return Ok(None);
        };
        let end = file.size.saturating_sub(from).saturating_mul(8);
        self.packet = Packet { from, end: file.size, content: end, ..Packet::default() };
        self.seen.forget();
        let (header, uuid) = match shared.traces.get(file.trace) {
            Some(trace) => (trace.header, trace.uuid),
            None => return Ok(None),
        };
        let mut pos = 0;
        if header != NONE {
            let found = self.walk(shared, (0, end), |walker, bits| {
                walker.field(bits, header, &mut Nothing)?;
                Ok(bits.pos)
            })?;
            match found {
                Ok(behind) => pos = behind,
                Err(stop) => return self.give_up(shared, stop),
            }
        }
        if self.seen.get(role::MAGIC).is_some_and(|magic| magic != MAGIC) {
            return self.give_up(shared, Stop::Damaged("there is no magic number"));
        }
        if self.seen.uuid.zip(uuid).is_some_and(|(here, there)| here != there) {
            let example = || format!("{} at byte {from}", file.path);
            let reason = "packets have another UUID than the metadata";
            shared.notes.of(file.number).add(reason, 1, false, example);
        }
        let wanted = self.seen.get(role::STREAM);
        let found = shared.traces.get(file.trace).and_then(|trace| trace.find(wanted));
        let Some(class) = found else {
            return self.give_up(shared, Stop::Damaged("the metadata have no such stream"));
        };
        self.packet.class = class;
        self.packet.instance = self.seen.get(role::INSTANCE);
        self.context(shared, pos, end)
    }

    /// Decode the packet's context, which contains the packet's length.
    fn context(&mut self, shared: &mut Shared, pos: u64, end: u64) -> Result<Option<()>, Failure> {
        let trace = self.file().map_or(0, |file| file.trace);
        let class = shared.class(trace, self.packet.class);
        let (node, extra) = class.map_or((NONE, false), |class| (class.packet, class.extra));
        let mut behind = pos;
        if node != NONE {
            self.seen.timed = false;
            let mut json = Json::new(Vec::new());
            let found = self.walk(shared, (pos, end), |walker, bits| {
                if extra {
                    json = Json::new(Vec::new());
                    walker.field(bits, node, &mut json)?;
                } else {
                    walker.field(bits, node, &mut Nothing)?;
                }
                Ok(bits.pos)
            })?;
            match found {
                Ok(place) => behind = place,
                Err(stop) => return self.give_up(shared, stop),
            }
            self.packet.context = json.text().filter(|_| extra).map(<[u8]>::to_vec);
        }
        self.packet.cpu = self.seen.get(role::CPU).map(u64::cast_signed);
        let metadata = self.seen.get(role::PACKET_SIZE).filter(|size| *size > 0);
        let content = self.seen.get(role::CONTENT_SIZE).filter(|size| *size > 0);
        let size = metadata.or(content).unwrap_or(end);
        if size < behind || content.is_some_and(|content| content < behind || content > size) {
            return self.give_up(shared, Stop::Damaged("the sizes of a packet are impossible"));
        }
        if size > end {
            self.damage(shared, "a packet is cut off", self.packet.from);
        }
        self.packet.end = self.packet.from.saturating_add(size.min(end).div_ceil(8));
        self.packet.content = content.unwrap_or(size).min(end);
        self.packet.pos = behind;
        Ok(Some(()))
    }

    /// Give up on the rest of the file.
    fn give_up(&mut self, shared: &mut Shared, stop: Stop) -> Result<Option<()>, Failure> {
        let from = self.packet.from;
        let reason = match stop {
            Stop::Damaged(reason) => reason,
            Stop::Short => "the file is shorter than it was",
        };
        self.damage(shared, reason, from);
        Ok(None)
    }

    /// Count damage at a place in the file.
    pub fn damage(&mut self, shared: &mut Shared, reason: &'static str, byte: u64) {
        if let Some(file) = self.file() {
            let example = || format!("{} at byte {byte}", file.path);
            shared.notes.of(file.number).add(reason, 1, true, example);
        }
    }

    /// Count events that the tracer lost since the packet before.
    fn account(&mut self, shared: &mut Shared) {
        let Some(file) = self.file() else { return };
        let (number, path, from) = (file.number, file.path.clone(), self.packet.from);
        let example = || format!("{path} before byte {from}");
        let sequence = self.seen.get(role::SEQUENCE);
        if let (Some(before), Some(now)) = (self.sequence, sequence) {
            let lost = now.saturating_sub(before.saturating_add(1));
            if lost > 0 {
                let reason = "packets lost by the tracer";
                shared.notes.of(number).add(reason, lost, false, example);
            }
        }
        self.sequence = sequence.or(self.sequence);
        let Some(now) = self.seen.get(role::DISCARDED) else {
            return;
        };
        let bits = self.seen.discarded_bits;
        let before = self.discarded.unwrap_or(0);
        let lost = match now.checked_sub(before) {
            Some(lost) => lost,
            None if bits < 64 => now.wrapping_sub(before) & ((1 << bits) - 1),
            None => 0,
        };
        if lost > 0 {
            let reason = "events discarded by the tracer";
            shared.notes.of(number).add(reason, lost, false, example);
        }
        self.discarded = Some(now);
    }

    /// Advance to the next packet, in this file or the next; false at the end.
    fn turn(&mut self, shared: &mut Shared) -> Result<bool, Failure> {
        loop {
            let from = if self.open { self.packet.end } else { 0 };
            let Some(file) = self.file() else {
                return Ok(false);
            };
            if from >= file.size {
                self.at += 1;
                self.open = false;
                self.window.clear();
                continue;
            }
            self.open = true;
            if self.begin(shared, from)?.is_none() {
                self.packet.end = u64::MAX;
                self.packet.content = 0;
                continue;
            }
            self.account(shared);
            self.record_packet(shared);
            return Ok(true);
        }
    }

    /// Record the data of a packet at its start.
    fn record_packet(&self, shared: &mut Shared) {
        let Some(file) = self.file() else { return };
        let scale = shared.class(file.trace, self.packet.class).and_then(|class| class.scale);
        let begin = scale.filter(|_| self.seen.timed).and_then(|scale| scale.ns(self.seen.cycles.0));
        let end = scale.zip(self.seen.get(role::END)).and_then(|(scale, end)| scale.ns(end));
        shared.packets.push(PacketRow {
            trace: file.trace,
            class: self.packet.class,
            file: file.path.clone(),
            from: self.packet.from,
            size: self.packet.end.saturating_sub(self.packet.from),
            begin,
            end,
            cpu: self.packet.cpu,
            sequence: self.seen.get(role::SEQUENCE),
            discarded: self.seen.get(role::DISCARDED),
            context: self.packet.context.clone(),
        });
    }

    /// Decode the next event's header; false at the end of the stream.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn advance(&mut self, shared: &mut Shared) -> Result<bool, Failure> {
        loop {
            if self.open {
                self.next = self.header(shared)?;
                if self.next.is_some() {
                    return Ok(true);
                }
            }
            if !self.turn(shared)? {
                self.next = None;
                return Ok(false);
            }
        }
    }

    /// Skip the rest of the packet.
    pub fn skip_packet(&mut self, shared: &mut Shared, reason: &'static str, pos: u64) {
        let byte = self.packet.from.saturating_add(pos / 8);
        self.damage(shared, reason, byte);
        self.packet.pos = self.packet.content;
    }

    fn header(&mut self, shared: &mut Shared) -> Result<Option<Next>, Failure> {
        let trace = self.file().map_or(0, |file| file.trace);
        let Some(class) = shared.class(trace, self.packet.class) else {
            return Ok(None);
        };
        let (node, align, scale) = (class.header, class.align, class.scale);
        let from = self.packet.pos.saturating_add(align - 1) & !(align - 1);
        let end = self.packet.content;
        if from >= end {
            return Ok(None);
        }
        let mut pos = from;
        self.seen.forget();
        if node != NONE {
            let found = self.walk(shared, (from, end), |walker, bits| {
                walker.seen.forget();
                walker.field(bits, node, &mut Nothing)?;
                Ok(bits.pos)
            })?;
            match found {
                Ok(behind) => pos = behind,
                Err(Stop::Damaged(reason)) => {
                    self.skip_packet(shared, reason, from);
                    return Ok(None);
                }
                Err(Stop::Short) => return Ok(None),
            }
        }
        let id = self.seen.get(role::EVENT);
        let found = shared.class(trace, self.packet.class).and_then(|class| class.find(id));
        let Some(event) = found else {
            self.skip_packet(shared, "the metadata have no such event", from);
            return Ok(None);
        };
        let ts = match scale.map(|scale| scale.ns(self.seen.cycles.0)) {
            None => 0,
            Some(Some(ts)) => ts,
            Some(None) => {
                self.skip_packet(shared, "a time is out of range", from);
                return Ok(None);
            }
        };
        Ok(Some(Next { ts, event, from, pos }))
    }
}
