//! Sums of squares of 64-bit numbers, exact for any count of them.

/// An unsigned number of 192 bits.
#[derive(Clone, Copy, Default)]
pub struct Wide {
    low: u128,
    high: u64,
}

const LIMB: u32 = 64;

fn limbs(value: u128) -> [u64; 2] {
    [value as u64, (value >> LIMB) as u64]
}

impl Wide {
    #[inline]
    pub fn add_square(&mut self, value: u64) {
        self.add(u128::from(value) * u128::from(value), 0);
    }

    pub fn merge(&mut self, other: Wide) {
        self.add(other.low, other.high);
    }

    #[inline]
    pub fn add(&mut self, low: u128, high: u64) {
        let (sum, carry) = self.low.overflowing_add(low);
        self.low = sum;
        self.high = self.high.wrapping_add(high).wrapping_add(u64::from(carry));
    }

    pub fn text(self) -> String {
        const GROUP: u128 = 10_000_000_000_000_000_000;
        let [low, middle] = limbs(self.low);
        let mut number = [self.high, middle, low];
        let mut groups = Vec::new();
        while groups.is_empty() || number != [0; 3] {
            let mut rest = 0u128;
            for limb in &mut number {
                let value = (rest << LIMB) | u128::from(*limb);
                *limb = (value / GROUP) as u64;
                rest = value % GROUP;
            }
            groups.push(rest);
        }
        let mut text = groups.pop().unwrap_or_default().to_string();
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:019}"));
        }
        text
    }

    /// The sum of the squared distances from the mean, of `count` numbers with this sum; rounded once, at the end.
    pub fn squared_distances(self, count: u64, sum: u128) -> f64 {
        if count == 0 {
            return 0.0;
        }
        let [low, middle] = limbs(self.low);
        let scaled = times([low, middle, self.high, 0], u128::from(count));
        let [low, high] = limbs(sum);
        let squared = times([low, high, 0, 0], sum);
        let mut borrow = false;
        let mut number = 0.0;
        for (place, (a, b)) in scaled.into_iter().zip(squared).enumerate() {
            let (difference, first) = a.overflowing_sub(b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            number += difference as f64 * 2f64.powi(64 * place as i32);
        }
        number / count as f64
    }
}

/// The lowest 256 bits of a product.
fn times(number: [u64; 4], by: u128) -> [u64; 4] {
    let mut product = [0u64; 4];
    for (shift, factor) in limbs(by).into_iter().enumerate() {
        let mut carry = 0u128;
        for place in shift..4 {
            let value = u128::from(number[place - shift]) * u128::from(factor) + u128::from(product[place]) + carry;
            product[place] = value as u64;
            carry = value >> LIMB;
        }
    }
    product
}
