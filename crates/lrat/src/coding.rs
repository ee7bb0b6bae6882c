//! Numbers as bytes: seven bits each, least significant first, the last one without the high bit.

use crate::proof::Malformed;

/// Appends a number.
pub fn number(out: &mut Vec<u8>, mut n: u32) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Takes a number off the front. There is one coding of each.
pub fn read(rest: &mut &[u8]) -> Result<u32, Malformed> {
    let mut value = 0u32;
    for shift in (0..35).step_by(7) {
        let (&byte, more) = rest.split_first().ok_or(Malformed)?;
        *rest = more;
        let part = u32::from(byte & 0x7f);
        if shift == 28 && part > 15 {
            return Err(Malformed);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return if byte == 0 && shift > 0 { Err(Malformed) } else { Ok(value) };
        }
    }
    Err(Malformed)
}

/// Takes the number of things that follow, each of which takes at least one byte.
pub fn length(rest: &mut &[u8]) -> Result<usize, Malformed> {
    let n = read(rest)? as usize;
    if n <= rest.len() { Ok(n) } else { Err(Malformed) }
}
