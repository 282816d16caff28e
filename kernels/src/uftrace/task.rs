//! The open calls of one thread.

use super::record::Record;

/// The function of a caller without records so far.
pub const UNKNOWN: u32 = u32::MAX;

/// Means that there is no row yet.
pub const NO_SLOT: u64 = 0;

/// An open call.
#[derive(Clone, Copy, Default)]
pub struct Frame {
    pub start: i64,
    pub address: u64,
    pub id: i64,
    /// The slot of its row, if that exists from the entry on; see [`super::calls::Calls`].
    pub slot: u64,
    pub function: u32,
    pub depth: u16,
    /// Whether its entry was recorded; otherwise it was open when the thread was forked, or when its records began.
    pub entered: bool,
    pub children: bool,
    /// Time in its callees, and off the CPU.
    pub inner: i64,
    /// The start of the text of its arguments among those of its thread; it may be empty.
    pub texts: usize,
}

impl Frame {
    /// The duration of the call, if it is left at a time; both times are at least 0.
    #[inline]
    pub fn lasts(&self, end: i64) -> i64 {
        end - self.start
    }
}

/// A thread off its CPU, and since when.
pub struct Off {
    pub time: i64,
    pub cpu: i64,
    pub preempted: bool,
    pub line: i64,
    /// The call during which that happened.
    pub call: Option<i64>,
}

/// A thread.
#[derive(Default)]
pub struct Task {
    /// Its number among all threads.
    pub number: u32,
    pub tid: i64,
    pub pid: i64,
    pub ppid: Option<i64>,
    /// The last name that the kernel reported.
    pub name: Option<Vec<u8>>,
    pub stack: Vec<Frame>,
    /// Arguments of the calls on the stack, one text after the other.
    pub texts: Vec<u8>,
    pub off: Option<Off>,
    /// Its first own record of a call.
    pub first: Option<Record>,
    /// The time of the first record, or of the first after a loss.
    pub since: Option<i64>,
    /// The time of the last record; `i64::MIN` without records.
    last: i64,
    /// Whether records of its own were read.
    pub begun: bool,
    /// Whether that is so, and `since` is known.
    pub steady: bool,
    /// Times, and the session from then on.
    sessions: Vec<(i64, usize)>,
    /// The current session, the start of the next one, and its index.
    session: usize,
    until: i64,
    next: usize,
}

/// The start of a session; never, if it does not exist.
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
            last: i64::MIN,
            session: sessions.first().map_or(0, |one| one.1),
            until: begin(&sessions, 1),
            next: 1,
            sessions,
            ..Task::default()
        }
    }

    /// The current session of the thread; times are ascending.
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

    /// The last session of the thread.
    pub fn last_session(&self) -> Option<usize> {
        self.sessions.last().map(|one| one.1)
    }

    /// Note a record.
    #[inline]
    pub fn seen(&mut self, time: i64) {
        self.since.get_or_insert(time);
        self.last_at(time);
    }

    /// Note a record of a thread that had records before.
    #[inline]
    pub fn last_at(&mut self, time: i64) {
        self.last = self.last.max(time);
    }

    /// The time of the last record.
    pub fn last(&self) -> Option<i64> {
        (self.last > i64::MIN).then_some(self.last)
    }

    /// The depth of callees of the newest open call.
    #[inline]
    pub fn within(&self) -> u16 {
        self.stack.last().map_or(0, |top| top.depth.saturating_add(1))
    }

    /// Push callers without records onto the stack, up to a depth; return the number after theirs.
    ///
    /// Their functions become known when they are left.
    #[cold]
    #[inline(never)]
    pub fn called(&mut self, depth: u16, start: i64, mut id: i64) -> i64 {
        let first = self.within();
        let texts = self.texts.len();
        for depth in first..depth {
            self.stack.push(Frame { start, id, function: UNKNOWN, depth, slot: NO_SLOT, texts, ..Frame::default() });
            id += 1;
        }
        id
    }

    pub fn top(&self) -> Option<i64> {
        self.stack.last().map(|one| one.id)
    }

    /// Whether the newest open call is the one that a record leaves.
    ///
    /// Some recorders write an exit with the depth after the return.
    #[inline]
    pub fn leaves(&self, record: &Record) -> bool {
        self.stack.last().is_some_and(|top| {
            top.address == record.address
                && (top.depth == record.depth || top.depth == record.depth + 1 && !self.deeper(record))
        })
    }

    /// Whether an exit's depth matches the call below the newest.
    fn deeper(&self, record: &Record) -> bool {
        let below = self.stack.len().checked_sub(2);
        below
            .and_then(|at| self.stack.get(at))
            .is_some_and(|one| one.depth == record.depth && one.address == record.address)
    }
}
