//! The calls of one thread that are open, and what holds for calls from them.

/// What a call hands down to those that it makes.
#[derive(Clone, Copy)]
pub struct FrameState {
    /// A function was filtered in.
    pub inside: bool,
    /// A function was filtered out: nothing below is shown.
    pub out: bool,
    /// Levels that may still be shown.
    pub budget: i64,
    /// Calls that are shorter are left out.
    pub time: i64,
    /// Calls of smaller functions are left out.
    pub size: i64,
    /// The number of the innermost shown call, and how many there are.
    pub above: Option<i64>,
    pub depth: i32,
    /// How many calls are open, shown or not.
    pub level: i32,
}

/// Whether a call is long enough, or leads to one that is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Yes,
    /// Not by itself.
    Waiting,
    /// It is passed over as if it were not there.
    Skipped,
}

/// An open call.
pub struct Frame<T> {
    pub id: i64,
    pub parent: Option<i64>,
    pub end: Option<i64>,
    /// What the user of the filter wants to know of the call again.
    pub more: T,
    pub kept: Kept,
    /// No filter hides it, though the trace may be off.
    pub recorded: bool,
    /// It is shown where it begins.
    pub entered: bool,
    /// Its number among the shown calls' levels, and the call that shows it is in.
    pub depth: i32,
    pub above: Option<i64>,
    /// How far it is indented, and how far the thread was before.
    pub indent: i32,
    pub before: Option<i32>,
    pub marks: u8,
    pub function: u32,
    /// The calls that it is in, where they are to be printed.
    pub stack: Option<Box<str>>,
    /// For calls from it.
    pub state: FrameState,
}

/// The open calls of one thread, outermost first.
pub struct Thread<T> {
    pub frames: Vec<Frame<T>>,
    /// How far the next shown call is indented; None if that must be found out anew.
    pub indent: Option<i32>,
}

impl<T> Thread<T> {
    /// The place of an open call.
    #[inline]
    pub fn place(&self, id: Option<i64>) -> Option<usize> {
        let id = id?;
        self.frames.iter().rposition(|frame| frame.id == id)
    }

    /// Forgets calls that were over at some time, up to one that is still open or the one that is called from.
    #[inline]
    pub fn forget_latest(&mut self, parent: Option<i64>, time: i64) {
        while let Some(frame) = self.frames.last()
            && Some(frame.id) != parent
            && frame.end.is_some_and(|end| end <= time)
        {
            self.frames.pop();
        }
    }

    /// Forgets calls above a place that were over at some time.
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

    /// Says that what a call at a place is in leads to something that is kept; calls what was waiting, outermost first.
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
