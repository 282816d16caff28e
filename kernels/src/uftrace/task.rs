//! The open calls of one thread.

use super::record::Record;

/// The function of a caller of which nothing was recorded yet.
pub const UNKNOWN: u32 = u32::MAX;

/// What is in no row yet.
pub const NO_SLOT: u64 = 0;

/// A call that was entered and not left.
#[derive(Clone, Copy)]
pub struct Frame {
    pub start: i64,
    pub address: u64,
    pub id: i64,
    /// Where its row is, if that is kept from the entry on; see [`super::calls::Calls`].
    pub slot: u64,
    pub function: u32,
    pub depth: u16,
    /// Whether its entry was recorded; else it was open when the thread was forked, or when its records began.
    pub entered: bool,
    pub children: bool,
    /// Time in calls from it, and off the CPU.
    pub inner: i64,
    /// Where the text of its arguments begins among those of its thread; it may be empty.
    pub texts: usize,
}

impl Frame {
    /// How long the call takes, if it is left at a time; both times are at least 0.
    #[inline]
    pub fn lasts(&self, end: i64) -> i64 {
        end - self.start
    }
}

/// Since when a thread is off its CPU.
pub struct Off {
    pub time: i64,
    pub cpu: i64,
    pub preempted: bool,
    pub line: i64,
    /// The call in which that happened.
    pub call: Option<i64>,
}

/// A thread.
pub struct Task {
    /// Its number among all threads.
    pub number: u32,
    pub tid: i64,
    pub pid: i64,
    pub ppid: Option<i64>,
    pub stack: Vec<Frame>,
    /// Arguments of the calls on the stack, one text after the other.
    pub texts: Vec<u8>,
    pub off: Option<Off>,
    /// The first time that something was recorded, or the first after records were lost.
    pub since: Option<i64>,
    /// The last time that something was recorded; `i64::MIN` if nothing was.
    last: i64,
    /// Whether records of its own were read.
    pub begun: bool,
    /// Whether that is so, and it is known since when.
    pub steady: bool,
    /// Times, and the session from then on.
    sessions: Vec<(i64, usize)>,
    /// The session of now, when the next one begins, and where that is among them.
    session: usize,
    until: i64,
    next: usize,
}

/// When a session begins; never, if there is no such one.
fn begin(sessions: &[(i64, usize)], number: usize) -> i64 {
    sessions.get(number).map_or(i64::MAX, |one| one.0)
}

impl Task {
    pub fn new(number: u32, (tid, pid): (i64, i64), ppid: Option<i64>, sessions: Vec<(i64, usize)>) -> Task {
        Task {
            number,
            tid,
            pid,
            ppid,
            stack: Vec::new(),
            texts: Vec::new(),
            off: None,
            since: None,
            last: i64::MIN,
            begun: false,
            steady: false,
            session: sessions.first().map_or(0, |one| one.1),
            until: begin(&sessions, 1),
            next: 1,
            sessions,
        }
    }

    /// The session that the thread is in; times go up.
    #[inline]
    pub fn session(&mut self, time: i64) -> usize {
        if self.until <= time {
            self.change(time);
        }
        self.session
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self, time: i64) {
        while let Some((from, session)) = self.sessions.get(self.next)
            && *from <= time
        {
            self.session = *session;
            self.next += 1;
        }
        self.until = begin(&self.sessions, self.next);
    }

    /// Something was recorded.
    #[inline]
    pub fn seen(&mut self, time: i64) {
        self.since.get_or_insert(time);
        self.last_at(time);
    }

    /// Something was recorded, of a thread of which something was before.
    #[inline]
    pub fn last_at(&mut self, time: i64) {
        self.last = self.last.max(time);
    }

    /// The last time that something was recorded.
    pub fn last(&self) -> Option<i64> {
        (self.last > i64::MIN).then_some(self.last)
    }

    /// The depth of what the newest open call calls.
    #[inline]
    pub fn within(&self) -> u16 {
        self.stack.last().map_or(0, |top| top.depth.saturating_add(1))
    }

    /// Puts callers on the stack of which nothing was recorded, up to a depth; returns the number after theirs.
    ///
    /// What they are is known when they are left.
    #[cold]
    #[inline(never)]
    pub fn called(&mut self, depth: u16, start: i64, mut id: i64) -> i64 {
        let first = self.within();
        let texts = self.texts.len();
        for depth in first..depth {
            self.stack.push(Frame {
                start,
                address: 0,
                id,
                function: UNKNOWN,
                depth,
                entered: false,
                children: false,
                inner: 0,
                slot: NO_SLOT,
                texts,
            });
            id += 1;
        }
        id
    }

    pub fn top(&self) -> Option<i64> {
        self.stack.last().map(|one| one.id)
    }

    /// Whether the newest open call is the one that is left by a record.
    ///
    /// Some recorders write an exit with the depth that is left over.
    #[inline]
    pub fn leaves(&self, record: &Record) -> bool {
        self.stack.last().is_some_and(|top| {
            top.address == record.address
                && (top.depth == record.depth || top.depth == record.depth + 1 && !self.deeper(record))
        })
    }

    /// Whether the call below the newest is the one that an exit means by its depth.
    fn deeper(&self, record: &Record) -> bool {
        let below = self.stack.len().checked_sub(2);
        below
            .and_then(|at| self.stack.get(at))
            .is_some_and(|one| one.depth == record.depth && one.address == record.address)
    }
}
