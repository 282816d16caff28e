//! The open calls of one thread, and the state for their callees.

/// The state that a call passes down to its callees.
#[derive(Clone, Copy)]
pub struct FrameState {
    /// Inside an included function.
    pub inside: bool,
    /// Inside an excluded function: nothing below is shown.
    pub out: bool,
    /// Number of levels that may still be shown.
    pub budget: i64,
    /// Shorter calls are excluded.
    pub time: i64,
    /// Calls of smaller functions are excluded.
    pub size: i64,
    /// The number of the innermost shown call, and their count.
    pub above: Option<i64>,
    pub depth: i32,
    /// The number of open calls, shown or not.
    pub level: i32,
}

/// Whether a call is long enough, or has a callee that is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Yes,
    /// Undecided: only a callee can make it kept.
    Waiting,
    /// Skipped as if it did not exist.
    Skipped,
}

/// An open call.
pub struct Frame<T> {
    pub id: i64,
    pub parent: Option<i64>,
    pub end: Option<i64>,
    /// Data of the caller for a call.
    pub more: T,
    pub kept: Kept,
    /// It is not hidden by a filter, though the trace may be off.
    pub recorded: bool,
    /// Its start is shown.
    pub entered: bool,
    /// Its depth among shown calls, and its shown caller.
    pub depth: i32,
    pub above: Option<i64>,
    /// Its indentation, and that of the thread before it.
    pub indent: i32,
    pub before: Option<i32>,
    pub marks: u8,
    pub function: u32,
    /// Its callers, if they are to be printed.
    pub stack: Option<Box<str>>,
    /// The state for its callees.
    pub state: FrameState,
}

/// The open calls of one thread, outermost first.
pub struct Thread<T> {
    pub frames: Vec<Frame<T>>,
    /// The indentation of the next shown call; None if it must be computed anew.
    pub indent: Option<i32>,
}

impl<T> Thread<T> {
    /// The place of an open call.
    #[inline]
    pub fn place(&self, id: Option<i64>) -> Option<usize> {
        let id = id?;
        self.frames.iter().rposition(|frame| frame.id == id)
    }

    /// Drops calls that were over at a time, up to one that is still open or the caller.
    #[inline]
    pub fn forget_latest(&mut self, parent: Option<i64>, time: i64) {
        while let Some(frame) = self.frames.last()
            && Some(frame.id) != parent
            && frame.end.is_some_and(|end| end <= time)
        {
            self.frames.pop();
        }
    }

    /// Drops calls above a place that were over at a time.
    #[inline]
    pub fn forget(&mut self, place: Option<usize>, time: i64) {
        let first = place.map_or(0, |place| place + 1);
        let over = |frame: &Frame<T>| frame.end.is_some_and(|end| end <= time);
        if self.frames.get(first..).is_some_and(|rest| rest.iter().any(over)) {
            let mut at = 0;
            self.frames.retain(|frame| {
                at += 1;
                at <= first || !over(frame)
            });
        }
    }

    /// Mark the callers of a call at a place as having a kept callee; pass those that waited to a function,
    /// outermost first.
    #[inline]
    pub fn keep(&mut self, place: Option<usize>, mut kept: impl FnMut(&Frame<T>)) {
        let above = place.and_then(|place| self.frames.get(place));
        if above.is_none_or(|frame| frame.kept == Kept::Yes) {
            return;
        }
        let (mut at, mut waiting) = (place, Vec::new());
        while let Some(place) = at
            && let Some(frame) = self.frames.get(place)
        {
            match frame.kept {
                Kept::Yes => break,
                Kept::Waiting => waiting.push(place),
                Kept::Skipped => {}
            }
            let parent = frame.parent;
            at = parent.and_then(|parent| {
                let below = self.frames.get(..place)?;
                below.iter().rposition(|frame| frame.id == parent)
            });
        }
        for place in waiting.into_iter().rev() {
            if let Some(frame) = self.frames.get_mut(place) {
                frame.kept = Kept::Yes;
                kept(frame);
            }
        }
    }
}
