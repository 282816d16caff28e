//! Format the context of an event (interrupts, preemption) as the characters in ftrace's text.

const IRQS_OFF: u8 = 0x01;
const LAZY: u8 = 0x02;
const RESCHEDULE: u8 = 0x04;
const HARD_IRQ: u8 = 0x08;
const SOFT_IRQ: u8 = 0x10;
const PREEMPT_RESCHEDULE: u8 = 0x20;
const NMI: u8 = 0x40;
const BH_OFF: u8 = 0x80;

/// `d..2.`: interrupts off, rescheduling needed, in an interrupt, depth of preemption, of migration.
pub fn context(flags: u8, preempt: u8) -> [u8; 5] {
    let is = |flag: u8| flags & flag != 0;
    let off = match (is(IRQS_OFF), is(BH_OFF)) {
        (true, true) => b'D',
        (true, false) => b'd',
        (false, true) => b'b',
        (false, false) => b'.',
    };
    let reschedule = match (is(RESCHEDULE), is(LAZY), is(PREEMPT_RESCHEDULE)) {
        (true, true, true) => b'B',
        (true, false, true) => b'N',
        (false, true, true) => b'L',
        (true, true, false) => b'b',
        (true, false, false) => b'n',
        (false, true, false) => b'l',
        (false, false, true) => b'p',
        (false, false, false) => b'.',
    };
    let interrupt = match (is(NMI), is(HARD_IRQ), is(SOFT_IRQ)) {
        (true, true, _) => b'Z',
        (true, false, _) => b'z',
        (false, true, true) => b'H',
        (false, true, false) => b'h',
        (false, false, true) => b's',
        (false, false, false) => b'.',
    };
    [off, reschedule, interrupt, depth(preempt & 15), depth(preempt >> 4)]
}

fn depth(value: u8) -> u8 {
    match value {
        0 => b'.',
        1..=9 => b'0' + value,
        _ => b'a' + (value & 15) - 10,
    }
}
