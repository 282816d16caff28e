//! Parse the body of a sample into its parts, by the event's attr, and the end of other records into their origin.

use super::attr::{Attr, BRANCH_COUNTERS, BRANCH_INDEX, has};
use crate::input::bytes::Bytes;

/// Task, time and CPU of a record.
#[derive(Clone, Copy, Default)]
pub struct Origin {
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub time: Option<u64>,
    pub cpu: Option<i64>,
    pub id: Option<u64>,
}

/// A sample's parts; absent ones are empty.
#[derive(Default)]
pub struct Sample<'a> {
    pub origin: Origin,
    pub ip: Option<u64>,
    pub addr: Option<u64>,
    pub stream_id: Option<u64>,
    pub period: Option<u64>,
    /// Counter values: id, if recorded, and value.
    pub values: Vec<(Option<u64>, u64)>,
    pub chain: Option<Bytes<'a>>,
    pub raw: Option<&'a [u8]>,
    /// `from`, `to` and flags of each.
    pub branches: Option<Bytes<'a>>,
    pub registers: bool,
    pub user_stack: Option<u64>,
    pub weight: Option<u64>,
    pub data_src: Option<u64>,
    pub transaction: Option<u64>,
    pub phys_addr: Option<u64>,
    pub cgroup: Option<u64>,
    pub data_page_size: Option<u64>,
    pub code_page_size: Option<u64>,
    pub aux_size: Option<u64>,
}

/// The time of a sample, without reading all of it.
pub fn time_of(body: Bytes<'_>, attr: &Attr) -> Option<u64> {
    let kind = attr.sample_type;
    if kind & has::TIME == 0 {
        return None;
    }
    let before = kind & (has::IDENTIFIER | has::IP | has::TID);
    let mut at = body;
    at.skip(8 * before.count_ones() as usize)?;
    at.u64()
}

/// Read a sample; None if it is shorter than its parts.
pub fn read<'a>(body: Bytes<'a>, attr: &Attr) -> Option<Sample<'a>> {
    let mut at = body;
    let kind = attr.sample_type;
    let mut sample = Sample::default();
    head(&mut at, kind, &mut sample)?;
    if kind & has::READ != 0 {
        sample.values = read_values(&mut at, attr.read_format)?;
    }
    if kind & has::CALLCHAIN != 0 {
        sample.chain = Some(counted(&mut at, 8)?);
    }
    if kind & has::RAW != 0 {
        let size = at.u32()? as usize;
        sample.raw = Some(at.take(size)?);
        // The kernel pads size and data together to whole words.
        at.skip((size + 4).wrapping_neg() % 8).or(Some(()))?;
    }
    tail(&mut at, attr, &mut sample)?;
    Some(sample)
}

fn when(at: &mut Bytes<'_>, kind: u64, bit: u64) -> Option<Option<u64>> {
    match kind & bit {
        0 => Some(None),
        _ => at.u64().map(Some),
    }
}

fn head(at: &mut Bytes<'_>, kind: u64, sample: &mut Sample<'_>) -> Option<()> {
    let origin = &mut sample.origin;
    origin.id = when(at, kind, has::IDENTIFIER)?;
    sample.ip = when(at, kind, has::IP)?;
    if kind & has::TID != 0 {
        origin.pid = Some(at.id()?);
        origin.tid = Some(at.id()?);
    }
    origin.time = when(at, kind, has::TIME)?;
    sample.addr = when(at, kind, has::ADDR)?;
    origin.id = when(at, kind, has::ID)?.or(origin.id);
    sample.stream_id = when(at, kind, has::STREAM_ID)?;
    if kind & has::CPU != 0 {
        origin.cpu = Some(at.id()?);
        at.skip(4)?;
    }
    sample.period = when(at, kind, has::PERIOD)?;
    Some(())
}

