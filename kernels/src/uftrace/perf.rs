//! Parse records of the kernel's perf ring buffers, in `perf-cpuN.dat`, into switches, forks, exits and names of tasks.

use crate::input::bytes::number_of;

/// Bytes of a record's header.
pub const HEAD: usize = 8;

const COMM: u32 = 3;
const LOST: u32 = 2;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SWITCH: u32 = 14;

const SWITCH_OUT: u16 = 0x2000;
const SWITCH_PREEMPT: u16 = 0x4000;
const COMM_EXEC: u16 = 0x2000;

/// A change of a task.
pub enum What {
    Out { preempted: bool },
    In,
    New { parent: i64 },
    Exit,
    Name { name: Vec<u8>, exec: bool },
}

pub struct Happened {
    pub time: i64,
    pub pid: i64,
    pub tid: i64,
    pub what: What,
}

/// The kind of a record.
pub enum Perf {
    Happened(Happened),
    Lost(u64),
    Other(u32),
    Bad,
}

/// The length of a record, from its header.
pub fn length(head: &[u8], big: bool) -> Option<usize> {
    let length = number_of(head.get(6..HEAD)?, big) as usize;
    (length >= HEAD && length.is_multiple_of(8)).then_some(length)
}

/// Parse a whole record.
pub fn parse(bytes: &[u8], big: bool) -> Perf {
    let (Some(kind), Some(misc)) = (bytes.get(..4), bytes.get(4..6)) else {
        return Perf::Bad;
    };
    let kind = number_of(kind, big) as u32;
    let misc = number_of(misc, big) as u16;
    let body = bytes.get(HEAD..).unwrap_or(&[]);
    let found = match kind {
        SWITCH => sample(body, big).map(|(pid, tid, time)| Happened {
            time,
            pid,
            tid,
            what: if misc & SWITCH_OUT == 0 { What::In } else { What::Out { preempted: misc & SWITCH_PREEMPT != 0 } },
        }),
        FORK | EXIT => task(body, big, kind == FORK),
        COMM => comm(body, big, misc & COMM_EXEC != 0),
        LOST => match body.get(8..16) {
            Some(count) => return Perf::Lost(number_of(count, big)),
            None => None,
        },
        kind => return Perf::Other(kind),
    };
    found.map_or(Perf::Bad, Perf::Happened)
}

/// Process, thread and time at the end of a record.
fn sample(body: &[u8], big: bool) -> Option<(i64, i64, i64)> {
    let last = body.get(body.len().checked_sub(16)?..)?;
    let time = i64::try_from(number_of(last.get(8..16)?, big)).ok()?;
    Some((number_of(last.get(..4)?, big).cast_signed(), number_of(last.get(4..8)?, big).cast_signed(), time))
}

fn task(body: &[u8], big: bool, new: bool) -> Option<Happened> {
    let one = |at: usize| body.get(at..at + 4).map(|one| number_of(one, big).cast_signed());
    Some(Happened {
        pid: one(0)?,
        tid: one(8)?,
        time: i64::try_from(number_of(body.get(16..24)?, big)).ok()?,
        what: if new { What::New { parent: one(4)? } } else { What::Exit },
    })
}

fn comm(body: &[u8], big: bool, exec: bool) -> Option<Happened> {
    let (_, _, time) = sample(body, big)?;
    let name = body.get(8..body.len().checked_sub(16)?)?;
    let name = name.split(|one| *one == 0).next().unwrap_or(&[]);
    Some(Happened {
        time,
        pid: number_of(body.get(..4)?, big).cast_signed(),
        tid: number_of(body.get(4..8)?, big).cast_signed(),
        what: What::Name { name: name.to_vec(), exec },
    })
}
