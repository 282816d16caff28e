//! Filter calls in order of start, and find the parents and depths of those that are shown.

use super::decide::{Decision, Samples, Seen, before_range, decide, not_begun};
use super::frames::{Frame, FrameState, Kept, Thread};
use super::functions::Functions;
use super::rules::{Rules, Trigger};
use super::switching::{End, Ends};

/// The start is shown, or was recorded.
pub const ENTRY: u8 = 1;
/// The end is shown, or was recorded.
pub const EXIT: u8 = 2;

/// A shown call, with its extra data.
pub struct Shown<T> {
    pub more: T,
    pub thread: u32,
    pub id: i64,
    pub above: Option<i64>,
    pub depth: i32,
    pub marks: u8,
    pub indent: i32,
    pub outdent: i32,
    pub stack: Option<Box<str>>,
}

/// A starting call.
pub struct Call<'a, T> {
    pub more: T,
    pub time: i64,
    pub thread: u32,
    pub id: i64,
    pub parent: Option<i64>,
    pub end: Option<i64>,
    pub marks: u8,
    pub function: u32,
    pub args: Option<&'a str>,
}

/// The state of a call at its start.
struct Judged {
    decision: Decision,
    /// The place of its caller.
    place: Option<usize>,
    kept: bool,
    early: bool,
    /// Its callers are printed.
    with_stack: bool,
}

/// Decides call by call which are shown, and appends those to `out`.
pub struct Engine<T> {
    rules: Rules,
    pub functions: Functions,
    samples: Samples,
    pub threads: Vec<Thread<T>>,
    ends: Ends,
    enabled: bool,
    finished: bool,
    /// Whether the result for a call depends on its end.
    pub switching: bool,
    pub out: Vec<Shown<T>>,
}

impl<T: Clone> Engine<T> {
    pub fn new(rules: Rules, functions: Functions) -> Self {
        let enabled = rules.enabled;
        let switching = rules.toggles || !enabled || rules.start.is_some();
        Self {
            rules,
            functions,
            samples: Samples::default(),
            threads: Vec::new(),
            ends: Ends::default(),
            enabled,
            finished: false,
            switching,
            out: Vec::new(),
        }
    }

    /// End the open calls after the last call.
    pub fn end(&mut self) {
        if self.switching && !self.finished {
            self.leave_until(None, None);
            self.finish();
        }
    }

    /// The state outside of any call.
    #[inline]
    fn outside(&self) -> FrameState {
        FrameState {
            inside: false,
            out: false,
            budget: self.rules.depth,
            time: self.rules.time,
            size: self.rules.size,
            above: None,
            depth: 0,
            level: 0,
        }
    }

    #[inline]
    fn thread(&mut self, number: u32) -> &mut Thread<T> {
        let (known, sure) = (self.threads.len(), number as usize + 1);
        if known < sure {
            let set = self.rules.enabled && self.rules.start.is_none();
            self.threads.resize_with(sure, || Thread { frames: Vec::new(), indent: set.then_some(0) });
        }
        &mut self.threads[number as usize]
    }

    /// Take a call, after its caller.
    pub fn enter(&mut self, call: &Call<T>) {
        let switching = self.switching;
        let thread = self.thread(call.thread);
        let place = if switching {
            let place = thread.place(call.parent);
            self.leave_until(Some(call), place);
            self.thread(call.thread).place(call.parent)
        } else {
            thread.forget_latest(call.parent, call.time);
            let place = thread.place(call.parent);
            thread.forget(place, call.time);
            place
        };
        let outside = self.outside();
        let after = self.rules.stop.is_some_and(|stop| call.time > stop);
        let Some(function) = self.functions.get(call.function).filter(|_| !self.finished && !after) else {
            return;
        };
        let mut state = self.threads[call.thread as usize]
            .frames
            .get(place.unwrap_or(usize::MAX))
            .map_or(outside, |frame| frame.state);
        let trigger = &function.trigger;
        let begun = call.marks & ENTRY != 0;
        let early = self.rules.start.is_some_and(|start| call.time < start);
        if begun {
            state.time = trigger.time.unwrap_or(state.time);
            state.size = trigger.size.unwrap_or(state.size);
        }
        let small = state.size > 0 && function.size.is_none_or(|size| size < state.size);
        if small {
            self.push(call, state, Kept::Skipped);
            return;
        }
        let seen = Seen { thread: call.thread, function: call.function, trigger, args: call.args };
        let decision = if !begun {
            not_begun(&self.rules, state, trigger, call.marks & EXIT != 0)
        } else if early {
            before_range(&self.rules, state, &seen)
        } else {
            decide(&self.rules, state, &seen, self.enabled, &mut self.samples)
        };
        let kept = early || self.keeps(call, &decision.state, trigger);
        let with_stack = trigger.backtrace;
        let judged = Judged { decision, place, kept, early, with_stack };
        self.begin(call, judged);
    }

    /// Whether a call is kept regardless of its callees.
    #[inline]
    fn keeps(&self, call: &Call<T>, state: &FrameState, trigger: &Trigger) -> bool {
        let Some(end) = call.end.filter(|_| call.marks & EXIT != 0) else {
            return true;
        };
        let long = end.saturating_sub(call.time) >= state.time;
        trigger.trace || long && (trigger.caller || !self.rules.callers)
    }