fn tail<'a>(at: &mut Bytes<'a>, attr: &Attr, sample: &mut Sample<'a>) -> Option<()> {
    let kind = attr.sample_type;
    if kind & has::BRANCH_STACK != 0 {
        sample.branches = Some(branches(at, attr.branch_sample_type)?);
    }
    if kind & has::REGS_USER != 0 {
        sample.registers |= registers(at, attr.regs_user)?;
    }
    if kind & has::STACK_USER != 0 {
        sample.user_stack = Some(user_stack(at)?);
    }
    sample.weight = when(at, kind, has::WEIGHT)?;
    sample.data_src = when(at, kind, has::DATA_SRC)?;
    sample.transaction = when(at, kind, has::TRANSACTION)?;
    if kind & has::REGS_INTR != 0 {
        sample.registers |= registers(at, attr.regs_intr)?;
    }
    sample.phys_addr = when(at, kind, has::PHYS_ADDR)?;
    sample.cgroup = when(at, kind, has::CGROUP)?;
    sample.data_page_size = when(at, kind, has::DATA_PAGE_SIZE)?;
    sample.code_page_size = when(at, kind, has::CODE_PAGE_SIZE)?;
    if kind & has::AUX != 0 {
        let size = at.u64()?;
        at.skip(usize::try_from(size).ok()?)?;
        sample.aux_size = Some(size);
    }
    Some(())
}

/// A number of items of `width` bytes each, preceded by their count.
fn counted<'a>(at: &mut Bytes<'a>, width: usize) -> Option<Bytes<'a>> {
    let count = usize::try_from(at.u64()?).ok()?;
    at.part(count.checked_mul(width)?)
}

fn branches<'a>(at: &mut Bytes<'a>, kind: u64) -> Option<Bytes<'a>> {
    let count = usize::try_from(at.u64()?).ok()?;
    if kind & BRANCH_INDEX != 0 {
        at.skip(8)?;
    }
    let found = at.part(count.checked_mul(24)?)?;
    if kind & BRANCH_COUNTERS != 0 {
        at.skip(count.checked_mul(8)?)?;
    }
    Some(found)
}

/// Skip registers; returns whether there were any.
fn registers(at: &mut Bytes<'_>, mask: u64) -> Option<bool> {
    if at.u64()? == 0 {
        return Some(false);
    }
    at.skip(8 * mask.count_ones() as usize)?;
    Some(true)
}

/// Skip a copy of the stack; returns its size.
fn user_stack(at: &mut Bytes<'_>) -> Option<u64> {
    let size = usize::try_from(at.u64()?).ok()?;
    if size == 0 {
        return Some(0);
    }
    at.skip(size)?;
    at.u64()
}

/// Values of counters in the layout of `read_format`.
pub fn read_values(at: &mut Bytes<'_>, format: u64) -> Option<Vec<(Option<u64>, u64)>> {
    const TIMES: u64 = 1 | 2;
    const ID: u64 = 4;
    const GROUP: u64 = 8;
    const LOST: u64 = 16;
    let times = 8 * (format & TIMES).count_ones() as usize;
    let mut values = Vec::new();
    let mut count = 1;
    if format & GROUP != 0 {
        count = at.u64()?;
        at.skip(times)?;
    }
    let extra = (format & (ID | LOST)).count_ones() as usize * 8;
    if (at.len() / (8 + extra)) < usize::try_from(count).ok()? {
        return None;
    }
    for _ in 0..count {
        let value = at.u64()?;
        if format & GROUP == 0 {
            at.skip(times)?;
        }
        let id = when(at, format, ID)?;
        when(at, format, LOST)?;
        values.push((id, value));
    }
    Some(values)
}

/// The origin at the end of a record that is not a sample, and the record without it.
pub fn split_origin<'a>(body: &'a [u8], attr: &Attr, big: bool) -> (Origin, &'a [u8]) {
    if !attr.sample_id_all {
        return (Origin::default(), body);
    }
    const PARTS: u64 = has::TID | has::TIME | has::ID | has::STREAM_ID | has::CPU | has::IDENTIFIER;
    let size = 8 * (attr.sample_type & PARTS).count_ones() as usize;
    let split = body.len().checked_sub(size);
    let Some((body, tail)) = split.and_then(|at| body.split_at_checked(at)) else {
        return (Origin::default(), body);
    };
    let origin = read_origin(Bytes::new(tail, big), attr.sample_type);
    (origin.unwrap_or_default(), body)
}

fn read_origin(mut at: Bytes<'_>, kind: u64) -> Option<Origin> {
    let mut origin = Origin::default();
    if kind & has::TID != 0 {
        origin.pid = Some(at.id()?);
        origin.tid = Some(at.id()?);
    }
    origin.time = when(&mut at, kind, has::TIME)?;
    origin.id = when(&mut at, kind, has::ID)?;
    when(&mut at, kind, has::STREAM_ID)?;
    if kind & has::CPU != 0 {
        origin.cpu = Some(at.id()?);
        at.skip(4)?;
    }
    origin.id = when(&mut at, kind, has::IDENTIFIER)?.or(origin.id);
    Some(origin)
}
