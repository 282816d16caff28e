//! Read the value of one argument from the text of a call's arguments, `(1, "x", 0xff)`, to evaluate conditions.

/// Compare an argument as the recorder stored it: a negative number is stored as a large 32-bit one.
///
/// None if the argument is missing or not an integer.
pub fn holds(args: &str, condition: &(usize, String, i64)) -> Option<bool> {
    let (place, operator, operand) = condition;
    let value = stored(number(nth(args, place.checked_sub(1)?)?)?);
    Some(match operator.as_str() {
        "==" => value == *operand,
        "!=" => value != *operand,
        ">" => value > *operand,
        ">=" => value >= *operand,
        "<" => value < *operand,
        "<=" => value <= *operand,
        "&" => value & operand != 0,
        _ => return None,
    })
}

fn stored(value: i64) -> i64 {
    match i32::try_from(value) {
        Ok(small) => i64::from(small.cast_unsigned()),
        Err(_) => value,
    }
}

/// One argument: commas within texts and braces do not separate arguments.
fn nth(args: &str, place: usize) -> Option<&str> {
    let inner = args.strip_prefix('(')?.strip_suffix(')')?;
    let (mut start, mut found, mut depth) = (0, 0, 0_i64);
    let (mut quote, mut escaped) = (None, false);
    for (at, byte) in inner.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{' | b'(' | b'[') => depth += 1,
            (None, b'}' | b')' | b']') => depth -= 1,
            (None, b',') if depth == 0 => {
                if found == place {
                    return inner.get(start..at);
                }
                found += 1;
                start = at + 1;
            }
            _ => {}
        }
    }
    (found == place).then(|| inner.get(start..)).flatten()
}

/// An integer in any of the formats of arguments; a letter is its code.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(letter) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(one), None) => Some(i64::from(u32::from(one))),
            _ => None,
        };
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(u64::cast_signed);
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}
