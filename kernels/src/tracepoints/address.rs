//! Print bytes as the kernel's `%pI4`, `%pI6c`, `%pISpc`, `%pM`, `%pU` and `%ph` do: addresses of networks, ids, lists.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The kernel's numbers of address families.
const INET: u16 = 2;
const INET6: u16 = 10;

/// Whether the letters after `%p` select one of these forms.
pub fn is_known(extension: &[u8]) -> bool {
    match extension {
        [b'i' | b'I', b'4' | b'6' | b'S', rest @ ..] => rest.iter().all(|letter| b"hnblcp".contains(letter)),
        [b'm' | b'M', rest @ ..] => matches!(rest, b"" | b"F" | b"R"),
        [b'h', rest @ ..] => matches!(rest, b"" | b"C" | b"D" | b"N"),
        [b'U', rest @ ..] => matches!(rest, b"" | b"b" | b"B" | b"l" | b"L"),
        _ => false,
    }
}

/// Add the bytes in such a form; None if there are too few.
pub fn put(extension: &[u8], bytes: &[u8], big: bool, out: &mut Vec<u8>) -> Option<()> {
    let text = match extension {
        [b'i', b'4', ..] => numbers(v4(extension, bytes, big)?, "."),
        [_, b'4', ..] => Ipv4Addr::from(v4(extension, bytes, big)?).to_string(),
        [b'i', b'6', ..] => joined(bytes.get(..16)?, ""),
        [_, b'6', rest @ ..] => v6(*bytes.first_chunk()?, rest.contains(&b'c')),
        [_, b'S', rest @ ..] => socket(bytes, rest, big)?,
        [b'm', ..] => joined(bytes.get(..6)?, ""),
        [b'M', b'F', ..] => joined(bytes.get(..6)?, "-"),
        [b'M', b'R', ..] => joined(&bytes.get(..6)?.iter().rev().copied().collect::<Vec<_>>(), ":"),
        [b'M', ..] => joined(bytes.get(..6)?, ":"),
        [b'h', b'C', ..] => joined(bytes, ":"),
        [b'h', b'D', ..] => joined(bytes, "-"),
        [b'h', b'N', ..] => joined(bytes, ""),
        [b'h', ..] => joined(bytes, " "),
        [b'U', rest @ ..] => uuid(*bytes.first_chunk()?, rest),
        _ => return None,
    };
    out.extend_from_slice(text.as_bytes());
    Some(())
}

fn joined(bytes: &[u8], between: &str) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
}

/// Numbers of three digits: `127.000.000.001`.
fn numbers(bytes: [u8; 4], between: &str) -> String {
    bytes.map(|byte| format!("{byte:03}")).join(between)
}

/// The address is in the order of the network unless a letter says otherwise: `h` and `l` for the host's and little.
fn v4(extension: &[u8], bytes: &[u8], big: bool) -> Option<[u8; 4]> {
    let mut address: [u8; 4] = *bytes.first_chunk()?;
    match extension.last() {
        Some(b'l') => address.reverse(),
        Some(b'h') if !big => address.reverse(),
        _ => {}
    }
    Some(address)
}

fn v6(bytes: [u8; 16], compressed: bool) -> String {
    match compressed {
        true => Ipv6Addr::from(bytes).to_string(),
        false => Ipv6Addr::from(bytes).segments().map(|part| format!("{part:04x}")).join(":"),
    }
}

/// A `struct sockaddr`: family, port, address.
fn socket(bytes: &[u8], letters: &[u8], big: bool) -> Option<String> {
    let family = *bytes.first_chunk()?;
    let family = if big { u16::from_be_bytes(family) } else { u16::from_le_bytes(family) };
    let port = letters.contains(&b'p').then_some(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let (address, shown) = match family {
        INET => (Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?).to_string(), port),
        INET6 => {
            let address = v6(*bytes.get(8..)?.first_chunk()?, letters.contains(&b'c'));
            (if port.is_some() { format!("[{address}]") } else { address }, port)
        }
        _ => return None,
    };
    Some(shown.map_or_else(|| address.clone(), |port| format!("{address}:{port}")))
}

/// `L` and `l` have the first three parts in little order, `L` and `B` have capitals.
fn uuid(mut bytes: [u8; 16], letters: &[u8]) -> String {
    if letters.first().is_some_and(|letter| letter.eq_ignore_ascii_case(&b'l')) {
        bytes[..4].reverse();
        bytes[4..6].reverse();
        bytes[6..8].reverse();
    }
    let parts = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
    let text = parts.map(|part| joined(part, "")).join("-");
    if letters.first().is_some_and(u8::is_ascii_uppercase) { text.to_uppercase() } else { text }
}
