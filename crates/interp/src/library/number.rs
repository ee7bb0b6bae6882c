//! Reading floating-point numbers as `strtod` does.

use crate::f80;
use palisade_cfa::FloatTy;

/// The value bits of the number a text starts with, and how many bytes it takes (0 if none).
///
/// A `long double` is read with the precision of a `double`.
pub(super) fn parse(text: &[u8], ty: FloatTy) -> (u128, usize) {
    let blanks = text.iter().take_while(|b| matches!(b, b' ' | 9..=13)).count();
    let rest = &text[blanks..];
    let negative = rest.first() == Some(&b'-');
    let signs = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
    let rest = &rest[signs..];
    let (value, used) = magnitude(rest, ty);
    if used == 0 {
        return (0, 0);
    }
    let value = if negative { -value } else { value };
    let bits = match ty {
        FloatTy::F32 => u128::from((value as f32).to_bits()),
        FloatTy::F64 => u128::from(value.to_bits()),
        FloatTy::F80 => f80::from_f64(value),
    };
    (bits, blanks + signs + used)
}

fn starts_with(text: &[u8], word: &str) -> bool {
    text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word.as_bytes())
}

fn magnitude(text: &[u8], ty: FloatTy) -> (f64, usize) {
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if starts_with(text, word) {
            return (value, word.len());
        }
    }
    if starts_with(text, "0x") && hex_digits(&text[2..]) {
        return hexadecimal(text, ty);
    }
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return (0.0, 0);
        }
        end += 1 + fraction;
    }
    if end == 0 {
        return (0.0, 0);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits((end + 1 + sign).min(text.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    // ASCII only, so this is text; the standard library reads exactly this grammar.
    let text = std::str::from_utf8(&text[..end]).unwrap_or("0");
    let value = match ty {
        // Reading a float by way of a double would round twice.
        FloatTy::F32 => text.parse::<f32>().map(f64::from).unwrap_or(0.0),
        _ => text.parse::<f64>().unwrap_or(0.0),
    };
    (value, end)
}

fn hex_digits(text: &[u8]) -> bool {
    match text.first() {
        Some(b'.') => text.get(1).is_some_and(u8::is_ascii_hexdigit),
        Some(b) => b.is_ascii_hexdigit(),
        None => false,
    }
}

fn hexadecimal(text: &[u8], ty: FloatTy) -> (f64, usize) {
    let mut at = 2;
    let (mut mant, mut exp, mut point, mut sticky) = (0u64, 0i32, false, false);
    while let Some(&b) = text.get(at) {
        match (b as char).to_digit(16) {
            Some(d) => {
                if mant >> 60 == 0 {
                    mant = mant << 4 | u64::from(d);
                    exp -= if point { 4 } else { 0 };
                } else {
                    sticky |= d != 0;
                    exp += if point { 0 } else { 4 };
                }
            }
            None if b == b'.' && !point => point = true,
            None => break,
        }
        at += 1;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let negative = text.get(at + 1) == Some(&b'-');
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let digits = &text[(at + 1 + sign).min(text.len())..];
        let n = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if n > 0 {
            let e = digits[..n].iter().fold(0i32, |e, b| (e * 10 + i32::from(b - b'0')).min(100_000));
            exp += if negative { -e } else { e };
            at += 1 + sign + n;
        }
    }
    let wide = f80::from_parts(false, mant | u64::from(sticky), exp);
    let value = if ty == FloatTy::F32 { f80::to_f32(wide).into() } else { f80::to_f64(wide) };
    (value, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let read = |s: &str| {
            let (bits, used) = parse(s.as_bytes(), FloatTy::F64);
            (f64::from_bits(bits as u64), used)
        };
        assert_eq!(read("  -12.5e2x"), (-1250.0, 9));
        assert_eq!(read("1e"), (1.0, 1));
        assert_eq!(read(".5."), (0.5, 2));
        assert_eq!(read("."), (0.0, 0));
        assert_eq!(read("+inf"), (f64::INFINITY, 4));
        assert_eq!(read("0x1.8p3"), (12.0, 7));
        assert_eq!(read("0x"), (0.0, 1));
        assert_eq!(read("abc"), (0.0, 0));
    }
}