    #[inline]
    fn begin(&mut self, call: &Call<T>, judged: Judged) {
        let Judged { decision, place, kept, early, with_stack } = judged;
        if let Some(on) = decision.turned {
            self.enabled = on;
        }
        let enabled = self.enabled;
        let thread = &mut self.threads[call.thread as usize];
        let before = thread.indent;
        if decision.turned == Some(false) {
            thread.indent = None;
        }
        let mut state = decision.state;
        let (above, depth, level) = (state.above, state.depth, state.level);
        let entered = decision.recorded && enabled && !early;
        let leaves = call.end.is_some_and(|end| call.marks & EXIT != 0 && self.rules.covers(end));
        let indent = if self.switching { thread.indent.unwrap_or(level) } else { depth };
        if entered {
            thread.indent = Some(indent.saturating_add(1));
        }
        let counts = entered || (early && decision.recorded && leaves && !self.rules.toggles);
        if counts {
            state.above = Some(call.id);
            state.depth = depth.saturating_add(1);
        }
        state.level = level.saturating_add(1);
        let stack = (with_stack && entered).then(|| self.stack(call));
        let thread = &mut self.threads[call.thread as usize];
        let frame = Frame {
            id: call.id,
            parent: call.parent,
            end: call.end,
            more: call.more.clone(),
            kept: if kept { Kept::Yes } else { Kept::Waiting },
            recorded: decision.recorded,
            entered,
            depth,
            above,
            indent,
            before,
            marks: call.marks & if leaves { ENTRY | EXIT } else { ENTRY },
            function: call.function,
            stack,
            state,
        };
        let (out, number) = (&mut self.out, call.thread);
        if kept {
            let switching = self.switching;
            let mut give = |frame: &Frame<T>| {
                if frame.entered && !switching {
                    out.push(shown(frame, number));
                }
            };
            thread.keep(place, &mut give);
            give(&frame);
        }
        thread.frames.push(frame);
        if let Some(end) = call.end.filter(|_| self.switching) {
            self.ends.add(end, call.thread, call.id);
        }
        if decision.finished && enabled {
            self.finish();
        }
    }

    /// The names of the callers of a call, outermost first.
    fn stack(&self, call: &Call<T>) -> Box<str> {
        let Some(thread) = self.threads.get(call.thread as usize) else {
            return Box::default();
        };
        let (mut at, mut names) = (thread.place(call.parent), Vec::new());
        while let Some(frame) = at.and_then(|place| thread.frames.get(place)) {
            if frame.kept != Kept::Skipped
                && let Some(function) = self.functions.get(frame.function)
            {
                names.push(&*function.name);
            }
            at = thread.place(frame.parent);
        }
        names.reverse();
        names.join("\n").into()
    }

    /// Add a skipped call.
    fn push(&mut self, call: &Call<T>, state: FrameState, kept: Kept) {
        let frame = Frame {
            id: call.id,
            parent: call.parent,
            end: call.end,
            more: call.more.clone(),
            kept,
            recorded: false,
            entered: false,
            depth: state.depth,
            above: state.above,
            indent: 0,
            before: None,
            marks: 0,
            function: call.function,
            stack: None,
            state,
        };
        if let Some(end) = call.end.filter(|_| self.switching) {
            self.ends.add(end, call.thread, call.id);
        }
        self.threads[call.thread as usize].frames.push(frame);
    }

    /// End the calls that were over before another begins; all of them without one.
    fn leave_until(&mut self, call: Option<&Call<T>>, place: Option<usize>) {
        loop {
            let threads = &self.threads;
            let stays = |end: &End| {
                place.is_some_and(|place| {
                    let thread = threads.get(end.thread as usize);
                    thread.and_then(|thread| thread.place(Some(end.id))) <= Some(place)
                })
            };
            let Some(end) = self.ends.next(call.map(|call| (call.time, call.thread)), stays) else {
                return;
            };
            self.leave(&end);
        }
    }

    fn leave(&mut self, end: &End) {
        let Some(thread) = self.threads.get_mut(end.thread as usize) else {
            return;
        };
        let Some(place) = thread.place(Some(end.id)) else {
            return;
        };
        let mut frame = thread.frames.remove(place);
        if frame.kept != Kept::Yes {
            // A skipped call has not indented the calls after it.
            if frame.kept == Kept::Waiting && thread.indent.is_some() {
                thread.indent = frame.before;
            }
            return;
        }
        if self.finished {
            return;
        }
        let leaves = frame.recorded && self.enabled && frame.marks & EXIT != 0;
        let mut outdent = frame.indent;
        if leaves {
            let from = thread.indent.unwrap_or(frame.state.level);
            outdent = from.saturating_sub(1).max(0);
            thread.indent = Some(outdent);
        } else {
            frame.marks &= ENTRY;
        }
        if frame.entered || leaves {
            let mut one = shown(&frame, end.thread);
            one.outdent = outdent;
            self.out.push(one);
        }
    }

    /// Shows the open calls, and nothing from now on.
    fn finish(&mut self) {
        self.finished = true;
        for (number, thread) in self.threads.iter_mut().enumerate() {
            for frame in &mut thread.frames {
                if frame.entered && frame.kept == Kept::Yes && self.switching {
                    frame.marks &= ENTRY;
                    self.out.push(shown(frame, number as u32));
                }
            }
            thread.frames.clear();
        }
    }
}

#[inline]
fn shown<T: Clone>(frame: &Frame<T>, thread: u32) -> Shown<T> {
    let entry = if frame.entered { ENTRY } else { 0 };
    Shown {
        more: frame.more.clone(),
        thread,
        id: frame.id,
        above: frame.above,
        depth: frame.depth,
        marks: frame.marks & (entry | EXIT),
        indent: frame.indent,
        outdent: frame.indent,
        stack: frame.stack.clone(),
    }
}
