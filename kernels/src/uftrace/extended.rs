//! Write ten-byte floats of x87 as decimal numbers; most do not fit into a double.

use std::io::Write;

use crate::input::bytes::number_of;

/// Decimal digits of a limb, and the power of ten that it stays below.
const DIGITS: usize = 18;
const LIMB: u128 = 1_000_000_000_000_000_000;
const BIAS: i32 = 16383 + 63;
/// Decimals that are written.
const DECIMALS: usize = 6;
const MILLION: u128 = 1_000_000;

/// Write a number with six decimals, rounded to even, as C does.
pub fn extended(bytes: &[u8], big: bool, out: &mut Vec<u8>) {
    let part = |from: usize, to: usize| number_of(bytes.get(from..to).unwrap_or(&[]), big);
    let (mantissa, top) = if big { (part(2, 10), part(0, 2)) } else { (part(0, 8), part(8, 10)) };
    if top & 0x8000 != 0 {
        out.push(b'-');
    }
    let exponent = (top & 0x7fff) as i32;
    let shift = exponent.max(1) - BIAS;
    // Writing to memory cannot fail.
    let _ = match exponent {
        0x7fff if mantissa << 1 == 0 => write!(out, "inf"),
        0x7fff => write!(out, "nan"),
        _ if shift > 0 => return large(mantissa, shift.unsigned_abs(), out),
        _ => {
            let millionths = rounded(u128::from(mantissa) * MILLION, shift.unsigned_abs());
            write!(out, "{}.{:0DECIMALS$}", millionths / MILLION, millionths % MILLION)
        }
    };
}

/// Divide by a power of two.
fn rounded(value: u128, power: u32) -> u128 {
    // The value has less than 85 bits.
    if power > 85 {
        return 0;
    }
    let whole = value >> power;
    let rest = (value - (whole << power)) << 1;
    let up = rest > 1 << power || rest == 1 << power && whole & 1 == 1;
    whole + u128::from(up)
}

/// Write the product of a number and a power of two.
fn large(mantissa: u64, mut power: u32, out: &mut Vec<u8>) {
    let mut limbs = vec![u128::from(mantissa) % LIMB, u128::from(mantissa) / LIMB];
    while power > 0 {
        let step = power.min(64);
        power -= step;
        let mut carry = 0;
        for limb in &mut limbs {
            let product = (*limb << step) + carry;
            *limb = product % LIMB;
            carry = product / LIMB;
        }
        while carry > 0 {
            limbs.push(carry % LIMB);
            carry /= LIMB;
        }
    }
    while limbs.len() > 1 && limbs.last() == Some(&0) {
        limbs.pop();
    }
    // Writing to memory cannot fail.
    for (number, limb) in limbs.iter().rev().enumerate() {
        let _ = if number == 0 { write!(out, "{limb}") } else { write!(out, "{limb:0DIGITS$}") };
    }
    let _ = write!(out, ".{:0DECIMALS$}", 0);
}
